"""Stretches of a sequence: rows of entries that pass a test, and ranges of what is known with few new ones between."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

EntryT = TypeVar("EntryT")


def long_rows(
    entries: Sequence[EntryT], passes: Callable[[EntryT], bool], least: int
) -> Iterator[range]:
    """Yield the indices of each row of `least` or more entries that pass a test."""
    index = least - 1
    while index < len(entries):
        if not passes(entries[index]):
            index += least  # a row of `least` entries includes one of these
            continue
        start, end = index, index + 1
        while start > 0 and passes(entries[start - 1]):
            start -= 1
        while end < len(entries) and passes(entries[end]):
            end += 1
        if end - start >= least:
            yield range(start, end)
        index = end + least


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
