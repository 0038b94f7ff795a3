"""Tie a child process to its parent, so that a killed parent leaves no orphan."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_PR_SET_PDEATHSIG = 1  # linux/prctl.h
_POLL_SECONDS = 1.0


def tie_to_parent(parent_pid: int | None = None, *, lifeline_fd: int | None = None) -> None:
    """Make this process die by SIGKILL when its parent dies; call it early, once.

    `parent_pid` is the launcher's own pid, handed down by it: only so is a parent noticed that died
    before this call. `lifeline_fd` is the read end of a pipe whose write end only the parent holds.
    Without a lifeline, Linux takes the end of the parent's *launching thread* for the parent's end.
    """
    parent = os.getppid() if parent_pid is None else parent_pid
    if lifeline_fd is not None:
        _watch(lambda: _await_end_of_pipe(lifeline_fd))
    elif not _ask_kernel():
        _watch(lambda: _await_other_parent(parent))
    # A parent that died before the line above sends no signal any more.
    if os.getppid() != parent:
        _die()


def _ask_kernel() -> bool:
    """Have Linux send SIGKILL at the parent's end; return False where that cannot be had."""
    if sys.platform != "linux":
        return False
    try:
        prctl = ctypes.CDLL(None).prctl
    except (OSError, AttributeError):
        return False
    # prctl is variadic and reads its arguments as unsigned long.
    prctl.argtypes = [ctypes.c_int, ctypes.c_ulong, ctypes.c_ulong, ctypes.c_ulong, ctypes.c_ulong]
    return bool(prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0) == 0)


def _watch(wait_for_end: Callable[[], None]) -> None:
    def die_after_wait() -> None:
        wait_for_end()
        _die()

    threading.Thread(target=die_after_wait, name="tie-to-parent", daemon=True).start()


def _await_end_of_pipe(lifeline_fd: int) -> None:
    while os.read(lifeline_fd, 64):
        pass


def _await_other_parent(parent: int) -> None:
    # Off Linux nothing tells of a parent's end; an orphan is handed to another parent.
    while os.getppid() == parent:
        time.sleep(_POLL_SECONDS)


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)
