"""Spans of Comet Opik, as its SDKs, its API and `opik export` write them, alone or with their trace.

Spans of Opik's own scoring of a run are left out: they are not the agent's.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from weighbridge.traces.chat.call_parts import first_of, json_of
from weighbridge.traces.fields import (
    cost_of,
    count_of,
    counted,
    counts_of,
    id_of,
    note_counts,
    object_of,
    objects_of,
    read_usage,
    scalars,
    string_of,
    time_of,
    usage_of,
    word_of,
)
from weighbridge.traces.importer import Importer
from weighbridge.traces.spans.records import recorded_span
from weighbridge.traces.spans.run_duration import spans_but, with_duration
from weighbridge.traces.spans.spans import nearest, parents_of
from weighbridge.traces.spans.steps import traces_of

if TYPE_CHECKING:
    from weighbridge.traces.model import Trace, Usage
    from weighbridge.traces.spans.spans import Span

_LOOKED_AT = 20  #: number of spans by which the format is recognised
#: Keys of the spans in a trace or a batch, and in a page of the API.
_LIST_KEYS = ("spans", "content")
#: Names in the API and the Python SDK, then in the SDK for TypeScript.
_TRACE_IDS = ("trace_id", "traceId")
_PARENTS = ("parent_span_id", "parentSpanId")
_STARTS, _ENDS = ("start_time", "startTime"), ("end_time", "endTime")
_COSTS = ("total_estimated_cost", "totalEstimatedCost")
_ERRORS = ("error_info", "errorInfo")
_UPDATES = ("last_updated_at", "lastUpdatedAt")
_PROJECTS = ("project_name", "project_id", "projectName", "projectId")
_SPAN_COUNTS, _LLM_COUNTS = ("span_count", "spanCount"), ("llm_span_count", "llmSpanCount")
_TYPES = frozenset({"general", "tool", "llm", "guardrail"})
_STEPS = _TYPES - {"general"}
_SCORING = frozenset({"metrics_calculation", "task_span_metrics_calculation"})
_SCORING_TAG = "__opik_eval_internal__"  #: tag of scoring spans, which older versions do not set
#: Prefix of the names of the provider's counts, which Opik keeps beside its own.
_ORIGINAL_PREFIX = "original_usage."
_CACHED = (
    "original_usage.prompt_tokens_details.cached_tokens",
    "original_usage.input_tokens_details.cached_tokens",
    "original_usage.cache_read_input_tokens",
    "original_usage.cacheReadInputTokens",
    "original_usage.cached_content_token_count",
)
_WRITTEN = "original_usage.cache_creation_input_tokens"
#: Names of the cached tokens of Anthropic and Bedrock, whose input excludes them. Opik leaves them out of its own counts, or
#: counts written ones as output.
_APART = frozenset(
    {
        *("cache_read_input_tokens", "cache_creation_input_tokens"),
        *("cacheReadInputTokens", "cacheWriteInputTokens"),
    }
)


def _is_span(value: Any) -> bool:
    return (
        type(value) is dict
        and type(value.get("id")) is str
        and type(first_of(value, _TRACE_IDS)) is str
        and word_of(value.get("type")) in _TYPES
        and first_of(value, _STARTS) is not None
        and any(key in value for key in (*_PROJECTS, *_PARENTS))
    )


def _spans_in(value: Any) -> list[Any]:
    if type(value) is dict:
        if _is_span(value):
            return [value]
        value = next((value[key] for key in _LIST_KEYS if type(value.get(key)) is list), [])
    return value if type(value) is list else []


def _matches(value: Any) -> bool:
    spans = _spans_in(value)
    return bool(spans) and all(map(_is_span, spans[:_LOOKED_AT]))


def _read(value: Any) -> list[Trace]:
    records = _merged(objects_of(_spans_in(value)))
    spans = [_span(record) for record in records]
    is_scoring = list(map(_is_scoring, records))
    around = nearest(parents_of(spans), is_scoring)
    own = [
        span
        for span, scores, scorer in zip(spans, is_scoring, around, strict=True)
        if not scores and scorer is None
    ]
    others = sum(record.get("type") != "llm" and _usage(record) is not None for record in records)
    notes = {
        "spans of scorers": len(spans) - len(own),
        "tokens of spans that are no model call": others,
    }
    found = traces_of(own, "opik", notes, others=spans_but(own, spans))
    total = _page_total(value)
    if total:
        reason = f"the spans are a part of a list of {total:,}: others of the trace may be missing"
        found = [replace(each, missing={**each.missing, "tool_calls": reason}) for each in found]
    trace = _trace_of(value)
    return [_with_totals(found[0], trace, records), *found[1:]] if trace else found


def _page_total(value: Any) -> int | None:
    """Return the total number of spans if a value is one page of a list of spans; None if it has all spans."""
    total = count_of(value.get("total")) if type(value) is dict else None
    return total if total and total > len(_spans_in(value)) else None


def _merged(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return one record for each span; a client sends a span at its start, and again at its end."""
    spans: dict[tuple[Any, Any], dict[str, Any]] = {}
    for number, record in enumerate(records):
        key = (first_of(record, _TRACE_IDS), id_of(record.get("id")) or number)
        known = spans.setdefault((id_of(key[0]), key[1]), record)
        if _version(record) > _version(known):
            spans[id_of(key[0]), key[1]] = record
    return list(spans.values())


