"""Search for a batch's results that match a filter, page by page, in bounded time and memory."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from math import inf
from typing import TYPE_CHECKING, Any

from weighbridge.jobs.chunk import ChunkId
from weighbridge.jobs.error_codes import ErrorCode
from weighbridge.settings import MIB
from weighbridge.store.cursor import ResultCursor, position_lost, results_withdrawn
from weighbridge.store.result_filter import ResultFilter, ResultPage, check_limit
from weighbridge.store.result_matcher import Matcher

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from weighbridge.store import LogEntry, ScanResult, Store

_PAGE_BYTES = 16 * MIB  #: a page is full at this size, which its last line may exceed
_LOOKS_BETWEEN = 64  #: lines between two checks of the clock


@dataclass(slots=True)
class _PageBuilder:
    """A page under construction."""

    limit: int
    deadline: float
    cursor: ResultCursor | None = None  #: position after the lines examined so far
    lines: list[bytes] = field(default_factory=list)
    _size: int = 0

    def is_full(self) -> bool:
        return len(self.lines) >= self.limit or self._size >= _PAGE_BYTES

    def is_late(self) -> bool:
        return time.monotonic() > self.deadline

    def take(self, line: bytes) -> None:
        self.lines.append(line)
        self._size += len(line)

    def page(self) -> ResultPage:
        return ResultPage(self.lines, str(self.cursor), len(self.lines) >= self.limit)


class Search:
    """A search for matching results in one batch."""

    def __init__(
        self,
        store: Store,
        batch: str,
        wanted: ResultFilter,
        chunk_numbers: Collection[int] | None = None,
    ) -> None:
        """Search for `wanted`; if it has a custom_id, `chunk_numbers` are the numbers of chunks that may contain it."""
        self._store = store
        self._batch = batch
        self._matcher = Matcher(wanted)
        self._chunk_numbers = chunk_numbers
        self._results_version = store.results_version(batch)
        self._seen: set[str] = set()
        self._most: dict[str, float] = {}  #: maximum number of matches, by chunk

    def page(self, cursor: str | None, limit: int, budget_seconds: float) -> ResultPage:
        """Return up to `limit` matches after a cursor, fewer if the time budget runs out.

        Raises StaleCursorError, and InvalidFilterError for an invalid limit.
        """
        check_limit(limit)
        start = self._start(cursor) if cursor else None
        draft = _PageBuilder(limit, time.monotonic() + budget_seconds, start)
        for at in self._stops(start):
            if at.offset is not None and not self._read(at, draft):
                return draft.page()
            draft.cursor = replace(at, offset=None)
            if draft.is_late():
                return draft.page()
        return ResultPage(draft.lines, None, complete=True)

    def _start(self, text: str) -> ResultCursor:
        cursor = ResultCursor.parse(text)
        if cursor.results_version != self._results_version:
            raise results_withdrawn(self._batch)
        if not self._store.log_has(self._batch, cursor.entry):
            raise position_lost(self._batch)
        return cursor

    def _stops(self, start: ResultCursor | None) -> Iterator[ResultCursor]:
        """Yield the starts of chunks that may contain matches, and occasionally the end of one that does not."""
        if start and start.offset is not None:
            self._seen.add(start.chunk)
            yield start
        looked, after = None, start.position if start else ""
        while looked := self._look(looked.position if looked else after):
            for entry, record in looked.found:
                if self._may_match(entry, record):
                    yield ResultCursor(self._results_version, entry.position, entry.chunk or "", 0)
            if looked.passed and ChunkId.is_name(looked.passed.chunk or ""):
                passed = looked.passed
                yield ResultCursor(self._results_version, passed.position, passed.chunk or "")

    def _look(self, after: str) -> ScanResult | None:
        # A line whose id conflicts with an earlier one may be in any chunk.
        return self._store.scan_log(
            self._batch,
            after,
            self._matcher.record_texts,
            self._chunk_numbers,
            ErrorCode.ID_CONFLICT,
        )

    def _may_match(self, entry: LogEntry, record: Mapping[str, Any]) -> bool:
        """Return whether an entry's chunk may contain matches that were not seen yet."""
        chunk = entry.chunk or ""
        # A chunk that was graded again has a newer log entry.
        if record.get("at", entry.position) != entry.position or not ChunkId.is_name(chunk):
            return False
        if chunk in self._seen:
            return False
        self._seen.add(chunk)
        self._most[chunk] = self._matcher.most_in(record)
        return self._most[chunk] > 0

    def _read(self, start: ResultCursor, draft: _PageBuilder) -> bool:
        """Add a chunk's matches to the page; return False if the page or the time budget ended first."""
        if draft.is_full():
            return False
        most, found = inf if start.offset else self._most.get(start.chunk, inf), 0
        matches = self._matches(start.chunk, start.offset or 0)
        for looks, (line, end) in enumerate(matches, 1):
            if line is not None and draft.is_full():
                return False
            if line is not None:
                draft.take(line)
                found += 1
            if found >= most:
                return True
            if line is not None or not looks % _LOOKS_BETWEEN:
                draft.cursor = replace(start, offset=end)
            if not looks % _LOOKS_BETWEEN and draft.is_late():
                return False
        return True

    def _matches(self, chunk: str, first: int) -> Iterator[tuple[bytes | None, int]]:
        """Yield candidate lines from an offset on, each with its end; None in place of a line that does not match."""
        begin = 0
        for lines in self._store.result_lines(self._batch, chunk):
            at = first - begin
            if 0 < at <= len(lines) and lines[at - 1 : at] != b"\n":
                raise position_lost(self._batch)
            if at < len(lines):
                for line, end in self._matcher.matches(lines, max(at, 0)):
                    yield line, begin + end
            begin += len(lines)
        if 0 < begin < first:
            raise position_lost(self._batch)
