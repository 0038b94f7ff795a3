"""The steps of ATIF trajectories: messages, tool calls with their results, and sub-agents, in this file or another."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from weighbridge.traces.chat.call_parts import Call, as_list, call_of, not_among
from weighbridge.traces.chat.calls import apart, own_calls
from weighbridge.traces.chat.roles import RESULT_ROLES
from weighbridge.traces.equality import key_of
from weighbridge.traces.fields import (
    Notes,
    StepIds,
    content_of,
    cost_of,
    count_of,
    id_of,
    object_of,
    objects_of,
    parse_arguments,
    string_of,
    time_of,
    tools_of,
    word_of,
)
from weighbridge.traces.formats.atif_totals import shows_caches_apart, usage_of_metrics
from weighbridge.traces.importer import damaged
from weighbridge.traces.model import Step

if TYPE_CHECKING:
    from collections.abc import Iterator

    from weighbridge.traces.formats.atif_totals import Totals
    from weighbridge.traces.model import StepType, ToolDefinition

_NESTING_LIMIT = 50  #: maximum depth of sub-agents within sub-agents
AGENTS = frozenset({"agent", "assistant"})
#: Fields that only a step with a model's answer has.
_ANSWER_FIELDS = ("tool_calls", "metrics", "model_name", "reasoning_content", "llm_call_count")
_STEP_FIELDS = frozenset(
    {
        *("step_id", "timestamp", "source", "message", "model_name", "tool_calls", "observation"),
        *("metrics", "llm_call_count", "is_copied_context"),
    }
)
#: Fields of a step's message that is a chat message.
_MESSAGE_FIELDS = frozenset(
    {
        *("role", "content", "timestamp", "id", "name", "tool_calls", "function_call"),
        *("tool_call_id", "error", "is_error"),
    }
)
#: Fields of which a chat message has at least one.
_CHAT_FIELDS = frozenset({"role", "content", "tool_calls"})
_TRAJECTORY_FIELDS = frozenset(
    {
        *("schema_version", "session_id", "trajectory_id", "agent", "steps", "final_metrics"),
        *("subagent_trajectories", "continued_trajectory_ref"),
    }
)
_REFERENCE = "subagent_trajectory_ref"
_METRICS = ("prompt_tokens", "completion_tokens", "cached_tokens", "cost_usd")


class _SubAgents:
    """Trajectories nested in another one; each is converted at the place where it was started."""

    def __init__(self, trajectory: dict[str, Any]) -> None:
        self._waiting = dict(enumerate(objects_of(trajectory.get("subagent_trajectories"))))
        self._numbers: dict[tuple[str, str], list[int]] = {}
        for number, sub_agent in reversed(self._waiting.items()):
            for key in ("trajectory_id", "session_id"):
                name = string_of(sub_agent.get(key))
                if name:
                    self._numbers.setdefault((key, name), []).append(number)

    def take(self, reference: dict[str, Any]) -> dict[str, Any] | None:
        """Return the trajectory that a reference names, once; before 1.7, references name the session."""
        for key in ("trajectory_id", "session_id"):
            numbers = self._numbers.get((key, string_of(reference.get(key)) or ""), [])
            while numbers:
                found = self._waiting.pop(numbers.pop(), None)
                if found is not None:
                    return found
        return None

    def rest(self) -> list[dict[str, Any]]:
        """Return the trajectories that no reference named."""
        return list(self._waiting.values())


class TrajectoryReader:
    """Turns a trajectory, with its sub-agents nested in it, into steps."""

    def __init__(self, sub_agents: Any) -> None:
        self.steps: list[Step] = []
        self.tools: dict[str, ToolDefinition] = {}
        #: Total tokens and costs of the trajectories that continue in each other, and of sub-agents.
        self.mains: list[Totals] = []
        self.others: list[Totals] = []
        self.notes = Notes()
        #: Sub-agents from other files.
        self.sub_agents = _SubAgents({"subagent_trajectories": sub_agents})
        self.steps_left = 0  #: number of steps in final_metrics beyond those in the file
        self._ids = StepIds()

    def segments(self, values: list[dict[str, Any]]) -> None:
        """Add the steps of trajectories that continue in each other, and of sub-agents that no step refers to."""
        for value in values:
            self.trajectory(value, None, "", _NESTING_LIMIT)
        for value in self.sub_agents.rest():
            self.sub_agent(value, None, _NESTING_LIMIT)

    def trajectory(
        self, value: dict[str, Any], parent_id: str | None, prefix: str, nesting: int
    ) -> None:
        """Add the steps of a trajectory; those of a sub-agent are under the step `parent_id`."""
        if not nesting:
            raise damaged(f"sub-agents are nested deeper than {_NESTING_LIMIT}")
        self.notes.add_fields(value, _TRAJECTORY_FIELDS, "trajectory")
        agent, totals = object_of(value.get("agent")), object_of(value.get("final_metrics"))
        for tool in tools_of(agent.get("tool_definitions")):
            self.tools.setdefault(tool.name, tool)
        steps = value["steps"] if type(value.get("steps")) is list else []
        of_steps = [object_of(object_of(step).get("metrics")) for step in steps]
        are_caches_apart = shows_caches_apart(totals, "total_") or any(
            map(shows_caches_apart, of_steps)
        )
        usage = usage_of_metrics(totals, "total_", are_caches_apart=are_caches_apart)
        cost_usd = cost_of(totals.get("total_cost_usd"))
        totals_of = self.mains if nesting == _NESTING_LIMIT else self.others
        totals_of.append((usage, cost_usd if usage or cost_usd else None))
        part = _Trajectory(
            self, _SubAgents(value), parent_id, prefix, string_of(agent.get("model_name")), nesting
        )
        part.are_caches_apart = are_caches_apart
        part.are_answers_marked = any(map(_is_marked, steps))
        self.steps_left += max(0, (count_of(totals.get("total_steps")) or 0) - len(steps))
        for number, step in enumerate(steps, 1):
            if type(step) is not dict:
                raise damaged(f"step {number} is not an object")
            part.step(step)
        part.finish()

    def sub_agent(self, value: dict[str, Any], parent_id: str | None, nesting: int) -> None:
        """Add a sub-agent and its steps, `nesting` levels above the deepest."""
        name = string_of(value.get("trajectory_id")) or string_of(value.get("session_id"))
        agent = string_of(object_of(value.get("agent")).get("name"))
        step_id = self.add(name, "agent", parent_id=parent_id, name=agent)
        self.trajectory(value, step_id, f"{step_id}/", nesting - 1)

    def add(self, wanted_id: str | None, kind: StepType, **facts: Any) -> str:
        """Add a step, and return its id."""
        step_id = self._ids.take(wanted_id, len(self.steps) + 1)
        self.steps.append(Step(id=step_id, type=kind, **facts))
        return step_id


class _Trajectory:
    """One trajectory while its steps are read."""

    def __init__(
        self,
        reader: TrajectoryReader,
        sub_agents: _SubAgents,
        parent_id: str | None,
        prefix: str,
        model: str | None,
        nesting: int,
    ) -> None:
        self._reader = reader
        self._notes = reader.notes
        self._sub_agents = sub_agents
        self._parent_id = parent_id
        self._prefix = prefix
        self._model = model
        self._nesting = nesting
        self.are_caches_apart = False  #: whether input tokens exclude those of caches
        self.are_answers_marked = False  #: whether answers have metrics or the model's name
        #: Calls without a result, by call ID: the ID of the step that made them, and the indices of their steps.
        self._unanswered: dict[str, tuple[str, deque[int]]] = {}

    def step(self, value: dict[str, Any]) -> None:
        """Add a step, the tool calls in it, and the sub-agents that these started."""
        if value.get("is_copied_context") is True:
            self._notes.add("steps copied from an earlier trajectory")
            return
        self._notes.add_fields(value, _STEP_FIELDS, "step")
        calls = value.get("llm_call_count")
        if type(calls) is int and calls > 1:
            self._notes.add("model calls that share one step with others", calls - 1)
        metrics = object_of(value.get("metrics"))
        self._notes.add_fields(metrics, frozenset(_METRICS), "metrics")
        said, told = _chat_message(value.get("message"))
        self._notes.add_fields(said, _MESSAGE_FIELDS, "message")
        observation = object_of(value.get("observation"))
        results = objects_of(as_list(observation.get("results") or [])) + told
        if self.are_answers_marked and _is_result(value, results):
            self._told(value, results)
            return
        step_id = self._answer(said)
        if step_id is None:
            step_id = self._message(value, said)
        self._calls(_calls_of(value, said), results, step_id)

    def _told(self, value: dict[str, Any], results: list[dict[str, Any]]) -> None:
        """Add the results of a step that has only results; the call's ID may stand in the step's `extra`."""
        call_id = string_of(object_of(value.get("extra")).get("tool_call_id"))
        for result in results:
            named = result.get("source_call_id") or call_id
            self._result({**result, "source_call_id": named}, self._parent_id)

    def _answer(self, said: dict[str, Any]) -> str | None:
        """Add a chat message that is the result of an earlier call, and return the ID of the call's step; else None."""
        call_id = id_of(said.get("tool_call_id")) if said.get("role") in RESULT_ROLES else None
        _, waiting = self._unanswered.get(call_id or "", ("", None))
        if not waiting:
            return None
        step_id = self._reader.steps[waiting[0]].id
        failed = bool(said.get("error") or said.get("is_error"))
        self._result(_result_of(call_id, said.get("content"), failed), step_id)
        return step_id

    def _message(self, value: dict[str, Any], said: dict[str, Any]) -> str:
        """Add the message of a step as a step of the trace, and return its ID."""
        calls, message = value.get("llm_call_count"), value.get("message")
        metrics = object_of(value.get("metrics"))
        kind = _type_of(value.get("source") or said.get("role"), calls)
        return self._reader.add(
            self._id(value.get("step_id")),
            kind,
            parent_id=self._parent_id,
            output=content_of(said.get("content") if said else message, self._notes),
            model=(string_of(value.get("model_name")) or self._model) if kind == "llm" else None,
            usage=usage_of_metrics(metrics, are_caches_apart=self.are_caches_apart),
            cost_usd=cost_of(metrics.get("cost_usd")),
            started_at=time_of(value.get("timestamp") or said.get("timestamp")),
        )

    def finish(self) -> None:
        """Add the sub-agents that no step refers to."""
        for sub_agent in self._sub_agents.rest():
            self._reader.sub_agent(sub_agent, self._parent_id, self._nesting)

    def _id(self, step_id: Any) -> str | None:
        name = str(step_id) if type(step_id) is int else string_of(step_id)
        return f"{self._prefix}{name}" if name else None

    def _calls(
        self, calls: list[dict[str, Any]], results: list[dict[str, Any]], step_id: str
    ) -> None:
        for call, result in _paired(calls, results):
            if call is None:
                self._result(result, step_id)
                continue
            call_id = string_of(call.get("tool_call_id"))
            if call_id and result.get("content") is None and not result.get(_REFERENCE):
                by, waiting = self._unanswered.get(call_id, (step_id, deque[int]()))
                self._unanswered[call_id] = (step_id, waiting if by == step_id else deque())
                self._unanswered[call_id][1].append(len(self._reader.steps))
            own_id = self._reader.add(
                call_id,
                "tool",
                parent_id=step_id,
                name=_name(call),
                arguments=_arguments(call),
                output=content_of(result.get("content"), self._notes),
                error=_error(result),
            )
            self._delegated(result, own_id)

    def _result(self, result: dict[str, Any], step_id: str | None) -> None:
        """Add a result without a call in its step: that of an earlier step's call, or of an action without a call."""
        output = content_of(result.get("content"), self._notes)
        _, waiting = self._unanswered.get(string_of(result.get("source_call_id")) or "", ("", None))
        if waiting:
            index = waiting.popleft()
            step = self._reader.steps[index]
            self._reader.steps[index] = replace(step, output=output, error=_error(result))
            self._delegated(result, step.id)
        elif output is None:
            self._delegated(result, step_id)
        else:
            own_id = self._reader.add(None, "other", parent_id=step_id, output=output)
            self._delegated(result, own_id)

    def _delegated(self, result: dict[str, Any], step_id: str | None) -> None:
        """Add the sub-agents that a result refers to."""
        references = result.get(_REFERENCE)
        for reference in objects_of([references] if type(references) is dict else references):
            sub_agent = self._sub_agents.take(reference) or self._reader.sub_agents.take(reference)
            if sub_agent is None:
                self._notes.add("references to sub-agents in other files, or repeated")
            else:
                self._reader.sub_agent(sub_agent, step_id, self._nesting)