def _version(record: dict[str, Any]) -> tuple[bool, int]:
    return first_of(record, _ENDS) is not None, time_of(first_of(record, _UPDATES)) or 0


def _trace_of(value: Any) -> dict[str, Any]:
    """Return the data of the trace beside or around the spans; empty if there are none."""
    if type(value) is not dict or _is_span(value):
        return {}
    held = object_of(value.get("trace"))
    return held or (value if id_of(value.get("id")) and first_of(value, _STARTS) else {})


def _with_totals(found: Trace, trace: dict[str, Any], records: list[dict[str, Any]]) -> Trace:
    """Return a trace with the totals that Opik states, unless they are the sum over all spans of models.

    That sum counts a model call twice if two spans record it, and includes the calls of scorers.
    """
    calls_of_models = [record for record in records if record.get("type") == "llm"]
    usage = _stated_usage(trace)
    held = [_stated_usage(record) for record in calls_of_models]
    if usage is not None and usage.total == sum(each.total or 0 for each in held if each):
        usage = None
    cost = cost_of(first_of(trace, _COSTS)) or None
    known = sum(cost_of(first_of(record, _COSTS)) or 0.0 for record in calls_of_models)
    if cost is not None and cost <= known * (1 + 1e-9):
        cost = None
    calls = count_of(first_of(trace, _LLM_COUNTS))
    counts = counts_of(calls) if calls != len(calls_of_models) else None
    missing = found.missing
    stated = count_of(first_of(trace, _SPAN_COUNTS)) or 0
    if stated > len(records):
        reason = f"the trace has {stated:,} spans, and the record {len(records):,} of them"
        missing = {**missing, "tool_calls": reason}
    about = scalars(
        name=trace.get("name"),
        thread=trace.get("thread_id", trace.get("threadId")),
        environment=trace.get("environment"),
    )
    began, ended = time_of(first_of(trace, _STARTS)), time_of(first_of(trace, _ENDS))
    took = max(0, ended - began) // 10**6 if began and ended else None
    if any(map(_is_scoring, records)):
        took = None  # it includes their time
    return replace(
        with_duration(found, took, "start and end of the trace"),
        id=id_of(trace.get("id")) or found.id,
        usage=usage,
        cost_usd=cost,
        counts=counts,
        totals_from="usage, total_estimated_cost and llm_span_count of the trace"
        if usage or cost or counts
        else "",
        missing=missing,
        metadata={**found.metadata, **about},
    )


def _is_scoring(record: dict[str, Any]) -> bool:
    tags = record.get("tags")
    if type(tags) is list and _SCORING_TAG in tags:
        return True
    return record.get("type") == "general" and word_of(record.get("name")) in _SCORING


def _span(record: dict[str, Any]) -> Span:
    kind = word_of(record.get("type"))
    sent, answered = _unwrapped(record, "input"), _unwrapped(record, "output")
    about = object_of(json_of(record.get("metadata")))
    if kind not in _STEPS or (kind == "tool" and _is_prompt(record, answered)):
        kind = "chain"
    is_llm = kind == "llm"
    request = object_of(sent)
    tools = request.get("tools") or object_of(request.get("toolConfig")).get("tools")
    span = recorded_span(
        id_of(first_of(record, _TRACE_IDS)),
        id_of(record.get("id")),
        id_of(first_of(record, _PARENTS)),
        string_of(record.get("name")),
        kind,
        sent=_messages(sent) if is_llm else sent,
        answered=answered,
        model=string_of(record.get("model")) if is_llm else None,
        usage=counted(_usage(record)) if is_llm else None,
        cost_usd=(cost_of(first_of(record, _COSTS)) or None) if is_llm else None,
        tools=(tools or about.get("tools")) if is_llm else None,
        error=_error(first_of(record, _ERRORS)),
        started_at=time_of(first_of(record, _STARTS)),
        ended_at=time_of(first_of(record, _ENDS)),
    )
    call_id = string_of(object_of(answered).get("tool_call_id")) if kind == "tool" else None
    if call_id:
        span.attributes["gen_ai.tool.call.id"] = call_id
    return span


