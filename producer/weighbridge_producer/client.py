"""The Python client: submit cases, follow batches, collect results."""

from __future__ import annotations

import asyncio
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Self, TypeVar

import orjson

from weighbridge.errors import (
    BatchExpiredError,
    BatchLostError,
    BatchNotFoundError,
    NoSuchResultError,
    ServerError,
    UnknownGraderError,
)
from weighbridge.graders.registry import default_registry
from weighbridge.jobs.broker import Publisher
from weighbridge.jobs.closing import close_open_chunks
from weighbridge.jobs.fleet import Fleet, WorkerInfo
from weighbridge.jobs.model import (
    RETRYABLE,
    BatchState,
    BatchStatus,
    GraderSpec,
    GraderSummary,
    parse_specs,
)
from weighbridge.jobs.store import BatchOptions, Store
from weighbridge.settings import Settings
from weighbridge_producer.collecting import Collector, Cursor, Page
from weighbridge_producer.reading import Source
from weighbridge_producer.submitting import Feeder, id_digest

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence

    from weighbridge_producer.reading import Cases

    Graders = Sequence[str | Mapping[str, Any] | GraderSpec]
    T = TypeVar("T")

Result = dict[str, Any]  #: one result line, decoded


class Client:
    """A connection to the server that batches live on.

    `url` is a Redis URL (`redis://`, `rediss://`, `unix://`), by default WEIGHBRIDGE_REDIS_URL.
    """

    def __init__(self, url: str | None = None, *, settings: Settings | None = None) -> None:
        self.settings = settings or Settings()
        address = url or self.settings.store_address
        if not address:
            raise ServerError(
                "no server is named",
                "give a Redis URL, set WEIGHBRIDGE_REDIS_URL, or use `weighbridge run`",
            )
        self.url = address
        self.store = Store(address)
        own_broker = self.settings.broker_url
        self.publisher = Publisher(self.settings, own_broker.get_secret_value() if own_broker else address)
        self.fleet = Fleet(self.store.redis)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Drop the connections."""
        self.store.close()
        self.publisher.close()

    def submit(
        self,
        cases: Cases,
        *,
        graders: Graders = (),
        metadata: dict[str, str] | None = None,
        resume: str | None = None,
    ) -> Batch:
        """Submit cases as one batch, or the rest of them to a batch that was begun, and return it.

        `cases` is a path of a JSONL file (plain, .gz, .zst), `-`, a binary stream, or an iterable of mappings or of
        lines as bytes; it is read once, at constant memory. `graders` apply to cases that name none.

        Raises UnknownGraderError, ConfigError, InputError, ServerError, BatchError. A line that cannot be graded
        raises nothing: it becomes an errored job.
        """
        source = Source(cases, self.settings)
        batch = (
            self.batch(resume)
            if resume
            else self.open(source.name, graders=graders, metadata=metadata)
        )
        with batch.given_up_on_error(source):
            batch.feeder(source).feed()
        return batch

    def open(
        self, name: str, *, graders: Graders = (), metadata: dict[str, str] | None = None
    ) -> Batch:
        """Register an empty batch; its feeder fills it."""
        specs = parse_specs(graders)
        self.check_graders(specs)
        options = BatchOptions(specs, name, metadata)
        batch = self.store.open_batch(
            options,
            expiry_seconds=self.settings.batch_expiry_seconds,
            ttl_seconds=self.settings.result_ttl_seconds,
        )
        return Batch(self, batch)

    def check_graders(self, specs: Sequence[GraderSpec]) -> None:
        """Refuse graders that nobody knows, that no living worker has, or whose config is wrong."""
        registry, workers = default_registry(), self.fleet.alive()
        advertised = {grader for worker in workers for grader in worker.graders}
        for spec in specs:
            here = spec.grader in registry.ids()
            if not here and spec.grader not in advertised:
                raise UnknownGraderError(
                    spec.grader, known=[*registry.ids(), *sorted(advertised - set(registry.ids()))]
                )
            if here:
                registry.create(spec.grader, dict(spec.config) if spec.config is not None else None)
            if workers and spec.grader not in advertised:
                broken = [
                    w.broken_plug_ins[spec.grader]
                    for w in workers
                    if spec.grader in w.broken_plug_ins
                ]
                why = f" (it failed to load there: {broken[0]})" if broken else ""
                raise UnknownGraderError(
                    spec.grader,
                    known=sorted(advertised),
                    hint=f"none of the {len(workers)} living workers has it{why}; install the plug-in where they run",
                )

    def batch(self, batch_id: str) -> Batch:
        """Return a handle on a batch; nothing is asked of the server yet."""
        return Batch(self, batch_id)

    def batches(self, most: int = 100) -> list[BatchState]:
        """Return the newest batches, newest first."""
        states = []
        for batch in self.store.batches(most):
            with suppress(BatchNotFoundError, BatchExpiredError, BatchLostError):
                states.append(self.store.state(batch))
        return states

    def workers(self) -> list[WorkerInfo]:
        """Return the living workers."""
        return self.fleet.alive()

    def drain(self, worker: str) -> None:
        """Ask a worker to finish what it has and leave."""
        self.fleet.drain(worker)

    def graders(self) -> list[dict[str, Any]]:
        """Return the catalogue of graders installed here."""
        return default_registry().catalogue()


class Batch:
    """A handle on one batch."""

    def __init__(self, client: Client, batch_id: str) -> None:
        self.id = batch_id
        self._client = client
        self._store = client.store

    def __repr__(self) -> str:
        return f"Batch({self.id!r})"

    def feeder(
        self,
        source: Source,
        *,
        on_wait: Callable[[str], None] = lambda _: None,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> Feeder:
        """Return what fills this batch from a source."""
        client = self._client
        return Feeder(
            self._store,
            client.publisher,
            self.id,
            source,
            client.settings,
            on_wait=on_wait,
            should_stop=should_stop,
        )

    @contextmanager
    def given_up_on_error(self, source: Source) -> Iterator[None]:
        """End the batch as failed when its cases cannot be had any more and never will be."""
        try:
            yield
        except (ServerError, KeyboardInterrupt, GeneratorExit):
            raise  # it can be resumed
        except Exception as error:
            if not source.rereadable:
                self.give_up(f"{type(error).__name__}: {error}"[:300])
            raise

    def status(self) -> BatchState:
        """Return the batch's state at this moment."""
        return self._store.state(self.id)

    def summary(self) -> list[GraderSummary]:
        """Return what each label's jobs came to so far."""
        return self._store.summary(self.id)

    def pages(
        self, cursor: str | None = None, *, follow: bool = True, should_stop: Callable[[], bool] = lambda: False
    ) -> Iterator[Page]:
        """Yield result lines as bytes, chunk by chunk, each page with the cursor after it."""
        collector = Collector(self._store, self.id, Cursor.parse(cursor) if cursor else None)
        return collector.pages(follow=follow, should_stop=should_stop)

    def free(self, chunks: Sequence[str]) -> None:
        """Drop inputs and results of chunks that are written elsewhere now."""
        self._store.free(self.id, chunks)

    def results(self, cursor: str | None = None, *, follow: bool = True) -> Iterator[Result]:
        """Yield results as they are recorded, until the batch has ended; without `follow`, those there are now."""
        for page in self.pages(cursor, follow=follow):
            for line in page.lines.splitlines():
                yield orjson.loads(line)

    def result(self, custom_id: str) -> list[Result]:
        """Return the results of one case, one for each of its graders.

        Raises NoSuchResultError when no case has that id, or it is not finished.
        """
        chunks = self._store.chunks_of_id(self.id, id_digest(self.id, custom_id))
        if not chunks:
            self.status()
            raise NoSuchResultError(
                f"batch {self.id} has no case {custom_id[:80]!r}", "ids are matched exactly"
            )
        found = [
            result
            for blob in self._store.results(self.id, chunks)
            for line in (blob or b"").splitlines()
            for result in [orjson.loads(line)]
            if result["custom_id"] == custom_id
            and (result["error"] or {}).get("code") != "ID_CONFLICT"
        ]
        if not found:
            raise NoSuchResultError(
                f"case {custom_id[:80]!r} of batch {self.id} is not finished", "ask again later"
            )
        return found

    def wait(self, timeout_seconds: float | None = None) -> BatchState:
        """Wait until the batch has ended and return its state; TimeoutError after `timeout_seconds`."""
        deadline = None if timeout_seconds is None else time.monotonic() + timeout_seconds
        position = ""
        while not (state := self.status()).status.final:
            left = 5.0 if deadline is None else deadline - time.monotonic()
            if left <= 0:
                raise TimeoutError(
                    f"batch {self.id} is not done: {state.counts.pending:,} jobs are pending"
                )
            entries = self._store.read_log(self.id, position, min(left, 5.0), most=1000)
            position = entries[-1].position if entries else position
        return state

    def cancel(self) -> BatchState:
        """Cancel what is not graded yet; what is stays. An ended batch stays as it is."""
        return self._end(BatchStatus.CANCELLED)

    def give_up(self, reason: str) -> BatchState:
        """End the batch as failed, because the rest of its cases will never come."""
        return self._end(BatchStatus.FAILED, reason)

    def _end(self, status: BatchStatus, reason: str = "") -> BatchState:
        if self._store.close_batch(self.id, status, reason):
            close_open_chunks(self._store, self.id, status)
        return self.status()

    def retry(self) -> int:
        """Grade again the chunks of jobs whose errors another try may mend; return how many such jobs there are."""
        state = self.status()
        if not state.status.final:
            raise NoSuchResultError(
                f"batch {self.id} is still {state.status}", "wait for its end, or cancel it"
            )
        jobs = 0
        for chunk, tally in list(self._store.records(self.id)):
            again = _retryable_jobs(tally)
            expiry = self._client.settings.batch_expiry_seconds
            if again and self._store.reopen(self.id, chunk, state.epoch + 1, expiry):
                jobs += again
                self._client.publisher.publish(self.id, chunk)
        return jobs

    def delete(self) -> bool:
        """Drop the batch, its inputs and results; False when there was nothing."""
        return self._store.delete(self.id)


