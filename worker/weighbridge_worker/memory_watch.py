"""The parent's watch over its children's memory: a child that holds too much is killed, and its job named.

What is resident is measured, not what is reserved: native libraries reserve several times what they use, and end
their process when an address-space limit refuses them.
"""

from __future__ import annotations

import logging
import os
import signal
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from weighbridge.jobs.model import ErrorCode, JobError
from weighbridge.memory import HeldMemory
from weighbridge_worker.fork_gate import ForkGate

if TYPE_CHECKING:
    import threading

    from weighbridge_worker.board import Board, Sighting, Slot

_LOOK_SECONDS = 0.05
#: Between jobs a child holds its chunk and the results, for which no job can be errored.
_BETWEEN_JOBS_FACTOR = 2
_STEPS_TO_A_LINE = 2  #: of the sequence, from a line's last job to the first of the next
_MIB = 1024 * 1024
_log = logging.getLogger("weighbridge.worker")


@dataclass(frozen=True, slots=True)
class Overrun:
    """What was seen of a child that held too much; bytes are beyond what it held at start-up."""

    sequence: int  #: of the job it was at
    is_at_job: bool  #: whether that job ran
    held_bytes: int
    grown_bytes: int  #: since before the job's line was begun
    limit_bytes: int

    def is_of(self, seen: Sighting) -> bool:
        """Whether the child was still where this was seen when it died."""
        return (self.sequence, self.is_at_job) == (seen.sequence, seen.line is not None)

    @property
    def by_job(self) -> bool:
        """Whether the job is what grew, rather than what was left behind by others."""
        return self.grown_bytes >= self.limit_bytes // 2

    def error(self) -> JobError:
        """Return what the job is errored with."""
        return JobError(
            ErrorCode.OUT_OF_MEMORY,
            f"the job held {self.held_bytes // _MIB:,} MiB of memory when it was stopped;"
            f" a worker child may hold {self.limit_bytes // _MIB:,} MiB",
            "split the case, or raise WEIGHBRIDGE_CHILD_MEMORY_LIMIT_BYTES",
        )


@dataclass(slots=True)
class _Watched:
    """What is remembered of a child between two looks."""

    memory: HeldMemory
    place: tuple[int, int] = (-1, -1)  #: chunk and line
    sequence: int = 0  #: of the job it was at
    held_bytes: int = 0
    before_bytes: int | None = (
        None  #: held before its line was begun; None where other lines came between
    )


class MemoryWatch:
    """Looks at every child 20 times a second."""

    def __init__(self, board: Board, limit_bytes: int) -> None:
        self._board = board
        self._limit = limit_bytes
        self._watched: dict[int, _Watched] = {}
        self._overruns: dict[int, Overrun] = {}
        self._gate = ForkGate()

    def run(self, stop: threading.Event) -> None:
        """Watch until told to stop."""
        while not stop.wait(_LOOK_SECONDS):
            with self._gate.closed():
                self._look()

    def overrun_of(self, pid: int) -> Overrun | None:
        """Return why a child was killed, once; None when it was not killed here."""
        return self._overruns.pop(pid, None)

    def _look(self) -> None:
        slots = self._board.taken()
        for slot in slots:
            # A child notes what it holds when it has started; before that nothing can be compared.
            if slot.memory_at_start and slot.pid not in self._overruns:
                self._look_at(slot, slot.pid)
        for pid in self._watched.keys() - {slot.pid for slot in slots}:
            self._watched.pop(pid).memory.close()

    def _look_at(self, slot: Slot, pid: int) -> None:
        try:
            watched = self._watched.get(pid) or self._watched.setdefault(
                pid, _Watched(HeldMemory(pid))
            )
            held = watched.memory.read() - slot.memory_at_start
        except OSError:
            return  # it has ended, and is buried elsewhere; or this system has no such figures
        place, sequence = (slot.done[1], slot.line), slot.sequence
        if place != watched.place:
            # A line is read, then graded, and a chunk is entered before: what lies further back, other lines may have taken.
            steps = _STEPS_TO_A_LINE + (place[0] != watched.place[0])
            is_next = sequence - watched.sequence <= steps
            watched.before_bytes = watched.held_bytes if is_next else None
            watched.place = place
        watched.sequence, watched.held_bytes = sequence, held
        if held > self._limit:
            self._judge(slot.read(), watched)

    def _judge(self, seen: Sighting, watched: _Watched) -> None:
        held, is_at_job = watched.held_bytes, seen.line is not None
        if not is_at_job and held <= self._limit * _BETWEEN_JOBS_FACTOR:
            return
        before = held if watched.before_bytes is None else watched.before_bytes
        grown = held - before if is_at_job else 0
        overrun = Overrun(seen.sequence, is_at_job, held, grown, self._limit)
        self._overruns[seen.pid] = overrun
        with suppress(ProcessLookupError):
            os.kill(seen.pid, signal.SIGKILL)
        _log.warning(
            "killed child %d at %s: it held %d MiB, at most %d MiB are allowed",
            *(seen.pid, seen.work, held // _MIB, self._limit // _MIB),
        )
