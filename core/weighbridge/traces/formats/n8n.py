"""Executions of n8n's workflows: as its API or its command line gives them, or rows of its database.

An execution has the runs of each node. A model, a tool or a memory is a node below the agent or chain that used it, which its
runs name as their source. Nodes that call a model by themselves, such as that of OpenAI, have its answers among their results.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weighbridge.errors import TraceError
from weighbridge.traces.fields import (
    Notes,
    StepIds,
    content_of,
    id_of,
    missing_of,
    object_of,
    scalars,
    string_of,
    time_of,
    word_of,
)
from weighbridge.traces.flatted import Held, flatted
from weighbridge.traces.formats.n8n_answers import answer_of, error_in, own_answer
from weighbridge.traces.formats.n8n_runs import MODEL, TOOL, Nodes, Run, spans_of
from weighbridge.traces.importer import Importer
from weighbridge.traces.model import COUNTED, Counts, Step, StepType, Trace, Usage
from weighbridge.traces.spans.spans import in_order, nearest, parents_of
from weighbridge.traces.stored_rows import ROWS, SESSION, json_cell
from weighbridge.traces.unread_counts import with_unknown_part, with_unread_lines

if TYPE_CHECKING:
    from weighbridge.traces.model import Capability
    from weighbridge.traces.spans.spans import Parents

#: Modes in which n8n begins with the runs of an earlier execution.
_GOES_ON = frozenset({"manual", "retry"})
_NOT_ENDED = ("crashed", "new", "running", "unknown")  #: values of status
_LOOKED_AT = 20  #: number of executions of a list by which it is recognised
_OPENING = 2_000  #: number of characters of data by which it is recognised
#: Keys of the number of rows that are no execution, and of executions that are no traces, beside one that is.
_UNREAD, _LEFT_OUT = "unread_rows", "left_out"
_NO_RUNS = "no model and no tool ran in it"
_REASONS: dict[Capability, str] = {
    "token_usage": "no run of a model in this execution records its tokens",
    "timing": "no run of this execution has its time",
    "cost": "n8n records no cost of these runs, and no tokens to compute it from",
    "tool_definitions": "n8n does not keep the definitions of tools with an execution",
}
_CALLED_TOOLS: dict[Capability, str] = dict.fromkeys(
    ("llm_calls", "token_usage", "cost"),
    "a node that calls a model by itself ran tools, between which the model was called",
)
_OTHERS = "runs of other nodes"
_BESIDE = "executions beside it in which no model and no tool ran"
_EARLIER = "runs of models and tools of the execution that this one goes on from"
_STARTED = "executions of other workflows that it started"
_ESTIMATED = "token counts that are n8n's own estimates"


def _matches(value: Any) -> bool:
    return any(map(_is_execution, _listed(value)[:_LOOKED_AT]))


def _listed(value: Any) -> list[Any]:
    """Return the executions in a value: in a list, a page of the API, or one alone."""
    page = value.get("data") if type(value) is dict else None
    if type(page) is list:
        return page
    return value if type(value) is list else [_alone(value)]


def _alone(value: Any) -> Any:
    """Return an execution without what the editor's own API, or a database, has around it."""
    if type(value) is not dict:
        return value
    if type(value.get(SESSION)) is dict and type(rows := value.get(ROWS)) is list:
        row: dict[str, Any] = next(filter(_is_execution, rows), {})
        return {**row, **value[SESSION], _UNREAD: len(rows) - 1}
    inner = value.get("data")
    is_around = type(inner) is dict and "data" in inner and _is_execution(inner)
    return inner if is_around else value


def _is_execution(value: Any) -> bool:
    held = value.get("data", value) if type(value) is dict else None
    if type(held) is str:
        return held.startswith("[") and '"resultData"' in held[:_OPENING]
    return type(held) is dict and type(object_of(held.get("resultData")).get("runData")) is dict


def has_runs(value: Any) -> bool:
    """Return whether a model or a tool ran in an execution, or may have. Raises TraceError if its data is damaged."""
    execution = _alone(value)
    return not _is_execution(execution) or _Execution(execution).has_any


def _parts(value: Any) -> list[tuple[str | None, Any]]:
    """Return the executions of a list that are traces, with their ids."""
    executions = [each for each in _listed(value) if _is_execution(each)]
    if len(executions) < 2:
        return []
    kept = [each for each in executions if _may_be_trace(each)]
    if not kept:
        return []
    kept[0] = {**kept[0], _LEFT_OUT: len(executions) - len(kept)}
    return [(id_of(each.get("id", each.get("executionId"))), each) for each in kept]


