"""Joining of a request and its answer, which are kept apart under `request` and `response`, to one object."""

from __future__ import annotations

from typing import Any

from weighbridge.traces.chat.conversation import are_messages
from weighbridge.traces.chat.roles import ROLES
from weighbridge.traces.chat.streamed_answers import completions_of
from weighbridge.traces.fields import object_of, objects_of, string_of

#: Keys of an object that has request and answer together.
_OF_BOTH = frozenset({"messages", "choices", "contents", "candidates"})
_REQUEST, _RESPONSE = "request", "response"
APART = frozenset({_REQUEST, _RESPONSE})
_MESSAGE = ("role", "content", "tool_calls")
_CHUNK = "chat.completion.chunk"


def are_apart(value: dict[str, Any]) -> bool:
    """Return whether a value holds a request, a response, or both, apart."""
    return _OF_BOTH.isdisjoint(value) and not APART.isdisjoint(value)


def has_response(value: dict[str, Any]) -> bool:
    """Return whether a response stands beside a request, in any form."""
    return bool(value.get(_RESPONSE))


def joined(value: dict[str, Any]) -> dict[str, Any]:
    """Return a request and its response that are apart as one object."""
    asked, answered = body_of(value.get(_REQUEST)), value.get(_RESPONSE)
    is_chat = are_messages(asked.get("messages"))
    return {**asked, **(_answered(answered) if is_chat else body_of(answered))}


def body_of(value: Any) -> dict[str, Any]:
    """Return the body of a request or a response that has headers; one without headers is the body itself."""
    if type(value) is not dict:
        return {}
    body = value.get("body")
    return body if type(body) is dict else value


def _answered(response: Any) -> dict[str, Any]:
    """Return a response to messages as a completion; it may be only the answer's message, text or streamed chunks."""
    if type(response) is str and response:
        return _completion({"content": response})
    held = body_of(response)
    chunks = [object_of(item.get("__data__")) or item for item in objects_of(held.get("body"))]
    if chunks and all(chunk.get("object") == _CHUNK for chunk in chunks):
        completions = completions_of(chunks)
        return completions[0] if len(completions) == 1 else held
    is_message = type(held.get("content")) is str or bool(objects_of(held.get("tool_calls")))
    if is_message and _OF_BOTH.isdisjoint(held):
        rest = {name: item for name, item in held.items() if name not in _MESSAGE}
        return rest | _completion({name: held[name] for name in _MESSAGE if name in held})
    return held


def _completion(message: dict[str, Any]) -> dict[str, Any]:
    role = string_of(message.get("role"))
    return {"choices": [{"message": {**message, "role": role if role in ROLES else "assistant"}}]}
