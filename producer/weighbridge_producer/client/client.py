"""The client and its batches, over Redis and over HTTP alike."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from weighbridge.settings import read_settings
from weighbridge_producer.client.address import address_of, is_service
from weighbridge_producer.client.backend import ANYTHING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from weighbridge.jobs.model import BatchState, Priority
    from weighbridge.jobs.outcome import GraderSummary
    from weighbridge.settings import Settings
    from weighbridge.store import BatchOptions, Durability
    from weighbridge.store.api_keys import ApiKey, KeyList, Role
    from weighbridge.store.audit import Entry
    from weighbridge.store.health import Health
    from weighbridge.store.result_filter import ResultFilter, ResultPage
    from weighbridge.store.worker_registry import WorkerInfo
    from weighbridge_producer.client.backend import Graders, ListedBatch, Page, Result
    from weighbridge_producer.client.http_batch import HttpBatch
    from weighbridge_producer.client.http_client import HttpClient
    from weighbridge_producer.client.redis_batch import RedisBatch
    from weighbridge_producer.client.redis_client import RedisClient
    from weighbridge_producer.input.source import Cases


class Client:
    """A connection to the store of batches: to Redis itself, or to a service over HTTP, by the URL's scheme.

    `url` is that of a Redis (`redis://`, `rediss://`, `unix://`) or of `weighbridge serve` (`http://`, `https://`), by
    default WEIGHBRIDGE_URL or else WEIGHBRIDGE_REDIS_URL. `key` is the API key that a `weighbridge serve` may ask
    for, by default WEIGHBRIDGE_API_KEY.
    """

    def __init__(
        self, url: str | None = None, *, key: str | None = None, settings: Settings | None = None
    ) -> None:
        settings = settings or read_settings()
        self._backend = _backend_of(url, key, settings)
        self.url = self._backend.url
        self.settings = settings

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Drop the connections."""
        self._backend.close()

    def submit(
        self,
        cases: Cases,
        *,
        graders: Graders = (),
        metadata: dict[str, str] | None = None,
        resume: str | None = None,
        strict: bool = False,
        priority: Priority = "normal",
        project: str | None = None,
    ) -> Batch:
        """Submit cases as one batch, or the rest of them to a batch that was interrupted, and return it.

        `cases` is a path of a JSONL file (plain, .gz, .zst), `-`, a binary stream, or an iterable of
        mappings or of lines as bytes; it is read once, at constant memory. `graders` apply to cases
        that name none. `resume` is the id of a batch that was started with the same cases. When batches
        compete, one of `priority` high gets ten times the worker time of a normal one, and one of low a
        tenth. `project` is the project that it belongs to, by default that of the API key, or "default";
        over HTTP only an admin key may name another.

        The batch's `durability` says whether Redis has confirmed that it is on its disk and on its replicas. Each
        confirmation is waited for, at most for WEIGHBRIDGE_CONFIRM_SECONDS.

        Raises UnknownGraderError, ConfigError, InputError, ServerError, BatchError. A line that cannot
        be graded raises nothing: it becomes an errored job; but to be `strict`, all lines are read
        before anything is submitted, and one that cannot be graded raises InvalidInputError.
        """
        batch = self._backend.submit(
            cases,
            graders=graders,
            metadata=metadata,
            resume=resume,
            strict=strict,
            priority=priority,
            project=project,
        )
        return Batch(batch)

    def open(
        self,
        name: str,
        graders: Graders = (),
        *,
        metadata: dict[str, str] | None = None,
        priority: Priority = "normal",
        project: str | None = None,
    ) -> Batch:
        """Register an empty batch, which `Batch.fill` fills; `name` is what to call its input.

        Whoever wants to know the batch's id before its cases are submitted takes this instead of `submit`. Raises
        UnknownGraderError, ConfigError, InvalidProjectError, ServerError.
        """
        batch = self._backend.open(
            name, graders, metadata=metadata, priority=priority, project=project
        )
        return Batch(batch)

    def batch(self, batch_id: str) -> Batch:
        """Return a handle on a batch; no request is made yet."""
        return Batch(self._backend.batch(batch_id))

    def batches(self, most: int = 100, *, project: str | None = None) -> list[BatchState]:
        """Return the newest batches, of one project or of all that may be seen, newest first.

        Those that cannot be read, for instance because they are gone, are left out.
        """
        return self._backend.batches(most, project=project)

    def listed(self, most: int = 100, *, project: str | None = None) -> list[ListedBatch]:
        """Return the same with what each was submitted as, and by whom."""
        return self._backend.listed(most, project=project)

    def workers(self) -> list[WorkerInfo]:
        """Return the running workers."""
        return self._backend.workers()

    def drain(self, worker: str) -> None:
        """Ask a worker to complete its work in progress and stop; NoSuchWorkerError when none has that name."""
        self._backend.drain(worker)

    def health(self) -> Health:
        """Return whether work proceeds, and what blocks it."""
        return self._backend.health()

    def graders(self) -> list[dict[str, Any]]:
        """Return the catalogue of graders."""
        return self._backend.graders()

    def pause_queue(self, queue: str) -> None:
        """Let workers begin no more of any batch of a queue, until `unpause_queue`; over HTTP for admin keys only."""
        self._backend.pause_queue(queue)

    def unpause_queue(self, queue: str) -> None:
        """Let workers go on with the batches of a queue."""
        self._backend.unpause_queue(queue)

    def audit(
        self,
        *,
        batch: str | None = None,
        project: str | None = None,
        since: float = 0.0,
        most: int = 100,
    ) -> list[Entry]:
        """Return who did what since a moment, in seconds since the epoch, newest first; over HTTP for manage keys."""
        return self._backend.audit(batch=batch, project=project, since=since, most=most)

    def keys(self) -> KeyList:
        """Return every API key, without its secret, and the server's time; over HTTP for admin keys only."""
        return self._backend.keys()

    def make_key(
        self,
        name: str,
        role: Role,
        lives_seconds: float | None = None,
        *,
        project: str = "default",
    ) -> tuple[ApiKey, str]:
        """Make an API key and return it with its token, which nobody can ask for again.

        Raises InvalidKeyError, InvalidProjectError.
        """
        return self._backend.make_key(name, role, lives_seconds, project=project)

    def revoke_key(self, key_id: str) -> bool:
        """Revoke an API key, effective immediately; False when there is no key with that id."""
        return self._backend.revoke_key(key_id)


