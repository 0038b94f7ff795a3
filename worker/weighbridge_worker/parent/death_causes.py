"""Decides whether a child's end counts against its job: only if the job may have caused it."""

from __future__ import annotations

import os
import re
import signal
from dataclasses import dataclass
from pathlib import Path

#: Signals that come from outside: a child defers them during a chunk, and graders have no reason to raise them.
_REQUESTS = {signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT}
#: CPU time as a share of the job's deadline, below which a runnable job is starved and gets more time.
_STARVED_SHARE = 0.2


def external_cause_of(how: str, *, is_ending: bool) -> str:
    """Return the reason why a child's end was not caused by its job; empty if it may have been.

    `how` is what `child_end.end_of` or `how_it_ended` returned; `is_ending` says whether its worker was asked to end.
    """
    if is_ending:
        return "its worker is ending"
    number = re.match(r"signal (\d+)", how)
    if number and int(number[1]) in _REQUESTS:
        return f"{how} was sent to it"
    return ""


@dataclass(frozen=True, slots=True)
class Activity:
    """The state of a process and its CPU time so far."""

    state: str  #: as in proc(5): R running or runnable, S and D asleep, T and t stopped
    cpu_seconds: float


def activity_of(pid: int) -> Activity | None:
    """Return the activity of a process; None if unknown."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    ticks = int(fields[11]) + int(fields[12])
    return Activity(fields[0], ticks / os.sysconf("SC_CLK_TCK"))


def stop_cause_of(activity: Activity | None) -> str:
    """Return the reason why an inactive process cannot run; empty if it can, for instance if it is sleeping."""
    return "its process was stopped" if activity and activity.state in "Tt" else ""


def is_starved(activity: Activity | None, cpu_before: float, seconds: float) -> bool:
    """Return whether a process is runnable but got too little CPU time in a period of `seconds`."""
    if activity is None or activity.state != "R":
        return False
    return activity.cpu_seconds - cpu_before < _STARVED_SHARE * seconds