def _may_be_trace(value: dict[str, Any]) -> bool:
    try:
        return has_runs(value)
    except TraceError:
        return True  # it is read for its error


def _read(value: Any) -> list[Trace]:
    executions = [each for each in _listed(value) if _is_execution(each)]
    if len(executions) == 1:
        execution = _Execution(executions[0])
        if not execution.has_any:
            raise TraceError(
                f"this is an execution of n8n, but {_NO_RUNS}", "give one of an agent or a model"
            )
        return [execution.trace()]
    traces = [each.trace() for each in map(_Execution, executions) if each.has_any]
    if not traces:
        raise TraceError(
            f"these are {len(executions):,} executions of n8n, but no model and no tool ran in any",
            "give those of an agent or a model",
        )
    return traces


class _Execution:
    """The runs of an execution, in the order in which they began."""

    def __init__(self, value: dict[str, Any]) -> None:
        self._about = value
        data = value.get("data", value)
        held = flatted(data) if type(data) is str else Held(data)
        self._nodes = Nodes(json_cell(value, "workflowData"))
        listed = held["resultData"]["runData"].items()
        named = [
            Run(node, number, run, self._nodes.calls_model(node))
            for node, runs in listed
            for number, run in enumerate(runs.each())
        ]
        self._has_unread = not (
            all(run.is_readable for run in named)
            and all(type(runs.shallow) is list for _, runs in listed)
        )
        self._runs = sorted(named, key=lambda run: run.order)
        began = time_of(value.get("createdAt") or value.get("startedAt"))
        is_new = began is None or word_of(value.get("mode")) not in _GOES_ON
        self._calls = [
            run.is_call and (is_new or not run.started_at or run.started_at >= (began or 0))
            for run in self._runs
        ]
        self._earlier = sum(run.is_call for run in self._runs) - sum(self._calls)
        self.has_any = any(self._calls)
        self._ids = StepIds()
        self._steps: list[Step] = []
        self._notes = Notes()

    def trace(self) -> Trace:
        """Return the execution as a trace."""
        parents = nearest(parents_of(spans_of(self._runs)), [run.is_step for run in self._runs])
        wanted = _with_parents(self._calls, parents)
        starts = [run.started_at for run in self._runs]
        for index in reversed(range(len(parents))):
            # The run of an agent that waited for its tools begins a second time.
            above, start = parents[index], starts[index]
            if wanted[index] and above is not None and start:
                starts[above] = min(starts[above] or start, start)
        step_ids: dict[int | None, str] = {}
        has_tools_between = False
        for index in in_order(parents, starts):
            run, above = self._runs[index], parents[index]
            if not wanted[index]:
                self._add_said(run)
                continue
            parent = step_ids.get(above)
            if run.is_tool:
                step_ids[index] = self._add_tool(run, parent)
                has_tools_between |= above is not None and self._runs[above].calls_model
            elif run.is_call:
                step_ids[index] = self._add_model(run, parent)
            else:
                step_ids[index] = self._add_agent(run, starts[index])
        others = len(self._runs) - len(step_ids) - self._earlier
        for what, count in (
            (_OTHERS, others),
            (_EARLIER, self._earlier),
            (_STARTED, sum(run.starts_other for run in self._runs)),
            (_BESIDE, self._about.get(_LEFT_OUT) or 0),
        ):
            if count:
                self._notes.add(what, count)
        unknown = _CALLED_TOOLS if has_tools_between else {}
        if self._about.get("status") in _NOT_ENDED:
            unknown = dict.fromkeys(COUNTED, "the execution had not ended when it was recorded")
        elif self._has_unread:
            unknown = dict.fromkeys(COUNTED, "a run of a node cannot be read")
        trace = with_unknown_part(self._trace(), unknown)
        return with_unread_lines(trace, self._about.get(_UNREAD) or 0)

    def _trace(self) -> Trace:
        steps = tuple(self._steps)
        started_at = time_of(self._about.get("startedAt"))
        has_model = any(step.type == "llm" for step in steps)
        return Trace(
            id=id_of(self._about.get("id", self._about.get("executionId"))),
            steps=steps,
            format="n8n",
            metadata=scalars(
                workflow=self._nodes.workflow,
                mode=self._about.get("mode"),
                status=self._about.get("status"),
            ),
            usage=None if has_model else Usage(0, 0, 0),
            counts=None if has_model else Counts(llm_calls=0),
            totals_from="" if has_model else "the runs of its nodes",
            started_at=started_at,
            ended_at=time_of(self._about.get("stoppedAt")) if started_at else None,
            missing=missing_of(
                steps,
                _REASONS,
                usage=None if has_model else Usage(0, 0, 0),
                started_at=started_at,
            ),
            not_carried=self._notes.summaries(),
        )

    def _add(self, wanted: str | None, kind: StepType, **facts: Any) -> str:
        step_id = self._ids.take(wanted, len(self._steps) + 1)
        self._steps.append(Step(id=step_id, type=kind, **facts))
        return step_id

    def _add_said(self, run: Run) -> None:
        """Add what a user wrote in a chat, if this is the run of its trigger."""
        if self._nodes.is_chat(run.node):
            for item in run.results("main"):
                if text := string_of(object_of(item).get("chatInput")):
                    self._add(None, "user", output=text, started_at=run.started_at)

    def _add_agent(self, run: Run, started_at: int | None) -> str:
        outputs = [object_of(item).get("output") for item in run.results("main")]
        return self._add(
            None,
            "agent",
            name=run.node,
            output=outputs[0] if len(outputs) == 1 else outputs or None,
            error=run.error,
            started_at=started_at,
            ended_at=run.ended_at,
        )

    def _add_tool(self, run: Run, parent: str | None) -> str:
        sent, results = run.sent(TOOL), run.results(TOOL)
        name, arguments = self._nodes.called(run.node, sent)
        outputs = [
            content_of(held["response"], self._notes)
            if type(held) is dict and held.keys() == {"response"}
            else held
            for held in results
        ]
        return self._add(
            string_of(object_of(sent).get("toolCallId")),
            "tool",
            parent_id=parent,
            name=name,
            arguments=arguments,
            output=outputs[0] if len(outputs) == 1 else outputs or None,
            error=run.error or next(filter(None, map(error_in, results)), None),
            started_at=run.started_at,
            ended_at=run.ended_at,
        )

    def _add_model(self, run: Run, parent: str | None) -> str:
        """Add the call of a model's run, or those of a node that calls a model: at least one for each of its results."""
        if run.calls_model:
            answers = [own_answer(object_of(item)) for item in run.results("main") or [None]]
        else:
            answers = [answer_of(run.sent(MODEL), next(iter(run.results(MODEL)), None))]
        added = ""
        for answer in answers:
            if answer.is_estimated:
                self._notes.add(_ESTIMATED)
            step_id = self._add(
                None,
                "llm",
                parent_id=parent,
                input=answer.prompt,
                output=answer.text,
                error=run.error or answer.error,
                model=answer.model or self._nodes.model(run.node),
                finish_reason=answer.finish_reason,
                usage=answer.usage,
                cost_usd=answer.cost_usd,
                started_at=run.started_at,
                ended_at=run.ended_at,
            )
            added = added or step_id
        return added


