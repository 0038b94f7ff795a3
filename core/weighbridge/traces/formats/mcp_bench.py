"""Results of MCP-Bench: for each task the tool calls of its rounds, the answer, and the tokens of the whole task.

The benchmark itself executes the calls of a plan in rounds. A fork's runner for Google's ADK writes the same results, with a round for each
answer of a model; agents that are tools have calls of their own.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any

from weighbridge.traces.chat.call_parts import result_of
from weighbridge.traces.fields import (
    Notes,
    StepIds,
    counted,
    counts_of,
    duration_of,
    id_of,
    missing_of,
    object_of,
    scalars,
    string_of,
    time_of,
    usage_of,
    word_of,
)
from weighbridge.traces.importer import Importer, damaged, objects_in
from weighbridge.traces.model import COUNTED, Step, Trace
from weighbridge.traces.spans.run_duration import with_duration
from weighbridge.traces.unread_counts import with_unknown_part

if TYPE_CHECKING:
    from collections.abc import Iterator

    from weighbridge.traces.model import Capability, StepType, Usage

#: Keys of results by model: of a run of ADK's runner that ended, and of one that goes on.
_HOLDERS = ("task_run_results", "all_completed_task_results", "current_model_task_results")
_RESULT = frozenset({"task_id", "server_name", "model_name", "status"})
_CALLS, _INNER = "execution_results", "inner_tool_calls"
_ROUNDS = ("round", "round_num", "sub_round")
_ID = "trace_id"  #: key of the ID of a result among those of several models
_FIELDS = _RESULT | {
    _ID,
    *(_CALLS, "task_description", "execution_time", "agent_execution_time", "error"),
    *("solution", "final_solution", "total_rounds", "total_tool_calls", "token_usage"),
    *("total_prompt_tokens", "total_output_tokens", "total_tokens", "task_run_metadata"),
}
_WRAPPERS = ({"result"}, {"output"})  #: keys of the only text in a response of ADK
_UNANSWERED = "tool_call"  #: type of a call that has no response yet, and success is false
_LOOKED_AT = 20  #: number of results by which the format is recognised
_REASONS: dict[Capability, str] = {
    "token_usage": "this result records no tokens",
    "timing": "this result records no times",
    "cost": "MCP-Bench records no cost, and this result no tokens to compute it from",
    "tool_definitions": "MCP-Bench does not keep the tools that were offered with its results",
}
_MODEL_CALLS: dict[Capability, str] = {
    "llm_calls": "MCP-Bench records rounds: plans that were repeated or put right, and summaries of results, are further model calls"
}
_TOKENS: dict[Capability, str] = dict.fromkeys(
    ("token_usage", "cost"),
    "MCP-Bench does not count the tokens of summaries, and of plans that were put right",
)
_INNER_CALLS: dict[Capability, str] = {
    "tool_calls": "MCP-Bench does not record all calls of agents that are tools, and this result states no number of them"
}
_SUMMED_UP = "results that were summed up before the model was given them"


def _matches(value: Any) -> bool:
    return any(_is_result(result) for _, result in _results(value, _LOOKED_AT))


def _is_result(value: Any) -> bool:
    if type(value) is not dict or not value.keys() >= _RESULT:
        return False
    return type(value.get(_CALLS)) is list or (
        value["status"] == "failed" and "execution_time" in value
    )


def _results(value: Any, most: int | None = None) -> Iterator[tuple[str, Any]]:
    """Yield results with their model: of one task, of several models, or of several files of tasks."""
    if type(value) is not dict:
        return
    if value.keys() >= _RESULT:
        yield word_of(value["model_name"]), value
        return
    files = [value]
    if not any(name in value for name in _HOLDERS):
        files = [held for held in list(value.values())[:most] if type(held) is dict]
    for held in files:
        for name in _HOLDERS:
            for model, listed in object_of(held.get(name)).items():
                for result in (listed if type(listed) is list else ())[:most]:
                    yield model, result


def _named(value: Any) -> list[tuple[str | None, Any]]:
    """Return the results of a value with the task's ID, after that of the model if there are several."""
    every = list(_results(value))
    several = len({model for model, _ in every}) > 1
    named: list[tuple[str | None, Any]] = []
    for model, result in every:
        task = id_of(result["task_id"]) if _is_result(result) else None
        named.append((f"{model}/{task}" if several and task else task, result))
    return named


def _parts(value: Any) -> list[tuple[str | None, Any]]:
    """Return the results of a value, each as a value of its own; empty for a single one."""
    named = _named(value)
    if len(named) < 2:
        return []
    return [
        (name, {**result, _ID: name} if _is_result(result) else {_HOLDERS[0]: {"": [result]}})
        for name, result in named
    ]


def _read(value: Any) -> list[Trace]:
    return [_trace(result, name) for name, result in _named(value)]


