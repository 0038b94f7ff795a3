"""Whether a child's end counts against the job it was at: only what the job did does."""

from __future__ import annotations

import os
import re
import signal
from dataclasses import dataclass
from pathlib import Path

#: Nobody but others sends these: a child at a chunk defers them, and a grader has no reason to raise one.
_REQUESTS = {signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT}
#: Of the time that a job may take. On a crowded machine it gets longer for that; one that sleeps does not.
_STARVED_SHARE = 0.2


def excuse_for(how: str, *, is_ending: bool) -> str:
    """Return why a child's end is no job's doing; empty if it may be.

    `how` is what `end_of` or `how_it_ended` returned; `is_ending` says whether its worker was asked to end.
    """
    if is_ending:
        return "its worker is ending"
    number = re.match(r"signal (\d+)", how)
    if number and int(number[1]) in _REQUESTS:
        return f"{how} was sent to it"
    return ""


@dataclass(frozen=True, slots=True)
class Activity:
    """What a process does at a moment, and how much it has done."""

    state: str  #: as in proc(5): R running or runnable, S and D asleep, T and t stopped
    cpu_seconds: float


def activity_of(pid: int) -> Activity | None:
    """Return what a process does; None where that is not known."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    ticks = int(fields[11]) + int(fields[12])
    return Activity(fields[0], ticks / os.sysconf("SC_CLK_TCK"))


def stall_of(activity: Activity | None) -> str:
    """Return why a process that does nothing cannot; empty if it could, as one that sleeps by its own doing."""
    return "its process was stopped" if activity and activity.state in "Tt" else ""


def is_starved(activity: Activity | None, cpu_before: float, seconds: float) -> bool:
    """Whether a process wants to run, and has hardly got as much of a processor as it takes in so many seconds."""
    if activity is None or activity.state != "R":
        return False
    return activity.cpu_seconds - cpu_before < _STARVED_SHARE * seconds


def how_it_ended(error: object) -> str:
    """Return the signal or exit status that billiard's WorkerLostError tells of."""
    found = re.search(r"(signal \d+ \(\w+\)|exitcode \d+)", str(error))
    return found[1] if found else "an unknown end"


def end_of(pid: int) -> str | None:
    """Return how a child ended, "" where Celery has seen to it first, or None while it runs."""
    try:
        if not hasattr(os, "waitid"):  # macOS with Python before 3.13
            os.kill(pid, 0)
            return None
        # Celery takes up to 5 s to notice, and until then a dead child looks like one that hangs.
        end = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except (ProcessLookupError, ChildProcessError):
        return ""
    if end is None:
        return None
    if end.si_code == os.CLD_EXITED:
        return f"exitcode {end.si_status}"
    return f"signal {end.si_status} ({signal.Signals(end.si_status).name})"
