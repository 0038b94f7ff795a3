"""The smallest `max_repeats` with which a failing run passes, found by searching the run again with larger ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from weighbridge.graders.loop.config import MAX_REPEATS_LIMIT

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from weighbridge.graders.loop.finders.findings import Finding

_SEARCHES_LIMIT = 8  #: of one run
_ESTIMATES = 3  #: searches after which the value is doubled, because each finds more repeats
_STEPS_LIMIT = 16_000  #: steps that all searches of one run go through


class Acceptance(NamedTuple):
    """What searches with larger `max_repeats` found."""

    accepted: int | None  #: the smallest value tried with which no loop fails the run
    refused: int  #: the largest value below it, or of all, with which one does


def searches_for(steps: int) -> int:
    """Return how often a run of so many steps may be searched again."""
    return min(_SEARCHES_LIMIT, _STEPS_LIMIT // max(1, steps))


def accepting_repeats(
    max_repeats: int,
    found: Sequence[Finding],
    search: Callable[[int], Sequence[Finding]],
    searches: int,
) -> Acceptance:
    """Return which `max_repeats` accepts a run, given the findings that fail it with one, and a search for those with another."""
    refused, accepted = max_repeats, None
    estimates = _ESTIMATES
    while searches and refused < MAX_REPEATS_LIMIT:
        least = refused * 2 if estimates <= 0 else refused + 1
        tried = max(_beyond(refused, finding) for finding in found)
        tried = min(max(tried, least), MAX_REPEATS_LIMIT)
        found, searches, estimates = search(tried), searches - 1, estimates - 1
        if not found:
            accepted = tried
            break
        refused = tried
    # Most often the estimate is the smallest; else the range is halved.
    tried = 0 if accepted is None else accepted - 1
    while accepted is not None and searches and accepted > refused + 1:
        if search(tried):
            refused = tried
        else:
            accepted = tried
        searches -= 1
        tried = (refused + accepted) // 2
    return Acceptance(accepted, refused)


def _beyond(max_repeats: int, finding: Finding) -> int:
    """Return the `max_repeats` from which on a finding would be no loop by its rule, if its limit grows in proportion."""
    counted, least = finding.measure.counted, finding.measure.least
    slope = max(1, least // max_repeats)
    return (counted - least + slope * max_repeats) // slope + 1
