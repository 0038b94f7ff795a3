"""Spans of Braintrust: rows of a project's logs or of an experiment, as its API, its SQL and its exports write them.

Spans of scorers, and of Braintrust's functions that judge or classify a run, are left out: they are not the agent's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weighbridge.traces.chat.call_parts import json_of
from weighbridge.traces.fields import (
    cost_of,
    counted,
    id_of,
    object_of,
    objects_of,
    string_of,
    time_of,
    usage_of,
    word_of,
)
from weighbridge.traces.importer import Importer
from weighbridge.traces.spans.records import recorded_span
from weighbridge.traces.spans.run_duration import spans_but
from weighbridge.traces.spans.spans import nearest, parents_of
from weighbridge.traces.spans.steps import traces_of

if TYPE_CHECKING:
    from weighbridge.traces.model import Trace
    from weighbridge.traces.spans.spans import Span

_LOOKED_AT = 20  #: number of rows by which the format is recognised
#: Keys of the rows in an answer of the API, in that of a query, and in a client's request.
_LIST_KEYS = ("events", "data", "rows")
_STEPS = frozenset({"llm", "tool"})
#: Types of spans that judge a run, or prepare its judgement.
_JUDGES = frozenset({"score", "facet", "classifier", "preprocessor", "automation"})
#: Prefixes of the names of spans in which a client lists a server's tools; they have the type of a tool.
_LISTINGS = ("List Tools (", "MCP List Tools")
#: Operations of spans that have the type of a model call without an answer, by the span's name.
_NO_ANSWERS = {
    "Embedding": "embedding",
    "embed_content": "embedding",
    "Rerank": "reranker",
    "Moderation": "guardrail",
}
_EMBEDDINGS = frozenset({"embedding_length", "embedding_count", "embeddings_count"})
_ASKED = "function_call"
#: Prefix of OpenTelemetry's names in the metadata of some rows.
_CONVENTION_PREFIX = "gen_ai."


def _is_row(value: Any) -> bool:
    return (
        type(value) is dict
        and type(value.get("span_id")) is str
        and type(value.get("root_span_id")) is str
        and ("span_parents" in value or "span_attributes" in value)
    )


def _rows(value: Any) -> list[Any]:
    if type(value) is dict:
        if _is_row(value):
            return [value]
        value = next((value[key] for key in _LIST_KEYS if type(value.get(key)) is list), [])
    return value if type(value) is list else []


def _matches(value: Any) -> bool:
    rows = _rows(value)
    return bool(rows) and all(map(_is_row, rows[:_LOOKED_AT]))


def _read(value: Any) -> list[Trace]:
    rows = _merged(objects_of(_rows(value)))
    answers = {_key(row) for row in rows if _kind(row) == "llm" and row.get("output") is not None}
    spans = [_span(row, is_echo=_is_echo(row, answers)) for row in rows]
    traces: dict[str, list[tuple[Span, bool]]] = {}
    for span, row in zip(spans, rows, strict=True):
        traces.setdefault(span.trace_id, []).append((span, _is_judge(row)))
    own = [span for listed in traces.values() for span in _of_agent(listed)]
    notes = {"spans of scorers": len(spans) - len(own)}
    return traces_of(own, "braintrust", notes, others=spans_but(own, spans))


def _of_agent(listed: list[tuple[Span, bool]]) -> list[Span]:
    """Return the spans of a trace that are not a judge's or inside a judge's; `listed` has spans, and whether they judge."""
    spans, is_judge = [span for span, _ in listed], [judges for _, judges in listed]
    around = nearest(parents_of(spans), is_judge)
    return [
        span
        for (span, judges), judge in zip(listed, around, strict=True)
        if not judges and judge is None
    ]


def _merged(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return one row for each span: clients send additions to a span as rows, and exports may have its older versions."""
    spans: dict[tuple[Any, Any], dict[str, Any]] = {}
    for number, row in enumerate(rows):
        key = (id_of(row.get("root_span_id")), id_of(row.get("span_id")) or number)
        known = spans.get(key)
        if known is not None and row.get("_is_merge") is True:
            _overlay(known, row)
        elif known is None or _version(row) > _version(known):
            spans[key] = {
                name: dict(held) if type(held) is dict else held for name, held in row.items()
            }
    return list(spans.values())


def _version(row: dict[str, Any]) -> tuple[int, str]:
    """Return a key for comparing the transaction numbers of rows, which grow."""
    number = id_of(row.get("_xact_id")) or ""
    return len(number), number


