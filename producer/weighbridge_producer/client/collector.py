"""Collects a batch's results as they are recorded, from any cursor, each exactly once."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from weighbridge.errors import ResultsFreedError, ServerUnavailableError
from weighbridge.jobs.chunk import ChunkId
from weighbridge.jobs.result_line_parts import line_number_of
from weighbridge.store import LogEntry
from weighbridge.store.cursor import ResultCursor, position_lost, results_lost, results_withdrawn
from weighbridge_producer.client.batch import Page
from weighbridge_producer.client.line_intervals import IntervalSet

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Sequence

    from weighbridge.store import Store

_CHUNKS_AT_ONCE = 2  #: few, because a chunk's results may be large
#: How long the log may lack an ended batch's last entry, and the pause between two checks.
_LAG_SECONDS, _LAG_PAUSE_SECONDS = (
    10.0,
    0.1,
)
_WAIT_SECONDS = 1.0  #: limit of one blocking read, which returns at once when there is a new entry


@dataclass(frozen=True, slots=True)
class ChunkPage(Page):
    """The result lines of one chunk, except for input lines whose results were already collected."""

    chunk: str
    start: int  #: number of the first input line that the chunk covers
    end: int  #: exclusive


class Collector:
    """A reader of one batch's results, in the order in which they were recorded.

    `delivered` holds the numbers of the lines whose results the caller already has: these are skipped, and if the
    server has lost the cursor's position, the log is read from its start. Without `delivered`, a lost position raises
    StaleCursorError.
    """

    def __init__(
        self,
        store: Store,
        batch: str,
        cursor: ResultCursor | None = None,
        delivered: IntervalSet | None = None,
    ) -> None:
        self._store = store
        self._batch = batch
        self._results_version = store.results_version(batch)
        self._delivered = IntervalSet(delivered.intervals() if delivered else ())
        self._last: LogEntry | None = None
        self._rest: ChunkPage | None = None  #: results after a cursor that points inside a chunk
        self._lagging_since = 0.0
        if cursor:
            self._go_to(cursor, may_be_lost=delivered is not None)

    def _go_to(self, cursor: ResultCursor, *, may_be_lost: bool) -> None:
        inside = cursor.offset is not None
        if cursor.results_version != self._results_version:
            raise results_withdrawn(self._batch)
        entry = cursor.entry
        if self._store.log_has(self._batch, entry):
            self._last = entry
            self._rest = self._rest_of(cursor) if inside else None
            if not may_be_lost:
                self._note_delivered_up_to(entry)
        elif not may_be_lost:
            raise position_lost(self._batch)

    def _note_delivered_up_to(self, last: LogEntry) -> None:
        """Mark as delivered the lines recorded up to the cursor's entry."""
        for entries in self._store.log(self._batch):
            before = [
                entry.chunk
                for entry in entries
                if entry.chunk and _order(entry.position) <= _order(last.position)
            ]
            # A chunk reopened by a retry is not delivered: its results come later, under its new name.
            for chunk in self._store.finished(self._batch, before):
                self._delivered.add(*lines_of(chunk))
            if _order(entries[-1].position) > _order(last.position):
                return

    def check_nothing_was_freed(self) -> None:
        """Raise ResultsFreedError if the results of a chunk yet to be collected have been freed."""
        for entries in self._store.log(self._batch, self._last.position if self._last else ""):
            self._check_not_freed(entries)

    def pages(
        self, *, follow: bool = True, should_stop: Callable[[], bool] = lambda: False
    ) -> Generator[ChunkPage]:
        """Yield the results recorded so far and, with `follow`, new ones until the batch ends.

        Raises StaleCursorError if the batch is retried meanwhile, ResultsFreedError if results are freed, and BatchLostError
        if the server lacks results of a batch that has ended.
        """
        if self._rest:
            yield self._rest
            self._rest = None
        # Blocking is safe before the first read: the log of an ended batch has at least one entry.
        wait = _WAIT_SECONDS if follow and self._last is None else 0.0
        while not should_stop():
            after = self._last.position if self._last else ""
            read = self._store.read_results(self._batch, after, wait, _CHUNKS_AT_ONCE)
            if read.entries and not self._are_next(read.entries):
                self._last = None
                continue
            if not (yield from self._pages_of(read.entries, read.results)):
                self._await_newer_server()
            # Do not block after the batch's end: only a retry would add entries there.
            wait = _WAIT_SECONDS if follow and not (read.entries and self._at_end) else 0
            if read.status is None or (read.entries and not self._at_end):
                continue
            # A retry opens one chunk after another: a reader that began meanwhile may have had results of a later one.
            if read.version != self._results_version:
                raise results_withdrawn(self._batch)
            ended = read.status.final
            if self._is_done(ended=ended, follow=follow):
                if ended:
                    self._check_all_delivered(read.lines or 0)
                return
            if ended:
                self._await_newer_server()
            self._check_log()

    def _rest_of(self, cursor: ResultCursor) -> ChunkPage:
        """Return the result lines after a cursor that points inside a chunk."""
        offset = cursor.offset or 0
        blob = b"".join(self._store.result_lines(self._batch, cursor.chunk))
        if not blob:
            raise self._freed(cursor.chunk)
        if offset > len(blob) or (offset and blob[offset - 1 : offset] != b"\n"):
            raise position_lost(self._batch)
        after, lines = str(replace(cursor, offset=None)), lines_of(cursor.chunk)
        return ChunkPage(blob[offset:], after, cursor.chunk, *lines)

    @property
    def _at_end(self) -> bool:
        """True if the last entry read marks the end of the batch, and not its end before a retry."""
        last = self._last
        return last is not None and last.chunk is None and last.epoch == self._results_version.epoch

    def _is_done(self, *, ended: bool, follow: bool) -> bool:
        """Return whether all results are read: once the batch has ended, only after the log's end entry."""
        if not ended:
            return not follow
        return self._at_end

    def _check_all_delivered(self, lines: int) -> None:
        """Raise BatchLostError if an ended batch has lines whose results were not delivered."""
        if not self._delivered.covers(1, lines + 1):
            raise results_lost(self._batch)

    def _await_newer_server(self) -> None:
        """Pause and reconnect when the server lacks recorded results, as a demoted primary does.

        The first call returns at once, because the batch may have ended between two reads.
        """
        now = time.monotonic()
        if not self._lagging_since:
            self._lagging_since = now
            return
        if now - self._lagging_since > _LAG_SECONDS:
            if self._store.has_lost_results(self._batch):
                raise results_lost(self._batch)
            raise ServerUnavailableError(
                f"Redis lists results of batch {self._batch} that it does not have",
                "try again: after a failover, a Redis server that lags behind may have answered",
            )
        time.sleep(_LAG_PAUSE_SECONDS)
        self._store.forget_connections()

    def _are_next(self, entries: Sequence[LogEntry]) -> bool:
        """Return whether entries directly follow the last one read; False after a server restored an older log."""
        if any(entry.epoch > self._results_version.epoch for entry in entries):
            raise results_withdrawn(self._batch)
        return self._last is None or entries[0].after == self._last.position

    def _pages_of(
        self, entries: Sequence[LogEntry], blobs: Iterable[bytes | None]
    ) -> Generator[ChunkPage, None, bool]:
        """Yield the page of each entry; return False if the server lags behind and lacks an entry's results."""
        for entry, blob in zip(entries, blobs, strict=True):
            if entry.chunk:
                start, end = lines_of(entry.chunk)
                if blob is not None:
                    lines = without_repeats(blob, start, end, self._delivered)
                    after = str(ResultCursor(self._results_version, entry.position, entry.chunk))
                    yield ChunkPage(lines, after, entry.chunk, start, end)
                elif not self._delivered.covers(start, end):
                    # Either freed, or reopened by an earlier retry: then a later entry has its results.
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
            f"results of batch {self._batch} (chunk {chunk}) are no longer in Redis",
            "read them in the output of the `weighbridge run` that collected them, or grade the input again",
        )

    def _check_log(self) -> None:
        """Go back to the log's start if the server was restored to an older log; delivered lines are skipped."""
        if self._last and not self._store.log_has(self._batch, self._last):
            self._last = None


def without_repeats(results: bytes, start: int, end: int, delivered: IntervalSet) -> bytes:
    """Return the results of input lines [start, end) that are not delivered yet, and mark them as delivered."""
    if delivered.covers(start, end):
        return b""
    if delivered.overlaps(start, end):
        # After a server has lost its last writes, the same lines are resubmitted in different chunks.
        rows = results.splitlines(keepends=True)
        results = b"".join(row for row in rows if line_number_of(row) not in delivered)
    delivered.add(start, end)
    return results


def lines_of(chunk: str) -> tuple[int, int]:
    """Return the interval [start, end) of input lines that a chunk covers, from its name."""
    name = ChunkId.parse(chunk)
    return name.start, name.end


def _order(position: str) -> tuple[int, int]:
    milliseconds, _, number = position.partition("-")
    return int(milliseconds), int(number)
