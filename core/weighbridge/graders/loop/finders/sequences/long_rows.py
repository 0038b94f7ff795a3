"""Rows of entries that pass a test, found without testing most of the others."""

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
