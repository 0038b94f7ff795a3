"""Which result lines a search wants, and the page of them that it finds."""

from __future__ import annotations

from dataclasses import dataclass, fields

from weighbridge.errors import InvalidFilterError
from weighbridge.graders.base import Verdict
from weighbridge.jobs.model import NAME_LIMIT
from weighbridge.jobs.outcome import JobStatus

PAGE_LIMIT = 5_000  #: results
TEXT_LIMIT = 1_000  #: characters of what is searched for


@dataclass(frozen=True, slots=True)
class ResultFilter:
    """What result lines must have, all of it; "" is whatever there is. Raises InvalidFilterError."""

    verdict: str = ""
    status: str = ""
    label: str = ""
    grader: str = ""
    reason: str = (
        ""  #: a cause as the summary names it, or all kinds of a check by its name; an error's code
    )
    text: str = ""  #: anywhere in the line, whatever its case
    custom_id: str = ""

    def __post_init__(self) -> None:
        _check_known("verdict", self.verdict, tuple(Verdict))
        _check_known("status", self.status, tuple(JobStatus))
        for field in fields(self):
            limit = TEXT_LIMIT if field.name == "text" else NAME_LIMIT
            _check_text(field.name, getattr(self, field.name), limit)


@dataclass(frozen=True, slots=True)
class ResultPage:
    """Some result lines, and how to have those after them."""

    lines: list[bytes]  #: whole, without their newline, in the order in which they were recorded
    cursor: str | None  #: to read on after them; None when nothing more is there now
    complete: bool  #: False: time or room ended before the page was full; go on with the cursor


def check_limit(limit: int) -> None:
    """Raise InvalidFilterError when no page can have that many results."""
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
