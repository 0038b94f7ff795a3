"""Searching: the results of a batch that match a filter, page by page, at bounded time and memory."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from weighbridge.errors import InvalidFilterError, StaleCursorError
from weighbridge.jobs.chunk import ChunkId
from weighbridge.jobs.matching import Matcher
from weighbridge.jobs.results import PAGE_LIMIT, Place, ResultFilter, ResultPage
from weighbridge.jobs.store import LogEntry
from weighbridge.settings import MIB

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from weighbridge.jobs.store import Store

_PAGE_BYTES = 16 * MIB  #: lines may be large: a page holds no more than this and one line
_LOOKS_BETWEEN = 64  #: lines between two looks at the clock
_FEW, _MANY = 32, 512  #: entries of the log read at once: the first time, and then
_CHUNK = re.compile(r"[0-9]{1,9}(:[0-9]{1,9}-[0-9]{1,9})?")


@dataclass(slots=True)
class _Draft:
    """A page being filled."""

    limit: int
    deadline: float
    place: Place | None = None  #: after what was looked at
    lines: list[bytes] = field(default_factory=list)
    _size: int = 0
    _looks: int = 0

    def is_full(self) -> bool:
        return len(self.lines) >= self.limit or self._size >= _PAGE_BYTES

    def is_late(self) -> bool:
        return time.monotonic() > self.deadline

    def take(self, line: bytes) -> None:
        self.lines.append(line)
        self._size += len(line)

    def page(self) -> ResultPage:
        return ResultPage(self.lines, str(self.place), len(self.lines) >= self.limit)


class Search:
    """One search through one batch."""

    def __init__(
        self, store: Store, batch: str, wanted: ResultFilter, owners: Collection[int] | None = None
    ) -> None:
        """Look for what is `wanted`; where that is a custom_id, `owners` are the chunks that may have its line."""
        self._store = store
        self._batch = batch
        self._matcher = Matcher(wanted)
        self._owners = owners
        self._generation = store.generation(batch)
        self._seen: set[str] = set()

    def page(self, cursor: str | None, limit: int, budget_seconds: float) -> ResultPage:
        """Return the matches after a place, up to `limit`, and as many as are found in time.

        Raises StaleCursorError, InvalidFilterError for a limit that is none.
        """
        if not 1 <= limit <= PAGE_LIMIT:
            raise InvalidFilterError(
                f"a page cannot have {limit} results", f"ask for 1 to {PAGE_LIMIT:,}"
            )
        start = self._start(cursor) if cursor else None
        draft = _Draft(limit, time.monotonic() + budget_seconds, start)
        for place in self._places(start):
            if place.offset is not None and not self._read(place, draft):
                return draft.page()
            draft.place = replace(place, offset=None)
            if draft.is_late():
                return draft.page()
        return ResultPage(draft.lines, None, complete=True)

    def _start(self, cursor: str) -> Place:
        place = Place.parse(cursor)
        if place.generation != self._generation:
            raise StaleCursorError(
                f"batch {self._batch} was retried since", "look through its results from the start"
            )
        if not self._store.log_has(self._batch, LogEntry(place.position, place.chunk)):
            raise self._no_place()
        return place

    def _no_place(self) -> StaleCursorError:
        return StaleCursorError(
            f"batch {self._batch} has no such place in its results (any more)",
            "look through them from the start",
        )

    def _places(self, start: Place | None) -> Iterator[Place]:
        """Yield where chunks begin that may hold matches, and between them places that were passed."""
        if start and start.offset is not None:
            self._seen.add(start.chunk)
            yield start
        after, most = start.position if start else "", _FEW
        while entries := self._store.read_log(self._batch, after, 0, most):
            named = [entry for entry in entries if _CHUNK.fullmatch(entry.chunk or "")]
            for entry in self._holding(named):
                yield Place(self._generation, entry.position, entry.chunk or "", 0)
            if named:
                last = named[-1]
                yield Place(self._generation, last.position, last.chunk or "", None)
            after, most = entries[-1].position, _MANY

    def _holding(self, entries: Sequence[LogEntry]) -> Iterator[LogEntry]:
        """Yield the entries whose chunks may hold matches, each chunk once."""
        records = self._store.records_of(self._batch, [entry.chunk or "" for entry in entries])
        for entry, record in zip(entries, records, strict=True):
            # Without a record the chunk is being graded again; one with another place was.
            chunk = entry.chunk or ""
            if record is None or record.get("at", entry.position) != entry.position:
                continue
            if chunk in self._seen:
                continue
            self._seen.add(chunk)
            owns_id = self._owners is None or ChunkId.parse(chunk).number in self._owners
            if self._matcher.may_be_in(record, owns_id=owns_id):
                yield entry

    def _read(self, place: Place, draft: _Draft) -> bool:
        """Take the matches of a chunk; False when room or time ended first."""
        if draft.is_full():
            return False
        [results] = self._store.results(self._batch, [place.chunk])
        if results is None:  # freed, or opened again this moment
            return True
        offset = place.offset or 0
        if offset and results[offset - 1 : offset] != b"\n":
            raise self._no_place()
        for looks, (line, end) in enumerate(self._matcher.matches(results, offset), 1):
            looked = not looks % _LOOKS_BETWEEN
            if line is not None:
                if draft.is_full():
                    return False
                draft.take(line)
            if line is not None or looked:
                draft.place = replace(place, offset=end)
            if looked and draft.is_late():
                return False
        return True
