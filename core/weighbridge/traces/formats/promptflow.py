"""Runs of Microsoft's PromptFlow: the details of a flow or node that was tested, and the lines of a batch run.

A run has the calls that PromptFlow traced, as trees: the functions of its nodes, and in them the requests of OpenAI's client. The
run of a flow repeats the calls of its nodes. Times of calls are local times that were taken for UTC, unlike those of runs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from weighbridge.errors import TraceError
from weighbridge.traces.equality import key_of
from weighbridge.traces.fields import (
    count_of,
    counted,
    id_of,
    object_of,
    scalars,
    time_of,
    usage_of,
    word_of,
)
from weighbridge.traces.formats.promptflow_calls import FLOW, CallReader, error_of, has_steps
from weighbridge.traces.importer import Importer, objects_in
from weighbridge.traces.model import COUNTED
from weighbridge.traces.spans.steps import traces_of
from weighbridge.traces.unread_counts import with_unknown_part

if TYPE_CHECKING:
    from weighbridge.traces.model import Capability, Trace, Usage

_FLOWS, _NODES = "flow_runs", "node_runs"
_CALLS = "api_calls"
_RUN = frozenset({"run_id", "status", _CALLS})
_LINE = frozenset({"line_number", "run_info"})
#: Key of the number of runs without a model call, in the value of the first run with one.
_LEFT_OUT = "left_out"
_LOOKED_AT = 20  #: number of runs by which the format is recognised
_ENDED = frozenset({"Completed", "Failed", "Bypassed", "Canceled"})
#: A quarter of an hour in nanoseconds: local times differ from UTC by a multiple of it.
_QUARTER = 15 * 60 * 10**9
_SAME = 10**9  #: nanoseconds by which a call may seem to begin before its run
_MOST_QUARTERS = 4 * 14  #: of the zone that differs most
_BESIDE = "runs beside it in which no model call was traced"
_CACHED = "nodes whose result is from the cache of an earlier run"
_ESTIMATED = "token counts that are PromptFlow's own estimates"
_VECTORS = "vectors of embeddings"
_NO_CALLS: dict[Capability, str] = dict.fromkeys(
    ("llm_calls", "tool_calls", "token_usage", "cost"),
    "the calls of a node that ran are not recorded",
)
_ANSWERS: dict[Capability, str] = {
    "tool_calls": "an answer of a model that was streamed is not recorded, nor the calls it may ask for"
}


def _matches(value: Any) -> bool:
    flows, nodes = _lists(value)
    return any(map(_is_run, [*flows[:_LOOKED_AT], *nodes[:_LOOKED_AT]]))


def _is_run(value: Any) -> bool:
    """Return whether a value is the run of a flow or of a node."""
    return (
        type(value) is dict
        and value.keys() >= _RUN
        and ("flow_id" in value or value.keys() >= {"node", "flow_run_id"})
    )


def _lists(value: Any) -> tuple[list[Any], list[Any]]:
    """Return the runs of flows and those of nodes in a value: the details of a test, a line of a batch run, or one flow's run."""
    if type(value) is not dict:
        return [], []
    flows, nodes = value.get(_FLOWS), value.get(_NODES)
    if type(flows) is list and type(nodes) is list:
        return flows, nodes
    run: Any = value.get("run_info") if value.keys() >= _LINE else value
    return ([run] if _is_run(run) and "flow_id" in run else []), []


