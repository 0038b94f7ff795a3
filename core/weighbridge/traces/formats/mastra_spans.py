"""Spans of Mastra's own tracing since late 2025: rows of its table `mastra_ai_spans`, alone or under `spans`.

Its stores in DuckDB have rows of `span_events` instead, several for each span. The span of a generation encloses a span for
each step, which is a model call; the first versions have no spans of steps. The tokens of a generation are those of its steps.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from weighbridge.traces.fields import (
    object_of,
    objects_of,
    read_usage,
    scalars,
    string_of,
    time_of,
    word_of,
)
from weighbridge.traces.importer import Importer
from weighbridge.traces.spans.run_duration import spans_but
from weighbridge.traces.spans.spans import LACKS, Span, nearest, parents_of
from weighbridge.traces.spans.steps import traces_of
from weighbridge.traces.stored_rows import are_rows, in_order, json_cell, rows_by_session, several
from weighbridge.traces.unread_counts import with_unknown_part, with_unread_lines

if TYPE_CHECKING:
    from weighbridge.traces.model import Capability, Trace

_NAMES = ("traceId", "spanId", "spanType", "name")  #: columns with a text in each row
_STARTED = "startedAt"
#: Columns that only a row of `span_events` has.
_EVENT_COLUMNS = frozenset({"eventType", "timestamp"})
_GENERATIONS = frozenset({"model_generation", "llm_generation"})
_STEP = "model_step"
_MODEL_CALLS = _GENERATIONS | {_STEP, "model_inference"}
_AGENT = "agent_run"
_TOOL = "tool_call"  #: also the end of the types of MCP's and the client's tools
_PIECES = frozenset({"model_chunk", "llm_chunk"})  #: types of spans of a streamed answer's pieces
_SCORERS = "scorer_"  #: start of the types of spans of an evaluation
_EMBEDDING = "rag_embedding"
#: A tool's or an agent's name in the name of its span, such as `tool: 'search'`.
_quoted = re.compile(r"'(.+)'").search
_JOINED: dict[Capability, str] = {
    "llm_calls": "these versions of Mastra have one span for all model calls of a generation, between which tools ran"
}


def is_mastra_span(value: Any) -> bool:
    """Return whether a value is a span of Mastra's tracing."""
    return _is_named(value) and _STARTED in value


def _is_event(value: Any) -> bool:
    """Return whether a value is a row of what became known of a span at a time."""
    return _is_named(value) and value.keys() >= _EVENT_COLUMNS and _STARTED not in value


def _is_named(value: Any) -> bool:
    return type(value) is dict and all(type(value.get(key)) is str for key in _NAMES)


def _is_row(value: Any) -> bool:
    return is_mastra_span(value) or _is_event(value)


def _matches(value: Any) -> bool:
    return are_rows(_records(value), _is_row)


def _records(value: Any) -> Any:
    """Return the rows in a value: a list, one alone, or those of a trace."""
    if type(value) is not dict:
        return value
    return [value] if _is_row(value) else value.get("spans")


