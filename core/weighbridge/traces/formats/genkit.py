"""Traces that Firebase Genkit stores for its developer UI: an object of spans for each run of a flow or an action."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal

from weighbridge.traces.fields import id_of, object_of, objects_of, string_of, time_of
from weighbridge.traces.importer import Importer
from weighbridge.traces.spans.genkit import GENKIT_PREFIX, include_genkit
from weighbridge.traces.spans.spans import Event, Span
from weighbridge.traces.spans.steps import traces_of

if TYPE_CHECKING:
    from weighbridge.traces.model import Trace

_LOOKED_AT = 20  #: number of traces, spans and attributes by which the format is recognised
_LIST = "traces"  #: key of the traces in an answer of the telemetry server
#: Limit at and above which a time is in microseconds, as in the earliest versions.
_MICROSECONDS = 10**14
_ERROR = 2  #: status code of a failed span


def _is_trace(value: Any) -> bool:
    spans = value.get("spans") if type(value) is dict else None
    if type(spans) is not dict or not spans:
        return False
    some = list(islice(spans.values(), _LOOKED_AT))
    return all(map(_is_span, some)) and any(
        type(name) is str and name.startswith(GENKIT_PREFIX)
        for span in some
        for name in islice(span["attributes"], _LOOKED_AT)
    )


def _is_span(value: Any) -> bool:
    return (
        type(value) is dict
        and type(value.get("spanId")) is str
        and type(value.get("attributes")) is dict
    )


def _traces(value: Any) -> list[Any]:
    if type(value) is dict:
        listed = value.get(_LIST)
        return listed if type(listed) is list else [value]
    return []


def _matches(value: Any) -> bool:
    some = _traces(value)[:_LOOKED_AT]
    return bool(some) and all(map(_is_trace, some))


def _parts(value: Any) -> list[tuple[str | None, Any]]:
    traces = objects_of(_traces(value))
    if len(traces) < 2:
        return [(None, value)]
    return [(_id(trace), trace) for trace in traces]


def _id(trace: dict[str, Any]) -> str | None:
    """Return a trace's ID, which its first span also has."""
    spans = object_of(trace.get("spans"))
    first = object_of(next(iter(spans.values()), None))
    return id_of(trace.get("traceId")) or id_of(first.get("traceId"))


def _read(value: Any) -> list[Trace]:
    spans: list[Span] = []
    names: dict[str, str] = {}
    for trace in objects_of(_traces(value)):
        own_id = _id(trace) or ""
        name = string_of(trace.get("displayName"))
        if name:
            names.setdefault(own_id, name)
        recorded = object_of(trace.get("spans"))
        spans += [_span(object_of(span), key, own_id) for key, span in recorded.items()]
    found = traces_of(spans, "genkit")
    return [
        replace(trace, metadata={"name": names[key], **trace.metadata}) if key in names else trace
        for trace in found
        for key in [trace.id or ""]
    ]


def _span(recorded: dict[str, Any], key: Any, trace_id: str) -> Span:
    status = object_of(recorded.get("status"))
    events = objects_of(object_of(recorded.get("timeEvents")).get("timeEvent"))
    state: Literal["error", "unset"] = "error" if status.get("code") == _ERROR else "unset"
    span = Span(
        trace_id=trace_id,
        id=id_of(recorded.get("spanId")) or id_of(key) or "",
        parent_id=id_of(recorded.get("parentSpanId")),
        name=string_of(recorded.get("displayName")) or "",
        started_at=_time(recorded.get("startTime")),
        ended_at=_time(recorded.get("endTime")),
        attributes=dict(object_of(recorded.get("attributes"))),
        events=[_event(object_of(event.get("annotation"))) for event in events],
        status=state,
        status_message=string_of(status.get("message")),
        scope=string_of(object_of(recorded.get("instrumentationLibrary")).get("name")) or "",
    )
    include_genkit(span)
    return span


def _event(annotation: dict[str, Any]) -> Event:
    name = string_of(annotation.get("description")) or ""
    return Event(name, object_of(annotation.get("attributes")))


def _time(value: Any) -> int | None:
    is_micro = type(value) in {int, float} and value >= _MICROSECONDS
    return time_of(value, "us" if is_micro else "ms")


IMPORTER = Importer(
    id="genkit",
    name="Genkit traces",
    matches=_matches,
    read=_read,
    parts=_parts,
    fields=(
        ("id of the trace", "traceId; of a step spanId"),
        ("parent_id", "parentSpanId; of a tool call, the model call that asked"),
        (
            "type",
            "genkit:metadata:subtype, or the kind in genkit:key: model is llm, tool is tool; flows and generate are no steps",
        ),
        ("name, arguments", "genkit:name and genkit:input of a tool; else toolRequest"),
        ("output", "genkit:output: its message's text; of a tool all of it"),
        ("user and system steps", "messages in genkit:input of a model"),
        ("error", "status of code 2 with its message; genkit:state error"),
        ("model", "modelVersion or model in the provider's own answer, or genkit:name"),
        (
            "usage",
            "usage in genkit:output, with thoughtsTokens as output; the provider's own if it names cached tokens",
        ),
        ("started_at, ended_at", "startTime, endTime"),
        ("tools", "tools in genkit:input of a model"),
    ),
    tried_on="traces that its client for JavaScript wrote for a made-up model; real traces of flows without a model",
    lacks="cost; what was removed from messages before the trace was stored",
)
