"""Requests that Hermes Agent dumped when they failed: of the Chat Completions API, or of the Responses API."""

from __future__ import annotations

from typing import Any

from weighbridge.traces.chat.conversation import are_messages
from weighbridge.traces.fields import object_of, objects_of, string_of

DUMPED = frozenset({"session_id", "reason", "request"})
DUMP_FIELDS = DUMPED | {"timestamp"}
BODY_FIELDS = frozenset({"model", "messages", "tools", "input", "instructions"})
_ITEMS_READ = frozenset({"message", "function_call", "function_call_output", "reasoning"})


def is_dump(value: dict[str, Any]) -> bool:
    """Return whether an object is such a request; one of Anthropic's API has the field `system`."""
    body = body_of(value)
    if "system" in body:
        return False
    return are_messages(body.get("messages") or messages_of(body))


def body_of(dump: dict[str, Any]) -> dict[str, Any]:
    """Return the body of a dumped request."""
    request = object_of(dump.get("request"))
    return object_of(request.get("body")) if "method" in request else {}


def messages_of(body: dict[str, Any]) -> list[Any]:
    """Return the items of the Responses API as messages of a chat; empty if there are others."""
    items = objects_of(body.get("input"))
    if not all(_kind(item) in _ITEMS_READ for item in items):
        return []
    messages: list[dict[str, Any]] = []
    for item in items:
        kind = _kind(item)
        last = messages[-1] if messages else {}
        if kind == "function_call_output":
            result = {"tool_call_id": item.get("call_id"), "content": item.get("output")}
            messages.append({"role": "tool", **result})
        elif kind == "function_call":
            if last.get("role") != "assistant":
                messages.append(last := {"role": "assistant", "content": None})
            function = {"name": item.get("name"), "arguments": item.get("arguments")}
            call = {"id": item.get("call_id"), "type": "function", "function": function}
            last["tool_calls"] = [*last.get("tool_calls", ()), call]
        elif kind == "message":
            messages.append({"role": item.get("role"), "content": _content(item.get("content"))})
    prompt = string_of(body.get("instructions"))
    return [{"role": "system", "content": prompt}, *messages] if prompt and messages else messages


def _kind(item: dict[str, Any]) -> str | None:
    return string_of(item.get("type", "message"))


def _content(content: Any) -> Any:
    """Return the content of a message with its parts of text in the words of a chat."""
    if type(content) is not list:
        return content
    texts = {"input_text", "output_text"}
    return [
        {**part, "type": "text"} if string_of(object_of(part).get("type")) in texts else part
        for part in content
    ]