def _spans(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the spans of rows; of each column of a span's events the last value counts, as in Mastra's own queries."""
    found = [row for row in rows if not _is_event(row)]
    spans: dict[tuple[str, str], dict[str, Any]] = {}
    for event in in_order([row for row in rows if _is_event(row)], "timestamp"):
        key = (event["traceId"], event["spanId"])
        span = spans.setdefault(key, {_STARTED: event["timestamp"]})
        span |= {name: held for name, held in event.items() if held is not None}
    return [*found, *spans.values()]


def _parts(value: Any) -> list[tuple[str | None, Any]]:
    """Return the spans of each trace of a table that has several."""
    return several(rows_by_session(value, ("traceId",), _STARTED)) if type(value) is list else []


def _read(value: Any) -> list[Trace]:
    listed = _records(value)
    rows = [row for row in listed if _is_row(row)]
    damaged = len(listed) - sum(map(_has_attributes, rows))
    records = _spans(rows)
    left = {"pieces of streamed answers": sum(record["spanType"] in _PIECES for record in records)}
    records = [record for record in records if record["spanType"] not in _PIECES]
    reader = _SpanReader(records)
    spans = [reader.span(record) for record in records]
    scores = [record["spanType"].startswith(_SCORERS) for record in records]
    around = nearest(parents_of(spans), scores)
    own = [
        span
        for span, is_scorer, scorer in zip(spans, scores, around, strict=True)
        if not is_scorer and scorer is None
    ]
    left["spans of scorers"] = len(spans) - len(own)
    about = {record["traceId"]: record for record in reversed(records)}
    return [
        with_unread_lines(
            with_unknown_part(
                replace(trace, metadata={**trace.metadata, **_about(about[trace.id or ""])}),
                _JOINED if trace.id in reader.joined else {},
            ),
            damaged,
        )
        for trace in traces_of(own, "mastra-spans", left, others=spans_but(own, spans))
    ]


def _has_attributes(record: dict[str, Any]) -> bool:
    """Return whether the attributes of a span can be read, or there are none."""
    return record.get("attributes") is None or type(json_cell(record, "attributes")) is dict


def _about(record: dict[str, Any]) -> dict[str, Any]:
    return scalars(
        thread=record.get("threadId"),
        resource=record.get("resourceId"),
        environment=record.get("environment"),
    )


class _SpanReader:
    """Reader of the records of traces, whose kinds depend on the records inside them."""

    def __init__(self, records: list[dict[str, Any]]) -> None:
        self._by_id = {(record["traceId"], record["spanId"]): record for record in records}
        inside: dict[tuple[str, Any], set[str]] = defaultdict(set)
        for record in records:
            inside[record["traceId"], record.get("parentSpanId")].add(record["spanType"])
        self._with_steps = {key for key, kinds in inside.items() if _STEP in kinds}
        with_tools = {
            key for key, kinds in inside.items() if any(kind.endswith(_TOOL) for kind in kinds)
        }
        #: Traces with a generation without spans of its steps, while tools ran for the agent.
        self.joined = {
            record["traceId"]
            for record in records
            if record["spanType"] in _GENERATIONS
            and not self._has_steps(record)
            and not with_tools.isdisjoint(
                {
                    (record["traceId"], record["spanId"]),
                    (record["traceId"], record.get("parentSpanId")),
                }
            )
        }

    def _has_steps(self, record: dict[str, Any]) -> bool:
        return (record["traceId"], record["spanId"]) in self._with_steps

    def span(self, record: dict[str, Any]) -> Span:
        """Return a record as a span; one that is no step has no attributes."""
        kind, about = record["spanType"], object_of(json_cell(record, "attributes"))
        attributes: dict[str, Any] = {}
        if kind == _AGENT:
            attributes = {
                "gen_ai.operation.name": "invoke_agent",
                "gen_ai.agent.name": _name(record, about, "agentId"),
                "gen_ai.input.messages": _messages(_held(record, "input")),
                "gen_ai.output.messages": _answer(_held(record, "output")),
            }
        elif kind.endswith(_TOOL):
            attributes = {
                "gen_ai.operation.name": "execute_tool",
                "gen_ai.tool.name": _name(record, about, "toolId"),
                "gen_ai.tool.call.id": string_of(about.get("toolCallId")),
                "gen_ai.tool.call.arguments": _held(record, "input"),
                "gen_ai.tool.call.result": _held(record, "output"),
            }
        elif kind in _MODEL_CALLS and not (kind in _GENERATIONS and self._has_steps(record)):
            attributes = self._model_call(record, about)
        elif kind == _EMBEDDING:
            attributes = {"gen_ai.operation.name": "embeddings", **_usage(about)}
        error = _error(record, about)
        return Span(
            trace_id=record["traceId"],
            id=record["spanId"],
            parent_id=string_of(record.get("parentSpanId")),
            name=record["name"],
            started_at=time_of(record["startedAt"]),
            ended_at=time_of(record.get("endedAt")),
            attributes={name: held for name, held in attributes.items() if held is not None},
            status="unset" if error is None else "error",
            status_message=error,
        )

    def _model_call(self, record: dict[str, Any], about: dict[str, Any]) -> dict[str, Any]:
        around = self._around(record)
        tools = about.get("availableTools") or around.get("availableTools")
        sent, answered = _held(record, "input"), _held(record, "output")
        return {
            "gen_ai.operation.name": "chat",
            "gen_ai.request.model": string_of(about.get("model")) or string_of(around.get("model")),
            "gen_ai.response.model": string_of(about.get("responseModel")),
            "gen_ai.response.finish_reasons": string_of(about.get("finishReason")),
            "gen_ai.input.messages": _messages(sent),
            "gen_ai.output.messages": _answer(answered),
            "gen_ai.tool.definitions": [
                {"type": "function", "name": name}
                for name in (tools if type(tools) is list else ())
                if type(name) is str
            ]
            or None,
            **_usage(about),
        }

    def _around(self, record: dict[str, Any]) -> dict[str, Any]:
        """Return the attributes of the generation around a step."""
        parent = self._by_id.get((record["traceId"], record.get("parentSpanId")), {})
        is_generation = word_of(parent.get("spanType")) in _GENERATIONS
        return object_of(json_cell(parent, "attributes")) if is_generation else {}


def _held(record: dict[str, Any], column: str) -> Any:
    """Return a value that a database keeps as JSON, or as the text itself."""
    value = record.get(column)
    if type(value) is not str or value[:1] not in {'"', "[", "{"}:
        return value
    held = json_cell(record, column)
    return value if held is None else held


def _name(record: dict[str, Any], about: dict[str, Any], key: str) -> str | None:
    named = _quoted(record["name"])
    return named[1] if named else string_of(about.get(key)) or string_of(record.get("entityName"))


def _messages(sent: Any) -> Any:
    """Return the messages of a request or of an agent's input."""
    return sent.get("messages") if type(sent) is dict else sent


def _answer(output: Any) -> Any:
    """Return an answer as a message, with the calls that it asks for."""
    if type(output) is not dict:
        return output
    text, calls = string_of(output.get("text")), objects_of(output.get("toolCalls"))
    held = output.get("object")
    if text is None and not calls and held is None:
        return None
    return [{"role": "assistant", "content": held if text is None else text, "tool_calls": calls}]


def _usage(about: dict[str, Any]) -> dict[str, Any]:
    """Return the tokens of a model call; their input includes those of caches."""
    held = object_of(about.get("usage"))
    details = object_of(held.get("inputDetails"))
    usage = read_usage(
        {name: item for name, item in held.items() if name not in {"inputDetails", "outputDetails"}}
    )
    if usage is None:
        return {}
    cached = usage.cached_tokens if details.get("cacheRead") is None else details["cacheRead"]
    return {
        "gen_ai.usage.input_tokens": usage.input_tokens,
        "gen_ai.usage.output_tokens": usage.output_tokens,
        "gen_ai.usage.total_tokens": usage.total_tokens,
        "gen_ai.usage.cache_read.input_tokens": cached,
        "gen_ai.usage.cache_creation.input_tokens": details.get("cacheWrite"),
    }


def _error(record: dict[str, Any], about: dict[str, Any]) -> str | None:
    """Return the error of a span, of a tool that did not succeed, or of a model call that ended with one."""
    held = _held(record, "error") if "error" in record else record.get("errorInfo")
    text = string_of(held) or string_of(object_of(held).get("message"))
    if held or about.get("success") is False or about.get("finishReason") == "error":
        return text or "error"
    return None


IMPORTER = Importer(
    id="mastra-spans",
    name="Mastra spans",
    matches=_matches,
    read=_read,
    parts=_parts,
    is_line=_is_row,
    fields=(
        ("id", "traceId; of a step spanId"),
        (
            "type",
            "spanType: model_step is llm, or a generation (model_generation, llm_generation) without steps; tool_call and the like are tool, agent_run is agent",
        ),
        ("name", "the name in the span's name; else toolId, agentId or entityName"),
        ("arguments, output", "input and output"),
        (
            "error",
            "error; success: false of a tool call; finishReason error of a model call",
        ),
        ("model", "responseModel or model of the attributes, or of the generation's"),
        ("usage", "usage of the attributes: inputTokens, outputTokens, inputDetails"),
        (
            "started_at, ended_at",
            "startedAt, or the timestamp of the first of a span's events, and endedAt",
        ),
        ("tools", "the names in availableTools"),
        ("metadata", "threadId, resourceId and environment"),
    ),
    tried_on="two real databases, one with JSON as text and without spans of steps, one with it as JSONB and with them; span_events of two real DuckDB databases, exported",
    lacks=f"cost; {LACKS}; the model calls of generations without spans of steps, if tools ran between them",
)
