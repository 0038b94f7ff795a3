"""Checkpoints of a run: sync the results to disk, then save the state, then free the chunks on the server."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Self

from weighbridge_producer.client.line_intervals import IntervalSet
from weighbridge_producer.run.result_file import SortedPart
from weighbridge_producer.run.run_folder import Collected

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from weighbridge_producer.client.collector import ChunkPage
    from weighbridge_producer.run.result_file import GrowingFile
    from weighbridge_producer.run.run_folder import RunState

_EVERY_SECONDS = 0.5


class Checkpoints:
    """Writes the results of a run, and makes a checkpoint at most every 0.5 s in its own thread.

    So after a crash of the machine, the results on disk include all that the state lists, and the server still has the
    others.
    """

    def __init__(
        self,
        state: RunState,
        results: GrowingFile,
        free: Callable[[Sequence[str]], None],
        on_failure: Callable[[BaseException], None],
    ) -> None:
        self._state = state
        self._results = results
        self._free = free
        self._on_failure = on_failure
        self._lock = threading.Lock()
        self._delivered = IntervalSet(state.collected.delivered)
        self._rows = state.collected.rows
        self._written_bytes = state.collected.written_bytes
        self._cursor = state.collected.cursor
        self._chunks: list[str] = []  # written but not freed yet
        #: what was added, without the results of an interrupted run
        self.parts: list[SortedPart] = []
        self._closing = threading.Event()
        self._thread = threading.Thread(
            target=self._save_periodically, name="checkpoints", daemon=True
        )

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._closing.set()
        self._thread.join()
        if kind is None:
            self._save()

    def add(self, page: ChunkPage) -> None:
        """Write a chunk's results, to be covered by the next checkpoint."""
        rows = page.lines.count(b"\n")
        with self._lock:
            offset = self._written_bytes
            self._written_bytes = self._results.append(page.lines)
            self.parts.append(SortedPart(page.start, page.end - 1, offset, len(page.lines)))
            self._delivered.add(page.start, page.end)
            self._rows += rows
            self._cursor = page.cursor
            self._chunks.append(page.chunk)

    def _save_periodically(self) -> None:
        try:
            while not self._closing.wait(_EVERY_SECONDS):
                self._save()
        except BaseException as error:  # noqa: BLE001 - raised again by the collecting thread
            self._on_failure(error)

    def _save(self) -> None:
        with self._lock:
            if not self._chunks:
                return
            chunks, self._chunks = self._chunks, []
            delivered = tuple(self._delivered.intervals())
            collected = Collected(self._cursor, self._written_bytes, self._rows, delivered)
        self._results.sync()
        self._state.collected = collected
        self._state.save()
        self._free(chunks)
