"""LangSmith's runs, in a tree of `child_runs` or in a list, as its API and its exports write them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from weighbridge.traces.fields import (
    cost_of,
    counted,
    id_of,
    object_of,
    objects_of,
    read_usage,
    string_of,
    time_of,
    usage_of,
)
from weighbridge.traces.importer import Importer
from weighbridge.traces.spans.records import recorded_span
from weighbridge.traces.spans.steps import traces_of
from weighbridge.traces.unread_counts import with_unknown_part

if TYPE_CHECKING:
    from collections.abc import Iterator

    from weighbridge.traces.model import Capability, Trace, Usage
    from weighbridge.traces.spans.spans import Span

_TYPES = frozenset({"llm", "chain", "tool", "retriever", "embedding", "prompt", "parser"})
_TELLING = frozenset({"llm", "tool"})
#: Fields of a run that was saved without its type.
_UNTYPED = frozenset({"id", "name", "start_time", "end_time", "inputs", "outputs"})
_UNKNOWN_TOOLS = "runs were saved without their type, by which those of tools are known"
_is_uuid = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}").fullmatch
_LOOKED_AT = 20  #: number of runs by which the format is recognised
_MESSAGE_USAGES = ("usage_metadata", "token_usage", "usage")


def _matches(value: Any) -> bool:
    listed = value
    if type(value) is dict:
        if _is_run(value):
            return value["run_type"] in _TELLING or bool(objects_of(value.get("child_runs")))
        if _is_untyped(value):
            return _is_of_model(value)
        listed = value.get("runs") or value.get("post")
    if type(listed) is not list or not listed:
        return False
    if all(map(_is_untyped, listed[:_LOOKED_AT])):
        return any(map(_is_of_model, listed))
    if not all(map(_is_run, listed[:_LOOKED_AT])):
        return False
    # A list of whole trees has a trace for each.
    return not any(run.get("child_runs") for run in listed[:_LOOKED_AT])


def _is_run(value: Any) -> bool:
    return (
        type(value) is dict
        and type(value.get("run_type")) is str
        and value["run_type"] in _TYPES
        and ("inputs" in value or "outputs" in value or "start_time" in value)
    )


def _is_untyped(value: Any) -> bool:
    """Return whether a value is a run of which the type was not saved, nor anything that tells its trace."""
    return (
        type(value) is dict
        and _UNTYPED <= value.keys() <= _UNTYPED | {"error"}
        and type(value["id"]) is str
        and _is_uuid(value["id"]) is not None
    )


def _is_of_model(run: Any) -> bool:
    """Return whether a run whose type is not known has the messages or answers that LangChain records of a model call."""
    run = object_of(run)
    asked = _first_of_batch(object_of(run.get("inputs")).get("messages"))
    answered = _first_of_batch(object_of(run.get("outputs")).get("generations"))
    return bool(answered) or any("lc" in object_of(message) for message in asked)


def _first_of_batch(value: Any) -> list[Any]:
    """Return the first request or answer in a list of these, which are lists."""
    first = value[0] if type(value) is list and value else None
    return first if type(first) is list else []


def _is_line(value: Any) -> bool:
    """Return whether a value is one run of several, which may be part of another run or have parts."""
    return _is_untyped(value) or (
        _is_run(value)
        and not value.get("child_runs")
        and ("trace_id" in value or "parent_run_id" in value)
    )


def _listed_runs(value: Any) -> list[dict[str, Any]]:
    """Return the runs in a list, in a query's response, or in a client's batch, where a later entry may end a run."""
    if type(value) is list:
        return objects_of(value)
    posted = objects_of(value.get("post"))
    if not posted:
        return objects_of(value.get("runs"))
    by_id = {id_of(run.get("id")): dict(run) for run in posted}
    for patch in objects_of(value.get("patch")):
        own_id = id_of(patch.get("id")) or _id_in_order(patch)
        recorded = {key: item for key, item in patch.items() if item is not None}
        by_id[own_id] = by_id.get(own_id, {}) | recorded
    return list(by_id.values())


def _id_in_order(run: dict[str, Any]) -> str | None:
    """Return a run's ID from its `dotted_order`, which has a time, `Z` and the ID of each run above it, and last its own."""
    order = string_of(run.get("dotted_order"))
    return order.rpartition(".")[2].partition("Z")[2] or None if order else None


def _trace_ids(runs: list[dict[str, Any]]) -> dict[str | None, str | None]:
    """Return trace IDs by run ID: a run's `trace_id`, or that of a run above it, or the ID of the uppermost run."""
    by_id = {id_of(run.get("id")): run for run in runs}
    found: dict[str | None, str | None] = {}
    for run_id in by_id:
        current, passed = run_id, list[str | None]()
        while current not in found:
            found[current] = current
            passed.append(current)
            parent = id_of(by_id[current].get("parent_run_id"))
            own = id_of(by_id[current].get("trace_id"))
            if own or parent is None or parent not in by_id:
                trace = own or parent or current
                break
            current = parent
        else:
            trace = found[current]
        found |= dict.fromkeys(passed, trace)
    return found


def _runs(value: Any) -> Iterator[tuple[dict[str, Any], Any, Any]]:
    """Yield every run of a value, with its parent's ID and trace ID as defaults."""
    is_one = _is_run(value) or _is_untyped(value)
    listed = [value] if is_one else _listed_runs(value)
    traces = _trace_ids(listed)
    pending: list[tuple[dict[str, Any], Any, Any]] = [
        (run, None, traces[id_of(run.get("id"))]) for run in reversed(listed)
    ]
    while pending:
        run, parent, trace = pending.pop()
        trace = run.get("trace_id") or trace
        yield run, parent, trace
        inner = objects_of(run.get("child_runs"))
        pending += [(child, run.get("id"), trace) for child in reversed(inner)]


