"""Sorted and filtered views of batches' cases, computed in separate threads and cached."""

from __future__ import annotations

import time
from bisect import bisect_right
from collections import OrderedDict
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYetError
from dataclasses import dataclass, field
from enum import StrEnum
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from weighbridge.store.result_filter import ResultFilter
from weighbridge.store.result_matcher import Matcher
from weighbridge_producer.service.caches.case_index import CaseIndex, IndexBuilder

if TYPE_CHECKING:
    from array import array
    from collections.abc import Callable, Iterator

    from weighbridge.jobs.batch_state import BatchState
    from weighbridge.store import Store

_Step = TypeVar("_Step")

JOBS_LIMIT = 3_000_000  #: larger batches are shown unsorted
_KEPT_CASES = 4_000_000  #: cached cases of all batches, at 24 bytes each
_VIEWS = 6  #: cached views per batch, at 4 bytes per case
_THREADS = 2
_WAITING = 16  #: pending views
_WAIT_SECONDS = 0.1  #: that a request waits for its view
_SMALL_JOBS = 20_000  #: a batch of at most this size is waited for
_LONGEST_WAIT_SECONDS = 5.0
_FRESH_SECONDS = 2.0  #: maximum age of the view of a running batch


class CaseOrder(StrEnum):
    """The order of a table of cases."""

    FAILURES = "failures"  #: failed, errored, ungradable, passed; each in input order
    INPUT = "input"  #: input order
    SCORE = "score"  #: the lowest score first


@dataclass(frozen=True, slots=True)
class SortedCases:
    """The sorted cases that match a filter at one moment."""

    index: CaseIndex
    cases: array[int]
    all_jobs: tuple[int, int]  #: the epoch of the batch and its finished jobs at that moment
    made_at: float


class NotReady(NamedTuple):
    """A view that is still being computed."""

    percent: int


class NoViewError(Exception):
    """A batch's cases cannot be sorted; the message is the reason."""


class _StoppedError(Exception):
    """The service is stopping."""


@dataclass(slots=True)
class _Kept:
    """The cached index and views of one batch."""

    lock: Lock = field(default_factory=Lock)
    builder: IndexBuilder | None = None
    version: object = None
    size: int = 0
    done: int = 0  #: jobs read so far for pending views
    views: OrderedDict[tuple[ResultFilter, CaseOrder], SortedCases] = field(
        default_factory=OrderedDict
    )
    pending: dict[tuple[ResultFilter, CaseOrder], Future[SortedCases]] = field(default_factory=dict)


class CaseViews:
    """Computes views of batches' cases, and caches the most recently used ones."""

    def __init__(
        self, store: Store, is_closing: Callable[[], bool], jobs_limit: int = JOBS_LIMIT
    ) -> None:
        """Create an empty cache; `jobs_limit` is the largest batch that is sorted."""
        self._jobs_limit = jobs_limit
        self._store = store
        self._is_closing = is_closing
        self._threads = ThreadPoolExecutor(_THREADS, "cases")
        self._lock = Lock()
        self._kept: OrderedDict[str, _Kept] = OrderedDict()

    def view(
        self, state: BatchState, wanted: ResultFilter, order: CaseOrder
    ) -> SortedCases | NotReady:
        """Return the view of a batch's cases, or the progress of computing it after a tenth of a second.

        The view of a small batch is always waited for, since only a busy machine needs longer.

        Raises NoViewError for a batch with too many jobs, and the store's errors.
        """
        self._check_size(state.counts.total)
        asked = wanted, order
        with self._lock:
            kept = self._kept.setdefault(state.batch_id, _Kept())
            self._kept.move_to_end(state.batch_id)
            ready = kept.views.get(asked)
            if ready and _is_fresh(ready, state):
                return ready
            future = kept.pending.get(asked) or self._begin(kept, state, asked)
        if future is None:
            return NotReady(0)
        try:
            is_small = state.counts.total <= _SMALL_JOBS
            view = future.result(_LONGEST_WAIT_SECONDS if is_small else _WAIT_SECONDS)
        except NotYetError:
            return NotReady(min(99, 100 * kept.done // max(1, state.counts.finished)))
        finally:
            if future.done():
                with self._lock:
                    kept.pending.pop(asked, None)
        return view

    def _check_size(self, jobs: int) -> None:
        if jobs > self._jobs_limit:
            raise NoViewError(f"a batch of more than {self._jobs_limit:,} jobs is not sorted")

    def _begin(
        self, kept: _Kept, state: BatchState, asked: tuple[ResultFilter, CaseOrder]
    ) -> Future[SortedCases] | None:
        if sum(len(each.pending) for each in self._kept.values()) >= _WAITING:
            return None
        future = self._threads.submit(self._make, kept, state, asked)
        kept.pending[asked] = future
        return future

    def _make(
        self, kept: _Kept, state: BatchState, asked: tuple[ResultFilter, CaseOrder]
    ) -> SortedCases:
        wanted, order = asked
        index = self._read(kept, state.batch_id)
        cases = self._selected(kept, state.batch_id, index, wanted)
        if order == CaseOrder.FAILURES:
            cases = index.failures_first(cases)
        elif order == CaseOrder.SCORE:
            cases = index.by_score(cases)
        view = SortedCases(index, cases, _jobs_of(state), time.monotonic())
        with self._lock:
            kept.views[asked] = view
            while len(kept.views) > _VIEWS:
                kept.views.popitem(last=False)
            # Removed here, because the request may never be repeated.
            kept.pending.pop(asked, None)
            self._evict()
        return view

    def _read(self, kept: _Kept, batch: str) -> CaseIndex:
        with kept.lock:
            version = self._store.results_version(batch)
            if kept.builder is None or kept.version != version:
                kept.builder, kept.version = IndexBuilder(self._store, batch), version
            for done in self._until_closing(kept.builder.read_on()):
                kept.done = done
                self._check_size(done)
            index = kept.builder.index()
            kept.size = index.total
            return index

    def _selected(
        self, kept: _Kept, batch: str, index: CaseIndex, wanted: ResultFilter
    ) -> array[int]:
        if wanted.text or wanted.custom_id or (index.is_folded and wanted != ResultFilter()):
            kept.done = 0
            return self._matching(kept, batch, index, wanted)
        return index.select(wanted)

    def _matching(
        self, kept: _Kept, batch: str, index: CaseIndex, wanted: ResultFilter
    ) -> array[int]:
        """Return the cases with a result line that matches a filter."""
        matcher, found = Matcher(wanted), index.none()
        for chunk, first, starts in self._until_closing(index.blocks()):
            [results] = self._store.results(batch, [chunk])
            for line, end in matcher.matches(results or b"", 0):
                case = first + bisect_right(starts, end - 1) - 1
                if line is not None and (not found or found[-1] != case):
                    found.append(case)
            kept.done += len(starts)
        return found

    def _until_closing(self, steps: Iterator[_Step]) -> Iterator[_Step]:
        for step in steps:
            if self._is_closing():
                raise _StoppedError
            yield step

    def _evict(self) -> None:
        """Evict the least recently used batches until the others fit the limit."""
        total = sum(each.size for each in self._kept.values())
        for batch, each in list(self._kept.items())[:-1]:
            if total <= _KEPT_CASES:
                return
            if not each.pending:
                total -= each.size
                del self._kept[batch]


def _jobs_of(state: BatchState) -> tuple[int, int]:
    return state.epoch, state.counts.finished


def _is_fresh(view: SortedCases, state: BatchState) -> bool:
    if view.all_jobs == _jobs_of(state):
        return True
    return not state.status.final and time.monotonic() - view.made_at < _FRESH_SECONDS
