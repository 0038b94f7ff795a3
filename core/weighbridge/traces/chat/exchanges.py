"""A request and its answer that one record keeps apart: their bodies, and both as one object."""

from __future__ import annotations

from typing import Any

from weighbridge.traces.chat.call_parts import first_of, json_of
from weighbridge.traces.chat.conversation import are_messages
from weighbridge.traces.chat.roles import ROLES
from weighbridge.traces.chat.stream_apis import streamed_answer
from weighbridge.traces.fields import object_of, objects_of, string_of

#: Keys of an object that has request and answer together.
_OF_BOTH = frozenset({"messages", "choices", "contents", "candidates"})
_REQUESTS = ("request", "request_body", "requestBody")
_RESPONSES = ("response", "response_body", "responseBody")
APART = frozenset({*_REQUESTS, *_RESPONSES})
_BODY = "body"
UNREAD = "the response beside the messages is in a form that is not read"
_MESSAGE = ("role", "content", "tool_calls")
#: Keys of which the body of an answer has one, and of which a text that is a body does.
_ANSWERS = frozenset({"choices", "candidates", "promptFeedback", "output"})
_ANSWERS_AS_TEXT = _ANSWERS - {"output"}


def are_apart(value: dict[str, Any]) -> bool:
    """Return whether a value holds a request, a response, or both, apart."""
    return _OF_BOTH.isdisjoint(value) and not APART.isdisjoint(value)


def asked_in(value: dict[str, Any]) -> dict[str, Any]:
    """Return the body of the request that a value holds apart; empty if it has none in JSON."""
    return body_of(first_of(value, _REQUESTS))


def response_in(value: dict[str, Any]) -> Any:
    """Return the response that a value holds apart, in any form; None if it has none."""
    return first_of(value, _RESPONSES)


def has_response(value: dict[str, Any]) -> bool:
    """Return whether a response stands beside a request, in any form."""
    return bool(response_in(value))


def asks_chat(asked: dict[str, Any]) -> bool:
    """Return whether the body of a request asks a model for the next message of a chat."""
    return are_messages(asked.get("messages")) or (
        type(asked.get("contents")) in {str, list} and bool(asked["contents"])
    )


def joined(value: dict[str, Any]) -> dict[str, Any]:
    """Return a request and its response that are apart as one object."""
    asked, response = asked_in(value), response_in(value)
    return {**asked, **(answer_of(response) if asks_chat(asked) else body_of(response))}


def body_of(value: Any) -> dict[str, Any]:
    """Return the body of a request or a response that has headers; one without headers is the body itself."""
    held = object_of(json_of(value))
    body = json_of(held.get(_BODY))
    return body if type(body) is dict else held


def answer_of(response: Any) -> dict[str, Any]:
    """Return the body of a response to a chat; one that is only a message, a text or a stream becomes a body as APIs give it."""
    body = body_of(response)
    named = _ANSWERS_AS_TEXT if type(response) is str else _ANSWERS
    if not named.isdisjoint(body) or body.get("type") == "message":
        return body
    if type(response) is str and body.get("object") == "response":
        return body
    held = object_of(json_of(response))
    for stored in (response, *held.values(), *(body.values() if body is not held else ())):
        if streamed := streamed_answer(stored):
            return streamed
    if type(response) is str and response:
        return _completion({"content": response})
    is_message = type(body.get("content")) is str or bool(objects_of(body.get("tool_calls")))
    if is_message and _OF_BOTH.isdisjoint(body):
        rest = {name: item for name, item in body.items() if name not in _MESSAGE}
        return rest | _completion({name: body[name] for name in _MESSAGE if name in body})
    return body


def _completion(message: dict[str, Any]) -> dict[str, Any]:
    role = string_of(message.get("role"))
    return {"choices": [{"message": {**message, "role": role if role in ROLES else "assistant"}}]}
