"""Reads lines from a source up to limits, and cuts the blocks in which it has them."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from weighbridge_producer.input.source_lines import LineBlock

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from weighbridge_producer.input.source_lines import SourceLine


class LineReader:
    """Lines of a source, to be read once; some come in blocks."""

    def __init__(self, lines: Iterable[SourceLine]) -> None:
        self._lines = iter(lines)
        self._left: SourceLine | None = None  #: of a block that was cut

    def read(self, most_lines: int, most_bytes: int = sys.maxsize) -> Iterator[SourceLine]:
        """Yield a number of lines, or up to the one that reaches a number of bytes."""
        while most_lines > 0 and most_bytes > 0:
            line = self._left or next(self._lines, None)
            self._left = None
            if line is None:
                return
            if isinstance(line, LineBlock):
                line, self._left = line.cut(most_lines, most_bytes)
            most_lines -= line.count
            most_bytes -= len(line.raw)
            yield line