def _chat_message(message: Any) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return a step's message and the results in it, if it is a chat message, as some converters write it; else {}."""
    if type(message) is not dict or _CHAT_FIELDS.isdisjoint(message):
        return {}, []
    if type(message.get("role", "")) is not str:
        return {}, []
    said, results = apart(message)
    told = [_result_of(each.call_id, each.output, each.error is not None) for each in results]
    return said, told


def _result_of(call_id: str | None, content: Any, failed: bool) -> dict[str, Any]:
    """Return the result of a call in a chat, in ATIF's form."""
    return {"source_call_id": call_id, "content": content, "extra": {"is_error": failed}}


def _calls_of(value: dict[str, Any], said: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the calls of a step, including those that only its chat message has."""
    # A call that is not an object becomes a call of which nothing is known.
    calls = [
        {"tool_call_id": object_of(call).get("id"), **object_of(call)}
        for call in as_list(value.get("tool_calls") or [])
    ]
    if not said:
        return calls
    known = [Call(id_of(call.get("tool_call_id")), _name(call), _arguments(call)) for call in calls]
    more = not_among(known, own_calls(said))
    return calls + [
        {"tool_call_id": call.id, "function_name": call.name, "arguments": call.arguments}
        for call in more
    ]


def _paired(
    calls: list[dict[str, Any]], results: list[dict[str, Any]]
) -> Iterator[tuple[dict[str, Any] | None, dict[str, Any]]]:
    """Yield each call with its result, or {} if there is none; then None with each result of another call."""
    if calls and len(calls) == len(results) and not any(r.get("source_call_id") for r in results):
        yield from zip(calls, results, strict=True)
        return
    if len(calls) > 1 and len(results) == 1 and _is_of_step(results[0]):
        yield from ((call, results[0]) for call in calls)
        return
    wanted = {string_of(call.get("tool_call_id")) for call in calls}
    by_call: dict[str, list[dict[str, Any]]] = {}
    others: list[dict[str, Any]] = []
    for result in reversed(results):
        call_id = string_of(result.get("source_call_id"))
        if call_id is not None and call_id in wanted:
            by_call.setdefault(call_id, []).append(result)
        else:
            others.append(result)
    for call in calls:
        waiting = by_call.get(string_of(call.get("tool_call_id")) or "")
        yield call, waiting.pop() if waiting else {}
    # A call may have several results: those after the first become separate steps.
    others += [result for waiting in by_call.values() for result in waiting]
    yield from ((None, result) for result in reversed(others))


def _is_of_step(result: dict[str, Any]) -> bool:
    """Return whether a result belongs to all calls of a step, such as a terminal's screen after several commands."""
    return not result.get("source_call_id") and not result.get(_REFERENCE)


def _type_of(source: Any, llm_calls: Any) -> StepType:
    if word_of(source) in AGENTS:
        # Without a model call, the step is a rule-based dispatch.
        return "other" if type(llm_calls) is int and llm_calls == 0 else "llm"
    if source == "user":
        return "user"
    return "system" if source == "system" else "other"


def _is_marked(step: Any) -> bool:
    """Return whether a step of the agent has the metrics of a model call, or the model's name."""
    recorded = object_of(step)
    is_agents = word_of(recorded.get("source")) in AGENTS
    return is_agents and bool(recorded.get("metrics") or recorded.get("model_name"))


def _is_result(step: dict[str, Any], results: list[dict[str, Any]]) -> bool:
    """Return whether a step of the agent has only results, in a trajectory whose answers have metrics or a model's name."""
    message = step.get("message")
    return (
        bool(results)
        and word_of(step.get("source")) in AGENTS
        and not any(map(step.get, _ANSWER_FIELDS))
        and (not message or key_of(message) in {key_of(each.get("content")) for each in results})
    )


def _error(result: dict[str, Any]) -> str | None:
    """Return the error of a failed call; ATIF has no field for it, but some programs set `is_error` in `extra`."""
    if object_of(result.get("extra")).get("is_error") is not True:
        return None
    return string_of(result.get("content")) or "error"


def _name(call: dict[str, Any]) -> str | None:
    return string_of(call.get("function_name")) or call_of(call).name


def _arguments(call: dict[str, Any]) -> Any:
    recorded = parse_arguments(call.get("arguments"))
    recorded = call_of(call).arguments if recorded is None else recorded
    return {} if recorded is None else recorded
