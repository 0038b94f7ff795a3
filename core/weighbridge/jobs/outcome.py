"""Outcomes of jobs, and counts of jobs by outcome."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Self

from weighbridge.graders.base import Verdict

SCORE_BUCKETS = 10  #: buckets of a histogram of scores, each 0.1 wide
VACUOUS = "vacuous"  #: counted in addition to `passed`: jobs with nothing to check


class JobStatus(StrEnum):
    """How a job ended, independent of its verdict."""

    GRADED = "graded"  #: a grader judged it
    ERRORED = "errored"  #: it could not be judged; `error` is the reason
    CANCELLED = "cancelled"  #: its batch was cancelled, or abandoned by its producer, before
    EXPIRED = "expired"  #: its batch expired before


class Outcome(StrEnum):
    """The category in which a job is counted: its verdict if it was graded, else its status."""

    status: JobStatus
    verdict: Verdict | None  #: of a graded job
    css_class: str  #: CSS class in bars and legends
    junit: str  #: element in a JUnit test case; empty: none
    rank: int  #: position among the outcomes, the worst first

    def __new__(
        cls,
        name: str,
        status: JobStatus,
        verdict: Verdict | None,
        css_class: str,
        junit: str,
        rank: int,
    ) -> Self:
        """Create a member from its name and attributes."""
        member = str.__new__(cls, name)
        member._value_ = name
        member.status, member.verdict = status, verdict
        member.css_class, member.junit, member.rank = css_class, junit, rank
        return member

    PASSED = ("passed", JobStatus.GRADED, Verdict.PASS, "pass", "", 5)
    FAILED = ("failed", JobStatus.GRADED, Verdict.FAIL, "fail", "failure", 0)
    UNGRADABLE = ("ungradable", JobStatus.GRADED, Verdict.UNGRADABLE, "ungradable", "skipped", 2)
    ERRORED = ("errored", JobStatus.ERRORED, None, "errored", "error", 1)
    CANCELLED = ("cancelled", JobStatus.CANCELLED, None, "muted", "skipped", 3)
    EXPIRED = ("expired", JobStatus.EXPIRED, None, "muted", "skipped", 4)

    # Enum's own __hash__ is written in Python, and tallies use it for each job.
    __hash__ = str.__hash__

    @property
    def word(self) -> str:
        """The verdict or else the status, for display."""
        return str(self.verdict or self.status)

    @property
    def has_score(self) -> bool:
        """True if jobs with this outcome have a meaningful score."""
        return self.verdict in {Verdict.PASS, Verdict.FAIL}


#: The outcome of a graded job, by its verdict.
OUTCOME_OF: dict[str, Outcome] = {
    outcome.verdict: outcome for outcome in Outcome if outcome.verdict
}
#: The outcome of any other job, by its status.
UNGRADED: dict[str, Outcome] = {
    outcome.status: outcome for outcome in Outcome if not outcome.verdict
}
#: The outcomes of jobs that were not graded because their batch ended.
CUT_SHORT = (Outcome.CANCELLED, Outcome.EXPIRED)
#: The outcomes with a column in tables of rates.
RATED = tuple(outcome for outcome in Outcome if outcome not in CUT_SHORT)


class _JobsByOutcome:
    """Counts of jobs, with a field for each outcome."""

    __slots__ = ()

    def jobs(self, outcome: Outcome) -> int:
        """Return the number of jobs with an outcome."""
        count: int = getattr(self, outcome)
        return count

    @property
    def graded(self) -> int:
        """Number of jobs that were graded."""
        return sum(map(self.jobs, OUTCOME_OF.values()))

    @property
    def judged(self) -> int:
        """Number of jobs that passed or failed."""
        return sum(self.jobs(outcome) for outcome in Outcome if outcome.has_score)

    @property
    def cut_short(self) -> int:
        """Number of jobs that were not graded because their batch ended."""
        return sum(map(self.jobs, CUT_SHORT))

    @property
    def finished(self) -> int:
        """Number of jobs that have ended."""
        return sum(map(self.jobs, Outcome))

    def whole_of(self, outcome: Outcome) -> int:
        """Return the number of jobs of which those with an outcome are a share."""
        if outcome.has_score:
            return self.judged
        return self.graded if outcome.verdict else self.finished

    def _by_outcome(self) -> dict[str, int]:
        return {outcome.value: self.jobs(outcome) for outcome in Outcome}


@dataclass(frozen=True, slots=True)
class Counts(_JobsByOutcome):
    """A batch's live counts: total = graded + errored + cancelled + expired + pending."""

    total: int = 0
    passed: int = 0
    failed: int = 0
    ungradable: int = 0
    errored: int = 0
    cancelled: int = 0
    expired: int = 0

    @property
    def pending(self) -> int:
        """Number of jobs that have not ended."""
        return self.total - self.finished

    def as_dict(self) -> dict[str, int]:
        """Return all counts, including derived ones."""
        return {
            "total": self.total,
            "graded": self.graded,
            **self._by_outcome(),
            "pending": self.pending,
        }


@dataclass(frozen=True, slots=True)
class GraderSummary(_JobsByOutcome):
    """The outcomes of one label's jobs."""

    label: str
    grader: str
    passed: int = 0
    failed: int = 0
    ungradable: int = 0
    errored: int = 0
    cancelled: int = 0
    expired: int = 0
    vacuous: int = 0  #: passed jobs with nothing to check
    #: causes of jobs that did not pass, the commonest first
    causes: tuple[tuple[str, int], ...] = ()
    #: Passed and failed jobs by score: [0, .1) ... [.9, 1].
    scores: tuple[int, ...] = (0,) * SCORE_BUCKETS

    def as_dict(self) -> dict[str, Any]:
        """Return the summary in its JSON form."""
        return {
            "label": self.label,
            "grader": self.grader,
            "graded": self.graded,
            **self._by_outcome(),
            "vacuous": self.vacuous,
            "causes": dict(self.causes),
            "scores": list(self.scores),
        }
