"""Reads lines from a source up to limits, and cuts the blocks in which it has them."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from weighbridge_producer.input.source_lines import LineBlock, SourceLine

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence


class LineReader:
    """Lines of a source, to be read once; some come in blocks."""

    def __init__(self, lines: Iterable[SourceLine]) -> None:
        self._lines = iter(lines)
        self._rows: Sequence[bytes] = ()  #: lines of a block that is cut, without their newlines
        self._sizes: Sequence[int] = ()  #: as of the block
        self._taken = 0  #: of these lines

    def read(self, most_lines: int, most_bytes: int = sys.maxsize) -> Iterator[SourceLine]:
        """Yield a number of lines, or up to the one that reaches a number of bytes."""
        while most_lines > 0 and most_bytes > 0:
            line = self._next(most_lines, most_bytes)
            if line is None:
                return
            most_lines -= line.count
            most_bytes -= len(line.raw)
            yield line

    def _next(self, most_lines: int, most_bytes: int) -> SourceLine | None:
        """Return a line, or a block of at most so many."""
        if self._taken == len(self._rows):
            line = next(self._lines, None)
            if not isinstance(line, LineBlock):
                return line
            if line.count <= most_lines and len(line.raw) <= most_bytes:
                return line
            # A block is split only once, however small the parts are.
            self._rows, self._sizes, self._taken = line.rows(), line.sizes, 0
        rows = _reaching(self._rows[self._taken : self._taken + most_lines], most_bytes)
        sizes = self._sizes[self._taken : self._taken + len(rows)]
        self._taken += len(rows)
        block = LineBlock.of_rows(rows, sizes)
        return block if block.count > 1 else next(block.lines())


def _reaching(rows: Sequence[bytes], most_bytes: int) -> Sequence[bytes]:
    """Return the lines up to the one that reaches a number of bytes with its newline."""
    if sum(map(len, rows)) + len(rows) < most_bytes:
        return rows
    size = 0
    for number, row in enumerate(rows, 1):
        size += len(row) + 1
        if size >= most_bytes:
            return rows[:number]
    return rows
