"""Conversion of the spans of the OpenAI Agents SDK's tracing to the common form of spans, from which steps are made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weighbridge.traces.chat.call_parts import CALLS_AND_RESULTS, first_of
from weighbridge.traces.fields import (
    counted,
    id_of,
    object_of,
    objects_of,
    read_usage,
    string_of,
    time_of,
    word_of,
)
from weighbridge.traces.spans.records import recorded_span

if TYPE_CHECKING:
    from weighbridge.traces.model import Usage
    from weighbridge.traces.spans.spans import Span

_KINDS = {
    "agent": "agent",
    "generation": "llm",
    "response": "llm",
    "function": "tool",
    "handoff": "tool",
    "guardrail": "guardrail",
}
#: Keys under which a custom processor may keep data that the SDK does not export.
_INPUTS, _RESPONSES = ("input", "_input"), ("response", "_response")


def span_of(record: dict[str, Any]) -> Span:
    """Return the span in a record."""
    data = record["span_data"]
    kind = word_of(data.get("type"))
    is_of_model = is_call(data)
    response = object_of(first_of(data, _RESPONSES)) if is_of_model else {}
    span = recorded_span(
        record["trace_id"],
        id_of(record.get("id")),
        id_of(record.get("parent_id")),
        string_of(data.get("name")) or kind,
        _KINDS.get(kind, "chain"),
        sent=first_of(data, _INPUTS),
        answered=answer_in(data) if is_of_model else data.get("output"),
        model=string_of(data.get("model")) or string_of(response.get("model")),
        usage=usage_of_call(data) if is_of_model else None,
        tools=response.get("tools"),
        error=_error(record.get("error")),
        started_at=time_of(record.get("started_at")),
        ended_at=time_of(record.get("ended_at")),
    )
    if kind == "handoff":
        to_agent = string_of(data.get("to_agent"))
        span.attributes |= {"gen_ai.handoff.to_agent": to_agent} if to_agent else {}
    return span


def is_call(data: dict[str, Any]) -> bool:
    """Return whether a span's data are those of a model call."""
    return _KINDS.get(word_of(data.get("type"))) == "llm"


def usage_of_call(data: dict[str, Any]) -> Usage | None:
    """Return the tokens in the data of a model call."""
    recorded = object_of(data.get("usage") or object_of(first_of(data, _RESPONSES)).get("usage"))
    return counted(read_usage({**object_of(recorded.get("details")), **recorded}))


def answer_in(data: dict[str, Any]) -> list[Any] | None:
    """Return the messages and items of an answer; None if the span does not have it."""
    held = first_of(data, ("output", *_RESPONSES))
    listed = held if type(held) is list else [held]
    return [item for each in objects_of(listed) for item in _items(each)] or None


def _items(answer: dict[str, Any]) -> list[Any]:
    """Return the messages in an answer, which may be a whole response or completion, or one message."""
    inner = next((answer[key] for key in ("output", "choices") if type(answer.get(key)) is list), None)  # fmt: skip
    return [answer] if inner is None else [_as_call(item) for item in objects_of(inner)]


def _as_call(item: dict[str, Any]) -> dict[str, Any]:
    """Return the item of a tool that the provider ran as a function call; other items unchanged."""
    kind = word_of(item.get("type"))
    if not kind.endswith("_call") or kind in CALLS_AND_RESULTS or kind == "custom_tool_call":
        return item
    return {
        "type": "function_call",
        "call_id": item.get("call_id") or item.get("id"),
        "name": item.get("name") or kind,
        "arguments": first_of(item, ("arguments", "input", "action", "queries", "code")),
    }


def _error(error: Any) -> str | None:
    """Return the message of an error, with the reason in its data."""
    if type(error) is not dict:
        return string_of(error)
    message = string_of(error.get("message")) or ("error" if error else None)
    reason = string_of(object_of(error.get("data")).get("error"))
    return f"{message}: {reason}" if message and reason else message