def _read(value: Any) -> list[Trace]:
    runs = list(_runs(value))
    traces = traces_of([_span(*recorded) for recorded in runs], IMPORTER.id)
    lacking: dict[Capability, str] = {}
    if any(_is_untyped(run) for run, _, _ in runs):
        lacking["tool_calls"] = _UNKNOWN_TOOLS
    return [with_unknown_part(trace, lacking) for trace in traces]


def _parts(value: Any) -> list[tuple[str | None, Any]]:
    """Return listed runs by their trace; those that are no model calls, of which neither type nor trace is known, beside the first."""
    if _is_run(value) or _is_untyped(value):
        return [(None, value)]
    groups: dict[str | None, list[Any]] = {}
    listed = _listed_runs(value)
    if all(map(_is_untyped, listed[:_LOOKED_AT])):
        first, *calls = filter(_is_of_model, listed)
        others = [run for run in listed if not _is_of_model(run)]
        groups = {id_of(first["id"]): [first, *others]}
        groups |= {id_of(run["id"]): [run] for run in calls}
        return list(groups.items())
    traces = _trace_ids(listed)
    for run in listed:
        trace = id_of(run.get("trace_id")) or traces[id_of(run.get("id"))]
        groups.setdefault(trace, []).append(run)
    return list(groups.items()) if len(groups) > 1 else [(None, value)]


def _span(run: dict[str, Any], parent: Any, trace: Any) -> Span:
    extra = object_of(run.get("extra"))
    about, asked = object_of(extra.get("metadata")), object_of(extra.get("invocation_params"))
    sent, answered = object_of(run.get("inputs")), object_of(run.get("outputs"))
    kind = string_of(run.get("run_type")) or ("llm" if _is_of_model(run) else "chain")
    is_llm = kind == "llm"
    return recorded_span(
        id_of(trace),
        id_of(run.get("id")),
        id_of(run.get("parent_run_id")) or id_of(parent),
        string_of(run.get("name")),
        kind,
        sent=_arguments(sent) if kind == "tool" else sent or None,
        answered=_result(answered) if kind == "tool" else answered or None,
        model=string_of(about.get("ls_model_name")) or string_of(asked.get("model")),
        usage=_usage(run, answered) if is_llm else None,
        cost_usd=_cost(run.get("total_cost")) if is_llm else None,
        tools=asked.get("tools") or sent.get("tools"),
        error=string_of(run.get("error")),
        started_at=time_of(run.get("start_time")),
        ended_at=time_of(run.get("end_time")),
    )


def _arguments(sent: dict[str, Any]) -> Any:
    """Return a tool's arguments, an object or its text, without the wrapper `input` of a callback."""
    if sent.keys() == {"input"}:
        return sent["input"]
    return sent


def _result(answered: dict[str, Any]) -> Any:
    return answered["output"] if answered.keys() == {"output"} else answered or None


def _cost(value: Any) -> float | None:
    if type(value) is str:  # the API writes decimals as text
        try:
            value = float(value)
        except ValueError:
            return None
    return cost_of(value)


def _usage(run: dict[str, Any], answered: dict[str, Any]) -> Usage | None:
    """Return a model call's usage: LangSmith's counts, or else those in the answer."""
    recorded = usage_of(
        run.get("prompt_tokens"), run.get("completion_tokens"), run.get("total_tokens")
    )
    return counted(recorded) or _recorded_usage(answered)


def _recorded_usage(answered: dict[str, Any]) -> Usage | None:
    holders = [answered, object_of(answered.get("llm_output"))]
    for batch in (
        answered.get("generations") or () if type(answered.get("generations")) is list else ()
    ):
        for generation in objects_of(batch if type(batch) is list else [batch]):
            message = object_of(generation.get("message"))
            holders += [object_of(message.get("kwargs")) or message]
    for holder in holders:
        for key in _MESSAGE_USAGES:
            held = object_of(holder.get(key))
            usage = read_usage(held)
            if counted(usage):
                return usage
    return None


IMPORTER = Importer(
    id="langsmith",
    name="LangSmith runs",
    matches=_matches,
    read=_read,
    parts=_parts,
    is_line=_is_line,
    fields=(
        (
            "id of the trace",
            "trace_id, or the uppermost run by parent_run_id; of a step the run's id",
        ),
        ("parent_id", "parent_run_id, or the run whose child_runs it is among"),
        (
            "type",
            "run_type: llm, tool; chains, prompts and parsers are no steps; of runs saved without it, those with LangChain's messages or generations are llm",
        ),
        ("name, arguments", "name and inputs of a tool's run"),
        ("input, output", "inputs, outputs"),
        ("error", "error"),
        ("model", "extra.metadata.ls_model_name, extra.invocation_params.model"),
        ("finish_reason", "finish_reason or stop_reason in the outputs"),
        ("usage", "prompt_tokens and so on, or the usage in the outputs"),
        ("cost_usd", "total_cost"),
        ("started_at, ended_at", "start_time, end_time"),
        ("tools", "extra.invocation_params.tools, inputs.tools"),
    ),
    tried_on="real batches of single model calls, as its clients send them; runs of a traced agent with a made-up model; synthetic trees and lists of runs",
    lacks="feedback, and whatever the application did not send; the number of tool calls, of runs without their type",
)
