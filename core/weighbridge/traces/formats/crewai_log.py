"""CrewAI's `output_log_file` as JSON: an entry for each task that began or ended, without its agent's steps."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

from weighbridge.traces.fields import Notes, missing_of, objects_of, string_of, time_of
from weighbridge.traces.model import Step, Trace

if TYPE_CHECKING:
    from weighbridge.traces.model import Capability

_KEYS = frozenset({"timestamp", "task_name", "task", "agent", "status"})
_CARRIED = _KEYS | {"output"}
_STARTED, _COMPLETED = "started", "completed"
_LOOKED_AT = 20
_TASKS_ALONE = "a crew's log has its tasks alone: the events of its bus have the calls"
_REASONS: dict[Capability, str] = {
    "token_usage": "a crew's log carries no tokens",
    "timing": "no entry of this log has a time",
    "cost": "a crew's log carries no cost",
    "tool_definitions": "a crew's log does not record which tools its agents had",
}


def is_log(value: Any) -> bool:
    """Return whether a value is a list of entries of a crew's log."""
    return (
        type(value) is list
        and bool(value)
        and all(
            type(entry) is dict
            and entry.keys() >= _KEYS
            and entry["status"] in (_STARTED, _COMPLETED)
            for entry in value[:_LOOKED_AT]
        )
    )


def read_log(value: list[Any]) -> Trace:
    """Return a crew's log as a trace: each task is a step with its description, and a step of its agent with the output."""
    notes = Notes()
    steps: list[Step] = []
    begun: dict[tuple[str | None, str | None], deque[int | None]] = {}
    for entry in objects_of(value):
        notes.add_fields(entry, _CARRIED, "entry")
        agent, task = string_of(entry.get("agent")), string_of(entry.get("task"))
        time, waiting = time_of(entry.get("timestamp")), begun.setdefault((agent, task), deque())
        if entry.get("status") == _STARTED:
            waiting.append(time)
            steps.append(Step(f"s{len(steps) + 1}", "user", output=task, started_at=time))
        elif entry.get("status") == _COMPLETED:
            steps.append(
                Step(
                    id=f"s{len(steps) + 1}",
                    type="agent",
                    name=agent,
                    output=entry.get("output"),
                    started_at=waiting.popleft() if waiting else None,
                    ended_at=time,
                )
            )
        else:
            notes.add_kind("entries", entry.get("status"))
    left = sum(map(len, begun.values()))
    if left:
        notes.add("tasks that did not end", left)
    return Trace(
        id=None,
        steps=tuple(steps),
        format="crewai",
        missing={
            "llm_calls": _TASKS_ALONE,
            "tool_calls": _TASKS_ALONE,
            **missing_of(steps, _REASONS),
        },
        not_carried=notes.summaries(),
    )
