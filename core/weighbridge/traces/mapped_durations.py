"""How long a run and its steps took, where a mapping points to durations."""

from __future__ import annotations

import math
from typing import Any

from weighbridge.traces.fields import iso_time, time_of
from weighbridge.traces.importer import damaged

#: Fields with a duration, by how many nanoseconds its unit has.
DURATIONS = {"duration_ms": 10**6, "duration_s": 10**9}
_MILLISECOND = 10**6
_LIMIT = 2**63  #: in nanoseconds, three centuries


def duration_of_run(recorded: dict[str, Any]) -> dict[str, Any]:
    """Return the facts of a run with its duration in whole milliseconds, rounded up."""
    nanoseconds = _taken(recorded, "the trace")
    if nanoseconds is not None:
        recorded["duration_ms"] = math.ceil(nanoseconds / _MILLISECOND)
    return recorded


def with_ends(steps: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], int | None]:
    """Return steps with the start or the end that follows from their duration, and how many milliseconds all took together.

    The second is None if none states a duration, or one has a time.
    """
    total: float | None = None
    are_timed = False
    for number, step in enumerate(steps, 1):
        nanoseconds = _taken(step, f"step {number}")
        started, ended = step.get("started_at"), step.get("ended_at")
        are_timed |= started is not None or ended is not None
        if nanoseconds is None:
            continue
        total = (total or 0) + nanoseconds
        if ended is None and (time := time_of(started)):
            step["ended_at"] = _time(time + round(nanoseconds))
        elif started is None and (time := time_of(ended)):
            step["started_at"] = _time(time - round(nanoseconds))
    return steps, None if total is None or are_timed else math.ceil(total / _MILLISECOND)


def _time(nanoseconds: int) -> str | None:
    return iso_time(nanoseconds) if 0 < nanoseconds < _LIMIT else None


def _taken(recorded: dict[str, Any], what: str) -> float | None:
    """Take the duration out of the facts of a run or a step, and return it in nanoseconds; None if there is none."""
    found = None
    for name, unit in DURATIONS.items():
        duration = recorded.pop(name, None)
        if duration is None:
            continue
        if type(duration) not in (int, float) or not 0 <= duration * unit < _LIMIT:
            raise damaged(f"{what}: {name} must be a number that is not negative, not {str(duration)[:40]!r}")  # fmt: skip
        found = duration * unit if found is None else found
    return found
