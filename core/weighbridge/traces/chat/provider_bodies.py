"""Requests and answers of Gemini's and Bedrock's APIs in OpenAI's fields: messages, choices, tools, usage."""

from __future__ import annotations

from typing import Any

import orjson

from weighbridge.traces.chat.call_parts import first_of
from weighbridge.traces.fields import object_of, objects_of

_DECLARATIONS = ("functionDeclarations", "function_declarations")
_USAGES = ("usageMetadata", "usage_metadata")
_MODELS = ("modelVersion", "model_version", "model")
_FINISH_KEYS = ("finishReason", "finish_reason")
_SYSTEMS = ("systemInstruction", "system_instruction")
_GEMINI_FIELDS = frozenset({"contents", "candidates", "tools", *_USAGES, *_MODELS, *_SYSTEMS})
_CONVERSE_FIELDS = frozenset(
    {"messages", "system", "output", "toolConfig", "modelId", "stopReason"}
)

#: Keys about the end of an answer of Cohere or Ollama; at least one stands beside the answer's message.
_END_KEYS = frozenset({"finish_reason", "eval_count", "done_reason"})
_SINGLE_FIELDS = _END_KEYS | {"message", "usage", "prompt_eval_count", "created_at"}
_CODES, _RAN = (
    ("executableCode", "executable_code"),
    ("codeExecutionResult", "code_execution_result"),
)


def as_openai(body: dict[str, Any]) -> dict[str, Any]:
    """Return a request with its answer in OpenAI's fields; unchanged unless it is in Gemini's or Bedrock's form."""
    answer = object_of(body.get("response"))
    if _has_candidates(answer) or "message" in object_of(answer.get("output")):
        body = {key: item for key, item in body.items() if key != "response"} | answer
    if "contents" in body or _has_candidates(body) or _blocked(body):
        return _gemini(body)
    if type(body.get("message")) is dict and not _END_KEYS.isdisjoint(body):
        return _single_answer(body)
    if "toolConfig" in body or "message" in object_of(body.get("output")):
        return _converse(body)
    return body


def _has_candidates(body: dict[str, Any]) -> bool:
    """Return whether an object has Gemini's answers, rather than texts to choose from."""
    held = body.get("candidates")
    return type(held) is list and (not held or bool(objects_of(held)))


def _single_answer(body: dict[str, Any]) -> dict[str, Any]:
    """Return an answer of Cohere's or Ollama's chat API, which has one message and its own names for token counts."""
    recorded = {key: item for key, item in body.items() if key not in _SINGLE_FIELDS}
    tokens = object_of(object_of(body.get("usage")).get("tokens"))
    sent = tokens.get("input_tokens", body.get("prompt_eval_count"))
    received = tokens.get("output_tokens", body.get("eval_count"))
    ended = body.get("finish_reason") or body.get("done_reason")
    recorded["choices"] = [{"message": body["message"], "finish_reason": ended}]
    recorded["usage"] = {"prompt_tokens": sent, "completion_tokens": received}
    recorded["created"] = body.get("created_at")
    return recorded


def _gemini(body: dict[str, Any]) -> dict[str, Any]:
    recorded = {key: item for key, item in body.items() if key not in _GEMINI_FIELDS}
    config = object_of(body.get("config"))
    contents = body.get("contents")
    system = first_of(body, _SYSTEMS) or first_of(config, _SYSTEMS)
    messages = [{"role": "user", "content": contents}] if type(contents) is str else contents
    if type(messages) is list:
        messages = [_content(content, "user") for content in messages]
        recorded["messages"] = [_content(system, "system"), *messages] if system else messages
    recorded["choices"] = [
        {
            "message": _content(candidate.get("content") or {}, "model"),
            "finish_reason": first_of(candidate, _FINISH_KEYS),
        }
        for candidate in objects_of(body.get("candidates"))
    ]
    if "contents" not in body and not recorded["choices"]:  # the prompt was blocked
        recorded["choices"] = [{"message": {"role": "model", "error": _blocked(body)}}]
    recorded["usage"] = first_of(body, _USAGES)
    recorded["model"] = first_of(body, _MODELS)
    recorded["tools"] = gemini_tools(body.get("tools") or config.get("tools"))
    return recorded


def _blocked(body: dict[str, Any]) -> str | None:
    """Return the reason why Gemini blocked a prompt; None if it did not."""
    recorded = object_of(body.get("promptFeedback")).get("blockReason")
    return f"the prompt was blocked: {recorded}" if type(recorded) is str else None


def _content(content: Any, role: str) -> Any:
    """Return one of Gemini's contents as a message; `role` is its role if it names none."""
    if type(content) is str:
        return {"role": role, "content": content}
    if type(content) is not dict:
        return content
    recorded = {"role": role, **content}
    if type(recorded.get("parts")) is list:
        recorded["parts"] = [_code_as_call(part) for part in recorded["parts"]]
    return recorded


def _code_as_call(part: Any) -> Any:
    """Return a part with code that the provider ran as a call, and a part with its outcome as a result."""
    code, ran = (first_of(object_of(part), names) for names in (_CODES, _RAN))
    if type(code) is dict:
        return {"functionCall": {"name": "code_execution", "args": {"code": code.get("code")}}}
    if type(ran) is dict:
        return {"functionResponse": {"name": "code_execution", "response": ran.get("output")}}
    return part


def _converse(body: dict[str, Any]) -> dict[str, Any]:
    recorded = {key: item for key, item in body.items() if key not in _CONVERSE_FIELDS}
    messages, system = body.get("messages"), body.get("system")
    if type(messages) is list:
        has_system = type(system) is list and bool(system)
        said = [{"role": "system", "content": system}] if has_system else []
        recorded["messages"] = [*said, *messages]
    answer = object_of(body.get("output")).get("message")
    choice = {"message": answer, "finish_reason": body.get("stopReason")}
    recorded["choices"] = [choice] if answer else []
    recorded["tools"] = object_of(body.get("toolConfig")).get("tools")
    recorded["model"] = body.get("modelId")
    return recorded


def gemini_tools(listed: Any) -> list[Any]:
    """Return Gemini's function declarations, with their types in JSON Schema's lower case."""
    groups = (first_of(group, _DECLARATIONS) for group in objects_of(listed))
    declared: list[Any] = [tool for group in groups for tool in objects_of(group)]
    try:
        declared = orjson.loads(orjson.dumps(declared))  # a copy, so that the input is not modified
    except TypeError:  # an integer beyond 64 bits, or very deep
        return []
    pending = list(declared)
    while pending:
        item = pending.pop()
        if type(item) is dict:
            if type(item.get("type")) is str:
                item["type"] = item["type"].lower()
            pending += item.values()
        elif type(item) is list:
            pending += item
    return declared
