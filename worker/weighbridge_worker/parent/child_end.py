"""Find how a child ended; terminate a child."""

from __future__ import annotations

import os
import re
import signal
from contextlib import suppress


def how_it_ended(error: object) -> str:
    """Return the signal or exit status in billiard's WorkerLostError."""
    found = re.search(r"(signal \d+ \(\w+\)|exitcode \d+)", str(error))
    return found[1] if found else "an unknown cause"


def end_of(pid: int) -> str | None:
    """Return how a child ended, "" if Celery has already reaped it, or None if it is running."""
    try:
        if not hasattr(os, "waitid"):  # macOS with Python before 3.13
            os.kill(pid, 0)
            return None
        # Celery takes up to 5 s to reap a child, which looks like a hanging one until then.
        end = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except (ProcessLookupError, ChildProcessError):
        return ""
    if end is None:
        return None
    if end.si_code == os.CLD_EXITED:
        return f"exitcode {end.si_status}"
    return f"signal {end.si_status} ({signal.Signals(end.si_status).name})"


def kill_child(pid: int) -> None:
    """Kill a running child of this process by SIGKILL; do nothing if there is no such child any more.

    Threads read the pid from a scoreboard whose slots another thread frees. A freed slot's pid is 0, which the kernel
    takes for the whole process group of the caller; and a dead child's may be another process's by now.
    """
    if pid > 0 and end_of(pid) is None:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
