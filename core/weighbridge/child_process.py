"""Tie a child process to its parent's life, so that a killed parent leaves no orphan, and settle what it may use."""

import ctypes
import gc
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

_PR_SET_PDEATHSIG = 1  # linux/prctl.h
_POLL_SECONDS = 1.0
_NEW_OBJECTS = 10_000  #: that a search for garbage waits for

# The shell becomes the program, and leaves a guard behind that reads a pipe (its standard input)
# only the parent can write to. The pipe ends when the parent does, however it died and whichever
# thread had started the program. `kill 0` means the group of program and guard: as long as the
# guard is in it, nobody else can have got its number.
_GUARDED_EXEC = """
exec 3<&0 </dev/null
{ read -r end <&3; rm -rf -- "$0"; kill -KILL 0; } >/dev/null 2>&1 &
exec "$@" 3<&-
"""

_lifelines: set[int] = set()


def _let_go_after_fork() -> None:
    # A forked child that kept a pipe open would keep the program alive after the parent.
    for lifeline in _lifelines:
        os.close(lifeline)
    _lifelines.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_let_go_after_fork)


class GuardedProcess:
    """A program of another language in a process group of its own, killed when this process ends.

    It gets no file descriptor but `output`; `scratch_dir` is deleted at its end, whoever ends it.
    A Ctrl-C in the terminal does not reach it.
    """

    def __init__(
        self, command: Sequence[str | Path], *, scratch_dir: Path, output: BinaryIO
    ) -> None:
        self._scratch_dir = scratch_dir
        self._owner_pid = os.getpid()
        self._ended = False
        guard_end, self._lifeline = os.pipe()
        _lifelines.add(self._lifeline)
        try:
            self._process = subprocess.Popen(
                ["/bin/sh", "-c", _GUARDED_EXEC, scratch_dir, *command],
                stdin=guard_end,
                stdout=output,
                stderr=output,
                start_new_session=True,
                umask=0o077,
            )
        except BaseException:
            self._release()
            raise
        finally:
            os.close(guard_end)

    @property
    def pid(self) -> int:
        """The program's own process id."""
        return self._process.pid

    @property
    def owned(self) -> bool:
        """Whether this process started the program; a child forked from it did not."""
        return os.getpid() == self._owner_pid

    def wait(self, seconds: float) -> int | None:
        """Wait for the program's end; return its exit status, or None if it still runs."""
        with suppress(subprocess.TimeoutExpired):
            return self._process.wait(seconds)
        return None

    def end(self, timeout_seconds: float) -> None:
        """Ask the program to end, and kill it when it does not; a second call does nothing."""
        if not self.owned or self._ended:
            return
        self._process.terminate()
        if self.wait(timeout_seconds) is None:
            self._process.kill()
            self._process.wait()
        self._release()

    def _release(self) -> None:
        # A number that is closed may be another file's next.
        self._ended = True
        shutil.rmtree(self._scratch_dir, ignore_errors=True)
        _lifelines.discard(self._lifeline)
        os.close(self._lifeline)


def tie_to_parent(parent_pid: int | None = None, *, lifeline_fd: int | None = None) -> None:
    """Make this process die by SIGKILL when its parent dies; call it early, once.

    `parent_pid` is the launcher's own pid, handed down by it: only so is a parent noticed that died
    before this call. `lifeline_fd` is the read end of a pipe that only the parent can write to.
    Without a lifeline, Linux takes the end of the parent's *launching thread* for the parent's end.
    """
    parent = os.getppid() if parent_pid is None else parent_pid
    if lifeline_fd is not None:
        _die_after(lambda: _await_end_of_pipe(lifeline_fd))
    elif not _ask_kernel():
        _die_after(lambda: _await_other_parent(parent))
    # For a parent that had died before, neither the kernel nor a changed parent speaks up.
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
    prctl.argtypes = [ctypes.c_int] + [ctypes.c_ulong] * 4
    return bool(prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0) == 0)


def _die_after(wait_for_end: Callable[[], None]) -> None:
    def watch() -> None:
        wait_for_end()
        _die()

    threading.Thread(target=watch, name="tie-to-parent", daemon=True).start()


def _await_end_of_pipe(lifeline_fd: int) -> None:
    while os.read(lifeline_fd, 64):
        pass


def _await_other_parent(parent: int) -> None:
    # Off Linux nothing tells of a parent's end; an orphan is handed to another parent.
    while os.getppid() == parent:
        time.sleep(_POLL_SECONDS)


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def limit_memory(bytes_beyond: int) -> bool:
    """Let this process have so much memory beyond what it has now, MemoryError for more; False where that cannot be."""
    try:
        import resource

        pages = int(Path("/proc/self/statm").read_text().split()[0])
        now = pages * os.sysconf("SC_PAGE_SIZE")
    except (ImportError, OSError):
        return False
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    limit = now + bytes_beyond
    resource.setrlimit(
        resource.RLIMIT_AS, (limit if hard == resource.RLIM_INFINITY else min(limit, hard), hard)
    )
    return True


def collect_garbage_seldom() -> None:
    """Never search what is loaded by now for garbage, and the rest seldom: grading makes next to none.

    Call `gc.collect` now and then, so that what a grader leaves all the same does not add up.
    """
    gc.freeze()
    gc.set_threshold(_NEW_OBJECTS)
