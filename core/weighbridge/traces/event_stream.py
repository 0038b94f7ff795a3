"""Text of server-sent events: the lines `data: ...` in which model APIs stream their answers."""

from __future__ import annotations

from typing import Any

from weighbridge.traces.fields import json_in

_FIELDS = (b"data:", b"event:", b"id:", b"retry:", b":")
_STARTS = (b"data:", b"event:")
_LAST_DATA = b"[DONE]"  #: data of the last event in streams of OpenAI and others


def begins_events(line: bytes) -> bool:
    """Return whether the first line of a text is a line of server-sent events."""
    return line.lstrip().startswith(_STARTS)


def events_in(lines: list[bytes]) -> list[Any] | None:
    """Return the JSON values in a text's events, given its lines; None if a line is not of an event or data is not JSON.

    An object without a `type` or an `object` field, such as Gemini's, is wrapped: `{"event": "message", "data": {...}}`.
    Only the text shows that such objects are parts of one stream. Any other value is wrapped if its event has a name.
    """
    events: list[Any] = []
    data: list[bytes] = []
    name = b""
    for line in (*lines, b""):
        held = line.strip(b"\r\n")
        if held.startswith(b"data:"):
            data.append(held[5:].strip())
            continue
        if held.strip() and not held.startswith(_FIELDS):
            return None
        is_end = not held.strip() or held.startswith(b"event:")
        if data and is_end:
            text = b"\n".join(data)
            data = []
            if text != _LAST_DATA and text and not _take(text, name, events):
                return None
        if is_end:
            name = held[6:].strip()
    return events or None


def _take(text: bytes, name: bytes, events: list[Any]) -> bool:
    """Add the JSON data of one event, or of several events that no empty line divides; return whether all of it is JSON."""
    try:
        values = [json_in(text)]
    except ValueError:
        try:
            values = [json_in(each) for each in text.split(b"\n") if each not in {_LAST_DATA, b""}]
        except ValueError:
            return False
    event = name.decode(errors="replace") or "message"
    for value in values:
        is_named = "type" in value or "object" in value if type(value) is dict else not name
        events.append(value if is_named else {"event": event, "data": value})
    return True
