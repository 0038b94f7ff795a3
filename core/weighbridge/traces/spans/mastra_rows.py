"""Mastra's telemetry of 2025: rows of the table `mastra_traces`, each a span with its parts as JSON and times in microseconds."""

from __future__ import annotations

from typing import Any

from weighbridge.traces.fields import object_of
from weighbridge.traces.spans.otlp_fields import plain_value
from weighbridge.traces.spans.phoenix_store import UNREAD
from weighbridge.traces.stored_rows import json_cell

_COLUMNS = frozenset(
    {"id", "traceId", "parentSpanId", "name", "attributes", "startTime", "endTime"}
)
_LIST = {"values"}  #: key of a list among the attributes
_NANOSECONDS = 1_000  #: in a microsecond


def is_mastra_row(value: Any) -> bool:
    """Return whether a value is a row of the table of spans."""
    return (
        type(value) is dict
        and value.keys() >= _COLUMNS
        and all(type(value[key]) is str for key in ("id", "traceId", "name", "attributes"))
    )


def span_of_mastra_row(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row as a span of OTLP; one whose attributes cannot be read has none."""
    attributes, events = json_cell(row, "attributes"), json_cell(row, "events")
    return {
        "traceId": row["traceId"],
        "spanId": row["id"],
        "parentSpanId": row["parentSpanId"],
        "name": row["name"],
        "attributes": {
            key: plain_value({"arrayValue": held}) if object_of(held).keys() == _LIST else held
            for key, held in object_of(attributes).items()
        },
        "status": json_cell(row, "status"),
        "events": events if type(events) is list else [],
        "startTimeUnixNano": _in_nanoseconds(row["startTime"]),
        "endTimeUnixNano": _in_nanoseconds(row["endTime"]),
        UNREAD: int(type(attributes) is not dict),
    }


def _in_nanoseconds(time: Any) -> int | None:
    return time * _NANOSECONDS if type(time) is int else None
