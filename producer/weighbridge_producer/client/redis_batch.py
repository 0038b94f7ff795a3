"""Batch handle for the Redis backend."""

from __future__ import annotations

import time
from contextlib import contextmanager, nullcontext, suppress
from typing import TYPE_CHECKING

import orjson

from weighbridge.batch_closing import finish_open_chunks
from weighbridge.errors import (
    BatchClosedError,
    BatchError,
    ChunkConflictError,
    NoGraderError,
    NoSuchResultError,
    ServerError,
)
from weighbridge.jobs.batch_state import BatchState, BatchStatus
from weighbridge.jobs.chunk import ChunkId
from weighbridge.jobs.error_codes import DEADLY, RETRY_REOPENS, RETRYABLE, ErrorCode
from weighbridge.jobs.line import JSON_SPACE, peek_custom_id
from weighbridge.jobs.outcome import CUT_SHORT, GraderSummary, Outcome
from weighbridge.jobs.result_line import ResultRow
from weighbridge.store.audit import Action, AuditLog, Entry, command_line_actor
from weighbridge.store.cursor import ResultCursor
from weighbridge.store.key_names import is_batch_id
from weighbridge.store.result_filter import ResultFilter, ResultPage
from weighbridge.store.search import Search
from weighbridge.store.worker_registry import WorkerRegistry
from weighbridge_producer.client.batch import ANYTHING, Batch, note_failed
from weighbridge_producer.client.collector import ChunkPage, Collector
from weighbridge_producer.client.submitted_lines import SubmittedLines
from weighbridge_producer.input.source import Source
from weighbridge_producer.submit.digests import Digester
from weighbridge_producer.submit.feeder import Feeder

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Sequence

    from weighbridge.broker.publisher import Publisher
    from weighbridge.grading.tally import SummaryRow
    from weighbridge.settings import Settings
    from weighbridge.store import BatchOptions, Durability, PlannedBatch, Store
    from weighbridge.store.audit import Actor
    from weighbridge_producer.client.batch import Result
    from weighbridge_producer.client.line_intervals import IntervalSet
    from weighbridge_producer.input.source import Cases


