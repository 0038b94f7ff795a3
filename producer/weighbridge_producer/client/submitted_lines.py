"""The lines of a batch's input, found by their numbers; quick for numbers near each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weighbridge.jobs.line import JSON_SPACE

if TYPE_CHECKING:
    from weighbridge.jobs.chunk import Chunk
    from weighbridge.store import Store


class SubmittedLines:
    """The lines of a batch's input as they were submitted; one chunk of them is kept."""

    def __init__(self, store: Store, batch: str) -> None:
        self._store = store
        self._batch = batch
        self._number = -1  #: of the chunk that is kept
        self._first = self._end = 0  #: its lines
        self._rows: list[bytes] = []

    def at(self, line: int) -> bytes | None:
        """Return a line by its number, from 1; None when it is freed, blank, or not there."""
        if not self._first <= line < self._end and not self._find(line):
            return None
        index = line - self._first
        return self._rows[index].strip(JSON_SPACE) or None if index < len(self._rows) else None

    def _find(self, line: int) -> bool:
        """Keep the chunk that has a line; return whether there is one."""
        low, high = 0, self._store.state(self._batch).chunks
        # Results come in nearly the order of the input: the next chunk is the likeliest.
        middle = min(self._number + 1, high - 1)
        while low < high:
            chunk = self._store.submitted(self._batch, middle)
            if chunk is None:
                return False
            index = line - chunk.first_line
            if 0 <= index < chunk.line_count:
                self._keep(middle, chunk)
                return True
            low, high = (low, middle) if index < 0 else (middle + 1, high)
            middle = (low + high) // 2
        return False

    def _keep(self, number: int, chunk: Chunk) -> None:
        self._number, self._first = number, chunk.first_line
        self._end = chunk.first_line + chunk.line_count
        self._rows = chunk.raw.split(b"\n")
