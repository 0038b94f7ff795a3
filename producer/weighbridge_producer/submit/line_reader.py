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
        self._taken = 0  #: of them

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
            if line.count <= most_lines and line.size <= most_bytes:
                return line
            # A block is split only once, however small the parts are.
            self._rows, self._taken = line.rows(), 0
        rows = _reaching(self._rows[self._taken : self._taken + most_lines], most_bytes)
        self._taken += len(rows)
        if len(rows) == 1:
            return SourceLine(rows[0] + b"\n", None, len(rows[0]) + 1)
        return LineBlock.of_rows(rows)


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