@dataclass(slots=True)
class _Run:
    """The run of a flow, if it has one, with those of its nodes."""

    flow: dict[str, Any]
    nodes: list[dict[str, Any]]

    @property
    def id(self) -> str | None:
        """The ID of the flow's run, or of that of the first node."""
        return id_of((self.flow or self.nodes[0]).get("run_id"))

    def value(self) -> dict[str, Any]:
        """Return the run as a value of its own."""
        return {_FLOWS: [self.flow] if self.flow else [], _NODES: self.nodes}

    def calls(self) -> list[dict[str, Any]]:
        """Return the outermost calls of the run, each of them once."""
        roots = _calls(self.flow)
        known = {_key(call) for call in roots}
        known |= {_key(each) for call in roots if call.get("type") == FLOW for each in _inner(call)}
        for node in self.nodes:
            roots += [call for call in _calls(node) if _key(call) not in known]
        return roots

    def shift(self) -> int:
        """Return the nanoseconds from the times of calls to those of runs, which are in UTC."""
        for run in (*self.nodes, self.flow):
            first = next(iter(_calls(run)), {})
            began, called = time_of(run.get("start_time")), time_of(first.get("start_time"))
            if began is not None and called is not None:
                # A call begins after its run, though perhaps minutes after it.
                quarters = -((called - began + _SAME) // _QUARTER)
                return quarters * _QUARTER if abs(quarters) <= _MOST_QUARTERS else 0
        return 0

    @property
    def cached(self) -> int:
        """The number of nodes that did not run, because an earlier run had their result."""
        return sum(node.get("cached_run_id") is not None for node in self.nodes)

    @property
    def _ran(self) -> list[dict[str, Any]]:
        """The nodes that ran."""
        return [
            node
            for node in self.nodes
            if node.get("status") != "Bypassed" and node.get("cached_run_id") is None
        ]

    def missing(self, reader: CallReader) -> dict[Capability, str]:
        """Return what is not known of the run, with the reasons."""
        about = self.flow or self.nodes[0]
        if word_of(about.get("status")) not in _ENDED:
            return dict.fromkeys(COUNTED, "the run had not ended when it was recorded")
        if any(node.get(_CALLS) is None for node in self._ran):
            return _NO_CALLS
        return _ANSWERS if reader.unread_answers else {}

    def refusal(self) -> TraceError:
        """Return the error for a run without a model call."""
        error = error_of(object_of((self.flow or self.nodes[0]).get("error")).get("message"))
        failed = f"; it failed: {error}" if error else ""
        traced = [call for call in _calls(self.flow) if call.get("type") != FLOW or _inner(call)]
        if not traced and not any(map(_calls, self.nodes)):
            return TraceError(
                f"this is a run of PromptFlow in which no call was traced{failed}",
                "since version 1.17.1, PromptFlow traces calls if the environment variable PF_DISABLE_TRACING is false",
            )
        return TraceError(
            f"this is a run of PromptFlow in which no model call was traced{failed}",
            "PromptFlow traces the model calls of OpenAI's client, and not those of others",
        )


def _calls(run: dict[str, Any]) -> list[dict[str, Any]]:
    return list(objects_in(run.get(_CALLS), "call"))


def _inner(call: dict[str, Any]) -> list[dict[str, Any]]:
    return objects_in(call.get("children"), "a call in a call, number")


def _key(call: dict[str, Any]) -> bytes:
    """Return what tells a call from others: its ID, which older versions do not write, or its name and times."""
    named = id_of(call.get("id"))
    return key_of(
        named or [call.get(name) for name in ("node_name", "name", "start_time", "end_time")]
    )


def _runs(value: Any) -> list[_Run]:
    """Return the runs in a value: of each flow, and of nodes without a flow's run, by the run they are part of."""
    flows, nodes = (objects_in(listed, "run") for listed in _lists(value))
    runs = [_Run(flow, []) for flow in flows if flow]
    by_id = {run.id: run for run in runs}
    of_no_flow: dict[str | None, _Run] = {}
    for node in nodes:
        parent = id_of(node.get("parent_run_id"))
        run = by_id.get(parent)
        if run is None and len(runs) == 1 and _is_of(node, runs[0].flow):
            run = runs[0]
        (run or of_no_flow.setdefault(parent, _Run({}, []))).nodes.append(node)
    return [*runs, *of_no_flow.values()]


def _is_of(node: dict[str, Any], flow: dict[str, Any]) -> bool:
    """Return whether a node is part of the run that a flow's run is part of, as nodes that aggregate lines are."""
    return id_of(node.get("flow_run_id")) == id_of(flow.get("root_run_id"))


def _parts(value: Any) -> list[tuple[str | None, Any]]:
    """Return the runs of a value that have model calls, with their IDs."""
    try:
        runs = _runs(value)
        kept = [run for run in runs if has_steps(run.calls())]
    except TraceError:
        return []  # the value is read for its error
    if len(runs) < 2 or not kept:
        return []
    parts = [run.value() for run in kept]
    parts[0][_LEFT_OUT] = len(runs) - len(kept)
    return [(run.id, part) for run, part in zip(kept, parts, strict=True)]


def _read(value: Any) -> list[Trace]:
    runs = _runs(value)
    kept = [run for run in runs if has_steps(run.calls())]
    if not runs:
        raise TraceError("these details of PromptFlow have no run", "give those of a test that ran")
    if not kept:
        raise runs[0].refusal()
    left_out = count_of(value.get(_LEFT_OUT)) or len(runs) - len(kept)
    return [_trace(run, 0 if number else left_out) for number, run in enumerate(kept)]


def _trace(run: _Run, left_out: int) -> Trace:
    reader = CallReader(run.id or "", run.calls(), run.shift())
    notes = {
        _BESIDE: left_out,
        _CACHED: run.cached,
        _ESTIMATED: reader.estimates,
        _VECTORS: reader.vectors,
    }
    [trace] = traces_of(reader.spans, IMPORTER.id, notes)
    about = run.flow or (run.nodes[0] if len(run.nodes) == 1 else {})
    usage = _more_than_read(_stated(run), trace)
    began = time_of(about.get("start_time"))
    trace = replace(
        trace,
        id=run.id,
        steps=reader.with_partial_usage(trace.steps),
        usage=usage,
        totals_from="system_metrics" if usage else "",
        started_at=began,
        ended_at=time_of(about.get("end_time")) if began else None,
        metadata=trace.metadata
        | scalars(
            flow=run.flow.get("flow_id"),
            node=None if run.flow else about.get("node"),
            line=about.get("index"),
            status=about.get("status"),
            error=object_of(about.get("error")).get("message"),
        ),
    )
    return with_unknown_part(trace, run.missing(reader))


def _stated(run: _Run) -> Usage | None:
    """Return the tokens that PromptFlow states for a run."""
    held = object_of((run.flow or run.nodes[0]).get("system_metrics"))
    names = ("prompt_tokens", "completion_tokens", "total_tokens")
    return counted(usage_of(*map(held.get, names)))


def _more_than_read(stated: Usage | None, trace: Trace) -> Usage | None:
    """Return the stated tokens if they are more than those read; newer versions leave out embeddings."""
    usages = [step.usage for step in trace.steps if step.usage]
    counts = ("input_tokens", "output_tokens", "total")
    if stated is None or all(
        (getattr(stated, name) or 0) <= sum(getattr(usage, name) or 0 for usage in usages)
        for name in counts
    ):
        return None
    return stated


IMPORTER = Importer(
    id="promptflow",
    name="PromptFlow runs",
    matches=_matches,
    read=_read,
    parts=_parts,
    fields=(
        ("id", "run_id; of a step the id of the call"),
        (
            "type",
            "type: LLM is llm, Embedding and Retrieval are other, and so are calls of the type LLM whose name has `embedding`. A Function (before: Tool) whose name a model's answer asks for is tool; others, such as those of nodes, are no steps. LangChain with prompts is llm, with input_str tool",
        ),
        ("parent_id", "the call whose children it is among"),
        ("name, arguments", "name and inputs of a tool; tool_calls or function_call of an answer"),
        ("input, output", "inputs, output; the pieces of a streamed answer are put together"),
        ("user and system steps", "messages or prompt of the inputs of a model call"),
        ("error", "error: type and message"),
        ("model", "model of the output; else model or engine of the inputs"),
        ("finish_reason", "finish_reason of the output"),
        ("usage", "usage of the output; of a streamed answer system_metrics, an estimate"),
        ("usage of the run", "system_metrics of the flow, where they are more than its calls have"),
        (
            "started_at, ended_at",
            "start_time and end_time, moved by the quarters of an hour by which they differ from those of the run",
        ),
        ("started_at, ended_at of the run", "start_time, end_time"),
        ("tools", "tools or functions of the inputs of a model call"),
        ("metadata", "flow_id, node, index, status, error"),
    ),
    tried_on="thirteen real details of tests of 2023 to 2025, three of them with streamed answers; calls of tools, LangChain's calls and lines of batch runs are synthetic, modelled on the source of PromptFlow 1.18",
    lacks="cost; inputs and outputs of the flow and its nodes; vectors; model calls of other clients than OpenAI's, and all of runs without tracing, which is off since version 1.17.1 unless PF_DISABLE_TRACING is false",
)
