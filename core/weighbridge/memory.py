"""Memory use of processes, on Linux only."""

from __future__ import annotations

import ctypes
import os
import re
import sys
from contextlib import suppress
from pathlib import Path

_STATUS_BYTES = 4096  #: the size of /proc/<pid>/status is about 1,500
_HELD = re.compile(rb"^(?:RssAnon|VmSwap):\s*(\d+) kB", re.MULTILINE)
#: Raises the score, of at most 1,000; the kernel kills the process with the highest score first.
_OOM_SCORE = 500
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3  #: from malloc.h
_KEPT_BYTES = 16 * 1024 * 1024  #: a few times the results of a chunk


class PrivateMemory:
    """Private memory of a process, resident or swapped out, without file pages and reservations.

    A read takes about 20 us, because the file stays open.
    """

    def __init__(self, pid: int) -> None:
        """Open the status of a process; raises OSError if there is none, as on macOS."""
        self._file = os.open(f"/proc/{pid}/status", os.O_RDONLY | os.O_CLOEXEC)

    def read(self) -> int:
        """Return the memory use in bytes; raises ProcessLookupError if the process has ended."""
        held = _HELD.findall(os.pread(self._file, _STATUS_BYTES, 0))
        if not held:  # a zombie has none
            raise ProcessLookupError
        return sum(map(int, held)) * 1024

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)


def own_memory_bytes() -> int:
    """Return the memory use of this process in bytes; 0 if unknown."""
    try:
        held = PrivateMemory(os.getpid())
    except OSError:
        return 0
    try:
        return held.read()
    finally:
        held.close()


def release_free_memory() -> None:
    """Make the C library return free memory to the operating system, if it supports that."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)


def keep_freed_memory() -> None:
    """Make glibc keep some freed memory for the next results.

    By default it returns it to the operating system, and fetching it again takes as long as unpacking the results.
    """
    if libc := glibc():
        libc.mallopt(M_TRIM_THRESHOLD, _KEPT_BYTES)
        libc.mallopt(M_MMAP_THRESHOLD, _KEPT_BYTES)


def glibc() -> ctypes.CDLL | None:
    """Return the C library if it is glibc, whose allocator can be configured."""
    if not sys.platform.startswith("linux"):
        return None
    libc = ctypes.CDLL(None)
    return libc if hasattr(libc, "gnu_get_libc_version") else None


def prefer_for_oom_kill() -> None:
    """Make the kernel prefer this process when it has to kill one for lack of memory."""
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text(str(_OOM_SCORE))
