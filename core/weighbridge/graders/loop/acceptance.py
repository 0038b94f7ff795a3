"""The smallest `max_repeats` with which no loop fails a run, found by searching the run again with larger ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from weighbridge.graders.loop.config import MAX_REPEATS_LIMIT

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from weighbridge.graders.loop.finders.findings import Finding

    #: Returns findings that fail a run with a `max_repeats`, none if it passes, and None if that cannot be told.
    Search = Callable[[int], Sequence[Finding] | None]

_SEARCHES_LIMIT = 8  #: of one run
_ESTIMATES = 3  #: searches after which the value is at least doubled
_STEPS_LIMIT = 2_000  #: steps that all searches of one run go through
_CHARACTERS_LIMIT = 8_000_000  #: characters of results and texts that they read


class Acceptance(NamedTuple):
    """What searches with larger `max_repeats` found."""

    accepted: int | None  #: the smallest value tried with which no loop fails the run
    refused: int  #: the largest value below it, or of all, with which one does


def searches_for(steps: int, characters: int) -> int:
    """Return how often a run of so many steps, with results and texts of so many characters, may be searched again."""
    by_size = _CHARACTERS_LIMIT // max(1, characters)
    return min(_SEARCHES_LIMIT, _STEPS_LIMIT // max(1, steps), by_size)


def accepting_repeats(
    max_repeats: int, failing: Sequence[Finding], search: Search, searches: int
) -> Acceptance:
    """Return which `max_repeats` accepts a run, given the findings that fail it with one, and a search for those with another."""
    refused = max_repeats
    for at in range(searches):
        if refused == MAX_REPEATS_LIMIT:
            break
        # Each search may find more repeats than the one before, so that estimates alone may take long.
        least = refused + 1 if at < _ESTIMATES else refused * 2
        estimate = max(_repeats_to_pass(refused, finding) for finding in failing)
        tried = min(max(estimate, least), MAX_REPEATS_LIMIT)
        found = search(tried)
        if found is None:
            break
        if not found:
            return _smallest(refused, tried, search, searches - at - 1)
        refused, failing = tried, found
    return Acceptance(None, refused)


def _smallest(refused: int, accepted: int, search: Search, searches: int) -> Acceptance:
    """Return the smallest value between two that accepts a run, as far as a number of searches shows."""
    # Most often the estimate is the smallest; else the range is halved.
    tried = accepted - 1
    for _ in range(searches):
        if accepted == refused + 1 or (found := search(tried)) is None:
            break
        if found:
            refused = tried
        else:
            accepted = tried
        tried = (refused + accepted) // 2
    return Acceptance(accepted, refused)


def _repeats_to_pass(max_repeats: int, finding: Finding) -> int:
    """Return the `max_repeats` from which on a finding would be no loop by its rule, if its limit grows in proportion."""
    counted, least = finding.measure.counted, finding.measure.least
    slope = max(1, least // max_repeats)
    return (counted - least + slope * max_repeats) // slope + 1
