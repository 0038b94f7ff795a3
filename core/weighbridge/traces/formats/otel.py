"""OpenTelemetry: OTLP-JSON of exporters, collectors and Tempo, and spans of SDKs and services, in lists or one by one.

Log records that name a span are read as the span's events, since some instrumentations write messages in this way.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from weighbridge.traces.chat.call_parts import first_of, json_of
from weighbridge.traces.fields import cost_of, count_of, object_of, string_of, time_of
from weighbridge.traces.formats.coding_agent_results import with_failures_of_coding_agents
from weighbridge.traces.importer import Importer
from weighbridge.traces.spans.ai_sdk import are_apart, embeds, wraps_calls
from weighbridge.traces.spans.attributes import (
    creates_agent,
    may_be_step,
)
from weighbridge.traces.spans.cloud_trace import is_cloud_trace, spans_of_cloud_trace
from weighbridge.traces.spans.content import include_details
from weighbridge.traces.spans.genkit import include_genkit
from weighbridge.traces.spans.go_spans import GO_CONTEXT, is_go_span, span_of_go
from weighbridge.traces.spans.mastra_rows import is_mastra_row, span_of_mastra_row
from weighbridge.traces.spans.monocle import include_monocle
from weighbridge.traces.spans.otlp_fields import (
    attributes_in,
    hex_id,
    plain_value,
    printed_times,
    span_time,
    status_of,
)
from weighbridge.traces.spans.phoenix_rows import ROW_KEYS, is_row, rows_of_columns, span_of_row
from weighbridge.traces.spans.phoenix_store import (
    STORED_KEYS,
    UNREAD,
    is_stored_span,
    is_stored_trace,
    spans_of_stored_trace,
    stored_span,
)
from weighbridge.traces.spans.spans import FIELDS, LACKS, Event, Span
from weighbridge.traces.spans.steps import traces_of
from weighbridge.traces.unread_counts import with_unread_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from weighbridge.traces.model import Trace

_RESOURCE_SPANS = ("resourceSpans", "resource_spans", "batches")
_RESOURCE_LOGS = ("resourceLogs", "resource_logs")
_SCOPE_SPANS = (
    *("scopeSpans", "scope_spans"),
    *("instrumentationLibrarySpans", "instrumentation_library_spans"),
)
_SCOPE_LOGS = ("scopeLogs", "scope_logs", "instrumentationLibraryLogs")
_SCOPES = (
    "scope",
    "instrumentationScope",
    "instrumentationLibrary",
    "instrumentation_library",
    "instrumentation_scope",
)
_LOG_RECORDS = ("logRecords", "log_records")
#: Keys of the list of resources with spans or log records, by the field of a resource.
_LIST_OF_RESOURCES = {
    "scopeSpans": "resourceSpans",
    "scope_spans": "resource_spans",
    "instrumentationLibrarySpans": "resourceSpans",
    "scopeLogs": "resourceLogs",
    "scope_logs": "resource_logs",
}
#: Column with a span or a log record in CloudWatch's rows of Bedrock AgentCore.
_COLUMN = "raw_otel_json"
_WRAPPERS = ("trace", "traces", "result", "data", "spans", "rows", _COLUMN)
_TRACE_IDS = ("traceId", "trace_id")
_SPAN_IDS = ("spanId", "span_id")
_PARENT_IDS = ("parentSpanId", "parent_span_id", "parentId", "parent_id")
#: Fields with a span's IDs in Python's SDK and in both versions of the JavaScript SDK.
_CONTEXTS = ("context", "spanContext", "_spanContext")
_PARENT_CONTEXTS = ("parentSpanContext", "parentContext", "parent")
#: Keys of which every value in this format has at least one.
_DOCUMENT_KEYS = frozenset(
    {
        *(*_RESOURCE_SPANS, *_RESOURCE_LOGS, *_LIST_OF_RESOURCES),
        *(*_WRAPPERS, *_TRACE_IDS, *_CONTEXTS, *ROW_KEYS, *STORED_KEYS, GO_CONTEXT),
    }
)
#: Keys of spans with measurements instead of attributes, which NeMo Guardrails writes.
_MEASURED = frozenset({"metrics", "duration", "start_time"})
#: Keys of spans of Mastra's own tracing, and of the events of which its DuckDB stores make them.
_MASTRAS = (frozenset({"spanType", "startedAt"}), frozenset({"spanType", "eventType", "timestamp"}))
#: Fields with a span's name; the second one is in rows of Logfire's queries.
_SPAN_NAMES = ("name", "span_name")
_MLFLOW_COST = "mlflow.trace.cost"  #: key in the metadata of a trace
_NO_PARENT = frozenset({"", "0000000000000000"})
_SPAN_ID_BYTES, _TRACE_ID_BYTES = 8, 16


def _matches(value: Any) -> bool:
    return not all(map(is_log_record, _documents(value)))


def _documents(value: Any, depth: int = 0) -> Iterator[dict[str, Any]]:
    """Yield the requests, log requests and single spans in a value, which may be one, a list, or a wrapper."""
    if type(value) is list:
        for item in value if depth < len(_WRAPPERS) else ():
            yield from _documents(item, depth + 1)
    elif type(value) is dict and _DOCUMENT_KEYS.isdisjoint(value):
        # Tests and tools keep spans of the JavaScript SDK by the name of their operation.
        for listed in value.values():
            if type(listed) is list and listed and _is_js_span(listed[0]):
                yield from _documents(listed, depth + 1)
    elif type(value) is dict:
        if is_cloud_trace(value):
            yield from spans_of_cloud_trace(value)
        elif is_stored_trace(value):
            yield from spans_of_stored_trace(value)
        elif is_stored_span(value):
            yield stored_span(value)
        elif is_mastra_row(value):
            yield span_of_mastra_row(value)
        elif is_go_span(value):
            yield span_of_go(value)
        elif is_row(value):
            yield span_of_row(value)
        elif not ROW_KEYS.isdisjoint(value):
            for row in rows_of_columns(value):
                yield span_of_row(row)
        elif _listed(value, _RESOURCE_SPANS) or _is_span(value) or is_log_record(value):
            yield value
        elif (export := export_of_resource(value)) is not None:
            yield export
        else:
            if _listed(value, _RESOURCE_LOGS):
                yield value
            for key in _WRAPPERS:
                if type(value.get(key)) in {dict, list} and depth < len(_WRAPPERS):
                    yield from _documents(value[key], depth + 1)


def export_of_resource(value: dict[str, Any]) -> dict[str, Any] | None:
    """Return an export with a single resource that stands outside its list; None for other values.

    Some exporters write each resource on a line of its own.
    """
    for key, resources in _LIST_OF_RESOURCES.items():
        if _listed(value, (key,)):
            return {resources: [value]}
    return None


def _is_span(value: dict[str, Any]) -> bool:
    ids = _ids(value)
    return (
        type(first_of(value, _SPAN_NAMES)) is str
        and type(first_of(ids, _TRACE_IDS)) in {str, int}
        and (type(first_of(ids, _SPAN_IDS)) in {str, int} or _is_printed(value))
        and ("attributes" in value or not value.keys() >= _MEASURED)
        and not any(value.keys() >= keys for keys in _MASTRAS)
    )


def is_log_record(value: dict[str, Any]) -> bool:
    """Return whether a value is a single log record that names its span."""
    return (
        "body" in value
        and first_of(value, _SPAN_NAMES) is None
        and type(first_of(value, _TRACE_IDS)) is str
        and type(first_of(value, _SPAN_IDS)) is str
        and type(value.get("attributes")) in {dict, list}
    )


def _is_line(value: Any) -> bool:
    """Return whether a value is a single span or a trace of Cloud Trace, as on each line of a file."""
    held = value.get(_COLUMN, value) if type(value) is dict else None
    if type(held) is not dict or _DOCUMENT_KEYS.isdisjoint(held):
        return False
    is_of_table = is_row(held) or is_stored_span(held) or is_mastra_row(held) or is_go_span(held)
    return is_of_table or _is_span(held) or is_cloud_trace(held)


def _is_js_span(value: Any) -> bool:
    return type(value) is dict and "context" not in value and _is_span(value)


def _is_printed(value: dict[str, Any]) -> bool:
    """Return whether a value is a span as the JavaScript SDK's console exporter prints it."""
    return type(value.get("id")) is str and "duration" in value and "timestamp" in value


