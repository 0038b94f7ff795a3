"""Traces of Google Cloud Trace, as version 1 of its API returns them: spans with `labels` in place of attributes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weighbridge.traces.fields import object_of, objects_of, string_of

if TYPE_CHECKING:
    from collections.abc import Iterator

_LOOKED_AT = 20  #: number of spans by which this form is recognised


def is_cloud_trace(value: dict[str, Any]) -> bool:
    """Return whether an object is a trace of Cloud Trace."""
    listed = value.get("spans")
    return (
        type(value.get("projectId")) is str
        and type(value.get("traceId")) is str
        and type(listed) is list
        and bool(listed)
        and all(map(_is_span, listed[:_LOOKED_AT]))
    )


def _is_span(value: Any) -> bool:
    return (
        type(value) is dict
        and type(value.get("spanId")) in {str, int}
        and type(value.get("labels", {})) is dict
        and "traceId" not in value
    )


def spans_of_cloud_trace(trace: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the spans of a trace, each with the id of the trace, its labels as attributes and its service."""
    for span in objects_of(trace["spans"]):
        labels = object_of(span.get("labels"))
        service = {"service.name": labels.get("service.name")}
        yield {
            **{key: held for key, held in span.items() if key != "labels"},
            "name": string_of(span.get("name")) or "",
            "traceId": trace["traceId"],
            "attributes": labels,
            "resource": {"attributes": service},
        }