def _overlay(known: dict[str, Any], row: dict[str, Any]) -> None:
    """Add the fields of a row to those of a span, whose objects are copies."""
    for key, item in row.items():
        if type(item) is dict and type(known.get(key)) is dict:
            known[key].update(item)
        elif item is not None:
            known[key] = dict(item) if type(item) is dict else item


def _is_judge(row: dict[str, Any]) -> bool:
    attributes = _object(row.get("span_attributes"))
    return word_of(attributes.get("type")) in _JUDGES or attributes.get("purpose") == "scorer"


def _object(value: Any) -> dict[str, Any]:
    """Return an object, which tables keep as text."""
    return object_of(json_of(value))


def _kind(row: dict[str, Any]) -> str:
    return word_of(_object(row.get("span_attributes")).get("type"))


def _key(row: dict[str, Any]) -> tuple[str | None, str | None]:
    return id_of(row.get("root_span_id")), id_of(row.get("span_id"))


def _parent(row: dict[str, Any]) -> str | None:
    parents = json_of(row.get("span_parents"))
    return id_of(parents[0]) if type(parents) is list and parents else None


def _is_echo(row: dict[str, Any], answers: set[tuple[str | None, str | None]]) -> bool:
    """Return whether a tool's span only repeats a call of the answer around it, as clients of the Responses API write it."""
    if _object(row.get("metadata")).get("tool_type") != _ASKED or row.get("output") is not None:
        return False
    return (id_of(row.get("root_span_id")), _parent(row)) in answers


def _span(row: dict[str, Any], *, is_echo: bool) -> Span:
    attributes, metrics, about = (
        _object(row.get(name)) for name in ("span_attributes", "metrics", "metadata")
    )
    name = string_of(attributes.get("name"))
    kind = _kind(row)
    if kind not in _STEPS or is_echo or (kind == "tool" and (name or "").startswith(_LISTINGS)):
        kind = "chain"
    if kind == "llm":
        kind = _NO_ANSWERS.get(name or "", kind)
        if not _EMBEDDINGS.isdisjoint(_object(row.get("output"))):
            kind = "embedding"
    is_llm = kind == "llm"
    span = recorded_span(
        id_of(row.get("root_span_id")),
        id_of(row.get("span_id")),
        _parent(row),
        name,
        kind,
        sent=json_of(row.get("input")),
        answered=json_of(row.get("output")),
        model=string_of(about.get("model")) if is_llm else None,
        usage=counted(
            usage_of(
                metrics.get("prompt_tokens"),
                metrics.get("completion_tokens"),
                metrics.get("tokens"),
                metrics.get("prompt_cached_tokens"),
                metrics.get("prompt_cache_creation_tokens"),
            )
        )
        if is_llm
        else None,
        cost_usd=cost_of(metrics.get("estimated_cost")) if is_llm else None,
        tools=json_of(about.get("tools")) if is_llm else None,
        error=_error(row.get("error")),
        started_at=time_of(metrics.get("start")) or time_of(row.get("created")),
        ended_at=time_of(metrics.get("end")),
    )
    span.attributes |= {
        key: item for key, item in about.items() if key.startswith(_CONVENTION_PREFIX)
    }
    return span


def _error(recorded: Any) -> str | None:
    held = object_of(recorded)
    return string_of(held.get("message")) or string_of(recorded) or ("error" if held else None)


def _parts(value: Any) -> list[tuple[str | None, Any]]:
    """Return the rows of each trace."""
    groups: dict[str | None, list[Any]] = {}
    for row in objects_of(_rows(value)):
        groups.setdefault(id_of(row.get("root_span_id")), []).append(row)
    return list(groups.items()) if len(groups) > 1 else [(None, value)]


IMPORTER = Importer(
    id="braintrust",
    name="Braintrust spans",
    matches=_matches,
    read=_read,
    parts=_parts,
    is_line=_is_row,
    fields=(
        ("id of the trace", "root_span_id; of a step span_id"),
        ("parent_id", "the first of span_parents"),
        (
            "type",
            "span_attributes.type: llm, tool; embeddings and the like are other; tasks, functions and evals are no steps",
        ),
        ("name, arguments", "span_attributes.name and input of a tool's span"),
        ("input, output", "input, output"),
        ("error", "error"),
        ("model, tools", "metadata.model, metadata.tools"),
        (
            "usage",
            "metrics: prompt_tokens, completion_tokens, tokens, prompt_cached_tokens, prompt_cache_creation_tokens",
        ),
        ("cost_usd", "metrics.estimated_cost"),
        ("started_at, ended_at", "start and end of the metrics, or created"),
    ),
    tried_on="rows of its Python client for a run with the OpenAI Agents SDK and a made-up model; synthetic rows",
    lacks="scores, and what scorers did; what the application did not send",
)
