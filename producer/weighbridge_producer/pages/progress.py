"""How far a batch has come, how fast it goes, and how long the rest will take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from weighbridge.jobs.model import BatchState

_NEW_SHARE = 0.4  #: of the newest sample in the rate; the rest is what it was before
_LEAST_SECONDS = 0.2  #: between two samples, for a rate to be told


@dataclass(frozen=True, slots=True)
class Sample:
    """What an earlier look at a batch saw; it travels in the address of the next, so that no server keeps it."""

    at: float  #: seconds since the epoch
    done: int
    rate: float  #: jobs a second


@dataclass(frozen=True, slots=True)
class Progress:
    """How a batch stands at one moment."""

    done: int
    total: int
    is_whole: bool  #: whether every job has arrived
    rate: float | None  #: jobs a second; None where that is not known
    seconds_left: float | None
    sample: Sample  #: for the next look

    @property
    def percent(self) -> int:
        """How much is done, rounded down: only what is all done is 100."""
        return self.done * 100 // self.total if self.total else 0


def progress_of(state: BatchState, now: float, before: Sample | None = None) -> Progress:
    """Return a batch's progress; the rate is that since an earlier look, or else since the beginning."""
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
    if before is None or done < before.done:  # nothing seen before, or retried since
        took = now - state.created_at
        return done / took if took > 0 and done else None
    took = now - before.at
    if took < _LEAST_SECONDS:
        return before.rate or None
    newest = (done - before.done) / took
    rate = newest if not before.rate else _NEW_SHARE * newest + (1 - _NEW_SHARE) * before.rate
    return rate or None
