"""Distinction of progress from noise in consecutive results of one call."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from weighbridge.graders.loop.history.results import NUMBER

if TYPE_CHECKING:
    from array import array
    from collections.abc import Iterator, Sequence

    from weighbridge.graders.loop.history.results import CallResult

#: with at least this many constant words, a number that goes up and down is noise
_CONSTANT_WORDS = 10
#: Word before a number that counts attempts or names a process, also at the end of a name such as `icmp_seq` or `requestId`.
_COUNTER = re.compile(
    r"(?:(?<![^\W_])|(?-i:(?<=[a-z])(?=[A-Z])))(?:attempts?|tr(?:y|ies)|retr(?:y|ies)|requests?|calls?|pid|id|seq)\W{0,4}$",
    re.IGNORECASE,
)
_PORT = re.compile(r"(?<![^\W_])port\W{0,4}$", re.IGNORECASE)
_DYNAMIC_PORTS_FROM = 10_000  #: a system chose most ports from here on; others name services
_COUNTED = re.compile(
    r" ?(?:more |failed |login )?(?:attempts?|tr(?:y|ies)|retr(?:y|ies))\b", re.IGNORECASE
)


def only_noise(outcomes: Sequence[CallResult]) -> bool:
    """Return whether results of one call with the same words differ only by noise.

    A number that only rises or only falls is progress, unless it counts attempts; one that goes up and down is noise
    if enough of the result is constant.
    """
    rows = [numbers for outcome in outcomes if (numbers := outcome.numbers) is not None]
    if len(rows) < len(outcomes) or len({len(row) for row in rows}) > 1:
        return False
    if len({tuple(sorted(row)) for row in rows}) == 1:
        return True
    masked, words = outcomes[0].masked, outcomes[0].words
    is_short = not words or words.count("\n") + 1 < _CONSTANT_WORDS
    if is_short and not all(outcome.has_failed for outcome in outcomes):
        return not any(_significant_numbers(masked, rows))
    return not moves_one_way(masked, rows)


def moves_one_way(masked: str, rows: Sequence[array[float]]) -> bool:
    """Return whether a number only rises or falls, given the first result's text and a row of numbers per result."""
    return any(map(_goes_one_way, _significant_numbers(masked, rows)))


def _significant_numbers(masked: str, rows: Sequence[array[float]]) -> Iterator[tuple[float, ...]]:
    """Yield the values of each number that differs, except attempt counts and error codes."""
    for number, values in zip(NUMBER.finditer(masked), zip(*rows, strict=True), strict=True):
        index = number.start()
        is_one = len(set(values)) == 1 or all(400 <= value < 600 for value in values)
        before = masked[max(0, index - 20) : index]
        is_port = min(values) >= _DYNAMIC_PORTS_FROM and _PORT.search(before)
        if not (
            is_one or is_port or _COUNTER.search(before) or _COUNTED.match(masked, number.end())
        ):
            yield values


def _goes_one_way(values: Sequence[float]) -> bool:
    steps = [later - earlier for earlier, later in pairwise(values)]
    return all(step >= 0 for step in steps) or all(step <= 0 for step in steps)


def count_one_way(lines: Sequence[str]) -> bool:
    """Return whether a number in lines with equally many numbers only rises or only falls, mostly by something."""
    rows = [[*map(float, NUMBER.findall(line))] for line in lines]
    if len({len(row) for row in rows}) > 1:
        return False
    return any(
        2 * len(set(column)) > len(column)
        and column in (sorted(column), sorted(column, reverse=True))
        for column in map(list, zip(*rows, strict=True))
    )


def tends_one_way(lines: Sequence[str]) -> bool:
    """Return whether a number in lines with equally many numbers is higher in the last third of them than in the first, or lower."""
    rows = [[*map(float, NUMBER.findall(line))] for line in lines]
    if len({len(row) for row in rows}) > 1:
        return False
    part = max(1, len(rows) // 3)
    return any(
        max(column[:part]) < min(column[-part:]) or min(column[:part]) > max(column[-part:])
        for column in map(list, zip(*rows, strict=True))
    )
