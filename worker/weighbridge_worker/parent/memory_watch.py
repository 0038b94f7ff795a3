"""The parent's watch over its children's memory: a child that uses too much is killed, and its job identified.

Resident memory is measured, not reserved memory: native libraries reserve several times what they use, and abort
their process when they reach an address-space limit.
"""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from weighbridge.errors import Fault
from weighbridge.jobs.error_codes import ErrorCode
from weighbridge.memory import PrivateMemory
from weighbridge_worker.parent.child_end import kill_child
from weighbridge_worker.parent.fork_gate import ForkGate

if TYPE_CHECKING:
    import threading

    from weighbridge_worker.child_cgroups import ChildCgroups
    from weighbridge_worker.scoreboard import Scoreboard, Slot, SlotSnapshot

_LOOK_SECONDS = 0.05
#: checks for one of a child that was idle at the last one and has done nothing since
_IDLE_LOOKS = 20
#: Between jobs a child holds its chunk and results, which are not attributed to a job.
BETWEEN_JOBS_FACTOR = 2
#: Additional checks of a job that has started since the last check, to measure its own memory use; and the growth, as
#: a share of the limit, that makes it responsible.
_CLOSER_LOOKS, _CLOSER_LOOK_SECONDS, _CLOSER_SHARE = 20, 0.005, 4
#: in the sequence number, from the last job of a line to the first of the next
_STEPS_TO_A_LINE = 2
_MIB = 1024 * 1024
_log = logging.getLogger("weighbridge.worker")


@dataclass(frozen=True, slots=True)
class Overrun:
    """The memory use of a child over its limit, in bytes beyond its use at start-up."""

    sequence: int  #: number of the current job
    is_at_job: bool  #: True if a job was running
    used_bytes: int
    by_job: bool  #: True if the job itself used the memory, False if earlier jobs left it
    limit_bytes: int

    def is_of(self, seen: SlotSnapshot) -> bool:
        """Return whether the child died at the job where this was measured."""
        return (self.sequence, self.is_at_job) == (seen.sequence, seen.line is not None)

    def error(self) -> Fault:
        """Return the error for the job."""
        return Fault(
            ErrorCode.OUT_OF_MEMORY,
            f"the job held {self.used_bytes // _MIB:,} MiB of memory when it was stopped;"
            f" a worker child may hold {self.limit_bytes // _MIB:,} MiB",
            "split the case, or raise WEIGHBRIDGE_CHILD_MEMORY_LIMIT_BYTES",
        )


@dataclass(slots=True)
class _MemoryRecord:
    """The record of a child between two checks."""

    memory: PrivateMemory
    at: tuple[int, int] = (-1, -1)  #: chunk and line
    sequence: int = 0  #: number of the current job
    was_busy: bool = False  #: True if it had a chunk
    used_bytes: int = 0
    #: memory use at the start of its line, or at the first check of that line
    before_bytes: int = 0
    is_whole: bool = True  #: True if the growth since then is certainly of this line

    def is_only_line_since(self, sequence: int) -> bool:
        """Return whether no line before the current one, at `sequence`, can have used memory since the last check."""
        # A line takes these steps from reading to grading, and a chunk one more.
        return sequence - self.sequence <= _STEPS_TO_A_LINE + (not self.was_busy)


class MemoryWatch:
    """Checks all children that have work 20 times per second, and idle ones once."""

    def __init__(self, scoreboard: Scoreboard, limit_bytes: int, cgroups: ChildCgroups) -> None:
        self._scoreboard = scoreboard
        self._limit = limit_bytes
        self._cgroups = cgroups
        self._records: dict[int, _MemoryRecord] = {}
        self._overruns: dict[int, Overrun] = {}
        self._looks = 0
        self._gate = ForkGate()

    def run(self, stop: threading.Event) -> None:
        """Run until `stop` is set."""
        while not stop.wait(_LOOK_SECONDS):
            with self._gate.closed():
                self._check_all()

    def overrun_of(self, seen: SlotSnapshot) -> Overrun | None:
        """Return and forget the overrun for which a dead child was killed; None if it was not killed for memory."""
        by_kernel = self._cgroups.leave(seen.pid)
        overrun = self._overruns.pop(seen.pid, None)
        if overrun or not by_kernel:
            return overrun
        # It grew by half of its cgroup's limit since the last check, which otherwise would have killed it.
        record, is_at_job = self._records.get(seen.pid), seen.line is not None
        by_job = bool(is_at_job and record and record.is_only_line_since(seen.sequence))
        return Overrun(seen.sequence, is_at_job, self._cgroups.limit_bytes, by_job, self._limit)

    def _check_all(self) -> None:
        slots = self._scoreboard.taken()
        self._looks += 1
        for slot in slots:
            # A child records its memory use when it has started; before that there is nothing to compare.
            if slot.memory_at_start and slot.pid not in self._overruns and self._is_due(slot):
                self._check_child(slot, slot.pid)
        for pid in self._records.keys() - {slot.pid for slot in slots}:
            self._records.pop(pid).memory.close()

    def _is_due(self, slot: Slot) -> bool:
        record = self._records.get(slot.pid)
        if record is None or slot.busy or record.was_busy or slot.sequence != record.sequence:
            return True
        return self._looks % _IDLE_LOOKS == 0

    def _check_child(self, slot: Slot, pid: int) -> None:
        try:
            record = self._records.get(pid) or self._records.setdefault(
                pid, _MemoryRecord(PrivateMemory(pid))
            )
            used = record.memory.read() - slot.memory_at_start
        except OSError:
            return  # ended, which the supervisor handles; or not available on this system
        at, sequence = (slot.chunks_left, slot.line), slot.sequence
        if at != record.at:
            record.is_whole = record.is_only_line_since(sequence)
            record.before_bytes = record.used_bytes if record.is_whole else used
            record.at = at
        record.sequence, record.used_bytes, record.was_busy = sequence, used, slot.busy
        if used > self._limit:
            self._judge(slot, pid, record)

    def _judge(self, slot: Slot, pid: int, record: _MemoryRecord) -> None:
        if not slot.running and record.used_bytes <= self._limit * BETWEEN_JOBS_FACTOR:
            return
        by_job = slot.running and self._grows_at_its_job(slot, record)
        seen, used = slot.read(), record.used_bytes
        if seen.pid != pid:
            return  # it has ended, and the slot is free or another child's
        overrun = Overrun(seen.sequence, seen.line is not None, used, by_job, self._limit)
        self._overruns[pid] = overrun
        kill_child(pid)
        _log.warning(
            "killed child %d at %s: it used %d MiB of memory, and the limit is %d MiB",
            *(pid, seen.work, used // _MIB, self._limit // _MIB),
        )

    def _grows_at_its_job(self, slot: Slot, record: _MemoryRecord) -> bool:
        """Return whether the current job used the memory; if other lines ran since the last check, watch it longer."""
        if record.used_bytes - record.before_bytes >= self._limit // 2:
            return True
        if record.is_whole:
            return False
        sequence, first = slot.sequence, record.used_bytes
        for _ in range(_CLOSER_LOOKS):
            time.sleep(_CLOSER_LOOK_SECONDS)
            try:
                record.used_bytes = record.memory.read() - slot.memory_at_start
            except OSError:
                return False  # the child has ended
            if slot.sequence != sequence or not slot.running:
                return False
            if record.used_bytes - first >= self._limit // _CLOSER_SHARE:
                return True
        return False
