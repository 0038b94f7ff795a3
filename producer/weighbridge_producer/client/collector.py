"""Collecting: a batch's results as they come, after any cursor, each once."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from weighbridge.errors import ResultsFreedError, ServerUnavailableError, StaleCursorError
from weighbridge.jobs.chunk import ChunkId
from weighbridge.jobs.result import line_number_of
from weighbridge.store import LogEntry
from weighbridge.store.cursor import Cursor
from weighbridge_producer.client.backend import Page
from weighbridge_producer.client.line_intervals import IntervalSet

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Sequence

    from weighbridge.store import Store

_BLOBS_AT_ONCE = 2  #: few, because a chunk's results may be large
_ENTRIES_AT_ONCE = 1_000  #: of the log, where results are not read
_LAG_SECONDS, _LAG_PAUSE_SECONDS = (
    10.0,
    0.1,
)  #: that a log may lack the end of its batch; between two looks
_WAIT_SECONDS = 1.0  #: how long one blocking read lasts; news end it at once


@dataclass(frozen=True, slots=True)
class ChunkPage(Page):
    """The result lines of one chunk, without those of lines whose results were collected before."""

    chunk: str
    start: int  #: number of the first line of the input that it covers
    end: int  #: exclusive


class Collector:
    """Reads one batch's results in the order in which they were recorded.

    With `delivered`, the numbers of the lines whose results the caller has, those are left out, and a cursor into what
    the server has lost is no error: the log is read from its start. Without, such a cursor raises StaleCursorError.
    """

    def __init__(
        self,
        store: Store,
        batch: str,
        cursor: Cursor | None = None,
        delivered: IntervalSet | None = None,
    ) -> None:
        self._store = store
        self._batch = batch
        self._results_version = store.results_version(batch)
        self._delivered = IntervalSet(delivered.intervals() if delivered else ())
        self._last: LogEntry | None = None
        self._rest: ChunkPage | None = None  #: of the chunk inside which the cursor is
        self._lagging_since = 0.0
        if cursor:
            self._go_to(cursor, may_be_lost=delivered is not None)

    def _go_to(self, cursor: Cursor, *, may_be_lost: bool) -> None:
        inside = cursor.offset is not None
        version, now = cursor.results_version, self._results_version
        if version.epoch != now.epoch or (inside and version != now):
            raise self._retried()
        entry = LogEntry(cursor.position, cursor.chunk)
        if self._store.log_has(self._batch, entry):
            self._last = entry
            self._rest = self._rest_of(cursor) if inside else None
            if not may_be_lost:
                self._note_delivered_up_to(entry)
        elif not may_be_lost:
            raise self._lost()

    def _note_delivered_up_to(self, last: LogEntry) -> None:
        """Take note of the lines that whoever has this cursor got before it."""
        after = ""
        while entries := self._store.read_log(self._batch, after, 0, most=_ENTRIES_AT_ONCE):
            before = [
                entry.chunk
                for entry in entries
                if entry.chunk and _order(entry.position) <= _order(last.position)
            ]
            # Nobody got the lines of a chunk that a retry opened again: they come later, under its new name.
            for chunk in self._store.finished(self._batch, before):
                self._delivered.add(*lines_of(chunk))
            if _order(entries[-1].position) > _order(last.position):
                return
            after = entries[-1].position

    def _lost(self) -> StaleCursorError:
        return StaleCursorError(
            f"batch {self._batch} no longer has, or never had, this position in its results",
            "collect them from the start",
        )

    def _retried(self) -> StaleCursorError:
        return StaleCursorError(
            f"batch {self._batch} was retried since", "collect its results from the start"
        )

    def check_nothing_was_freed(self) -> None:
        """Raise ResultsFreedError when a chunk that would be collected has no results any more."""
        after = self._last.position if self._last else ""
        while entries := self._store.read_log(self._batch, after, 0, most=_ENTRIES_AT_ONCE):
            self._check_not_freed(entries)
            after = entries[-1].position

    def pages(
        self, *, follow: bool = True, should_stop: Callable[[], bool] = lambda: False
    ) -> Generator[ChunkPage]:
        """Yield the results recorded so far and, to `follow`, all that come until the batch has ended.

        Raises StaleCursorError when the batch is retried meanwhile, ResultsFreedError when somebody frees results.
        """
        if self._rest:
            yield self._rest
            self._rest = None
        # Of a log that was not read yet, any entry is news: a batch that has ended has one.
        wait = _WAIT_SECONDS if follow and self._last is None else 0.0
        while not should_stop():
            after = self._last.position if self._last else ""
            entries = self._store.read_log(self._batch, after, wait)
            if entries and not self._are_next(entries):
                self._last = None
                continue
            for start in range(0, len(entries), _BLOBS_AT_ONCE):
                some = entries[start : start + _BLOBS_AT_ONCE]
                blobs = self._store.results(self._batch, [entry.chunk or "" for entry in some])
                if not (yield from self._pages_of(some, blobs)):
                    self._await_newer_server()
                    break
            # Behind an end nothing more may come, so that is not waited for; after a retry the log goes on there.
            wait = _WAIT_SECONDS if follow and not (entries and self._at_end) else 0
            if entries:
                continue
            ended = self._has_ended()
            if self._is_done(ended=ended, follow=follow):
                return
            if ended:
                self._await_newer_server()
            self._check_log()

    def _rest_of(self, cursor: Cursor) -> ChunkPage:
        """Return the lines of the chunk inside which a cursor is that come after it."""
        offset = cursor.offset or 0
        blob = b"".join(self._store.result_lines(self._batch, cursor.chunk))
        if not blob:
            raise self._freed(cursor.chunk)
        if offset > len(blob) or (offset and blob[offset - 1 : offset] != b"\n"):
            raise self._lost()
        after, lines = str(replace(cursor, offset=None)), lines_of(cursor.chunk)
        return ChunkPage(blob[offset:], after, cursor.chunk, *lines)

    @property
    def _at_end(self) -> bool:
        """Whether the entry read last says that the batch has ended."""
        return self._last is not None and self._last.chunk is None

    def _is_done(self, *, ended: bool, follow: bool) -> bool:
        """Whether nothing more is to be read: of a batch that has ended, the log says so in its last entry."""
        if not ended:
            return not follow
        return self._at_end

    def _await_newer_server(self) -> None:
        """Read on over new connections, soon: whoever answered lags behind, as a primary that was demoted does.

        At first, read on at once: the batch may have ended between two questions.
        """
        now = time.monotonic()
        if not self._lagging_since:
            self._lagging_since = now
            return
        if now - self._lagging_since > _LAG_SECONDS:
            raise ServerUnavailableError(
                f"Redis lacks results of batch {self._batch} that it has recorded",
                "try again: after a failover, a Redis server that lags behind may have answered",
            )
        time.sleep(_LAG_PAUSE_SECONDS)
        self._store.forget_connections()

    def _has_ended(self) -> bool:
        state = self._store.state(self._batch)
        if state.epoch != self._results_version.epoch:
            raise self._retried()
        return state.status.final

    def _are_next(self, entries: Sequence[LogEntry]) -> bool:
        """Whether entries follow upon the last one, and no older log that the server came back with is in between."""
        if any(entry.epoch > self._results_version.epoch for entry in entries):
            raise self._retried()
        return self._last is None or entries[0].after == self._last.position

    def _pages_of(
        self, entries: Sequence[LogEntry], blobs: Iterable[bytes | None]
    ) -> Generator[ChunkPage, None, bool]:
        """Yield the page of each entry; return False where a server that lags behind the log lacks the next one."""
        for entry, blob in zip(entries, blobs, strict=True):
            if entry.chunk:
                start, end = lines_of(entry.chunk)
                if blob is not None:
                    lines = without_repeats(blob, start, end, self._delivered)
                    after = str(Cursor(self._results_version, entry.position, entry.chunk))
                    yield ChunkPage(lines, after, entry.chunk, start, end)
                elif not self._delivered.covers(start, end):
                    # Freed, or opened again by a retry before this began: then it will be in the log once more.
                    self._check_not_freed([entry])
                    if self._store.is_behind(self._batch, entry):
                        return False
            self._last, self._lagging_since = entry, 0.0
        return True

    def _check_not_freed(self, entries: list[LogEntry]) -> None:
        wanted = [
            entry.chunk
            for entry in entries
            if entry.chunk and not self._delivered.covers(*lines_of(entry.chunk))
        ]
        if freed := self._store.freed(self._batch, wanted):
            raise self._freed(freed[0])

    def _freed(self, chunk: str) -> ResultsFreedError:
        return ResultsFreedError(
            f"the results of chunk {chunk} of batch {self._batch} are freed",
            "see the output of the run that has collected them, or grade the input again",
        )

    def _check_log(self) -> None:
        """Start over, leaving out what was delivered, when a server came back with an older log."""
        if self._last and not self._store.log_has(self._batch, self._last):
            self._last = None


def without_repeats(results: bytes, start: int, end: int, delivered: IntervalSet) -> bytes:
    """Return the result lines of lines [start, end) without those that were delivered, and note them as such."""
    if delivered.covers(start, end):
        return b""
    if delivered.overlaps(start, end):
        # A server that lost its last writes has the same lines in chunks cut anew.
        rows = results.splitlines(keepends=True)
        results = b"".join(row for row in rows if line_number_of(row) not in delivered)
    delivered.add(start, end)
    return results


def lines_of(chunk: str) -> tuple[int, int]:
    """Return the interval [start, end) of the lines of input that a chunk covers, by its name."""
    name = ChunkId.parse(chunk)
    return name.start, name.end


def _order(position: str) -> tuple[int, int]:
    milliseconds, _, number = position.partition("-")
    return int(milliseconds), int(number)