def _with_parents(wanted: list[bool], parents: Parents) -> list[bool]:
    """Return which runs are wanted or have a wanted one below them."""
    found = [False] * len(wanted)
    for start in range(len(wanted)):
        index: int | None = start if wanted[start] else None
        while index is not None and not found[index]:
            found[index] = True
            index = parents[index]
    return found


IMPORTER = Importer(
    id="n8n",
    name="n8n executions",
    matches=_matches,
    read=_read,
    parts=_parts,
    fields=(
        ("id", "id of the execution; of a tool call its toolCallId"),
        (
            "type",
            "a run whose data is under ai_languageModel is llm, under ai_tool tool; so is a result of a node that calls a model itself llm. A run that these name as their source is agent. chatInput of a chat's trigger is user",
        ),
        ("parent_id", "source: the nearest agent, model or tool that started the run"),
        ("name", "the node; of a node with several tools, the name of the tool that it was given"),
        ("arguments", "inputOverride.ai_tool, without toolCallId; query if it is JSON"),
        ("input of a model call", "inputOverride.ai_languageModel: messages"),
        ("output", "response.generations[].text; of a tool call response, or its items"),
        ("error", "error: message; executionStatus error; an item with an error alone"),
        ("model", "generationInfo.model_name, options.model; else that set in the node"),
        ("finish_reason", "generationInfo.finish_reason"),
        (
            "usage",
            "tokenUsage; else tokenUsageEstimate, which n8n computes from texts: the counts say that these are estimates",
        ),
        ("cost_usd", "tokenUsage.cost"),
        ("started_at, ended_at", "startTime, executionTime; of the run startedAt, stoppedAt"),
        ("metadata", "the workflow's name, mode, status"),
    ),
    tried_on="two real databases; their executions also in the form of n8n's API",
    lacks="tool definitions, what the memory of an agent holds, calls within other workflows that an execution starts (they are executions of their own), and model calls between the tools of nodes that call a model by themselves",
)
