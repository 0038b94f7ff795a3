"""OpenAI's Agents SDK: its own traces and spans, from `export()` and `toJSON()`, or posted by its exporter.

The span of a response has the response's ID and tokens, but not its content. Each function and each handoff has a span.
Posts to OpenAI lack these tokens, but each task, a span around a whole run, states the tokens of its run.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from msgspec import structs

from weighbridge.traces.fields import (
    Notes,
    added,
    count_of,
    counted,
    counts_of,
    id_of,
    object_of,
    objects_of,
    scalars,
    string_of,
    usage_of,
)
from weighbridge.traces.formats.openai_agents_spans import (
    answer_in,
    is_call,
    span_of,
    usage_of_call,
)
from weighbridge.traces.importer import Importer, damaged
from weighbridge.traces.spans.spans import nearest, parents_of
from weighbridge.traces.spans.steps import traces_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from weighbridge.traces.model import Trace, Usage
    from weighbridge.traces.spans.spans import Span

_LOOKED_AT = 20  #: number of records by which the format is recognised
_SPAN, _TRACE = "trace.span", "trace"
_TASK = "task"  #: the `sdk_span_type` of a custom span around a run
_FIELDS = frozenset(
    {"object", "id", "trace_id", "parent_id", "started_at", "ended_at", "span_data", "error"}
)
#: Tools without spans: those that the provider runs, and some that the SDK runs.
_WITHOUT_SPANS = frozenset(
    {
        *("web_search", "web_search_preview", "file_search", "code_interpreter", "hosted_mcp"),
        *("image_generation", "computer", "computer_use_preview", "local_shell", "shell"),
        *("apply_patch", "tool_search"),
    }
)


def _is_span(value: Any) -> bool:
    return (
        type(value) is dict
        and value.get("object") == _SPAN
        and type(value.get("trace_id")) is str
        and type(value.get("span_data")) is dict
    )


def _is_trace(value: Any) -> bool:
    return (
        type(value) is dict and value.get("object") == _TRACE and type(value.get("id")) is str
    ) and ("workflow_name" in value or _are_records(value.get("spans")))


def _are_records(value: Any) -> bool:
    return (
        type(value) is list
        and bool(value)
        and all(_is_span(item) or _is_trace(item) for item in value[:_LOOKED_AT])
    )


def _is_post(value: Any) -> bool:
    """Return whether a value is a post of the exporter: one batch of traces and spans."""
    return type(value) is dict and _are_records(value.get("data"))


def _is_line(value: Any) -> bool:
    return _is_span(value) or _is_trace(value) or _is_post(value)


def _records(value: Any) -> Iterator[dict[str, Any]]:
    """Yield the traces and spans in a value: one record, a list, one or several posts, or a trace with its spans."""
    for item in value if type(value) is list else [value]:
        if _is_post(item):
            yield from (held for each in objects_of(item["data"]) for held in _with_spans(each))
        elif type(item) is dict:
            yield from _with_spans(item)


def _with_spans(record: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield record
    if _is_trace(record):
        yield from objects_of(record.get("spans"))


def _matches(value: Any) -> bool:
    if type(value) is list and not (value and all(map(_is_line, value[:_LOOKED_AT]))):
        return False
    if type(value) is dict and not _is_line(value):
        return False
    return any(map(_is_span, _records(value)))


def _parts(value: Any) -> list[tuple[str | None, Any]]:
    """Return the records by their trace."""
    groups: dict[str | None, list[Any]] = {}
    for record in _records(value):
        if _is_span(record):
            groups.setdefault(id_of(record["trace_id"]), []).append(record)
    if len(groups) < 2:
        return [(None, value)]
    for record in _records(value):
        own_id = id_of(record.get("id"))
        if _is_trace(record) and own_id in groups:
            groups[own_id].append({key: held for key, held in record.items() if key != "spans"})
    return list(groups.items())


def _read(value: Any) -> list[Trace]:
    records = list(_records(value))
    listed = [record for record in records if _is_span(record)]
    if not listed:
        raise damaged("these traces of the Agents SDK have no spans")
    spans = [span_of(record) for record in listed]
    notes = Notes()
    for record in listed:
        notes.add_fields(record, _FIELDS, "span")
    others_in_list = sum(not (_is_span(record) or _is_trace(record)) for record in records)
    if others_in_list:
        notes.add("records of another form", others_in_list)
    about = {record["id"]: record for record in reversed(records) if _is_trace(record)}
    hidden, totals = _hidden_tools(listed), _totals(listed, spans)
    first, *others = traces_of(spans, "openai-agents-tracing")
    first = replace(first, not_carried=(*first.not_carried, *notes.summaries()))
    return [
        _with_totals(_with_facts(trace, about.get(trace.id or "", {}), hidden), totals)
        for trace in (first, *others)
    ]


def _hidden_tools(listed: list[dict[str, Any]]) -> dict[str, list[str]]:
    """Return the offered tools without spans, by trace ID, for traces with a response that is not recorded."""
    offered: dict[str, set[str]] = {}
    ran: dict[str, set[str]] = {}
    hidden: set[str] = set()
    for record in listed:
        trace_id, data = record["trace_id"], record["span_data"]
        kind, name = data.get("type"), string_of(data.get("name"))
        if kind == "agent":
            offered.setdefault(trace_id, set()).update(_tools_without_spans(data))
        elif kind == "function" and name:
            ran.setdefault(trace_id, set()).add(name)
        elif kind == "response" and not answer_in(data):
            hidden.add(trace_id)
    return {key: sorted(offered.get(key, set()) - ran.get(key, set())) for key in hidden}


@dataclass(slots=True)
class _Totals:
    """Usage in one trace: that of the outermost tasks, and that of model calls outside them."""

    #: Usage of the outermost tasks, by ID.
    tasks: dict[str, dict[str, Any]] = field(default_factory=dict)
    #: Usage of model calls outside tasks, by ID.
    apart: dict[str, Usage | None] = field(default_factory=dict)


def _totals(listed: list[dict[str, Any]], spans: list[Span]) -> dict[str, _Totals]:
    """Return the totals of each trace with a task, by the trace's id."""
    recorded = [record["span_data"] for record in listed]
    data = [object_of(held.get("data")) for held in recorded]
    are_tasks = [held.get("sdk_span_type") == _TASK for held in data]
    if not any(are_tasks):
        return {}
    found: defaultdict[str, _Totals] = defaultdict(_Totals)
    parents = parents_of(spans)
    above, outermost = nearest(parents, are_tasks), nearest(parents, [at is None for at in parents])
    for index, span in enumerate(spans):
        if above[index] is not None:
            continue
        totals, own_id = found[span.trace_id], span.id or str(index)
        usage, top = data[index].get("usage"), outermost[index]
        if are_tasks[index] and type(usage) is dict:
            totals.tasks[own_id] = usage
        # A span whose parent is not recorded may be inside a task.
        elif spans[index if top is None else top].parent_id is None and is_call(recorded[index]):
            totals.apart[own_id] = usage_of_call(recorded[index])
    return {trace_id: totals for trace_id, totals in found.items() if totals.tasks}


