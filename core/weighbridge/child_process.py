"""Child processes that end with their parent, even if it is killed, and limits on their resources."""

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
_NEW_OBJECTS = 10_000  #: number of new objects that triggers a garbage collection

# The shell starts a guard in the background, which reads a pipe (its standard input) that only the
# parent can write to, and then execs the program. The pipe is closed when the parent ends, in any way
# and from any thread. `kill 0` signals the process group of program and guard: as long as the guard
# is in it, its id cannot be reused.
_GUARDED_EXEC = """
exec 3<&0 </dev/null
{ read -r end <&3; rm -rf -- "$0"; kill -KILL 0; } >/dev/null 2>&1 &
exec "$@" 3<&-
"""

_lifelines: set[int] = set()


def _let_go_after_fork() -> None:
    # A forked child with an open pipe would keep the program alive after the parent.
    for lifeline in _lifelines:
        os.close(lifeline)
    _lifelines.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_let_go_after_fork)


class GuardedProcess:
    """An external program in its own process group, which is killed when this process ends.

    It inherits only the file descriptor `output`; `scratch_dir` is deleted when it ends for any reason.
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
        """True if this process started the program, False in a forked child."""
        return os.getpid() == self._owner_pid

    def wait(self, seconds: float) -> int | None:
        """Wait for the program's end; return its exit status, or None on timeout."""
        with suppress(subprocess.TimeoutExpired):
            return self._process.wait(seconds)
        return None

    def end(self, timeout_seconds: float) -> None:
        """Terminate the program, and kill it after a timeout; a second call has no effect."""
        if not self.owned or self._ended:
            return
        self._process.terminate()
        if self.wait(timeout_seconds) is None:
            self._process.kill()
            self._process.wait()
        self._release()

    def _release(self) -> None:
        # A closed descriptor's number may be reused by another file.
        self._ended = True
        shutil.rmtree(self._scratch_dir, ignore_errors=True)
        _lifelines.discard(self._lifeline)
        os.close(self._lifeline)


def tie_to_parent(parent_pid: int | None = None, *, lifeline_fd: int | None = None) -> None:
    """Make this process die by SIGKILL when its parent dies; to be called once, early.

    `parent_pid` is passed by the parent, to detect that it died before this call. `lifeline_fd` is the read
    end of a pipe that only the parent can write to. Without a lifeline, Linux takes the end of the parent's
    *launching thread* for the parent's end.
    """
    parent = os.getppid() if parent_pid is None else parent_pid
    if lifeline_fd is not None:
        _die_after(lambda: _await_end_of_pipe(lifeline_fd))
    elif not _ask_kernel():
        _die_after(lambda: _await_other_parent(parent))
    # The parent died before: neither the kernel nor a change of the parent would report that.
    if os.getppid() != parent:
        _die()


def _ask_kernel() -> bool:
    """Request SIGKILL from Linux at the parent's end; return False if that is not supported."""
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
    # Outside Linux, poll: an orphan gets another parent.
    while os.getppid() == parent:
        time.sleep(_POLL_SECONDS)


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def limit_memory(bytes_beyond: int) -> bool:
    """Limit this process's address space to its current size plus `bytes_beyond`; return False if not supported."""
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
    """Exclude all existing objects from garbage collection, and collect rarely, since grading creates few cycles.

    Use `RecentGarbage` from time to time, so that cycles created by graders do not accumulate.
    """
    gc.freeze()
    gc.set_threshold(_NEW_OBJECTS)


class RecentGarbage:
    """Collects the cycles that jobs have left, in a fraction of the time of a full collection."""

    def __init__(self) -> None:
        self._collections = -1  #: of young objects since the last full one, as in `gc.get_count`

    def collect(self) -> None:
        """Collect among the objects created since the last call, or among all if some of these count as old.

        Python moves objects that survive two of its automatic collections, as in a job with very many objects, to the
        oldest generation, where only a full collection finds them.
        """
        if gc.get_count()[2] == self._collections:
            gc.collect(1)
            self._collections += 1
        else:
            self.collect_all()

    def collect_all(self) -> None:
        """Make a full collection."""
        gc.collect()
        self._collections = 0
