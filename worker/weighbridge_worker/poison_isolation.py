"""Isolation of jobs that kill worker children: such a job is split off its chunk, and quarantined at a limit."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from weighbridge.errors import BatchError, Fault
from weighbridge.grading.line_grader import WHOLE_LINE
from weighbridge.jobs.chunk import ChunkId
from weighbridge.jobs.error_codes import ErrorCode
from weighbridge.store import FailureCount
from weighbridge.text import pluralize

if TYPE_CHECKING:
    from weighbridge.jobs.chunk import Chunk
    from weighbridge.store import Store
    from weighbridge_worker.scoreboard import Assignment

_log = logging.getLogger("weighbridge.worker")


@dataclass(frozen=True, slots=True)
class Death:
    """The death of a child, as observed by its parent, or an unexpected error that the child survived."""

    work: Assignment
    line: int | None  #: index of the current line; None between jobs
    job: int  #: index among the line's jobs, or WHOLE_LINE
    cause: ErrorCode  #: WORKER_KILLED, TIMEOUT, OUT_OF_MEMORY or GRADER_CRASHED
    how: str  #: such as "signal 9 (SIGKILL)", or the error
    known: Fault | None = None  #: error for the job, if the parent measured the cause
    was_survived: bool = False  #: True if grading raised an error and the child goes on

    def __str__(self) -> str:
        """Return what happened, for the log."""
        return f"grading raised {self.how}" if self.was_survived else f"a child died by {self.how}"

    def fault(self, limit: int) -> Fault:
        """Return the error for the job when the limit of deaths is reached."""
        if self.known:
            return self.known
        times = pluralize(limit, "time")
        if self.cause == ErrorCode.TIMEOUT:
            message = f"the job did not end, could not be interrupted, and was killed, {times}"
        elif self.was_survived:
            message = f"grading it failed {times}, the last time with {self.how}"
        else:
            message = f"its worker process died at this job {times}, the last time by {self.how}"
        return Fault(
            self.cause, message, "grade this case on its own to see why; `retry` tries it again"
        )

    def failure_of(self, job: int, limit: int) -> FailureCount:
        """Return the failure count to increase for a job."""
        return FailureCount(job, limit, self.fault(limit))


def put_back_after_death(death: Death, store: Store, limit: int) -> bool:
    """Put back a dead child's chunk, split so as to isolate a poison job.

    Return False if the child no longer held it: it was recorded, released, or given to another worker.
    """
    batch, chunk = death.work.batch, ChunkId.parse(death.work.chunk)
    try:
        stored = store.chunk(batch, chunk)
        if len(list(stored.lines(chunk))) > 1 and stored.first_line:
            back = _split(death, store, stored, chunk, limit)
        else:
            job = WHOLE_LINE if death.line is None else death.job
            failure = death.failure_of(job, limit)
            back = [chunk] if store.count_failure(batch, chunk, death.work.token, failure) else []
    except BatchError as error:
        _log.info("%s at %s, which needs no retry: %s", death, death.work, error)
        return False
    if back:
        _log.warning("%s at %s: put back as %s", death, death.work, ", ".join(map(str, back)))
    else:
        _log.warning(
            "%s at %s: nothing to put back, as it was recorded, released or given to another worker",
            *(death, death.work),
        )
    return bool(back)


def _split(death: Death, store: Store, stored: Chunk, chunk: ChunkId, limit: int) -> list[ChunkId]:
    batch = death.work.batch
    line = None if death.line is None else stored.first_line + death.line
    if line is not None and chunk.start <= line < chunk.end:
        cuts = [chunk.start, line, line + 1, chunk.end]
        suspect = str(chunk.part(line, line + 1))
    else:
        cuts = [chunk.start, (chunk.start + chunk.end) // 2, chunk.end]
        suspect = ""
    # Estimated without parsing, which might kill the parent too. Recording corrects the number.
    jobs_a_line = max(1, len(store.options(batch).graders))
    parts = [chunk.part(a, b) for a, b in pairwise(cuts) if a < b]
    sized = [(part, jobs_a_line * len(list(stored.lines(part)))) for part in parts]
    sized = [(part, jobs) for part, jobs in sized if jobs]
    failure = death.failure_of(death.job, limit)
    done = store.split(batch, chunk, death.work.token, sized, suspect, failure)
    return [part for part, _ in sized] if done else []