def _trace(result: Any, name: str | None) -> Trace:
    if not _is_result(result):
        raise damaged("a result of a task is not an object with its tool executions")
    task = _Task(result)
    steps = tuple(task.read())
    usage, counts = _usage(result), counts_of(tool_calls=result.get("total_tool_calls"))
    trace = Trace(
        id=string_of(result.get(_ID)) or name,
        steps=steps,
        format=IMPORTER.id,
        metadata=scalars(
            servers=result["server_name"],
            status=result["status"],
            rounds=result.get("total_rounds"),
            error=result.get("error"),
        ),
        usage=usage,
        counts=counts,
        totals_from="the result" if usage or counts else "",
        missing=missing_of(steps, _REASONS, usage=usage),
        not_carried=task.notes.summaries(),
    )
    seconds = duration_of(result.get("agent_execution_time"))
    trace = with_duration(trace, round((seconds or 0) * 1_000), "agent_execution_time")
    if type(result.get(_CALLS)) is not list:
        why = "the task failed, and MCP-Bench does not record what was called before"
        return with_unknown_part(trace, dict.fromkeys(COUNTED, why))
    lacking = dict(_MODEL_CALLS)
    if usage and "token_usage" not in result:
        lacking |= _TOKENS
    if task.has_inner and counts is None:
        lacking |= _INNER_CALLS
    return with_unknown_part(trace, lacking)


def _usage(result: dict[str, Any]) -> Usage | None:
    """Return the tokens of a task: those that the benchmark writes itself, or its runner for ADK."""
    held = object_of(result.get("token_usage"))
    sent, received, total = map(held.get, ("prompt_tokens", "completion_tokens", "total_tokens"))
    if not held:
        names = ("total_prompt_tokens", "total_output_tokens", "total_tokens")
        sent, received, total = map(result.get, names)
    return counted(usage_of(sent, received, total))


class _Task:
    """Collects the steps of one result."""

    def __init__(self, result: dict[str, Any]) -> None:
        self.notes = Notes()
        self.has_inner = False  #: whether there are calls of agents that are tools
        self._result = result
        self._model = string_of(result["model_name"])
        self._ids = StepIds()
        self._steps: list[Step] = []

    def read(self) -> list[Step]:
        """Return the steps."""
        result = self._result
        self.notes.add_fields(result, _FIELDS, "result")
        if task := string_of(result.get("task_description")):
            self._add("user", output=task)
        self._add_rounds(objects_in(result.get(_CALLS), "tool execution"), None)
        solution = result.get("solution") or result.get("final_solution")
        if solution:
            self._add("llm", model=self._model, output=solution)
        return self._steps

    def _add(self, kind: StepType, wanted: Any = None, **facts: Any) -> str:
        step_id = self._ids.take(wanted, len(self._steps) + 1)
        self._steps.append(Step(id=step_id, type=kind, **facts))
        return step_id

    def _add_rounds(self, calls: list[dict[str, Any]], parent: str | None) -> None:
        """Add the calls of an agent, and for each round the model call that asked for them."""
        for _, asked in groupby(calls, lambda call: [call.get(name) for name in _ROUNDS]):
            answer = self._add("llm", parent_id=parent, model=self._model)
            for call in asked:
                self._add_call(call, answer, is_inner=parent is not None)

    def _add_call(self, call: dict[str, Any], answer: str, *, is_inner: bool) -> None:
        output, error = _result_of(call)
        # A call within another is recorded when it has ended.
        time = time_of(call.get("timestamp"))
        if call.get("compressed") is True:
            self.notes.add(_SUMMED_UP)
        step_id = self._add(
            "tool",
            id_of(call.get("call_id")),
            parent_id=answer,
            name=string_of(call.get("tool")),
            arguments=call.get("parameters"),
            output=output,
            error=error,
            started_at=None if is_inner else time,
            ended_at=time if is_inner else None,
        )
        inner = call.get(_INNER)
        if type(inner) is list:
            self.has_inner = True
            self._add_rounds(objects_in(inner, "inner tool call"), step_id)
            if call.get("type") != _UNANSWERED:  # the agent's answer is the result
                self._add("llm", parent_id=step_id, model=self._model, output=output)


def _result_of(call: dict[str, Any]) -> tuple[Any, str | None]:
    """Return the result of a call, and the reason if it failed."""
    if call.get("type") == _UNANSWERED:
        return None, None
    held = call.get("response", call.get("result", call.get("error")))
    if type(held) is dict and held.keys() in _WRAPPERS:
        held = next(iter(held.values()))
    output, error = result_of(held)
    if call.get("success") is False and not error:
        reasons = (output, call.get("error"), object_of(held).get("error"))
        error = next(filter(None, map(string_of, reasons)), "error")
    return output, error


IMPORTER = Importer(
    id="mcp-bench",
    name="MCP-Bench results",
    matches=_matches,
    read=_read,
    parts=_parts,
    fields=(
        ("id", "task_id, after the model if there are several; of a tool call call_id"),
        (
            "type",
            "each of execution_results and of their inner_tool_calls is tool; each round, the answer of an agent that is a tool, and the solution is llm; task_description is user",
        ),
        (
            "parent_id",
            "of a tool call its round; of the rounds of an agent that is a tool its call",
        ),
        ("name, arguments", "tool, parameters"),
        ("output", "result, response or error; of the last model call solution, final_solution"),
        ("error", "success: false, with the reason of error; isError of a response"),
        ("model", "model_name"),
        (
            "usage of the run",
            "token_usage; total_prompt_tokens, total_output_tokens and total_tokens",
        ),
        ("counts of the run", "total_tool_calls"),
        ("started_at", "timestamp of a call; of one within another ended_at"),
        ("duration_ms of the run", "agent_execution_time"),
        ("metadata", "server_name, status, total_rounds, error"),
    ),
    tried_on="eight real files of results of a fork's runner; those of the benchmark's own agent, which it does not save, are synthetic, modelled on its source",
    lacks="model calls one by one, their answers and tokens; cost; tool definitions; what a task that failed had called",
)
