"""Turns among the children of a worker: a chunk that may end them all is graded while no other is."""

from __future__ import annotations

import fcntl
import tempfile
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_GATE, _ROOM = 0, 1  #: bytes of the file that are locked


class ExclusiveLock:
    """A lock that many children share, or one has alone; the kernel lets go of a dead child's.

    Made by the parent before it forks: POSIX record locks belong to a process, whoever opened the file.
    """

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 - it lives as long as the worker

    @contextmanager
    def among_others(self) -> Iterator[None]:
        """Grade beside other children; waits while one is alone, or waits to be."""
        self._lock(_GATE, fcntl.LOCK_EX)
        self._lock(_ROOM, fcntl.LOCK_SH)
        self._lock(_GATE, fcntl.LOCK_UN)
        try:
            yield
        finally:
            self._lock(_ROOM, fcntl.LOCK_UN)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Grade alone; waits until the others have ended what they are at, and lets none begin."""
        self._lock(_GATE, fcntl.LOCK_EX)
        try:
            self._lock(_ROOM, fcntl.LOCK_EX)
            yield
        finally:
            self._lock(_ROOM, fcntl.LOCK_UN)
            self._lock(_GATE, fcntl.LOCK_UN)

    def _lock(self, byte: int, kind: int) -> None:
        fcntl.lockf(self._file, kind, 1, byte)
