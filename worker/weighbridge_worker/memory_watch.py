"""The parent's watch over its children's memory: a child that holds too much is killed, and its job named.

What is resident is measured, not what is reserved: native libraries reserve several times what they use, and end
their process when an address-space limit refuses them.
"""

from __future__ import annotations

import logging
import os
import signal
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from weighbridge.errors import Fault
from weighbridge.jobs.model import ErrorCode
from weighbridge.memory import HeldMemory
from weighbridge_worker.fork_gate import ForkGate

if TYPE_CHECKING:
    import threading

    from weighbridge_worker.child_cgroups import ChildCgroups
    from weighbridge_worker.scoreboard import Scoreboard, Slot, SlotSnapshot

_LOOK_SECONDS = 0.05
#: Between jobs a child holds its chunk and the results, for which no job can be errored.
BETWEEN_JOBS_FACTOR = 2
#: Looks at a job that was begun since the last one, of which it is not known yet what it took; and the share of the
#: limit by which a job has to grow meanwhile.
_CLOSER_LOOKS, _CLOSER_LOOK_SECONDS, _CLOSER_SHARE = 20, 0.005, 4
_STEPS_TO_A_LINE = 2  #: of the sequence, from a line's last job to the first of the next
_MIB = 1024 * 1024
_log = logging.getLogger("weighbridge.worker")


@dataclass(frozen=True, slots=True)
class Overrun:
    """What was seen of a child that held too much; bytes are beyond what it held at start-up."""

    sequence: int  #: of the job it was at
    is_at_job: bool  #: whether that job ran
    held_bytes: int
    by_job: bool  #: whether the job is what grew, rather than what was left behind by others
    limit_bytes: int

    def is_of(self, seen: SlotSnapshot) -> bool:
        """Whether the child was still where this was seen when it died."""
        return (self.sequence, self.is_at_job) == (seen.sequence, seen.line is not None)

    def error(self) -> Fault:
        """Return what the job is errored with."""
        return Fault(
            ErrorCode.OUT_OF_MEMORY,
            f"the job held {self.held_bytes // _MIB:,} MiB of memory when it was stopped;"
            f" a worker child may hold {self.limit_bytes // _MIB:,} MiB",
            "split the case, or raise WEIGHBRIDGE_CHILD_MEMORY_LIMIT_BYTES",
        )


@dataclass(slots=True)
class _Watched:
    """What is remembered of a child between two looks."""

    memory: HeldMemory
    at: tuple[int, int] = (-1, -1)  #: chunk and line
    sequence: int = 0  #: of the job it was at
    was_busy: bool = False  #: whether it had a chunk
    held_bytes: int = 0
    before_bytes: int = 0  #: held when its line was begun, or at the first look at that line
    is_whole: bool = True  #: whether no other line can have taken any of what was added since


class MemoryWatch:
    """Looks at every child 20 times a second."""

    def __init__(self, board: Scoreboard, limit_bytes: int, cgroups: ChildCgroups) -> None:
        self._board = board
        self._limit = limit_bytes
        self._cgroups = cgroups
        self._watched: dict[int, _Watched] = {}
        self._overruns: dict[int, Overrun] = {}
        self._gate = ForkGate()

    def run(self, stop: threading.Event) -> None:
        """Watch until told to stop."""
        while not stop.wait(_LOOK_SECONDS):
            with self._gate.closed():
                self._look()

    def overrun_of(self, seen: SlotSnapshot) -> Overrun | None:
        """Return why a dead child was killed, once; None when that was not for its memory."""
        by_kernel = self._cgroups.leave(seen.pid)
        overrun = self._overruns.pop(seen.pid, None)
        if overrun or not by_kernel:
            return overrun
        # It grew by half of what its cgroup may hold since the last look, or that look would have ended it.
        watched, is_at_job = self._watched.get(seen.pid), seen.line is not None
        by_job = bool(
            is_at_job and watched and seen.sequence - watched.sequence <= _STEPS_TO_A_LINE
        )
        return Overrun(seen.sequence, is_at_job, self._cgroups.limit_bytes, by_job, self._limit)

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
        at, sequence = (slot.done[1], slot.line), slot.sequence
        if at != watched.at:
            # A line is read, then graded, and a chunk is entered before: what lies further back, other lines may have taken.
            steps = _STEPS_TO_A_LINE + (not watched.was_busy)
            watched.is_whole = sequence - watched.sequence <= steps
            watched.before_bytes = watched.held_bytes if watched.is_whole else held
            watched.at = at
        watched.sequence, watched.held_bytes, watched.was_busy = sequence, held, slot.busy
        if held > self._limit:
            self._judge(slot, watched)

    def _judge(self, slot: Slot, watched: _Watched) -> None:
        if not slot.running and watched.held_bytes <= self._limit * BETWEEN_JOBS_FACTOR:
            return
        by_job = slot.running and self._grows_at_its_job(slot, watched)
        seen, held = slot.read(), watched.held_bytes
        overrun = Overrun(seen.sequence, seen.line is not None, held, by_job, self._limit)
        self._overruns[seen.pid] = overrun
        with suppress(ProcessLookupError):
            os.kill(seen.pid, signal.SIGKILL)
        _log.warning(
            "killed child %d at %s: it held %d MiB, at most %d MiB are allowed",
            *(seen.pid, seen.work, held // _MIB, self._limit // _MIB),
        )

    def _grows_at_its_job(self, slot: Slot, watched: _Watched) -> bool:
        """Whether the job that runs is what took the memory; where other lines came between two looks, by looking on."""
        if watched.held_bytes - watched.before_bytes >= self._limit // 2:
            return True
        if watched.is_whole:
            return False
        sequence, first = slot.sequence, watched.held_bytes
        for _ in range(_CLOSER_LOOKS):
            time.sleep(_CLOSER_LOOK_SECONDS)
            try:
                watched.held_bytes = watched.memory.read() - slot.memory_at_start
            except OSError:
                return False  # it has ended
            if slot.sequence != sequence or not slot.running:
                return False
            if watched.held_bytes - first >= self._limit // _CLOSER_SHARE:
                return True
        return False
