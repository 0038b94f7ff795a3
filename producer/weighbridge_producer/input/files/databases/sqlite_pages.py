"""The pages of an SQLite database: whether each is there, and stands in its trees once."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path
    from typing import BinaryIO

_MOST_LEVELS = 20  #: of a tree, as SQLite limits them
_INNER = frozenset({2, 5})  #: kinds of pages that lead to others: of an index, and of a table
_HEAD, _SCHEMA_HEAD = 12, 100  #: bytes of the header of such a page; where that of page 1 begins


def damage_of_pages(path: Path, size: int, count: int, roots: Iterable[int]) -> str | None:
    """Return what is wrong with the `count` pages of `size` bytes in a database, of which `roots` begin trees; None if they are fine.

    A whole tree has few levels, and no page twice. SQLite's own checks, which follow the pages to any depth, need this.
    """
    has = path.stat().st_size
    if has < count * size or has % size:
        return f"its last page is incomplete, as {has:,} bytes are no multiple of {size:,}"
    seen = bytearray(count + 1)
    level = list(roots)
    with path.open("rb", buffering=0) as stream:
        for _ in range(_MOST_LEVELS):
            below: list[int] = []
            for number in level:
                for child in _below(stream, number, size):
                    if not 0 < child <= count or seen[child]:
                        return f"page {number:,} leads to page {child:,}, which is of another one"
                    seen[child] = 1
                    below.append(child)
            if not below:
                return None
            level = below
    return "its pages lead to each other without an end"


def _below(stream: BinaryIO, number: int, size: int) -> Iterator[int]:
    """Yield the pages that a page leads to."""
    start = _SCHEMA_HEAD if number == 1 else 0
    at = (number - 1) * size
    stream.seek(at + start)
    if not _INNER.intersection(stream.read(1)):
        return
    stream.seek(at, os.SEEK_SET)
    page = stream.read(size)
    cells = start + _HEAD
    for cell in range(cells, cells + 2 * _number(page, start + 3, 2), 2):
        yield _number(page, _number(page, cell, 2), 4)
    yield _number(page, start + 8, 4)


def _number(page: bytes, at: int, size: int) -> int:
    return int.from_bytes(page[at : at + size])
