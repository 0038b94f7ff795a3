"""Spans as OpenTelemetry's exporter for Go prints them (`stdouttrace`): objects of its SDK, with their fields in capitals."""

from __future__ import annotations

from typing import Any

from weighbridge.traces.fields import object_of, objects_of, string_of

GO_CONTEXT = "SpanContext"  #: key of a span's ids
_ATTRIBUTES = "Attributes"
_SCOPES = ("InstrumentationScope", "InstrumentationLibrary")


def is_go_span(value: Any) -> bool:
    """Return whether a value is a printed span."""
    ids = object_of(value.get(GO_CONTEXT)) if type(value) is dict else {}
    return (
        type(ids.get("TraceID")) is str
        and type(ids.get("SpanID")) is str
        and type(value.get("Name")) is str
    )


def span_of_go(value: dict[str, Any]) -> dict[str, Any]:
    """Return a printed span as a span of OTLP."""
    ids, status = value[GO_CONTEXT], object_of(value.get("Status"))
    scope = next((held for key in _SCOPES if (held := object_of(value.get(key)))), {})
    return {
        "traceId": ids["TraceID"],
        "spanId": ids["SpanID"],
        "parentSpanId": object_of(value.get("Parent")).get("SpanID"),
        "name": value["Name"],
        "startTime": value.get("StartTime"),
        "endTime": value.get("EndTime"),
        "attributes": _attributes(value.get(_ATTRIBUTES)),
        "events": [
            {"name": event.get("Name"), "attributes": _attributes(event.get(_ATTRIBUTES))}
            for event in objects_of(value.get("Events"))
        ],
        "status": {"code": status.get("Code"), "message": string_of(status.get("Description"))},
        "resource": {"attributes": _attributes(value.get("Resource"))},
        "scope": {"name": scope.get("Name")},
    }


def _attributes(listed: Any) -> dict[str, Any]:
    """Return attributes by name; their values stand beside their types, and those of a list are a list."""
    return {
        item["Key"]: object_of(item.get("Value")).get("Value")
        for item in objects_of(listed)
        if type(item.get("Key")) is str
    }
