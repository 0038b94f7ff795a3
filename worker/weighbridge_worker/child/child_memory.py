"""Memory limits that a worker child applies to itself; its parent watches its usage (`memory_watch`)."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from weighbridge.child_process import limit_memory
from weighbridge.errors import Fault
from weighbridge.grading.line_grader import WHOLE_LINE
from weighbridge.jobs.error_codes import ErrorCode
from weighbridge.memory import own_memory_bytes, prefer_for_oom_kill, release_free_memory
from weighbridge.settings import GIB

if TYPE_CHECKING:
    from weighbridge.jobs.chunk import Line
    from weighbridge_worker.child_cgroups import ChildCgroups
    from weighbridge_worker.scoreboard import Slot

#: The address space limits growth between two checks. Serialising a case of 30 MB reserves 40 times its size and
#: uses 15 times, so a limit near the working size would kill normal jobs.
_ADDRESS_SPACE_FACTOR = 4
_ADDRESS_SPACE_ROOM_BYTES = GIB
#: Measured: grading a line takes at least 4 times its bytes, for plain text, and at most 15 times by default.
_BYTES_A_BYTE = 4
_KEPT_SHARE = 4  #: a child that retains over a fourth of its limit after a chunk is replaced
_log = logging.getLogger("weighbridge.worker")


class ChildMemory:
    """Limits and figures of one child."""

    def __init__(self, slot: Slot, limit_bytes: int, cgroups: ChildCgroups) -> None:
        self._slot = slot
        self._limit = limit_bytes
        self.largest_line_bytes = limit_bytes // _BYTES_A_BYTE  #: longer lines are not graded
        prefer_for_oom_kill()
        if not limit_memory(_ADDRESS_SPACE_FACTOR * limit_bytes + _ADDRESS_SPACE_ROOM_BYTES):
            _log.warning(
                "the system cannot limit a child's address space: memory is limited by measuring it only"
            )
        try:
            cgroups.enter()
        except OSError as error:
            _log.warning(
                "could not move a child into its cgroup, which limits its memory: %s", error
            )

    def note_start(self) -> None:
        """Record the child's memory use before its first chunk, which starts the watch."""
        self._slot.note_memory(own_memory_bytes())

    def refusal(self, line: Line) -> dict[int, Fault] | None:
        """Return the error of a line that is too large for the memory limit, in the form for `grade`."""
        if len(line.raw) <= self.largest_line_bytes:
            return None
        error = Fault(
            ErrorCode.OUT_OF_MEMORY,
            f"the line has {len(line.raw):,} bytes; with the memory that a worker child may take,"
            f" lines of up to {self.largest_line_bytes:,} bytes can be graded",
            "split the case, or raise WEIGHBRIDGE_CHILD_MEMORY_LIMIT_BYTES",
        )
        return {WHOLE_LINE: error}

    def keeps_too_much(self) -> bool:
        """Return whether the child retains too much memory between two chunks."""
        if self._grown() <= self._limit // _KEPT_SHARE:
            return False
        release_free_memory()
        return self._grown() > self._limit // _KEPT_SHARE

    def _grown(self) -> int:
        return own_memory_bytes() - self._slot.memory_at_start
