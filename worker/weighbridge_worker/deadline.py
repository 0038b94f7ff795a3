"""The child's own limit for its jobs."""

from __future__ import annotations

import signal
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from weighbridge.grading.line_grader import JobDeadlineError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from weighbridge_worker.scoreboard import Slot

_STALL_SECONDS = 1.0  #: between two ticks, from which on the process may have been stopped


class Deadline:
    """Interrupts jobs that run too long, from a timer that ticks only while a chunk is graded.

    A line's jobs have a limit together as well: a chunk is cut only between lines, and Celery's own limits would
    blame, and in the end condemn, whichever job they met. Time in which the process was stopped does not count.
    """

    def __init__(self, slot: Slot, job_seconds: float, line_seconds: float) -> None:
        self._slot = slot
        self._job_seconds = job_seconds
        self._line_seconds = max(job_seconds, line_seconds)
        self._job = self._line = -1
        self._job_since = self._line_since = 0.0
        self._ticked_at = self._cpu_at_tick = 0.0

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Let the timer tick."""
        interval = min(0.25, self._job_seconds / 4)
        self._line = -1
        self._ticked_at, self._cpu_at_tick = time.monotonic(), time.process_time()
        signal.signal(signal.SIGALRM, self._tick)  # each time: a grader may have its own
        signal.setitimer(signal.ITIMER_REAL, interval, interval)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)

    def _tick(self, _signal: int, _frame: Any) -> None:
        slot, now = self._slot, time.monotonic()
        stalled = self._stalled_since_tick(now)
        self._job_since += stalled
        self._line_since += stalled
        if slot.line != self._line:
            self._line, self._line_since = slot.line, now
        if slot.sequence != self._job:
            self._job, self._job_since = slot.sequence, now
        if not slot.running:
            return
        if now - self._job_since >= self._job_seconds:
            # A job that swallows it meets another one, or its end by the parent.
            self._job_since = now
            raise JobDeadlineError(f"the job did not end within {self._job_seconds:g} s")
        if now - self._line_since >= self._line_seconds:
            raise JobDeadlineError(
                f"the case's graders together did not end within {self._line_seconds:g} s"
            )

    def _stalled_since_tick(self, now: float) -> float:
        """Return for how long the process neither ticked nor worked: it was stopped, or the machine stood still."""
        passed, cpu = now - self._ticked_at, time.process_time()
        worked = cpu - self._cpu_at_tick
        self._ticked_at, self._cpu_at_tick = now, cpu
        return max(0.0, passed - worked) if passed >= _STALL_SECONDS else 0.0
