"""Repetition in a sequence of numbers, where equal numbers mean equal items and negative numbers mean no item."""

from __future__ import annotations

from collections import Counter
from itertools import compress, count
from operator import eq
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


class Span(NamedTuple):
    """Range of entries of a row, from `start` (inclusive) to `end` (exclusive)."""

    start: int
    end: int

    @property
    def length(self) -> int:
        """Number of entries in the range."""
        return self.end - self.start


def cycles(row: Sequence[int], max_period: int) -> Iterator[tuple[int, Span]]:
    """Yield each period up to `max_period` with each range that repeats at that period."""
    if len(set(row)) < len(row):
        for period in range(1, max_period + 1):
            for span in repeats(row, period):
                yield period, span


def repeats(row: Sequence[int], period: int) -> Iterator[Span]:
    """Yield the longest ranges in which each number equals the number one period earlier."""
    start = previous = -1
    for index in _equal_after(row, period):
        if index != previous + 1 or start < 0:
            if start >= 0:
                yield Span(start, previous + 1)
            start = index - period
        previous = index
    if start >= 0:
        yield Span(start, previous + 1)


def _equal_after(row: Sequence[int], period: int) -> list[int]:
    return list(compress(count(period), map(eq, row, row[period:])))


class NoveltyLimits(NamedTuple):
    """Thresholds below which a window of a row has too few different numbers."""

    window: int  #: size, in entries of the row
    most_different: int  #: maximum count of different numbers
    least_often: int  #: minimum count in the window for a number to be repeated
    least_repeated: int  #: minimum entries of the window that have a repeated number


def low_novelty(row: Sequence[int], limits: NoveltyLimits) -> list[Span]:
    """Return the ranges covered by windows with too few different numbers."""
    often = Counter(row)
    frequent = [
        index
        for index, number in enumerate(row)
        if number >= 0 and often[number] >= limits.least_often
    ]
    found: list[Span] = []
    for start, end in _candidate_ranges(frequent, limits, len(row)):
        for window in _windows(row, start, end, limits):
            if found and window.start <= found[-1].end:
                found[-1] = Span(found[-1].start, window.end)
            else:
                found.append(window)
    return found


def _candidate_ranges(frequent: list[int], limits: NoveltyLimits, length: int) -> Iterator[Span]:
    """Yield the ranges in which enough entries have a frequent number, without overlaps."""
    needed, reach = limits.least_repeated, limits.window - 1
    start = end = -1
    for first, last in zip(frequent, frequent[needed - 1 :], strict=False):
        if last - first > reach:
            continue
        if start < 0 or last - reach > end:
            if start >= 0:
                yield Span(start, end)
            start = max(0, last - reach)
        end = min(length, first + reach + 1)
    if start >= 0:
        yield Span(start, end)


def _windows(row: Sequence[int], start: int, end: int, limits: NoveltyLimits) -> Iterator[Span]:
    seen: Counter[int] = Counter()
    repeated = 0
    first = start
    for index in range(start, end):
        number = row[index]
        if number < 0:
            seen.clear()
            repeated, first = 0, index + 1
            continue
        if index - first >= limits.window:
            repeated -= _update_counts(seen, row[first], -1, limits.least_often)
            first += 1
        repeated += _update_counts(seen, number, 1, limits.least_often)
        is_full = index - first + 1 == limits.window
        if is_full and len(seen) <= limits.most_different and repeated >= limits.least_repeated:
            yield Span(first, index + 1)


def _update_counts(seen: Counter[int], number: int, step: int, least_often: int) -> int:
    """Add or remove a number in the counts, and return by how much the count of repeated entries changes."""
    before = seen[number]
    after = seen[number] = before + step
    if not after:
        del seen[number]
    return abs((after if after >= least_often else 0) - (before if before >= least_often else 0))
