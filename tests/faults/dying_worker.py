"""A worker of which a process dies once at a chosen point of a chunk's execution.

Run with the point, the process (`child`, `worker`, or the process id of a server) and the path of a file that is made
at that moment, and then the worker's own arguments.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from functools import wraps
from typing import TYPE_CHECKING, Any

from weighbridge.store import Store
from weighbridge_worker.__main__ import main
from weighbridge_worker.scoreboard import Slot

if TYPE_CHECKING:
    from collections.abc import Callable

#: By point: the method at which the process dies, whether before or after it, and at which line's index if at a job's.
POINTS: dict[str, tuple[type, str, str, int | None]] = {
    "before it claims": (Store, "claim_next", "before", None),
    "after it claimed": (Store, "claim_next", "after", None),
    "before its first job": (Slot, "enter", "after", None),
    "at a job": (Slot, "begin", "after", 2),
    "between two jobs": (Slot, "end", "after", 2),
    "before it records": (Store, "record", "before", None),
    "after it recorded": (Store, "record", "after", None),
    "after it noted the end": (Slot, "leave", "after", None),
}


def die_once(process: str, mark: str) -> None:
    """Kill the process with SIGKILL, unless that was done before."""
    try:
        os.close(os.open(mark, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return
    if process in ("child", "worker"):
        os.kill(os.getpid() if process == "child" else os.getppid(), signal.SIGKILL)
        time.sleep(60)  # the children of a dead worker are killed in turn
    else:
        os.kill(int(process), signal.SIGKILL)


def dying(
    method: Callable[..., Any], when: str, at_line: int | None, die: Callable[[], None]
) -> Any:
    """Return a method that dies before or after it does its work."""

    @wraps(method)
    def replaced(self: Any, *args: Any, **kwargs: Any) -> Any:
        is_there = at_line is None or (self.line if not args else args[0]) == at_line
        if is_there and when == "before":
            die()
        answer = method(self, *args, **kwargs)
        # A claim that found nothing is none.
        if is_there and when == "after" and (method.__name__ != "claim_next" or answer):
            die()
        return answer

    return replaced


if __name__ == "__main__":
    point, process, mark, *arguments = sys.argv[1:]
    owner, name, when, at_line = POINTS[point]
    die = lambda: die_once(process, mark)  # noqa: E731
    setattr(owner, name, dying(getattr(owner, name), when, at_line, die))
    sys.exit(main(arguments))
