"""Counts of batches' jobs by metadata field, continued from request to request within a time limit."""

from __future__ import annotations

import time
from collections import OrderedDict
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

from weighbridge.jobs.outcome import Outcome
from weighbridge.jobs.result_line import ResultRow
from weighbridge_producer.client.collector import Collector
from weighbridge_producer.gating.slices import SliceTally

if TYPE_CHECKING:
    from collections.abc import Iterator

    from weighbridge.jobs.batch_state import BatchState
    from weighbridge.store import Store
    from weighbridge.store.cursor import ResultsVersion
    from weighbridge_producer.client.collector import ChunkPage
    from weighbridge_producer.gating.fields import FieldPath
    from weighbridge_producer.gating.slices import Slice

_KEPT = 24  #: counts in memory, each of a batch and its fields
_LEFT_ALONE_SECONDS = 30.0  #: after which a count that is not complete may be dropped
COUNT_SECONDS = 0.1  #: CPU time of one request, plus that for the chunk it has begun
_WITH_WAITS = 10  #: times as long that it may take on a busy machine or with a slow server


class SlicedJobs(NamedTuple):
    """The slices of the jobs counted so far."""

    slices: list[Slice]
    jobs: int  #: counted so far
    total: int  #: jobs with results
    complete: bool

    @property
    def percent(self) -> int:
        """The share of the jobs that is counted; 100 only if it is all."""
        return 100 if self.complete else min(99, 100 * self.jobs // max(1, self.total))


@dataclass(slots=True)
class _Count:
    """The count of one batch, and the reader that continues it."""

    tally: SliceTally
    reader: Collector
    version: ResultsVersion
    jobs: int = 0
    is_complete: bool = False  #: all results that were recorded at the last request
    pages: Iterator[ChunkPage] | None = None  #: those not read yet, if the time ran out
    lock: Lock = field(default_factory=Lock)
    used_at: float = field(default_factory=time.monotonic)

    def read_on(self, seconds: float) -> bool:
        """Count further results for seconds of CPU time; return whether all recorded ones are counted."""
        cpu_deadline = time.thread_time() + seconds
        deadline = time.monotonic() + _WITH_WAITS * seconds
        pages = self.pages or self.reader.pages(follow=False)
        self.pages = None  # after an error, the reader begins another one
        for page in pages:
            for line in page.lines.splitlines():
                self._add(line)
            if time.thread_time() > cpu_deadline or time.monotonic() > deadline:
                self.pages, self.is_complete = pages, False
                return False
        self.is_complete = True
        return True

    def _add(self, line: bytes) -> None:
        self.jobs += 1
        try:
            self.tally.add_row(ResultRow.from_bytes(line))
        except ValueError:  # forged or corrupt
            self.tally.add(None, Outcome.ERRORED, {}, vacuous=False)


class SliceCounts:
    """Counts the results of batches by fields, and keeps some of the counts; one that was dropped begins again."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = Lock()
        self._kept: OrderedDict[tuple[str, tuple[FieldPath, ...]], _Count] = OrderedDict()

    def count(
        self, state: BatchState, by: tuple[FieldPath, ...], seconds: float = COUNT_SECONDS
    ) -> SlicedJobs:
        """Return the slices of what can be counted within a time limit, added to what was counted before.

        Raises ResultsFreedError if results are deleted, StaleCursorError if the batch is retried meanwhile.
        """
        count = self._of(state.batch_id, by)
        with count.lock:
            complete = count.read_on(seconds)
            slices, jobs = count.tally.slices(), count.jobs
        return SlicedJobs(slices, jobs, max(state.counts.finished, jobs), complete)

    def _of(self, batch: str, by: tuple[FieldPath, ...]) -> _Count:
        version = self._store.results_version(batch)
        with self._lock:
            count = self._kept.get((batch, by))
        # A retry withdraws results that were counted.
        if count is None or count.version != version:
            count = _Count(SliceTally(by), Collector(self._store, batch), version)
        count.used_at = time.monotonic()
        with self._lock:
            self._kept[batch, by] = count
            self._kept.move_to_end((batch, by))
            if len(self._kept) > _KEPT:
                self._drop_one()
        return count

    def _drop_one(self) -> None:
        """Drop the count that was used longest ago and is complete or left alone, or else the newest, so that others complete."""
        left_at = time.monotonic() - _LEFT_ALONE_SECONDS
        idle = (
            key for key, count in self._kept.items() if count.is_complete or count.used_at < left_at
        )
        del self._kept[next(idle, next(reversed(self._kept)))]