class Batch:
    """A handle on one batch."""

    def __init__(self, backend: RedisBatch | HttpBatch) -> None:
        self._backend = backend
        self.id = backend.id

    @property
    def durability(self) -> Durability | None:
        """How safe the batch was in Redis when it was sealed; None where this handle has not submitted it."""
        return self._backend.durability

    def __repr__(self) -> str:
        return f"Batch({self.id!r})"

    def fill(
        self,
        cases: Cases,
        *,
        resumed: bool = False,
        on_wait: Callable[[str], None] = lambda _: None,
    ) -> Durability:
        """Submit cases to the open batch, behind what it has of them, and seal it.

        `resumed` tells that an earlier try was interrupted. `on_wait` is told why this waits, where it does. Raises
        ChunkConflictError when the batch was started with other cases, ServerError when it can be tried again.
        """
        return self._backend.fill(cases, resumed=resumed, on_wait=on_wait)

    def status(self) -> BatchState:
        """Return the batch's state at this moment."""
        return self._backend.status()

    def states(self) -> Iterator[BatchState]:
        """Yield the batch's state now and as it changes, the last once it has ended."""
        return self._backend.states()

    def summary(self) -> list[GraderSummary]:
        """Return what each label's jobs came to so far."""
        return self._backend.summary()

    def options(self) -> BatchOptions:
        """Return what the batch was submitted with."""
        return self._backend.options()

    def pages(self, cursor: str | None = None, *, follow: bool = True) -> Iterator[Page]:
        """Yield result lines as bytes, some at a time, each page with the cursor after it."""
        return self._backend.pages(cursor, follow=follow)

    def results(self, cursor: str | None = None, *, follow: bool = True) -> Iterator[Result]:
        """Yield results as they are recorded, until the batch has ended; without `follow`, those there are now."""
        return self._backend.results(cursor, follow=follow)

    def result(self, custom_id: str) -> list[Result]:
        """Return the results of one case, one for each of its graders.

        Raises NoSuchResultError when no case has that id, or it is not finished.
        """
        return self._backend.result(custom_id)

    def search(
        self, wanted: ResultFilter = ANYTHING, cursor: str | None = None, limit: int = 50
    ) -> ResultPage:
        """Return a page of the results that there are now and that a filter lets through.

        Raises StaleCursorError for a cursor from before a retry, InvalidFilterError for an invalid limit.
        """
        return self._backend.search(wanted, cursor, limit)

    def case(self, custom_id: str) -> bytes | None:
        """Return the line of a case as it was submitted; None when the batch's inputs are freed.

        A trace that was submitted bare is the case that it became. Raises NoSuchResultError when no case has that id.
        """
        return self._backend.case(custom_id)

    def case_finder(self) -> Callable[[int], bytes | None]:
        """Return what finds the lines of the input by their numbers, from 1, quickly where they are asked for in order.

        It returns None for a line that is freed, blank, or not there.
        """
        return self._backend.case_finder()

    def wait(self, timeout_seconds: float | None = None) -> BatchState:
        """Wait until the batch has ended and return its state; TimeoutError after `timeout_seconds`."""
        return self._backend.wait(timeout_seconds)

    def cancel(self) -> BatchState:
        """Cancel the jobs that are not graded yet; graded ones are kept. An ended batch stays as it is."""
        return self._backend.cancel()

    def retry(self, *, dead_letters: bool = False) -> int:
        """Grade again the chunks of jobs whose errors another try may mend; return how many such jobs there are.

        Or else, of `dead_letters`, those of jobs that crashed their worker process, timed out or took too much memory.
        """
        return self._backend.retry(dead_letters=dead_letters)

    def pause(self) -> None:
        """Let workers begin no more of the batch, until `unpause`; BatchError when it has ended."""
        self._backend.pause()

    def unpause(self) -> None:
        """Let workers go on with the batch."""
        self._backend.unpause()

    def delete(self) -> bool:
        """Drop the batch, its inputs and results; False when there was nothing."""
        return self._backend.delete()


def _backend_of(url: str | None, key: str | None, settings: Settings) -> RedisClient | HttpClient:
    """Return what speaks to a URL, by its scheme, or without one to what the settings name."""
    address = address_of(url, settings)
    if is_service(address):
        from weighbridge_producer.client.http_client import HttpClient

        return HttpClient(address, key=key, settings=settings)
    from weighbridge_producer.client.redis_client import RedisClient

    return RedisClient(address, settings=settings)
