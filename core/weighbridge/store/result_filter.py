"""The filter of a search through results, and the page that it returns."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from weighbridge.errors import InvalidFilterError
from weighbridge.graders.base import Verdict
from weighbridge.jobs.limits import NAME_LIMIT
from weighbridge.jobs.outcome import JobStatus, Outcome
from weighbridge.jobs.result_line import is_kind_of

if TYPE_CHECKING:
    from weighbridge.jobs.result_line import JobProfile, ResultRow

PAGE_LIMIT = 5_000  #: maximum results per page
TEXT_LIMIT = 1_000  #: maximum length of the text to find, in characters


@dataclass(frozen=True, slots=True)
class ResultFilter:
    """Conditions that a result line must all meet; "" matches any value. Raises InvalidFilterError."""

    verdict: str = ""
    status: str = ""
    label: str = ""
    grader: str = ""
    #: a cause as shown in the summary, the name of a check for all its causes, or an error's code
    cause: str = ""
    text: str = ""  #: anywhere in the line, ignoring case
    custom_id: str = ""

    def __post_init__(self) -> None:
        _check_known("verdict", self.verdict, tuple(Verdict))
        _check_known("status", self.status, tuple(JobStatus))
        for field in fields(self):
            limit = TEXT_LIMIT if field.name == "text" else NAME_LIMIT
            _check_text(field.name, getattr(self, field.name), limit)

    @property
    def outcomes(self) -> set[Outcome]:
        """The outcomes of the jobs that are admitted."""
        return set(filter(self._admits_outcome, Outcome))

    def _admits_outcome(self, outcome: Outcome) -> bool:
        return self.status in {"", outcome.status} and self.verdict in {"", outcome.verdict}

    def admits(self, job: JobProfile | ResultRow) -> bool:
        """Return whether a job meets all conditions except those on the id and the text of its result line."""
        return (
            self.label in {"", job.label}
            and self.grader in {"", job.grader}
            and self._admits_outcome(job.outcome)
            and (not self.cause or is_kind_of(job.cause, self.cause))
        )


@dataclass(frozen=True, slots=True)
class ResultPage:
    """A page of result lines."""

    lines: list[bytes]  #: without newlines, in the order in which they were recorded
    cursor: str | None  #: position after the page; None if there are no more results now
    complete: bool  #: False if a time or size limit ended the page early; continue with the cursor


def check_limit(limit: int) -> None:
    """Raise InvalidFilterError for an invalid number of results per page."""
    if not 1 <= limit <= PAGE_LIMIT:
        raise InvalidFilterError(
            f"a page cannot have {limit} results", f"ask for 1 to {PAGE_LIMIT:,}"
        )


def _check_known(name: str, value: str, known: tuple[str, ...]) -> None:
    if value and value not in known:
        raise InvalidFilterError(
            f"no result has the {name} {value[:80]!r}", f"choose one of {', '.join(known)}"
        )


def _check_text(name: str, value: str, limit: int) -> None:
    if len(value) > limit:
        raise InvalidFilterError(
            f"the {name} to look for has {len(value):,} characters", f"give at most {limit:,}"
        )
    try:
        value.encode()
    except UnicodeEncodeError:
        raise InvalidFilterError(
            f"the {name} to look for has a lone surrogate, which no result can contain",
            "write whole characters",
        ) from None
