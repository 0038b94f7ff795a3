"""The order of the list of batches, which is part of its address: by a column, ascending or with `-` descending."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from weighbridge.jobs.outcome import RATED, Outcome
from weighbridge_producer.pages.batch_outcome import pass_rate

if TYPE_CHECKING:
    from collections.abc import Callable

    from weighbridge.jobs.batch_state import BatchState
    from weighbridge.store import BatchOptions

    Listed = tuple[BatchState, BatchOptions]

NEWEST = "-created"
_COUNTED = tuple(outcome for outcome in RATED if outcome is not Outcome.PASSED)
#: The columns that can be sorted by, with the direction that a first click gives.
_FIRST = {
    "name": "name",
    "rate": "rate",
    **{str(outcome): f"-{outcome}" for outcome in _COUNTED},
    "jobs": "-jobs",
    "created": NEWEST,
}
PATTERN = f"^(-?({'|'.join(_FIRST)}))?$"


class Heading(NamedTuple):
    """The link in the heading of a column."""

    href: str
    #: `ascending` or `descending`; empty if the list is not in the order of this column
    direction: str


def headings(order: str, address: Callable[[str], str]) -> dict[str, Heading]:
    """Return the links of all columns; one for the present order leads to the opposite one."""
    found = {}
    for column, first in _FIRST.items():
        is_present = order.removeprefix("-") == column
        direction = ("descending" if order.startswith("-") else "ascending") if is_present else ""
        wanted = _opposite(order) if is_present else first
        found[column] = Heading(address("" if wanted == NEWEST else wanted), direction)
    return found


def in_order(batches: list[Listed], order: str) -> list[Listed]:
    """Return batches in an order; those without a value, such as a pass rate, come last, and equal ones are newest first."""
    value = _VALUES[order.removeprefix("-")]
    known = [each for each in batches if value(each) is not None]
    known.sort(key=_VALUES["created"], reverse=True)
    known.sort(key=value, reverse=order.startswith("-"))
    return known + [each for each in batches if value(each) is None]


def _opposite(order: str) -> str:
    return order[1:] if order.startswith("-") else f"-{order}"


def _jobs(outcome: Outcome) -> Callable[[Listed], Any]:
    return lambda batch: batch[0].counts.jobs(outcome)


_VALUES: dict[str, Callable[[Listed], Any]] = {
    "name": lambda batch: batch[1].source.casefold() if batch[1].source else None,
    "rate": lambda batch: pass_rate(batch[0].counts),
    **{str(outcome): _jobs(outcome) for outcome in _COUNTED},
    "jobs": lambda batch: batch[0].counts.total,
    "created": lambda batch: (batch[0].created_at, batch[0].batch_id),
}
