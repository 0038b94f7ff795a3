"""Messages of threads exported from github.com/copilot: an answer has the calls that led to it as `skillExecutions`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weighbridge.traces.chat.call_parts import first_of
from weighbridge.traces.chat.dialects import Dialect
from weighbridge.traces.fields import objects_of, text_of, word_of

if TYPE_CHECKING:
    from collections.abc import Iterable

_EXECUTIONS = "skillExecutions"
_FAILED = frozenset({"error", "failed"})


def with_executions(messages: Iterable[Any]) -> list[Any]:
    """Return messages, with executions of skills converted to parts in the form of Vercel's AI SDK."""
    return [_with_parts(message) if _has_executions(message) else message for message in messages]


def _has_executions(message: Any) -> bool:
    """Return whether a message has executions, and no parts of its own."""
    if type(message) is not dict or message.get("parts"):
        return False
    held = message.get(_EXECUTIONS)
    return type(held) is list and bool(held) and len(objects_of(held)) == len(held)


def _with_parts(message: dict[str, Any]) -> dict[str, Any]:
    recorded = {key: item for key, item in message.items() if key != _EXECUTIONS}
    return recorded | {"parts": list(map(_part, message[_EXECUTIONS]))}


def _part(execution: dict[str, Any]) -> dict[str, Any]:
    """Return an execution as a part with a call and its result: the text of the references, or else the references."""
    references = execution.get("references")
    return {
        "type": "dynamic-tool",
        "toolCallId": execution.get("callId"),
        "toolName": first_of(execution, ("slug", "name")),
        "input": execution.get("arguments"),
        "output": text_of(references) or references,
        "isError": word_of(execution.get("status")) in _FAILED,
    }


DIALECT = Dialect(frozenset({_EXECUTIONS}), with_executions)