def _retryable_jobs(tally: dict[str, Any]) -> int:
    jobs = 0
    for field, count, _ in tally["summary"]:
        _, _, outcome, cause = orjson.loads(field)
        if (outcome == "errored" and cause in RETRYABLE) or (
            outcome in {"cancelled", "expired"} and not cause
        ):
            jobs += count
    return jobs


class AsyncClient:
    """The client for asyncio: the same methods, awaited; the work is done in threads."""

    def __init__(self, url: str | None = None, *, settings: Settings | None = None) -> None:
        self.sync = Client(url, settings=settings)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await asyncio.to_thread(self.sync.close)

    async def submit(
        self,
        cases: Cases,
        *,
        graders: Graders = (),
        metadata: dict[str, str] | None = None,
        resume: str | None = None,
    ) -> AsyncBatch:
        """Submit cases as one batch; see Client.submit."""
        batch = await asyncio.to_thread(
            self.sync.submit, cases, graders=graders, metadata=metadata, resume=resume
        )
        return AsyncBatch(batch)

    def batch(self, batch_id: str) -> AsyncBatch:
        """Return a handle on a batch."""
        return AsyncBatch(self.sync.batch(batch_id))

    async def batches(self, most: int = 100) -> list[BatchState]:
        """Return the newest batches, newest first."""
        return await asyncio.to_thread(self.sync.batches, most)

    async def workers(self) -> list[WorkerInfo]:
        """Return the living workers."""
        return await asyncio.to_thread(self.sync.workers)

    async def drain(self, worker: str) -> None:
        """Ask a worker to finish what it has and leave."""
        await asyncio.to_thread(self.sync.drain, worker)

    def graders(self) -> list[dict[str, Any]]:
        """Return the catalogue of graders installed here."""
        return self.sync.graders()