class RedisBatch(Batch):
    """A handle to one batch in Redis."""

    def __init__(
        self,
        store: Store,
        publisher: Publisher,
        settings: Settings,
        batch_id: str,
        actor: Actor | None = None,
        opened_with: BatchOptions | None = None,
        planned: PlannedBatch | None = None,
    ) -> None:
        """Create a handle; `actor` is named in the audit log and defaults to the user who runs this process.

        `opened_with` are the options of a batch that was just created, or is only `planned` and to be created with its
        first chunk: the first feeder then need not read them.
        """
        self.id = batch_id
        self.has_jobs = False  #: True if a job was submitted through this handle
        self._opened_with = opened_with
        self._planned = planned
        self._server = store
        self._publisher = publisher
        self._settings = settings
        self._actor = actor or command_line_actor()

    @property
    def _store(self) -> Store:
        """The store; a text that is no id is refused here, because a user of Redis may not read keys of such a name."""
        if not is_batch_id(self.id):
            raise self._server.missing(self.id)
        return self._server

    def record(self, action: Action, **details: str) -> None:
        """Record an action on the batch in the audit log."""
        options = self._opened_with
        self._record(action, options.project if options else self._project(), details)

    def _record(self, action: Action, project: str, details: dict[str, str]) -> None:
        entry = Entry(action, self._actor, project, self.id, details)
        AuditLog(self._store.redis).record(entry)

    def _project(self) -> str:
        try:
            return self._store.options(self.id).project
        except BatchError:  # deleted or corrupt
            return ""

    @contextmanager
    def _recorded_resume(self) -> Iterator[None]:
        """Record in the audit log that the batch was resumed, if any lines were submitted."""
        before = self._store.position(self.id)
        is_first = not before.lines and self._was_opened_by_its_actor()
        try:
            yield
        finally:
            # Errors from the record must not hide an error raised inside the context.
            with suppress(ServerError, BatchError):
                if self._store.position(self.id) != before and not is_first:
                    self.record(Action.RESUME)

    def _was_opened_by_its_actor(self) -> bool:
        options = self.options()
        return (options.submitted_by, options.submitter_key) == (
            self._actor.name,
            self._actor.key_id,
        )

    def history(self) -> list[Entry]:
        """Return the batch's last 100 entries in the audit log, oldest first."""
        return AuditLog(self._store.redis).of_batch(self.id)

    def feed(
        self,
        source: Source,
        *,
        resumed: bool = False,
        on_wait: Callable[[str], None] = lambda _: None,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> Feeder:
        """Submit what the batch does not have of a source, and seal it unless `should_stop` returns True first.

        A resumed submission is recorded in the audit log. The feeder that is returned can submit again what the server
        loses afterwards.
        """
        with self._recorded_resume() if resumed else nullcontext():
            opened_with, self._opened_with = self._opened_with, None
            if source.mapping:
                source.graders = (opened_with or self.options()).graders
            feeder = Feeder(
                *(self._store, self._publisher, self.id, source, self._settings),
                on_wait=on_wait,
                should_stop=should_stop,
                opened_with=opened_with,
                planned=self._planned,
            )
            try:
                feeder.feed()
            finally:
                self._planned = feeder.planned
            self.unread = feeder.unread
            self.has_jobs = feeder.has_jobs
        return feeder

    def submit(
        self,
        source: Source,
        *,
        resumed: bool = False,
        on_wait: Callable[[str], None] = lambda _: None,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> None:
        """Feed a source to the batch, which ends as failed if its cases are lost for good."""
        with self._given_up_on_error(source):
            self.feed(source, resumed=resumed, on_wait=on_wait, should_stop=should_stop)

    @contextmanager
    def _given_up_on_error(self, source: Source) -> Iterator[None]:
        """End the batch as failed if reading the source fails and the source cannot be read again."""
        try:
            yield
        except (ServerError, KeyboardInterrupt, GeneratorExit):
            raise  # it can be resumed
        except (BatchClosedError, ChunkConflictError, NoGraderError):
            raise  # these are not its cases, or it takes none
        except Exception as error:
            if not (source.rereadable or self._planned):
                note_failed(error, self.give_up(f"{type(error).__name__}: {error}"[:300]))
            raise

    def fill(
        self,
        cases: Cases,
        *,
        resumed: bool = False,
        on_wait: Callable[[str], None] = lambda _: None,
    ) -> Durability:
        self.submit(Source.of(cases, self._settings), resumed=resumed, on_wait=on_wait)
        return self.confirm()

    def confirm(self) -> Durability:
        """Wait for Redis to confirm that the sealed batch is on disk and on replicas; return what it confirmed."""
        self.durability = self._store.confirm_seal(self.id, self._settings.confirm_seconds)
        return self.durability

    def status(self) -> BatchState:
        return self._store.state(self.id)

    def summary(self) -> list[GraderSummary]:
        rows = self._store.summary(self.id)
        if not rows:
            self.status()  # raises when the batch is not there
        return rows

    def state_and_summary(self) -> tuple[BatchState, list[GraderSummary]]:
        """Return `status` and `summary` from one snapshot."""
        return self._store.state_and_summary(self.id)

    def pages(
        self,
        cursor: str | None = None,
        *,
        follow: bool = True,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> Generator[ChunkPage]:
        """Yield pages of result lines as bytes, one chunk each, with the cursor that follows the page."""
        return self.collector(cursor).pages(follow=follow, should_stop=should_stop)

    def collector(
        self, cursor: str | None = None, delivered: IntervalSet | None = None
    ) -> Collector:
        """Return a reader of the results after a cursor, except those of `delivered` lines."""
        after = ResultCursor.parse(cursor) if cursor else None
        return Collector(self._store, self.id, after, delivered)

    def holders(self) -> set[str]:
        """Return the names of the workers that have claimed chunks."""
        held = self._store.held(self.id).chunks
        return {chunk.info.worker for chunk in held if chunk.info.token}

    def free(self, chunks: Sequence[str]) -> None:
        """Delete the inputs and results of chunks whose results are stored elsewhere."""
        self._store.free(self.id, chunks)

    def result(self, custom_id: str) -> list[Result]:
        rows = self._rows_in(self._chunks_of(custom_id), custom_id)
        return [orjson.loads(row.to_bytes()) for row in rows]

    def rows_and_case(self, custom_id: str) -> tuple[list[ResultRow], bytes | None]:
        """Return the results and the input line of a case, with a single look-up."""
        chunks = self._chunks_of(custom_id)
        return self._rows_in(chunks, custom_id), self._case_in(chunks, custom_id)

    def _rows_in(self, chunks: Sequence[str], custom_id: str) -> list[ResultRow]:
        """Return the results of the line that owns an id; other lines with that id are conflicts."""
        if not chunks:
            raise self._no_case(custom_id)
        found = [
            row
            for blob in self._store.results(self.id, chunks)
            for line in (blob or b"").splitlines()
            if peek_custom_id(line) == custom_id
            for row in [ResultRow.from_bytes(line)]
            if not (row.error and row.error.code == ErrorCode.ID_CONFLICT)
        ]
        if not found:
            raise NoSuchResultError(
                f"case {custom_id[:80]!r} of batch {self.id} is not finished", "ask again later"
            )
        return found

    def search(
        self,
        wanted: ResultFilter = ANYTHING,
        cursor: str | None = None,
        limit: int = 50,
        budget_seconds: float = 0.2,
    ) -> ResultPage:
        chunk_numbers = _numbers(self._chunks_of(wanted.custom_id)) if wanted.custom_id else None
        return Search(self._store, self.id, wanted, chunk_numbers).page(
            cursor, limit, budget_seconds
        )

    def options(self) -> BatchOptions:
        return self._store.options(self.id)

    def case(self, custom_id: str) -> bytes | None:
        return self._case_in(self._chunks_of(custom_id), custom_id)

    def _case_in(self, chunks: Sequence[str], custom_id: str) -> bytes | None:
        for number in _numbers(chunks):
            chunk = self._store.submitted(self.id, number)
            if chunk is None:
                return None
            for line in chunk.jobs():
                if not line.fault and peek_custom_id(line.raw) == custom_id:
                    return line.raw.strip(JSON_SPACE)
        raise self._no_case(custom_id)

    def case_finder(self) -> Callable[[int], bytes | None]:
        return SubmittedLines(self._store, self.id).at

    def _chunks_of(self, custom_id: str) -> list[str]:
        """Return the chunks that may contain the line that owns an id."""
        return self._store.chunks_of_id(self.id, Digester(self.id).of_id(custom_id))

    def _no_case(self, custom_id: str) -> NoSuchResultError:
        self.status()
        return NoSuchResultError(
            f"batch {self.id} has no case {custom_id[:80]!r}", "ids are matched exactly"
        )

    def _waited(self, timeout_seconds: float | None) -> BatchState:
        deadline = None if timeout_seconds is None else time.monotonic() + timeout_seconds
        position = ""
        while not (state := self.status()).status.final:
            left = 5.0 if deadline is None else deadline - time.monotonic()
            if left <= 0:
                break
            entries = self._store.read_log(self.id, position, min(left, 5.0), most=1000)
            position = entries[-1].position if entries else position
        return state

    def _running_workers(self) -> int | None:
        with suppress(ServerError):
            return len(WorkerRegistry(self._store.redis).alive())
        return None

    def cancel(self) -> BatchState:
        state = self._end(BatchStatus.CANCELLED)
        self.record(Action.CANCEL, status=str(state.status))
        return state

    def give_up(self, reason: str) -> BatchState:
        """End the batch as failed, because the rest of its cases will never come."""
        return self._end(BatchStatus.FAILED, reason)

    def _end(self, status: BatchStatus, reason: str = "") -> BatchState:
        if self._store.close_batch(self.id, status, reason):
            while finish_open_chunks(self._store, self.id, status):
                continue
        return self.status()

    def retry(self, *, dead_letters: bool = False) -> int:
        causes = DEADLY if dead_letters else RETRYABLE
        state = self.status()
        if not state.status.final:
            raise BatchError(
                f"batch {self.id} is still {state.status}", "wait until it ends, or cancel it"
            )
        jobs, queue = 0, self.options().queue
        for chunk, rows in list(self._store.records(self.id)):
            again = _retryable_jobs(rows, causes)
            expiry = self._settings.batch_expiry_seconds
            if again and self._store.reopen(self.id, chunk, state.epoch + 1, expiry):
                jobs += again
                self._publisher.wake(queue)
        self.record(Action.RETRY, jobs=str(jobs))
        return jobs

    def pause(self) -> None:
        self._set_paused(paused=True)

    def unpause(self) -> None:
        self._set_paused(paused=False)
        self._publisher.wake(self.options().queue)

    def _set_paused(self, *, paused: bool) -> None:
        if not self._store.pause_batch(self.id, paused=paused):
            raise BatchError(f"batch {self.id} has ended", RETRY_REOPENS)
        self.record(Action.PAUSE if paused else Action.UNPAUSE)

    def delete(self) -> bool:
        if not is_batch_id(self.id):
            return False
        project = self._project()
        deleted = self._store.delete(self.id)
        if deleted:
            self._record(Action.DELETE, project, {})
        return deleted


def _numbers(chunks: Sequence[str]) -> list[int]:
    """Return the numbers under which chunks were submitted; parts of a split chunk share one."""
    return sorted({ChunkId.parse(chunk).number for chunk in chunks})


def _retryable_jobs(rows: Iterable[tuple[SummaryRow, int]], causes: Collection[str]) -> int:
    return sum(
        jobs
        for row, jobs in rows
        if (row.outcome == Outcome.ERRORED and row.cause in causes)
        or (row.outcome in CUT_SHORT and not row.cause and row.outcome.upper() in causes)
    )
