"""Traces of DEC Bench, whose events keep the lines of an agent's stream of which they were made."""

from __future__ import annotations

from typing import Any

_KEYS = frozenset({"schemaVersion", "source", "events"})  #: of a trace
FIELDS_OF_EVENTS = _KEYS | {"summary"}  #: what the lines say as well


def kept_lines(value: dict[str, Any]) -> list[Any]:
    """Return the lines that the events of a trace keep as `payload`; empty for another object.

    A line of which several events were made stands in each of them.
    """
    events = value.get("events")
    if not (value.keys() >= _KEYS and type(value["source"]) is str and type(events) is list):
        return []
    lines: list[Any] = []
    last = None
    for event in events:
        if type(event) is not dict or type(event.get("payload")) is not dict or "kind" not in event:
            return []
        line = (str(event.get("id")).partition(".")[0], event["payload"])
        if line != last:
            lines.append(event["payload"])
        last = line
    return lines