def _ids(value: dict[str, Any]) -> dict[str, Any]:
    """Return the object that has a span's own ids."""
    return next((value[key] for key in _CONTEXTS if type(value.get(key)) is dict), value)


def _parent_id(value: dict[str, Any]) -> Any:
    for key in _PARENT_CONTEXTS:
        if type(value.get(key)) is dict:
            return first_of(value[key], _SPAN_IDS)
    return first_of(value, _PARENT_IDS)


def _listed(value: dict[str, Any], keys: tuple[str, ...]) -> list[dict[str, Any]]:
    """Return the objects in the list under the first of these keys that has one."""
    listed = next((value[key] for key in keys if type(value.get(key)) is list), ())
    return [item for item in listed if type(item) is dict]


def _parts(value: Any) -> list[tuple[str | None, Any]]:
    """Return single spans by their trace; exports are split elsewhere (`traces/split.py`)."""
    groups: dict[str, list[Any]] = {}
    for document in _documents(value):
        if not _is_span(document) and not is_log_record(document):
            return [(None, value)]
        trace_id = hex_id(first_of(_ids(document), _TRACE_IDS), _TRACE_ID_BYTES)
        groups.setdefault(trace_id, []).append(document)
    # The model calls of the AI SDK's requests may be in other traces.
    has_wrapped = are_apart(list(map(_attributes_of, spans)) for spans in groups.values())
    of_agents = [
        key
        for key, spans in groups.items()
        if any(
            is_of_agent(span) and not (has_wrapped and wraps_calls(_attributes_of(span)))
            for span in spans
        )
    ]
    first = next(iter(of_agents or groups), "")
    for key in [
        key for key in groups if key not in {first, *of_agents}
    ]:  # they are counted in the first trace
        groups[first] += groups.pop(key)
    if type(value) is dict and is_stored_trace(value):
        return [(next(iter(groups), None), value)]
    return list(groups.items()) if len(groups) > 1 else [(None, value)]


