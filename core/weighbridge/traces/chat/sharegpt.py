"""Conversion of data sets' conversations to chat messages, from ShareGPT's `{"from": ..., "value": ...}` or messages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

from weighbridge.traces.chat.call_parts import Call
from weighbridge.traces.chat.conversation import are_messages
from weighbridge.traces.fields import objects_of, string_of

if TYPE_CHECKING:
    from collections.abc import Iterator

_PLURAL = "conversations"
_KEYS_OF_TURNS = (_PLURAL, "conversation")
_ROLES = {
    **dict.fromkeys(("human", "user"), "user"),
    **dict.fromkeys(("gpt", "assistant", "chatgpt", "model", "bing", "bard"), "assistant"),
    **dict.fromkeys(("tool", "observation", "function", "function_response", "ipython"), "tool"),
    "function_call": "function_call",
    "system": "system",
}
_TURN_FIELDS = frozenset({"from", "value"})  #: fields that every turn has
_LOOKED_AT = 20  #: number of turns by which a list of turns is recognised


def are_turns(value: Any) -> bool:
    """Return whether a value is a list of turns."""
    return type(value) is list and bool(value) and all(map(_is_turn, value[:_LOOKED_AT]))


def _is_turn(value: Any) -> bool:
    if type(value) is not dict or "value" not in value or "role" in value:
        return False
    speaker = value.get("from")
    return type(speaker) is str and speaker.lower() in _ROLES


def with_messages(value: dict[str, Any]) -> dict[str, Any]:
    """Return an object with its turns as chat messages under `messages`; an object without turns unchanged."""
    if "messages" in value:
        return value
    key = next((name for name in _KEYS_OF_TURNS if are_turns(value.get(name))), None)
    if key is None and are_messages(value.get(_PLURAL)):
        key = _PLURAL
    if key is None:
        return value
    said = value[key]
    recorded = {name: item for name, item in value.items() if name not in {key, "system"}}
    system = string_of(value.get("system"))
    first = [{"role": "system", "content": system}] if system else []
    return {**recorded, "messages": [*first, *(messages_of(said) if are_turns(said) else said)]}


def messages_of(turns: list[Any]) -> Iterator[dict[str, Any]]:
    """Yield turns as chat messages; a tool turn without a call before it becomes a user's message."""
    waits = False
    for turn in objects_of(turns):
        said = turn.get("value")
        others = {name: held for name, held in turn.items() if name not in _TURN_FIELDS}
        role = _ROLES.get(str(turn.get("from")).lower(), "user")
        if role == "function_call":
            calls = _calls(said)
            waits = bool(calls)
            content = None if calls else said
            yield {**others, "role": "assistant", "content": content, "tool_calls": calls}
        elif role == "tool":
            yield {**others, "role": "tool" if waits else "user", "content": said}
        else:
            waits = False
            yield {**others, "role": role, "content": said}


def _calls(said: Any) -> list[Call]:
    """Return the calls of a turn that holds only calls: one call or a list, as JSON text or decoded."""
    try:
        recorded = orjson.loads(said) if type(said) is str else said
    except ValueError:
        return []
    listed = recorded if type(recorded) is list else [recorded]
    return [
        Call(None, string_of(call.get("name")), call.get("arguments", {}))
        for call in objects_of(listed)
        if string_of(call.get("name"))
    ]
