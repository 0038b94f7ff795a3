"""InterCode's logs of experiments: for each task, the agent's actions, the environment's observations, and the rewards."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING, Any

from weighbridge.traces.fields import (
    Notes,
    StepIds,
    id_of,
    missing_of,
    object_of,
    scalars,
    string_of,
)
from weighbridge.traces.importer import Importer, damaged
from weighbridge.traces.model import Step, Trace

if TYPE_CHECKING:
    from weighbridge.traces.model import Capability, StepType

_LOOKED_AT = 20  #: number of tasks by which the format is recognised
_HISTORY, _LOGS = "turn_history", "logs"
_LISTS = ("actions", "observations", "rewards")
_TASK_FIELDS = frozenset(
    {"environment", "dataset", "task_id", "query", _HISTORY, "summary", "hardness"}
)
_HISTORY_FIELDS = frozenset({"actions", "observations", "valid_action", "thoughts", "steps"})
_ENVIRONMENT = "ic_"  #: prefix of the names of environments
_EXECUTE, _SUBMIT, _SKIP = "execute[", "submit", "skip"
_BLOCKED = "blocked"  #: action recorded for an answer that the model did not give
_LATE = "EXCEEDED MAX TURNS"  #: prefix of the thought of a submission by InterCode itself
_FAILED = "the action failed"
#: InterCode's observation after an action in which it found nothing to run.
_NO_CODE = re.compile(
    r"No \w{1,20} code was found in your last response"
    r"|Error executing query: Your last `execute` action did not contain \w{1,20} code"
)
_REASONS: dict[Capability, str] = {
    "token_usage": "InterCode's logs carry no tokens",
    "timing": "InterCode's logs carry no times",
    "cost": "InterCode's logs carry no cost, and no tokens to compute it from",
    "tool_definitions": "InterCode describes its environment in the prompt, not as tools",
}


def _matches(value: Any) -> bool:
    if type(value) is not dict:
        return False
    if _is_task(value):
        return True
    tasks = object_of(value.get(_LOGS)) or value
    some = list(islice(tasks.values(), _LOOKED_AT))
    return bool(some) and all(map(_is_task, some))


def _is_task(value: Any) -> bool:
    history = value.get(_HISTORY) if type(value) is dict else None
    return (
        type(history) is dict
        and "query" in value
        and all(type(history.get(name)) is list for name in _LISTS)
    )


def _parts(value: dict[str, Any]) -> list[tuple[str | None, Any]]:
    """Return the tasks, each with its key."""
    if _is_task(value):
        return [(id_of(value.get("task_id")), value)]
    return [(id_of(key), task) for key, task in (object_of(value.get(_LOGS)) or value).items()]


def _read(value: dict[str, Any]) -> list[Trace]:
    return [_task(key, task) for key, task in _parts(value)]


def _task(key: str | None, task: Any) -> Trace:
    if not _is_task(task):
        raise damaged(f"task {key} has no turn_history with actions, observations and rewards")
    history, summary, notes = task[_HISTORY], object_of(task.get("summary")), Notes()
    notes.add_fields(task, _TASK_FIELDS, "task")
    notes.add_fields(history, _HISTORY_FIELDS, "turn_history")
    episode = _Episode(string_of(task.get("environment")) or "", history)
    steps = tuple(episode.read(task.get("query"), key))
    return Trace(
        id=key,
        steps=steps,
        format="intercode",
        metadata=scalars(
            environment=task.get("environment"),
            dataset=task.get("dataset"),
            hardness=task.get("hardness"),
            max_reward=summary.get("max_reward"),
            turns_taken=summary.get("turns_taken"),
        ),
        missing=missing_of(steps, _REASONS),
        not_carried=notes.summaries(),
    )


class _Episode:
    """Collects the steps of one task."""

    def __init__(self, environment: str, history: dict[str, Any]) -> None:
        self._tool = environment.removeprefix(_ENVIRONMENT) or None
        self._history = history
        self._ids = StepIds()
        self._steps: list[Step] = []

    def read(self, query: Any, key: str | None) -> list[Step]:
        self._add("user", output=query)
        plan = self._history.get("steps")
        if type(plan) is list:  # a separate first model call makes the plan
            self._add("llm", output="\n".join(step for step in plan if type(step) is str))
        for number, action in enumerate(self._history["actions"]):
            if type(action) is not str:
                raise damaged(f"action {number + 1} of task {key} is not a text")
            step = self._of("steps", number)
            if step is not None:
                self._add("user", output=step)
            self._turn(action, number)
        return self._steps

    def _turn(self, action: str, number: int) -> None:
        thought, observation = self._of("thoughts", number), self._of("observations", number)
        if type(thought) is str and thought.startswith(_LATE):
            self._add("other", name=_SUBMIT, output=observation)
            return
        if action == _BLOCKED and number >= len(self._history["observations"]):
            self._add("llm", error=_BLOCKED)
            return
        if _is_refusal(observation):
            said = f"{thought}\n{action}" if type(thought) is str and thought else action
            self._add("llm", output=said)
            self._add("user", output=observation)
            return
        parent_id = self._add("llm", output=thought)
        failed = self._of("valid_action", number) is False
        name, arguments = self._call(action)
        self._add(
            "tool",
            parent_id=parent_id,
            name=name,
            arguments=arguments,
            output=observation,
            error=(string_of(observation) or _FAILED) if failed else None,
        )

    def _call(self, action: str) -> tuple[str | None, dict[str, str]]:
        """Return the name and the arguments of an action: a command, or the end of the task with an answer."""
        if action.startswith(_SUBMIT):
            rest = action[len(_SUBMIT) :].strip()
            return _SUBMIT, {"answer": rest} if rest else {}
        if action.lower() == _SKIP:
            return _SKIP, {}
        start, end = action.find(_EXECUTE), action.rfind("]")
        if "thoughts" in self._history and 0 <= start < end:
            action = action[start + len(_EXECUTE) : end]
        return self._tool, {"command": action}

    def _of(self, name: str, number: int) -> Any:
        """Return the item for an action in a list of the history, by its number from 0."""
        held = self._history.get(name)
        return held[number] if type(held) is list and number < len(held) else None

    def _add(self, kind: StepType, **facts: Any) -> str:
        step = Step(id=self._ids.take(None, len(self._steps) + 1), type=kind, **facts)
        self._steps.append(step)
        return step.id


def _is_refusal(observation: Any) -> bool:
    """Return whether an observation says that InterCode found nothing to run."""
    if type(observation) is not str:
        return False
    return _NO_CODE.match(observation) is not None


IMPORTER = Importer(
    id="intercode",
    name="InterCode logs",
    matches=_matches,
    read=_read,
    parts=_parts,
    fields=(
        ("id", "the key of the task, or task_id; of a step its number: s1, s2, ..."),
        (
            "type",
            "an entry of turn_history.actions is llm and tool; one that InterCode answers with `No ... code was found` or `did not contain ... code` ran nothing and is llm alone; query and steps are user; a submission after the last turn is other",
        ),
        ("name of a tool call", "environment without ic_, or submit, skip"),
        ("arguments", 'the action as {"command": ...}, without execute[...]'),
        ("output", "thoughts of a model call; observations of a tool call"),
        (
            "error",
            "observations where valid_action is false: the command ran, with an exit code other than 0 or an error",
        ),
        ("metadata", "environment, dataset, hardness; max_reward and turns_taken of summary"),
    ),
    tried_on="real logs of all experiments in InterCode's repository",
    lacks="tokens, times, cost, tool definitions, the model; the texts of answers beyond thoughts and actions, and a second model call for an action, so that model calls are at least those read",
)
