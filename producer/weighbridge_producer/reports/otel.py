"""OpenTelemetry's `gen_ai.evaluation.result` events, as log records in lines of OTLP JSON.

They follow the semantic conventions for generative AI, and the format of the Collector's file exporter: each line is a
`LogsData` with up to 500 records. Attributes specific to Weighbridge begin with `weighbridge.`.
"""

from __future__ import annotations

import re
import time
from importlib.metadata import version
from itertools import islice
from typing import TYPE_CHECKING, Any

import orjson

from weighbridge.text import encodable, shorten
from weighbridge_producer.reports.metadata_fields import flat

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from weighbridge.jobs.result_line import ResultRow
    from weighbridge_producer.reports.report import Report

EVENT = "gen_ai.evaluation.result"
_RECORDS_AT_ONCE = 500
_TEXT_CHARACTERS = 4_000
_FIELDS_LIMIT = 50  #: metadata fields per event
_OF_SPAN = ("traceId", "spanId")  #: fields of a record, beside its attributes
_INTEGERS = range(-(2**63), 2**63)
_TRACE_ID = re.compile("[0-9a-f]{32}")
_SPAN_ID = re.compile("[0-9a-f]{16}")


def blocks(report: Report) -> Iterator[bytes]:
    """Yield the lines."""
    return event_lines(report.name, (_facts(row) | _span_of(row) for row in report.rows()))


def event_lines(run: str, events: Iterable[dict[str, Any]]) -> Iterator[bytes]:
    """Yield the lines of a run's events.

    An event is its attributes, of which those with the value None are omitted, and optionally `traceId` and `spanId`.
    """
    resource = {"attributes": _attributes({"service.name": "weighbridge", "weighbridge.run": run})}
    scope = {"name": "weighbridge", "version": version("weighbridge")}
    now = str(time.time_ns())
    left = iter(events)
    while records := [_record(event, now) for event in islice(left, _RECORDS_AT_ONCE)]:
        logs = {"resource": resource, "scopeLogs": [{"scope": scope, "logRecords": records}]}
        yield orjson.dumps({"resourceLogs": [logs]}, option=orjson.OPT_APPEND_NEWLINE)


def _record(event: dict[str, Any], now: str) -> dict[str, Any]:
    of_span = {name: event[name] for name in _OF_SPAN if name in event}
    attributes = {name: value for name, value in event.items() if name not in _OF_SPAN}
    record = {
        "timeUnixNano": now,
        "observedTimeUnixNano": now,
        "eventName": EVENT,
        "attributes": _attributes(attributes),
    }
    return record | of_span


def _span_of(row: ResultRow) -> dict[str, str]:
    """Return the trace and the span that a job's metadata names."""
    metadata = row.metadata or {}
    trace_id, span_id = metadata.get("trace_id"), metadata.get("span_id")
    if not (isinstance(trace_id, str) and _TRACE_ID.fullmatch(trace_id)):
        return {}
    if isinstance(span_id, str) and _SPAN_ID.fullmatch(span_id):
        return {"traceId": trace_id, "spanId": span_id}
    return {"traceId": trace_id}


def _facts(row: ResultRow) -> dict[str, Any]:
    """Return the attributes of a job's event."""
    metadata = dict(row.metadata or {})
    response_id = metadata.get("response_id")
    fields = islice(flat(metadata).items(), _FIELDS_LIMIT)
    return {
        "gen_ai.evaluation.name": row.label or row.grader or "weighbridge",
        "gen_ai.evaluation.score.value": float(row.score or 0) if row.outcome.has_score else None,
        "gen_ai.evaluation.score.label": row.outcome.word,
        "gen_ai.evaluation.explanation": row.reason() or None,
        "gen_ai.response.id": response_id if isinstance(response_id, str) else None,
        "error.type": row.error.code if row.error else None,
        "weighbridge.custom_id": row.custom_id,
        "weighbridge.line": row.line,
        "weighbridge.grader": row.grader,
        "weighbridge.grader_version": row.grader_version,
        "weighbridge.cause": row.cause or None,
        "weighbridge.config_digest": row.config_digest,
        "weighbridge.receipt": row.receipt,
        **{f"weighbridge.metadata.{path}": value for path, value in fields},
    }


def _attributes(facts: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {"key": encodable(shorten(name, 200)), "value": _value(value)}
        for name, value in facts.items()
        if value is not None
    ]


def _value(value: Any) -> dict[str, Any]:
    """Return a value in OTLP's JSON encoding, in which integers are strings."""
    if type(value) is bool:
        return {"boolValue": value}
    if type(value) is int and value in _INTEGERS:
        return {"intValue": str(value)}
    if type(value) is float:
        return {"doubleValue": value}
    text = value if type(value) is str else orjson.dumps(value).decode()
    return {"stringValue": shorten(encodable(text), _TEXT_CHARACTERS)}
