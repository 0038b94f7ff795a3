"""Jaeger's JSON: downloads of its interface, and answers of its query service."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from weighbridge.traces.fields import string_of, time_of
from weighbridge.traces.importer import Importer
from weighbridge.traces.spans.ai_sdk import embeds
from weighbridge.traces.spans.attributes import creates_agent, may_be_step
from weighbridge.traces.spans.content import include_details
from weighbridge.traces.spans.monocle import include_monocle
from weighbridge.traces.spans.spans import FIELDS, LACKS, Event, Span
from weighbridge.traces.spans.steps import traces_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from weighbridge.traces.model import Trace

_NUMBER_CHARACTERS = 25  #: maximum length of a number in text form


def _matches(value: Any) -> bool:
    return bool(_traces(value))


def _traces(value: Any) -> list[dict[str, Any]]:
    """Return the traces in an answer, in a list, or alone."""
    if type(value) is dict:
        value = value["data"] if type(value.get("data")) is list else [value]
    return [
        trace
        for trace in (value if type(value) is list else ())
        if type(trace) is dict and _are_spans(trace.get("spans"))
    ]


def _parts(value: Any) -> list[tuple[str | None, Any]]:
    """Return the traces of an answer or a list that has several.

    Those without a span that may be an agent's step are added to the first trace that has one, which counts them.
    """
    traces = _traces(value)
    if len(traces) < 2:
        return []
    of_agents = [trace for trace in traces if any(map(_is_of_agent, _dicts(trace["spans"])))]
    first, *rest = of_agents or traces[:1]
    known = {id(trace) for trace in of_agents}
    others = [trace for trace in traces if trace is not first and id(trace) not in known]
    parts = [[first, *others], *([trace] for trace in rest)]
    return [(string_of(part[0].get("traceID")), {"data": part}) for part in parts]


def _is_of_agent(span: dict[str, Any]) -> bool:
    """Return whether a span may be an agent's step, and not only HTTP or a database."""
    attributes = _tags(span.get("tags"))
    if creates_agent(attributes) or embeds(attributes):
        return False
    logs = _dicts(span.get("logs"))
    return may_be_step(attributes) or any("gen_ai." in _event(log).name for log in logs)


def _are_spans(value: Any) -> bool:
    return type(value) is list and any(
        type(span) is dict and "spanID" in span and "operationName" in span for span in value[:20]
    )


def _read(value: Any) -> list[Trace]:
    spans = [
        _span(span, trace, _objects(trace.get("processes")))
        for trace in _traces(value)
        for span in trace["spans"]
        if type(span) is dict
    ]
    for span in spans:
        include_details(span)
        include_monocle(span)
    return traces_of(spans, "jaeger")


def _objects(value: Any) -> dict[str, Any]:
    return value if type(value) is dict else {}


def _span(value: dict[str, Any], trace: dict[str, Any], processes: dict[str, Any]) -> Span:
    attributes = _tags(value.get("tags"))
    trace_id = string_of(value.get("traceID")) or string_of(trace.get("traceID")) or ""
    process = processes.get(string_of(value.get("processID")) or "", value.get("process"))
    started_at = time_of(value.get("startTime"), "us")
    return Span(
        trace_id=trace_id,
        id=string_of(value.get("spanID")) or "",
        parent_id=_parent(value, trace_id),
        name=string_of(value.get("operationName")) or "",
        started_at=started_at,
        ended_at=_end(started_at, value.get("duration")),
        attributes=attributes,
        events=[_event(log) for log in _dicts(value.get("logs"))],
        status=_status(attributes),
        status_message=string_of(attributes.get("otel.status_description")),
        scope=string_of(attributes.get("otel.scope.name")) or "",
        service=string_of(_objects(process).get("serviceName")) or "",
    )


def _dicts(value: Any) -> Iterable[dict[str, Any]]:
    return (item for item in (value if type(value) is list else ()) if type(item) is dict)


def _parent(value: dict[str, Any], trace_id: str) -> str | None:
    """Return the ID of the span in the same trace of which this one is a child, or else from which it follows."""
    found: dict[Any, str] = {}
    for reference in _dicts(value.get("references")):
        span_id = string_of(reference.get("spanID"))
        if span_id and reference.get("traceID", trace_id) == trace_id:
            kind = reference.get("refType")
            found.setdefault(kind if type(kind) is str else "CHILD_OF", span_id)
    return (
        found.get("CHILD_OF") or found.get("FOLLOWS_FROM") or string_of(value.get("parentSpanID"))
    )


def _end(started_at: int | None, duration: Any) -> int | None:
    microseconds = _number(duration) if type(duration) is str else duration
    if started_at is None or type(microseconds) not in {int, float} or not microseconds >= 0:
        return None
    # The limit of a time keeps a float from becoming infinite, and an integer from becoming huge.
    return time_of(started_at + int(min(microseconds, 2**63) * 1000), "ns")


def _status(attributes: dict[str, Any]) -> Literal["unset", "ok", "error"]:
    recorded = str(attributes.get("otel.status_code", "")).upper()
    if recorded in {"ERROR", "2"} or attributes.get("error") in (True, "true", "True"):
        return "error"
    return "ok" if recorded in {"OK", "1"} else "unset"


def _event(log: dict[str, Any]) -> Event:
    attributes = _tags(log.get("fields"))
    name = string_of(attributes.get("event")) or string_of(attributes.get("name")) or ""
    return Event(name, attributes)


def _tags(listed: Any) -> dict[str, Any]:
    return {
        tag["key"]: _value(tag.get("value"), tag.get("type"))
        for tag in _dicts(listed)
        if type(tag.get("key")) is str
    }


def _value(value: Any, kind: Any) -> Any:
    """Return a tag's value; some storage backends keep all values as text with a separate type."""
    if type(value) is not str:
        return value
    if kind == "bool":
        return value == "true"
    return _number(value) if kind in ("int64", "float64") else value


def _number(text: str) -> Any:
    try:
        number = float(text) if len(text) <= _NUMBER_CHARACTERS else None
    except ValueError:
        number = None
    if number is None:
        return text
    return int(text) if text.lstrip("-").isdecimal() else number


IMPORTER = Importer(
    id="jaeger",
    name="Jaeger JSON",
    matches=_matches,
    read=_read,
    parts=_parts,
    tried_on="real exports of Jaeger",
    fields=(("id of the trace", "traceID"), *FIELDS),
    lacks=LACKS,
)
