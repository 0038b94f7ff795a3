"""Collecting: a batch's results as they come, from any place on, each once."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from weighbridge.errors import StaleCursorError
from weighbridge.jobs.store import LogEntry
from weighbridge_producer.interface import Page

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

    from weighbridge.jobs.store import Store

_CURSOR = re.compile(r"([0-9]{1,9})/((?:[0-9]{1,15}-[0-9]{1,15})?)/([0-9:-]{0,40})")
_BLOBS_AT_ONCE = 2  #: few, because a chunk's results may be large
_WAIT_SECONDS = 1.0  #: how long one blocking read lasts; news end it at once


@dataclass(frozen=True, slots=True)
class Cursor:
    """A place in a batch's results: give it back to go on after it."""

    epoch: int = 0
    position: str = ""
    chunk: str = ""

    @classmethod
    def parse(cls, text: str) -> Cursor:
        """Read the form that `str` writes."""
        found = _CURSOR.fullmatch(text)
        if not found:
            raise StaleCursorError(f"{text[:80]!r} is no cursor", "use the one that `results` gave")
        epoch, position, chunk = found.groups()
        return cls(int(epoch), position, chunk)

    def __str__(self) -> str:
        return f"{self.epoch}/{self.position}/{self.chunk}"


@dataclass(frozen=True, slots=True)
class ChunkPage(Page):
    """The result lines of one chunk."""

    chunk: str


class Collector:
    """Reads one batch's results in the order in which they were recorded."""

    def __init__(self, store: Store, batch: str, cursor: Cursor | None = None) -> None:
        self._store = store
        self._batch = batch
        state = store.state(batch)
        self._epoch = state.epoch
        self._seen: set[str] = set()
        self._last: LogEntry | None = None
        if cursor and cursor.position:
            self._go_to(cursor)

    def _go_to(self, cursor: Cursor) -> None:
        entry = LogEntry(cursor.position, cursor.chunk)
        if cursor.epoch != self._epoch:
            raise StaleCursorError(
                f"batch {self._batch} was retried since", "collect its results from the start"
            )
        if not self._store.log_has(self._batch, entry):
            raise StaleCursorError(
                f"batch {self._batch} has no such place in its results (any more)",
                "collect them from the start",
            )
        self._last = entry

    def pages(
        self, *, follow: bool = True, should_stop: Callable[[], bool] = lambda: False
    ) -> Generator[ChunkPage]:
        """Yield the results recorded so far and, to `follow`, all that come until the batch has ended."""
        while not should_stop():
            after = self._last.position if self._last else ""
            entries = self._store.read_log(self._batch, after, _WAIT_SECONDS if follow else 0)
            for start in range(0, len(entries), _BLOBS_AT_ONCE):
                yield from self._pages_of(entries[start : start + _BLOBS_AT_ONCE])
            if entries:
                self._last = entries[-1]
                if entries[-1].chunk is not None or not self._has_ended():
                    continue
                return
            if not follow or self._has_ended():
                return
            self._check_log()

    def _has_ended(self) -> bool:
        state = self._store.state(self._batch)
        if state.epoch != self._epoch:
            self._epoch = state.epoch
        return state.status.final

    def _pages_of(self, entries: list[LogEntry]) -> Iterator[ChunkPage]:
        fresh = [
            entry for entry in entries if entry.chunk is not None and entry.chunk not in self._seen
        ]
        blobs = (
            self._store.results(self._batch, [entry.chunk or "" for entry in fresh])
            if fresh
            else ()
        )
        for entry, blob in zip(fresh, blobs, strict=True):
            # Without a blob the chunk was opened again, and will be in the log once more.
            if blob is not None and entry.chunk and entry.chunk not in self._seen:
                self._seen.add(entry.chunk)
                after = Cursor(self._epoch, entry.position, entry.chunk)
                yield ChunkPage(blob, str(after), entry.chunk)

    def _check_log(self) -> None:
        """Start over, passing over what was seen, when a server came back with a shorter log."""
        if self._last and self._last.chunk and not self._store.log_has(self._batch, self._last):
            self._last = None
