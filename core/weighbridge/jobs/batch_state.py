"""The state of a batch: its status, its counts, and what was submitted."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Literal

from weighbridge.jobs.outcome import Counts
from weighbridge.text import duration

INPUT_IDLE_SECONDS = 60.0  #: without new jobs, an incomplete input may have lost its producer

Priority = Literal["low", "normal", "high"]  #: share of a batch in the workers' time


class BatchStatus(StrEnum):
    """The state of a batch in its lifecycle."""

    VALIDATING = "validating"  #: opened; nothing to grade has arrived yet
    IN_PROGRESS = "in_progress"  #: jobs arrive and are graded
    COMPLETED = "completed"  #: all jobs are graded or errored
    FAILED = "failed"  #: not all of its jobs arrived, or the server lost some
    CANCELLING = "cancelling"  #: cancelled; the open jobs are being closed
    CANCELLED = "cancelled"  #: cancelled; earlier results are kept
    EXPIRED = "expired"  #: expired; earlier results are kept

    @property
    def final(self) -> bool:
        """True if the status will not change any more."""
        return self in {
            BatchStatus.COMPLETED,
            BatchStatus.FAILED,
            BatchStatus.CANCELLED,
            BatchStatus.EXPIRED,
        }


@dataclass(frozen=True, slots=True)
class BatchState:
    """One batch at one moment."""

    batch_id: str
    status: BatchStatus
    counts: Counts
    created_at: float  #: seconds since the epoch
    expires_at: float  #: when open jobs expire, in seconds since the epoch
    ended_at: float | None
    sealed: bool  #: True if all jobs have been submitted
    chunks: int
    lines: int  #: input lines read, including blank and repeated ones
    input_bytes: int
    duplicates: int  #: lines skipped because they repeat an earlier one
    nondeterministic: int  #: chunks graded twice with different results
    grading_seconds: float  #: summed over workers
    epoch: int  #: number of retries of the batch
    closing: BatchStatus | None  #: the status it will end with, once its open jobs are closed
    #: Reason for the status `failed`, also while a retry grades again what arrived of an input that broke off.
    reason: str = ""
    paused: bool = False  #: True if workers start no more of it
    arrived_at: float | None = None  #: when the last jobs arrived, in seconds since the epoch

    @property
    def lacks_input(self) -> bool:
        """True if jobs may still arrive: the batch neither has all of its input nor has ended."""
        return not (self.sealed or self.closing or self.status.final or self.reason)

    @property
    def fails_again(self) -> bool:
        """True while a retry grades again what arrived of an input that broke off, after which the batch is `failed` again."""
        return bool(self.reason) and not (self.sealed or self.closing or self.status.final)

    def idle_seconds(self, now: float) -> float:
        """Return how long no jobs have arrived, or 0 if that is short or the batch has all of its input."""
        idle = now - (self.arrived_at or self.created_at) if self.lacks_input else 0.0
        return idle if idle >= INPUT_IDLE_SECONDS else 0.0

    def lacking_input(self, now: float) -> str:
        """Return in words that the batch lacks a part of its input, and since when; empty if it does not."""
        if not self.lacks_input:
            return ""
        idle = self.idle_seconds(now)
        since = f", and no jobs have arrived for {duration(idle)}" if idle else ""
        return f"its input is not complete{since}"

    def as_dict(self) -> dict[str, Any]:
        """Return the state in its JSON form."""
        return {
            "batch_id": self.batch_id,
            "status": str(self.status),
            "counts": self.counts.as_dict(),
            "created_at": self.created_at,
            "expires_at": self.expires_at,
            "ended_at": self.ended_at,
            "sealed": self.sealed,
            "lines": self.lines,
            "input_bytes": self.input_bytes,
            "duplicates": self.duplicates,
            "nondeterministic": self.nondeterministic,
            "grading_seconds": self.grading_seconds,
            "reason": self.reason,
            "paused": self.paused,
            "arrived_at": self.arrived_at,
        }
