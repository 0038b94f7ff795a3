"""Deadlines of jobs, enforced inside the child."""

from __future__ import annotations

import signal
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from weighbridge.grading.line_grader import JobDeadlineError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from weighbridge_worker.scoreboard import Slot

_STALL_SECONDS = 1.0  #: a longer gap between ticks means that the process was stopped


class Deadline:
    """Interrupts jobs that run too long, with a timer that ticks only while a chunk is graded.

    The jobs of one line also have a common limit: a chunk is split only between lines, and Celery's own limits would
    count against whichever job is running. Time in which the process was stopped does not count.
    """

    def __init__(self, slot: Slot, job_seconds: float, line_seconds: float) -> None:
        self._slot = slot
        self._job_seconds = job_seconds
        self._line_seconds = max(job_seconds, line_seconds)
        self._job = self._line = -1
        self._job_since = self._line_since = 0.0
        self._ticked_at = self._cpu_at_tick = 0.0

    @contextmanager
    def enforced(self) -> Iterator[None]:
        """Run the timer inside the context."""
        interval = min(0.25, self._job_seconds / 4)
        self._line = -1
        self._ticked_at, self._cpu_at_tick = time.monotonic(), time.process_time()
        # Set each time, because a grader may have replaced it.
        signal.signal(signal.SIGALRM, self._tick)
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
            # A job that catches the exception gets another one, or is killed by the parent.
            self._job_since = now
            raise JobDeadlineError(f"the job did not end within {self._job_seconds:g} s")
        if now - self._line_since >= self._line_seconds:
            raise JobDeadlineError(
                f"the case's graders together did not end within {self._line_seconds:g} s"
            )

    def _stalled_since_tick(self, now: float) -> float:
        """Return the seconds without ticks and CPU use, in which the process or the machine was stopped."""
        passed, cpu = now - self._ticked_at, time.process_time()
        worked = cpu - self._cpu_at_tick
        self._ticked_at, self._cpu_at_tick = now, cpu
        return max(0.0, passed - worked) if passed >= _STALL_SECONDS else 0.0
