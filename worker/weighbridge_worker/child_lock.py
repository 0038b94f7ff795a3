"""The lock between the children of a worker: a chunk that may kill them all is graded while no other is."""

from __future__ import annotations

import fcntl
import tempfile
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_QUEUE_BYTE, _LOCK_BYTE = 0, 1  #: offsets of the locked bytes in the file


class ChildLock:
    """A lock held by many children, or exclusively by one; the kernel releases that of a dead child.

    The parent creates it before it forks, since POSIX record locks belong to a process, not to an open file.
    """

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 - open as long as the worker

    @contextmanager
    def shared(self) -> Iterator[None]:
        """Hold the lock together with other children; waits while a child has it exclusively, or waits for that."""
        self._lock(_QUEUE_BYTE, fcntl.LOCK_EX)
        self._lock(_LOCK_BYTE, fcntl.LOCK_SH)
        self._lock(_QUEUE_BYTE, fcntl.LOCK_UN)
        try:
            yield
        finally:
            self._lock(_LOCK_BYTE, fcntl.LOCK_UN)

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """Hold the lock exclusively; waits for the other children, and prevents new ones from taking it."""
        self._lock(_QUEUE_BYTE, fcntl.LOCK_EX)
        try:
            self._lock(_LOCK_BYTE, fcntl.LOCK_EX)
            yield
        finally:
            self._lock(_LOCK_BYTE, fcntl.LOCK_UN)
            self._lock(_QUEUE_BYTE, fcntl.LOCK_UN)

    def _lock(self, byte: int, kind: int) -> None:
        fcntl.lockf(self._file, kind, 1, byte)