class AsyncBatch:
    """A handle on one batch, for asyncio."""

    def __init__(self, sync: Batch) -> None:
        self.sync = sync
        self.id = sync.id

    async def status(self) -> BatchState:
        """Return the batch's state at this moment."""
        return await asyncio.to_thread(self.sync.status)

    async def summary(self) -> list[GraderSummary]:
        """Return what each label's jobs came to so far."""
        return await asyncio.to_thread(self.sync.summary)

    async def pages(self, cursor: str | None = None, *, follow: bool = True) -> AsyncIterator[Page]:
        """Yield result lines as bytes, chunk by chunk, each page with the cursor after it."""
        pages = await asyncio.to_thread(self.sync.pages, cursor, follow=follow)
        while (page := await asyncio.to_thread(next, pages, None)) is not None:
            yield page

    async def results(
        self, cursor: str | None = None, *, follow: bool = True
    ) -> AsyncIterator[Result]:
        """Yield results as they are recorded, until the batch has ended."""
        async for page in self.pages(cursor, follow=follow):
            for line in page.lines.splitlines():
                yield orjson.loads(line)

    async def result(self, custom_id: str) -> list[Result]:
        """Return the results of one case."""
        return await asyncio.to_thread(self.sync.result, custom_id)

    async def wait(self, timeout_seconds: float | None = None) -> BatchState:
        """Wait until the batch has ended and return its state."""
        return await asyncio.to_thread(self.sync.wait, timeout_seconds)

    async def cancel(self) -> BatchState:
        """Cancel what is not graded yet."""
        return await asyncio.to_thread(self.sync.cancel)

    async def retry(self) -> int:
        """Grade again the jobs whose errors another try may mend."""
        return await asyncio.to_thread(self.sync.retry)

    async def delete(self) -> bool:
        """Drop the batch, its inputs and results."""
        return await asyncio.to_thread(self.sync.delete)