def _unwrapped(record: dict[str, Any], name: str) -> Any:
    """Return a span's input or output, without the wrapper around values that are not objects."""
    held = json_of(record.get(name))
    is_wrapper = type(held) is dict and held.keys() == {name}
    if name == "input" and record.get("type") == "tool" and is_wrapper:
        # A tool may have one argument with the wrapper's name; LangChain's callback writes the text of all arguments.
        about = object_of(json_of(record.get("metadata")))
        is_wrapper = about.get("created_from") == "langchain"
    if is_wrapper:
        return held[name]
    body = object_of(held).get("body") if record.get("type") == "llm" else None
    return body if type(body) is dict else held  # the body of Bedrock's InvokeModel


def _messages(sent: Any) -> Any:
    """Return the messages sent to a model; for OpenAI's Responses API, the instructions and then the input."""
    request = object_of(sent)
    listed = request.get("input")
    if type(listed) is str:
        listed = [{"role": "user", "content": listed}]
    if type(listed) is not list:
        return sent
    instructions = string_of(request.get("instructions"))
    return [{"role": "system", "content": instructions}, *listed] if instructions else listed


def _is_prompt(record: dict[str, Any], answered: Any) -> bool:
    """Return whether a span is a template that LangChain filled in; Opik lists it as a tool."""
    about = object_of(json_of(record.get("metadata")))
    if about.get("created_from") != "langchain":
        return False
    held = object_of(answered)
    return (
        word_of(record.get("name")).endswith("PromptTemplate")
        or word_of(held.get("type")).endswith("PromptValue")
        or held.keys() == {"messages"}
    )


def _usage(record: dict[str, Any]) -> Usage | None:
    """Return the tokens of a span, including those of caches."""
    original = {
        key.removeprefix(_ORIGINAL_PREFIX): count
        for key, count in object_of(json_of(record.get("usage"))).items()
        if key.startswith(_ORIGINAL_PREFIX)
    }
    if _APART.isdisjoint(original):
        return _stated_usage(record)
    note_counts(count for key, count in original.items() if key.lower().endswith("tokens"))
    return read_usage(original) or _stated_usage(record)


def _stated_usage(record: dict[str, Any]) -> Usage | None:
    """Return the tokens of a span or a trace as Opik counts them."""
    held = object_of(json_of(record.get("usage")))
    sent, received, total = (
        held.get(name) for name in ("prompt_tokens", "completion_tokens", "total_tokens")
    )
    if sent is None:
        return read_usage(
            {key.removeprefix(_ORIGINAL_PREFIX): count for key, count in held.items()}
        )
    return usage_of(sent, received, total, first_of(held, _CACHED), held.get(_WRITTEN))


def _error(recorded: Any) -> str | None:
    held = object_of(json_of(recorded))
    return (
        string_of(held.get("message"))
        or string_of(first_of(held, ("exception_type", "exceptionType")))
        or ("error" if held else None)
    )


def _parts(value: Any) -> list[tuple[str | None, Any]]:
    """Return the spans of each trace; those of one page of a list get the list's total."""
    groups: dict[str | None, list[Any]] = {}
    for record in objects_of(_spans_in(value)):
        groups.setdefault(id_of(first_of(record, _TRACE_IDS)), []).append(record)
    if len(groups) < 2:
        return [(None, value)]
    total = _page_total(value)
    if total is None:
        return list(groups.items())
    return [(name, {"content": spans, "total": total}) for name, spans in groups.items()]


IMPORTER = Importer(
    id="opik",
    name="Opik traces and spans",
    matches=_matches,
    read=_read,
    parts=_parts,
    is_line=_is_span,
    fields=(
        ("id of the trace", "trace_id, or id of the trace; of a step id"),
        ("parent_id", "parent_span_id"),
        ("type", "type: llm, tool, guardrail; general, and prompts of LangChain, are no steps"),
        ("name, arguments", "name and input of a tool's span"),
        ("input, output", "input, output"),
        ("error", "error_info.message, or exception_type"),
        ("model, tools", "model; metadata.tools, input.tools"),
        (
            "usage",
            "usage: prompt_tokens, completion_tokens, total_tokens, and cached ones of original_usage",
        ),
        (
            "cost_usd",
            "total_estimated_cost; of the run that of the trace, if it is more than the spans have",
        ),
        ("started_at, ended_at", "start_time, end_time"),
        ("duration_ms of the run", "start_time and end_time of a trace without scorers"),
    ),
    tried_on="spans that its Python client sent for runs of OpenAI's client and of LangGraph with made-up models;"
    " synthetic spans",
    lacks="scores, and what scorers did; what the application did not send",
)
