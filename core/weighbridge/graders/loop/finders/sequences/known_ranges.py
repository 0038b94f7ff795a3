"""Stretches of results that are known, with few new ones between."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


def ranges(known: Sequence[bool], per_new: int, least: int) -> Iterator[tuple[int, int]]:
    """Yield the ranges, as start and end, of `least` known results or more, at least `per_new` for each new one."""
    start = end = count = credit = 0
    for index, is_known in enumerate((*known, False)):
        if not credit:
            start, count = index, 0
        credit = credit + 1 if is_known else max(0, credit - per_new)
        if is_known:
            end, count = index + 1, count + 1
        elif count >= least and (not credit or index == len(known)):
            yield start, end
