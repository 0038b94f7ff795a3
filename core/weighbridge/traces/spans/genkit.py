"""Spans of Firebase Genkit: its attributes under the names of the GenAI conventions.

Each action has a span, with its input and output as JSON. The spans of `generate`, of prompts and of flows enclose those of
the models and tools, and repeat their content.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from weighbridge.traces.chat.call_parts import first_of
from weighbridge.traces.fields import (
    count_of,
    counted,
    id_of,
    json_in,
    object_of,
    objects_of,
    read_usage,
    string_of,
    usage_of,
    word_of,
)
from weighbridge.traces.images import image_mark
from weighbridge.traces.spans.attributes import GENKIT_TYPE

if TYPE_CHECKING:
    from weighbridge.traces.model import Usage
    from weighbridge.traces.spans.spans import Span

GENKIT_PREFIX = "genkit:"  #: prefix of the names of Genkit's attributes
_OPERATIONS = {
    "model": "chat",
    "background-model": "chat",
    "tool": "execute_tool",
    "tool.v2": "execute_tool",
    "agent": "invoke_agent",
    "retriever": "retrieval",
    "embedder": "embeddings",
    "reranker": "rerank",
    "evaluator": "evaluator",
}
_MULTIPART_RESULT = frozenset({"output", "content", "metadata"})
_REDACTED = "<redacted>"
_INTERRUPT = "ToolInterruptError"  #: exception of a tool that asks the user; not a failure
_RAW = ("raw", "custom")  #: keys of the provider's own answer in a model's output
_RAW_MODELS = ("modelVersion", "model")


@dataclass(frozen=True, slots=True)
class _Record:
    """Facts that an action's span records."""

    kind: str
    name: str | None
    sent: Any
    answered: Any


def include_genkit(span: Span) -> None:
    """Translate the attributes of a Genkit span to those of the GenAI conventions, and add these to the span."""
    if GENKIT_TYPE not in span.attributes:
        return
    record = _record(span.attributes)
    operation = _OPERATIONS.get(record.kind)
    if operation is None:
        return
    found = {"gen_ai.operation.name": operation, **_facts(record, operation)}
    found["gen_ai.conversation.id"] = string_of(span.attributes.get("genkit:sessionId"))
    if any(event.attributes.get("exception.type") == _INTERRUPT for event in span.events):
        span.status = "ok"
    elif span.attributes.get("genkit:state") == "error" and span.status == "unset":
        span.status = "error"
        span.status_message = string_of(span.attributes.get("genkit:error"))
    for name, value in found.items():
        if value is not None:
            span.attributes.setdefault(name, value)


def _record(attributes: dict[str, Any]) -> _Record:
    sent, answered = (_held(attributes.get(f"genkit:{name}")) for name in ("input", "output"))
    kind = ""
    if attributes.get(GENKIT_TYPE) == "action":
        kind = word_of(attributes.get("genkit:metadata:subtype")) or _kind_in_key(attributes)
        if not kind and _is_request(sent) and _is_response(answered):
            kind = "model"
    return _Record(kind, string_of(attributes.get("genkit:name")), sent, answered)


def _kind_in_key(attributes: dict[str, Any]) -> str:
    """Return an action's kind from its key (`/model/name`) or its path (`/{flow,t:flow}/{name,t:action,s:model}`)."""
    key = word_of(attributes.get("genkit:key")).split("/", 2)
    if len(key) > 1 and key[1]:
        return key[1]
    last = word_of(attributes.get("genkit:path")).rpartition("/{")[2].removesuffix("}")
    return last.rpartition(",s:")[2] if ",s:" in last else ""


def _is_request(sent: Any) -> bool:
    return bool(objects_of(object_of(sent).get("messages")))


def _is_response(answered: Any) -> bool:
    held = object_of(answered)
    return type(held.get("message")) is dict or type(held.get("candidates")) is list


def _held(recorded: Any) -> Any:
    """Return the JSON value that an attribute holds as text, or else the text; None if it was removed."""
    if type(recorded) is not str:
        return recorded
    if recorded == _REDACTED:
        return None
    try:
        return json_in(recorded)
    except ValueError:
        return recorded


