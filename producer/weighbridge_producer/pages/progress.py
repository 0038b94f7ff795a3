"""Progress of a batch, its rate, and the estimated time left."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from weighbridge.jobs.batch_state import BatchState

_NEW_SHARE = 0.4  #: weight of the newest sample in the moving average of the rate
_LEAST_SECONDS = 0.2  #: shortest interval for measuring a rate


@dataclass(frozen=True, slots=True)
class Sample:
    """An earlier sample of a batch's progress, passed in the next request's URL so that the server is stateless."""

    at: float  #: seconds since the epoch
    done: int
    rate: float  #: jobs per second


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a batch at one moment."""

    done: int
    total: int
    is_whole: bool  #: True if all jobs have been submitted
    rate: float | None  #: jobs per second; None if unknown
    seconds_left: float | None
    sample: Sample  #: for the next request

    @property
    def percent(self) -> int:
        """The percentage of finished jobs, rounded down so that 100 means all."""
        return self.done * 100 // self.total if self.total else 0


def progress_of(state: BatchState, now: float, before: Sample | None = None) -> Progress:
    """Return a batch's progress; the rate is measured since an earlier sample, or else since the start."""
    done = state.counts.finished
    rate = _rate(state, done, now, before)
    left = state.counts.pending / rate if rate and state.sealed else None
    return Progress(
        done, state.counts.total, state.sealed, rate, left, Sample(now, done, rate or 0.0)
    )


def _rate(state: BatchState, done: int, now: float, before: Sample | None) -> float | None:
    if state.status.final:
        took = (state.ended_at or now) - state.created_at
        return done / took if took > 0 and done else None
    if before is None or done < before.done:  # the first sample, or retried since
        took = now - state.created_at
        return done / took if took > 0 and done else None
    took = now - before.at
    if took < _LEAST_SECONDS:
        return before.rate or None
    newest = (done - before.done) / took
    rate = newest if not before.rate else _NEW_SHARE * newest + (1 - _NEW_SHARE) * before.rate
    return rate or None
