"""Outcomes: what became of a job, and how many jobs came to which."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Self

from weighbridge.graders.base import Verdict

SCORE_BUCKETS = 10  #: of a histogram of scores, each a tenth
VACUOUS = "vacuous"  #: counted beside `passed`, as a part of it: jobs with nothing to check


class JobStatus(StrEnum):
    """How a job ended; its verdict is a separate fact."""

    GRADED = "graded"  #: a grader judged it
    ERRORED = "errored"  #: it could not be judged; `error` says why
    CANCELLED = "cancelled"  #: its batch was cancelled, or given up by its producer, first
    EXPIRED = "expired"  #: its batch ran out of time first


class Outcome(StrEnum):
    """What a job is counted as: its verdict where it was graded, else its status."""

    status: JobStatus
    verdict: Verdict | None  #: of a graded job
    css_class: str  #: of its part of a bar and of a legend
    junit: str  #: the element that a test case of JUnit has for it; empty: none

    def __new__(
        cls, name: str, status: JobStatus, verdict: Verdict | None, css_class: str, junit: str
    ) -> Self:
        """Make a member out of its name and all that goes with it."""
        member = str.__new__(cls, name)
        member._value_ = name
        member.status, member.verdict = status, verdict
        member.css_class, member.junit = css_class, junit
        return member

    PASSED = ("passed", JobStatus.GRADED, Verdict.PASS, "pass", "")
    FAILED = ("failed", JobStatus.GRADED, Verdict.FAIL, "fail", "failure")
    UNGRADABLE = ("ungradable", JobStatus.GRADED, Verdict.UNGRADABLE, "ungradable", "skipped")
    ERRORED = ("errored", JobStatus.ERRORED, None, "errored", "error")
    CANCELLED = ("cancelled", JobStatus.CANCELLED, None, "muted", "skipped")
    EXPIRED = ("expired", JobStatus.EXPIRED, None, "muted", "skipped")

    # That of an Enum is written in Python, and a tally asks for it with each job.
    __hash__ = str.__hash__

    @property
    def word(self) -> str:
        """The verdict, or else the status: what a result is shown as."""
        return str(self.verdict or self.status)

    @property
    def has_score(self) -> bool:
        """Whether the score of such a job says something."""
        return self.verdict in {Verdict.PASS, Verdict.FAIL}


#: The outcome of a graded job, by its verdict.
OUTCOME_OF: dict[str, Outcome] = {
    outcome.verdict: outcome for outcome in Outcome if outcome.verdict
}
#: And of any other, by its status.
UNGRADED: dict[str, Outcome] = {
    outcome.status: outcome for outcome in Outcome if not outcome.verdict
}


class _JobsByOutcome:
    """Counts of jobs, with a field for each outcome."""

    __slots__ = ()

    def jobs(self, outcome: Outcome) -> int:
        """Return how many jobs came to an outcome."""
        count: int = getattr(self, outcome)
        return count

    @property
    def graded(self) -> int:
        """Jobs that a grader judged."""
        return sum(map(self.jobs, OUTCOME_OF.values()))

    @property
    def finished(self) -> int:
        """Jobs that nothing more will happen to."""
        return sum(map(self.jobs, Outcome))

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
        """Jobs that are still to be graded."""
        return self.total - self.finished

    def as_dict(self) -> dict[str, int]:
        """Return every count, the derived ones too."""
        return {
            "total": self.total,
            "graded": self.graded,
            **self._by_outcome(),
            "pending": self.pending,
        }


@dataclass(frozen=True, slots=True)
class GraderSummary(_JobsByOutcome):
    """What one label's jobs came to."""

    label: str
    grader: str
    passed: int = 0
    failed: int = 0
    ungradable: int = 0
    errored: int = 0
    cancelled: int = 0
    expired: int = 0
    vacuous: int = 0  #: of the passed: those with nothing to check
    causes: tuple[tuple[str, int], ...] = ()  #: why jobs did not pass, commonest first
    #: Of the passed and failed, by score: [0, .1) ... [.9, 1].
    scores: tuple[int, ...] = (0,) * SCORE_BUCKETS

    def as_dict(self) -> dict[str, Any]:
        """Return the summary as JSON shows it."""
        return {
            "label": self.label,
            "grader": self.grader,
            "graded": self.graded,
            **self._by_outcome(),
            "vacuous": self.vacuous,
            "causes": dict(self.causes),
            "scores": list(self.scores),
        }
