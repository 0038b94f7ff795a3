"""Calls written in text as `<function=name>` with `<parameter=name>` inside, the form of OpenHands and SWE-agent.

For models without tool calls, they explain this form in the system message or the first message. They run the first block
of an answer, and give its outcome as a user's message with one of a few beginnings.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import orjson

from weighbridge.traces.chat.call_parts import Call
from weighbridge.traces.fields import object_of, text_of, tools_of

if TYPE_CHECKING:
    from collections.abc import Sequence

#: The closing tag lacks its end if that is a stop word.
_CALL_OPENS, _CALL_CLOSES = "<function=", "</function"
_PARAMETER, _PARAMETER_ENDS = "<parameter=", "</parameter>"
_EXPLAINED_WITHIN = 4  #: number of first messages in which the form must be explained
_EXPLAINING_ROLES = frozenset({"system", "developer", "user"})
_NAME_CHARACTERS = 200
_OUTCOME = re.compile(r"(?:EXECUTION RESULT of \[|Execution output of \[|OBSERVATION:)")
_TYPES: dict[Any, type | tuple[type, ...]] = {
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "array": list,
    "object": dict,
}


def with_tagged_calls(messages: Sequence[Any], tools: Any = None) -> Sequence[Any]:
    """Return chat messages with calls in place of their tags, if one of the first messages explains the form.

    `tools` are the tools that were offered; their schemas say which arguments are JSON.
    """
    if not any(map(_explains, messages[:_EXPLAINED_WITHIN])):
        return messages
    types = {tool.name: _types_of(tool.schema) for tool in tools_of(tools)}
    recorded: list[Any] = []
    waiting: str | None = None  #: the id of the call that the next message may answer
    for number, message in enumerate(messages):
        if type(message) is dict and message.get("role") == "assistant":
            called = _with_call(message, f"call_{number}", types)
            waiting = None if called is None else f"call_{number}"
            recorded.append(called or message)
        elif waiting is not None and _is_outcome(message):
            recorded.append({**message, "role": "tool", "tool_call_id": waiting})
            waiting = None
        else:
            recorded.append(message)
    return recorded


def _is_outcome(message: Any) -> bool:
    if type(message) is not dict or message.get("role") != "user":
        return False
    return _OUTCOME.match(text_of(message.get("content")) or "") is not None


def _with_call(
    message: dict[str, Any], call_id: str, types: dict[str, dict[str, Any]]
) -> dict[str, Any] | None:
    """Return an answer with the call in its text, and the text before the call as content; None if it has no call."""
    text = text_of(message.get("content"))
    found = None if message.get("tool_calls") or text is None else _call_in(text, types)
    if found is None:
        return None
    before, name, arguments = found
    return {**message, "content": before or None, "tool_calls": [Call(call_id, name, arguments)]}


def _explains(message: Any) -> bool:
    if type(message) is not dict or message.get("role") not in _EXPLAINING_ROLES:
        return False
    return _CALL_OPENS in (text_of(message.get("content")) or "")


def _types_of(schema: Any) -> dict[str, Any]:
    properties = object_of(object_of(schema).get("properties"))
    return {name: object_of(about).get("type") for name, about in properties.items()}


def _call_in(text: str, types: dict[str, dict[str, Any]]) -> tuple[str, str, dict[str, Any]] | None:
    """Return the text before the first call, the call's name and its arguments; None if there is no call."""
    start = text.find(_CALL_OPENS)
    name_ends = (
        text.find(">", start, start + len(_CALL_OPENS) + _NAME_CHARACTERS) if start >= 0 else -1
    )
    if name_ends < 0:
        return None
    name = text[start + len(_CALL_OPENS) : name_ends].strip()
    end = text.find(_CALL_CLOSES, name_ends)
    body = text[name_ends + 1 : end if end >= 0 else len(text)]
    if not name or (end < 0 and _PARAMETER not in body):
        return None
    arguments: dict[str, Any] = {}
    kinds = types.get(name, {})
    at = body.find(_PARAMETER)
    while at >= 0:
        key_ends = body.find(">", at, at + len(_PARAMETER) + _NAME_CHARACTERS)
        closes = body.find(_PARAMETER_ENDS, key_ends) if key_ends >= 0 else -1
        if closes < 0:
            break
        key = body[at + len(_PARAMETER) : key_ends].strip()
        arguments[key] = _value(body[key_ends + 1 : closes].strip(), kinds.get(key))
        at = body.find(_PARAMETER, closes)
    return text[:start].strip(), name, arguments


def _value(text: str, kind: Any) -> Any:
    """Return an argument parsed as JSON if its schema requires it, or as text if that fails."""
    wanted = _TYPES.get(kind) if type(kind) is str else None
    if wanted is None:
        return text
    try:
        value = orjson.loads(text)
    except ValueError:
        return text
    is_odd = isinstance(value, bool) and wanted is not bool
    return value if isinstance(value, wanted) and not is_odd else text