def is_of_agent(span: dict[str, Any]) -> bool:
    """Return whether a recorded span may be an agent's step, and not only HTTP or a database."""
    if is_row(span) or "span_kind" in span:
        return True
    attributes = _attributes_of(span)
    if creates_agent(attributes) or embeds(attributes):
        return False
    return may_be_step(attributes) or any(
        "gen_ai." in (string_of(event.get("name")) or "") for event in _listed(span, ("events",))
    )


def _read(value: Any) -> list[Trace]:
    spans: list[Span] = []
    logs: list[tuple[str, str, Event]] = []
    unread = 0
    for document in _documents(value):
        unread += count_of(document.get(UNREAD)) or 0
        if _is_span(document):
            spans.append(_span(document, _service(document), ""))
        elif is_log_record(document):
            logs.append(_log(document))
        for group in _listed(document, _RESOURCE_SPANS):
            service = _service(group)
            for scoped in _listed(group, _SCOPE_SPANS):
                scope = _scope(scoped)
                spans += [_span(span, service, scope) for span in _listed(scoped, ("spans",))]
        for group in _listed(document, _RESOURCE_LOGS):
            for scoped in _listed(group, _SCOPE_LOGS):
                logs += [_log(record) for record in _listed(scoped, _LOG_RECORDS)]
    unlinked = _link(spans, logs)
    for span in spans:
        include_details(span)
        include_monocle(span)
        include_genkit(span)
    traces = [
        with_unread_lines(replace(trace, steps=with_failures_of_coding_agents(trace.steps)), unread)
        for trace in traces_of(spans, "otel", {"log records of no span": unlinked})
    ]
    if len(traces) == 1:
        return [_with_info(traces[0], object_of(object_of(value).get("info")))]
    return traces


