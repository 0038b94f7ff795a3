"""How long a run and its steps took, where a mapping points to durations."""

from __future__ import annotations

import math
from typing import Any

from weighbridge.errors import TraceError
from weighbridge.traces.fields import iso_time, time_of

#: Fields with a duration, by how many nanoseconds its unit has.
DURATIONS = {"duration_ms": 10**6, "duration_s": 10**9}
_MILLISECOND = 10**6
_LIMIT = 2**63  #: in nanoseconds, three centuries
_SHOWN = 40  #: characters of a value that is no duration


def with_durations(found: dict[str, Any]) -> dict[str, Any]:
    """Return a native trace with the times that follow from the durations of its steps, and its own in whole milliseconds.

    Raises TraceError, with the step and the field, if a duration is none.
    """
    recorded = {name: held for name, held in found.items() if name not in DURATIONS}
    nanoseconds = _taken(found, None)
    least = _with_ends(found["steps"])
    if nanoseconds is not None:
        recorded["duration_ms"] = math.ceil(nanoseconds / _MILLISECOND)
    elif least is not None and recorded.keys().isdisjoint(("started_at", "ended_at")):
        recorded |= {"least_duration_ms": least, "duration_from": "its steps together"}
    return recorded


def _with_ends(steps: list[dict[str, Any]]) -> int | None:
    """Add to steps the start or the end that follows from their duration, and return how many milliseconds all took together.

    None if none states a duration, or one has a time.
    """
    total: float | None = None
    are_timed = False
    for number, step in enumerate(steps, 1):
        nanoseconds = _taken(step, number)
        started, ended = step.get("started_at"), step.get("ended_at")
        are_timed |= started is not None or ended is not None
        if nanoseconds is None:
            continue
        total = (total or 0) + nanoseconds
        if ended is None and (time := time_of(started)):
            step["ended_at"] = _time(time + round(nanoseconds))
        elif started is None and (time := time_of(ended)):
            step["started_at"] = _time(time - round(nanoseconds))
    return None if total is None or are_timed else math.ceil(total / _MILLISECOND)


def _time(nanoseconds: int) -> str | None:
    return iso_time(nanoseconds) if 0 < nanoseconds < _LIMIT else None


def _taken(recorded: dict[str, Any], step: int | None) -> float | None:
    """Take the duration out of the facts of a run or a step, and return it in nanoseconds; None if there is none."""
    found = None
    for name, unit in DURATIONS.items():
        duration = recorded.pop(name, None)
        if duration is None:
            continue
        if type(duration) not in (int, float) or not 0 <= duration * unit < _LIMIT:
            raise _wrong(duration, name, step)
        found = duration * unit if found is None else found
    return found


def _wrong(duration: Any, name: str, step: int | None) -> TraceError:
    what = "the trace" if step is None else f"step {step}"
    error = TraceError(
        f"{what}: {name} must be a number that is not negative, not {str(duration)[:_SHOWN]!r}",
        "a duration is a number of milliseconds or seconds",
    )
    error.step, error.path = step, name
    return error