def _with_totals(trace: Trace, of_trace: dict[str, _Totals]) -> Trace:
    """Return a trace with the tokens and requests that its tasks state, and those of calls outside tasks."""
    totals = of_trace.get(trace.id or "")
    if totals is None:
        return trace
    usage = counted(added(map(_usage_of_task, totals.tasks.values())))
    apart = list(totals.apart.values())
    if usage and apart:
        usage = added([usage, *filter(None, apart)])
        if usage and None in apart:
            usage = structs.replace(usage, is_partial=True)
    requests = [count_of(held.get("requests")) for held in totals.tasks.values()]
    counted_calls = None if None in requests else sum(filter(None, requests)) + len(apart)
    counts = counts_of(llm_calls=counted_calls)
    missing = trace.missing
    if usage:
        missing = {key: why for key, why in missing.items() if key not in {"token_usage", "cost"}}
    return replace(
        trace, usage=usage, counts=counts, totals_from="usage of the tasks", missing=missing
    )


def _usage_of_task(held: dict[str, Any]) -> Usage | None:
    return usage_of(
        *(held.get(key) for key in ("input_tokens", "output_tokens", "total_tokens")),
        *(held.get(key) for key in ("cached_input_tokens", "cache_write_input_tokens")),
    )


def _with_facts(trace: Trace, about: dict[str, Any], hidden: dict[str, list[str]]) -> Trace:
    """Return a trace with the workflow's name, and without the number of calls that its spans do not show."""
    named = scalars(workflow_name=about.get("workflow_name"), group_id=about.get("group_id"))
    metadata = {**object_of(about.get("metadata")), **named, **trace.metadata}
    names, missing = hidden.get(trace.id or ""), trace.missing
    if names:
        reason = (
            f"calls of {', '.join(names)} have no spans, and the answers that ask for them are not"
            " recorded"
        )
        missing = {**missing, "tool_calls": reason}
    return replace(trace, metadata=metadata, missing=missing)


def _tools_without_spans(agent: dict[str, Any]) -> set[str]:
    listed = agent.get("tools")
    names = {name for name in listed if type(name) is str} if type(listed) is list else set()
    return names & _WITHOUT_SPANS


IMPORTER = Importer(
    id="openai-agents-tracing",
    name="OpenAI Agents SDK traces",
    matches=_matches,
    read=_read,
    parts=_parts,
    is_line=_is_line,
    fields=(
        ("id of the trace", "trace_id; of a step the span's id"),
        ("parent_id", "parent_id; of a tool call, the model call that asked"),
        (
            "type",
            "span_data.type: generation and response are llm, function and handoff are tool, agent is agent, guardrail is other",
        ),
        ("name", "span_data.name; of a handoff, transfer_to_ with to_agent"),
        ("arguments, input", "span_data.input"),
        ("output", "span_data.output; of a response, its output if a processor keeps it"),
        ("error", "error.message, with error.data.error"),
        ("model, usage", "span_data.model, span_data.usage, also its details"),
        ("usage, counts of the run", "usage of the custom spans whose sdk_span_type is task"),
        ("started_at, ended_at", "started_at, ended_at"),
        ("metadata", "workflow_name, group_id and metadata of the trace"),
    ),
    tried_on="spans of one real run, which a processor wrote to a file; runs of the Python SDK, version 0.24, with a made-up model;"
    " synthetic spans of the other types and of JavaScript",
    lacks="content, model and hosted tools of a response, and in older versions its tokens, unless a processor keeps them;"
    " cost; schemas of tools; steps of speech and transcription",
)