def _with_info(trace: Trace, info: dict[str, Any]) -> Trace:
    """Return a trace with the id and the cost that MLflow states beside its spans."""
    trace = replace(trace, id=string_of(info.get("trace_id", info.get("request_id"))) or trace.id)
    stated = object_of(json_of(object_of(info.get("trace_metadata")).get(_MLFLOW_COST)))
    cost_usd = cost_of(stated.get("total_cost"))
    if cost_usd is None:
        return trace
    missing = dict(trace.missing)
    missing.pop("cost", None)
    return replace(trace, cost_usd=cost_usd, totals_from=_MLFLOW_COST, missing=missing)


def _link(spans: list[Span], logs: list[tuple[str, str, Event]]) -> int:
    """Link each log record of a model's messages to its span; return the number of records whose span is absent."""
    by_id = {(span.trace_id, span.id): span for span in spans if span.id}
    unlinked = 0
    for trace_id, span_id, event in logs:
        span = by_id.get((trace_id, span_id))
        if span is not None:
            span.events.append(event)
        elif event.name.startswith("gen_ai."):
            unlinked += 1
    return unlinked


def _service(holder: dict[str, Any]) -> str:
    resource = holder.get("resource")
    attributes = attributes_in(resource.get("attributes")) if type(resource) is dict else {}
    return string_of(attributes.get("service.name")) or ""


def _scope(holder: dict[str, Any]) -> str:
    scope = first_of(holder, _SCOPES)
    return (string_of(scope.get("name")) if type(scope) is dict else None) or ""


def _span(value: dict[str, Any], service: str, scope: str) -> Span:
    ids = _ids(value)
    parent = hex_id(_parent_id(value), _SPAN_ID_BYTES)
    own_id = first_of(ids, _SPAN_IDS) or (value.get("id") if _is_printed(value) else None)
    started_at = span_time(value, "start")
    ended_at = span_time(value, "end")
    duration = value.get("durationNano")
    if ended_at is None and started_at is not None and type(duration) is int:
        ended_at = time_of(started_at + duration, "ns")
    if _is_printed(value) and started_at is None:
        started_at, ended_at = printed_times(value)
    status, message = status_of(value)
    return Span(
        trace_id=hex_id(first_of(ids, _TRACE_IDS), _TRACE_ID_BYTES),
        id=hex_id(own_id, _SPAN_ID_BYTES),
        parent_id=None if parent in _NO_PARENT else parent,
        name=string_of(first_of(value, _SPAN_NAMES)) or "",
        started_at=started_at,
        ended_at=ended_at,
        attributes=_attributes_of(value),
        events=[
            Event(string_of(event.get("name")) or "", attributes_in(event.get("attributes")))
            for event in _listed(value, ("events",))
        ],
        status=status,
        status_message=message,
        scope=scope or _scope(value),
        service=service,
    )


def _log(record: dict[str, Any]) -> tuple[str, str, Event]:
    attributes = attributes_in(record.get("attributes"))
    name = first_of(record, ("eventName", "event_name")) or attributes.get("event.name")
    return (
        hex_id(first_of(record, _TRACE_IDS), _TRACE_ID_BYTES),
        hex_id(first_of(record, _SPAN_IDS), _SPAN_ID_BYTES),
        Event(string_of(name) or "", attributes, plain_value(record.get("body"))),
    )


def _attributes_of(value: dict[str, Any]) -> dict[str, Any]:
    """Return a span's attributes; Phoenix's API keeps the kind outside them, and Logfire may encode them as text."""
    attributes = attributes_in(json_of(value.get("attributes")))
    kind = value.get("span_kind")
    if type(kind) is str:
        attributes.setdefault("openinference.span.kind", kind)
    return attributes


IMPORTER = Importer(
    id="otel",
    name="OpenTelemetry (OTLP-JSON)",
    matches=_matches,
    read=_read,
    parts=_parts,
    is_line=_is_line,
    tried_on="real exports of agents with OpenTelemetry, also of Monocle, GitHub Copilot and Microsoft's Agent Framework, real spans of Vercel's AI SDK, real traces of Google Cloud Trace, and real databases of MLflow and of Mastra's telemetry; spans that OpenTelemetry for Go printed, which had no model calls; synthetic records of MLflow, Phoenix (also dataframes) and Logfire",
    fields=(("id of the trace", "traceId; of MLflow trace_id in info"), *FIELDS),
    lacks=LACKS,
)
