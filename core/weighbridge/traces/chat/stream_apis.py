"""Streams of model APIs: which API sent the events, and the one answer that they are pieces of."""

from __future__ import annotations

from typing import Any, Literal

from weighbridge.traces.chat.provider_bodies import as_openai
from weighbridge.traces.chat.streamed_answers import completions_of, messages_of, responses_of
from weighbridge.traces.event_stream import begins_events, events_in
from weighbridge.traces.fields import (
    json_in,
    object_of,
    objects_of,
    string_of,
    text_of,
    word_of,
)

Api = Literal["chat", "anthropic", "responses", "gemini"]
_CHUNK = "chat.completion.chunk"
_LOOKED_AT = 20  #: number of events examined, one of which must belong to an API
_ANTHROPIC = frozenset(
    {
        *("message_start", "content_block_start", "content_block_delta", "content_block_stop"),
        *("message_delta", "message_stop"),
    }
)
_CHUNKS = ("", _CHUNK)  #: values of `object` in chunks; Azure's first chunk has none
_BETWEEN = frozenset({"ping", "error", "keepalive"})  #: events that a stream of any API may have
_INNER = "__data__"  #: key of the event in an object that a program stored with its class


def opened_event(value: Any) -> dict[str, Any] | None:
    """Return an event, taken out of an object with its name and raw data if it is in one."""
    if type(value) is not dict:
        return None
    held = value.get("data")
    if type(value.get("event")) is not str or held is None:
        return value
    if type(held) is str:
        try:
            held = json_in(held)
        except ValueError:
            return {"type": "ping"}  # such as [DONE]
    return held if type(held) is dict else None


def api_of_event(event: dict[str, Any]) -> Api | None:
    """Return the API whose stream has such an event; None if no API's has, or each."""
    kind = event.get("type")
    if event.get("object") == _CHUNK and type(event.get("choices")) is list:
        return "chat"
    if type(kind) is str and kind in _ANTHROPIC:
        return "anthropic"
    if type(kind) is str and kind.startswith("response.") and "payload" not in event:
        return "responses"
    if type(event.get("candidates")) is list or type(event.get("promptFeedback")) is dict:
        return "gemini"
    return None


def api_of_stream(events: list[Any]) -> Api | None:
    """Return the API that streamed a list of events; None if it is unknown, or if there are several."""
    found: set[Api] = set()
    for each in events[:_LOOKED_AT]:
        event = opened_event(each)
        if event is None:
            return None
        api = api_of_event(event)
        if api is not None:
            found.add(api)
        elif word_of(event.get("type")) not in _BETWEEN and event.get("object") not in _CHUNKS:
            return None
    if found == {"gemini"}:
        return "gemini" if _is_one_answer(events) else None
    return found.pop() if len(found) == 1 else None


def _is_one_answer(value: list[Any]) -> bool:
    """Return whether bodies of Gemini are pieces of one answer: from one stream, with one ID, or with one finish reason."""
    if all(type(object_of(each).get("event")) is str for each in value):
        return True
    ids = {string_of(object_of(each).get("responseId")) for each in value}
    if len(value) < 2:
        return False
    ended = [
        any("finishReason" in each for each in objects_of(object_of(body).get("candidates")))
        for body in value
    ]
    return (len(ids) == 1 and None not in ids) or (ended[-1] and not any(ended[:-1]))


def gemini_completion(events: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the pieces of one answer of Gemini as a completion."""
    return as_openai(_gemini_answer(events))


def _gemini_answer(events: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the pieces of one answer of Gemini as its body; the last usage covers the whole answer."""
    parts: list[Any] = []
    whole: dict[str, Any] = {}
    for event in events:
        whole |= {key: held for key, held in event.items() if held is not None}
        for candidate in objects_of(event.get("candidates"))[:1]:
            parts += objects_of(object_of(candidate.get("content")).get("parts"))
    texts = [text for part in parts if not part.get("thought") and (text := text_of([part]))]
    others = [part for part in parts if part.get("thought") or text_of([part]) is None]
    joined = [{"text": "".join(texts)}] if texts else []
    if "candidates" not in whole:
        return {**whole, "candidates": []}
    last = next(iter(objects_of(whole["candidates"])), {})
    return {**whole, "candidates": [{**last, "content": {"parts": [*joined, *others]}}]}


def error_in(event: dict[str, Any]) -> str:
    """Return the reason in an event of the type `error`."""
    recorded = object_of(event.get("error"))
    return string_of(recorded.get("message")) or string_of(event.get("message")) or "error"


def streamed_answer(value: Any) -> dict[str, Any]:
    """Return the body of the answer in a stored stream: its text, its lines, or its events; empty for anything else.

    A stream that ended with an error has it under `error`.
    """
    listed = _events(value)
    api = api_of_stream(listed)
    if api is None:
        return {}
    events = [event for each in listed if (event := opened_event(each)) is not None]
    own = [event for event in events if api_of_event(event) == api]
    if api == "gemini":
        return _gemini_answer(own)
    assemble = {"chat": completions_of, "anthropic": messages_of, "responses": responses_of}[api]
    answers = assemble(own)
    if len(answers) != 1:
        return {}
    errors = [error_in(event) for event in events if event.get("type") == "error"]
    return {**answers[0], "error": errors[-1]} if errors else answers[0]


def _events(value: Any) -> list[Any]:
    """Return the events in a stream that was stored as a text, or as a list of lines, of pieces of text, or of events."""
    if type(value) is str:
        return _events_in(value)
    if type(value) is not list or not value:
        return []
    if all(type(each) is str for each in value):
        return _events_in("\n".join(value)) or _events_in("".join(value))
    return [object_of(object_of(each).get(_INNER)) or each for each in value]


def _events_in(text: str) -> list[Any]:
    raw = text.encode(errors="replace")
    return (events_in(raw.split(b"\n")) or []) if begins_events(raw[:100]) else []