def _facts(record: _Record, operation: str) -> dict[str, Any]:
    if operation == "chat":
        return _facts_of_model(record)
    if operation == "execute_tool":
        return _facts_of_tool(record)
    facts = {"input.value": record.sent, "output.value": record.answered}
    if operation == "invoke_agent":
        facts["gen_ai.agent.name"] = record.name
    elif operation == "embeddings":
        facts["gen_ai.request.model"] = record.name
        facts["output.value"] = None  # long lists of numbers
    return facts


def _facts_of_tool(record: _Record) -> dict[str, Any]:
    result = record.answered
    if record.kind == "tool.v2" and "output" in object_of(result):
        result = result["output"] if result.keys() <= _MULTIPART_RESULT else result
    return {
        # A model knows a tool by the last part of its name.
        "gen_ai.tool.name": (record.name or "").rpartition("/")[2] or record.name,
        "gen_ai.tool.call.arguments": record.sent,
        "gen_ai.tool.call.result": result,
    }


def _facts_of_model(record: _Record) -> dict[str, Any]:
    sent, answered = object_of(record.sent), object_of(record.answered)
    raw = object_of(first_of(answered, _RAW))
    usage = counted(_usage(object_of(answered.get("usage")), raw))
    candidates = objects_of(answered.get("candidates"))
    said = object_of(answered.get("message")) or object_of(
        candidates[0].get("message") if candidates else None
    )
    facts: dict[str, Any] = {
        "gen_ai.request.model": record.name,
        "gen_ai.response.model": string_of(first_of(raw, _RAW_MODELS)),
        "gen_ai.input.messages": [_message(each) for each in objects_of(sent.get("messages"))]
        or None,
        "gen_ai.output.messages": [_message(said)] if said else None,
        "gen_ai.tool.definitions": sent.get("tools") or None,
    }
    if usage is not None:
        facts |= {
            "gen_ai.usage.input_tokens": usage.input_tokens,
            "gen_ai.usage.output_tokens": usage.output_tokens,
            "gen_ai.usage.total_tokens": usage.total_tokens,
            "gen_ai.usage.cache_read.input_tokens": usage.cached_tokens,
            "gen_ai.usage.cache_creation.input_tokens": usage.cache_write_tokens,
        }
    return facts


def _usage(stated: dict[str, Any], raw: dict[str, Any]) -> Usage | None:
    """Return a model call's token counts: the provider's own if they include those of a cache, otherwise Genkit's.

    Gemini's output count excludes the tokens of its reasoning, which the total includes; that of others includes them.
    """
    of_provider = read_usage(raw.get("usage"))
    if of_provider and (of_provider.cached_tokens or of_provider.cache_write_tokens):
        return of_provider
    sent, received, total, thought = (
        count_of(stated.get(name))
        for name in ("inputTokens", "outputTokens", "totalTokens", "thoughtsTokens")
    )
    if thought and total and total - (sent or 0) - (received or 0) >= thought:
        received = (received or 0) + thought
    apart = object_of(stated.get("custom"))  # Anthropic's cached tokens, which its input excludes
    read = count_of(apart.get("cache_read_input_tokens"))
    written = count_of(apart.get("cache_creation_input_tokens"))
    if sent is not None:
        sent += (read or 0) + (written or 0)
    return usage_of(sent, received, total, stated.get("cachedContentTokens", read), written)


def _message(message: dict[str, Any]) -> dict[str, Any]:
    content = message.get("content")
    parts = content if type(content) is list else [content]
    return {"role": message.get("role"), "parts": [_part(part) for part in parts]}


def _part(part: Any) -> Any:
    """Return a part of a message in the form of the GenAI conventions."""
    if type(part) is not dict:
        return part
    call, result = part.get("toolRequest"), part.get("toolResponse")
    if type(call) is dict:
        return {
            "type": "tool_call",
            "id": id_of(call.get("ref")),
            "name": call.get("name"),
            "arguments": call.get("input"),
        }
    if type(result) is dict:
        return {
            "type": "tool_call_response",
            "id": id_of(result.get("ref")),
            "name": result.get("name"),
            "response": result.get("output"),
        }
    if type(part.get("reasoning")) is str:
        return {"type": "reasoning", "content": part["reasoning"]}
    media = part.get("media")
    if type(media) is dict:
        image = {"url": media.get("url"), "mimeType": media.get("contentType")}
        mark = image_mark(image)
        return {"type": "text", "content": mark} if mark else {"type": "media"}
    return part
