"""The client, for Redis and for HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from weighbridge.errors import BatchNotFoundError
from weighbridge.settings import read_settings
from weighbridge_producer.client.address import address_of, is_service
from weighbridge_producer.client.batch_metadata import checked_metadata

if TYPE_CHECKING:
    from weighbridge.jobs.batch_state import BatchState, Priority
    from weighbridge.settings import Settings
    from weighbridge.store.api_keys import ApiKey, KeyList, Role
    from weighbridge.store.audit import Entry
    from weighbridge.store.health import Health
    from weighbridge.store.worker_registry import WorkerInfo
    from weighbridge_producer.client.backend import Backend, Graders, ListedBatch
    from weighbridge_producer.client.batch import Batch
    from weighbridge_producer.input.source import Cases


class Client:
    """A connection to Redis or to an HTTP service, depending on the URL's scheme.

    `url` is the URL of Redis (`redis://`, `rediss://`, `unix://`) or of `weighbridge serve` (`http://`, `https://`); it
    defaults to WEIGHBRIDGE_URL, then to WEIGHBRIDGE_REDIS_URL. `key` is the API key for a service that requires one; it
    defaults to WEIGHBRIDGE_API_KEY. With `retry`, requests are repeated while Redis or the service restarts: it takes about
    20 s until the error of a Redis that does not answer is raised. Without, what fails raises its error at once.
    """

    def __init__(
        self,
        url: str | None = None,
        *,
        key: str | None = None,
        settings: Settings | None = None,
        retry: bool = True,
    ) -> None:
        settings = settings or read_settings()
        self._backend = backend_of(url, key, settings, retry=retry)
        self.url = self._backend.url
        self.settings = settings

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
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
        """Submit cases as a new batch, or resume an interrupted one, and return the batch.

        `cases` is the path of a JSONL file (plain, .gz, .zst), a list of paths, `-`, a binary stream, an iterable of
        mappings or of lines as bytes, which is read once, in constant memory, or a data frame. `graders` apply to cases
        that specify none. `resume` is the id of a batch that was started with the same cases. When batches
        compete for workers, one with `priority` high gets ten times the worker time of a normal one, and one
        with low a tenth. `project` is the project that the batch belongs to; it defaults to that of the API
        key, or to "default", and only an admin key can name another over HTTP. `metadata` are strings by their
        names, kept with the batch.

        The batch's `durability` says whether Redis has confirmed that the batch is on its disk and on its replicas.
        Each confirmation is waited for, up to WEIGHBRIDGE_CONFIRM_SECONDS.

        Raises UnknownGraderError, ConfigError, InputError, ServerError, BatchError, also for an empty `resume`. Without any
        case it raises NoCasesError, without any grader NoGraderError, and for rows with columns of their own MappingNeededError:
        each is an InputError, and leaves no batch. A line that cannot be graded becomes an errored job and raises nothing. With `strict`, all lines are validated before
        anything is submitted, and a line that cannot be graded raises InvalidInputError.
        """
        check_resumed(resume)
        return self._backend.submit(
            cases,
            graders=graders,
            metadata=checked_metadata(metadata),
            resume=resume,
            strict=strict,
            priority=priority,
            project=project,
        )

    def open(
        self,
        name: str,
        graders: Graders = (),
        *,
        metadata: dict[str, str] | None = None,
        priority: Priority = "normal",
        project: str | None = None,
    ) -> Batch:
        """Create an empty batch, to be filled by `Batch.fill`; `name` is the displayed name of its input.

        Use this instead of `submit` to get the batch's id before its cases are submitted. Raises
        UnknownGraderError, ConfigError, InvalidProjectError, ServerError.
        """
        return self._backend.open(
            name,
            graders,
            metadata=checked_metadata(metadata),
            priority=priority,
            project=project,
        )

    def batch(self, batch_id: str) -> Batch:
        """Return a handle to a batch, without making a request: whether there is such a batch, its methods find out.

        Raises BatchNotFoundError for what cannot be an id, such as None.
        """
        check_id(batch_id)
        return self._backend.batch(batch_id)

    def batches(self, most: int = 100, *, project: str | None = None) -> list[BatchState]:
        """Return the most recent batches of one project, or of all accessible projects, newest first.

        Batches that cannot be read, for instance because they were deleted, are left out.
        """
        return self._backend.batches(most, project=project)

    def listed(self, most: int = 100, *, project: str | None = None) -> list[ListedBatch]:
        """Return the same batches, each with its source, options and owner."""
        return self._backend.listed(most, project=project)

    def workers(self) -> list[WorkerInfo]:
        """Return the running workers."""
        return self._backend.workers()

    def drain(self, worker: str) -> None:
        """Ask a worker to complete its work in progress and stop; NoSuchWorkerError if no worker has that name."""
        self._backend.drain(worker)

    def health(self) -> Health:
        """Return whether work is progressing and, if not, what blocks it."""
        return self._backend.health()

    def graders(self) -> list[dict[str, Any]]:
        """Return the catalogue of graders."""
        return self._backend.graders()

    def pause_queue(self, queue: str) -> None:
        """Stop workers from starting chunks of a queue's batches until `unpause_queue`; HTTP needs an admin key.

        NoSuchQueueError if no worker reads the queue, and no recent batch is in it.
        """
        self._backend.pause_queue(queue)

    def unpause_queue(self, queue: str) -> None:
        """Let workers resume the batches of a queue."""
        self._backend.unpause_queue(queue)

    def audit(
        self,
        *,
        batch: str | None = None,
        project: str | None = None,
        since: float = 0.0,
        most: int = 100,
    ) -> list[Entry]:
        """Return the audit log's entries, newest first; over HTTP, needs a key with manage access.

        `since` is in seconds since the epoch.
        """
        return self._backend.audit(batch=batch, project=project, since=since, most=most)

    def keys(self) -> KeyList:
        """Return all API keys, without their secrets, and the server's time; HTTP needs an admin key."""
        return self._backend.keys()

    def make_key(
        self,
        name: str,
        role: Role,
        lives_seconds: float | None = None,
        *,
        project: str = "default",
    ) -> tuple[ApiKey, str]:
        """Create an API key and return it with its token, which cannot be retrieved later.

        Raises InvalidKeyError, InvalidProjectError.
        """
        return self._backend.make_key(name, role, lives_seconds, project=project)

    def revoke_key(self, key_id: str) -> bool:
        """Revoke an API key, effective immediately; return False if there is no key with that id."""
        return self._backend.revoke_key(key_id)


def check_id(batch_id: object) -> None:
    """Refuse as the id of a batch what is no text or empty, such as the value of an unset variable."""
    if isinstance(batch_id, str) and batch_id:
        return
    what = "empty" if batch_id == "" else f"of the type {type(batch_id).__name__}"
    raise BatchNotFoundError(
        f"the id of the batch is {what}",
        "give the `id` of the batch that `submit` or `open` returned",
    )


def check_resumed(batch_id: str | None) -> None:
    """Refuse an empty id of a batch to resume, such as that of an unset variable, which would open a new batch."""
    if batch_id == "":
        raise BatchNotFoundError(
            "the id of the batch to resume is empty",
            "give the id that the interrupted submission printed, or leave it out for a new batch",
        )
    if batch_id is not None:
        check_id(batch_id)


def backend_of(
    url: str | None, key: str | None, settings: Settings, *, retry: bool = True
) -> Backend:
    """Return the backend for a URL's scheme; the URL defaults to the one in the settings.

    With `retry`, requests are repeated while Redis or the service restarts.
    """
    address = address_of(url, settings)
    if is_service(address):
        from weighbridge_producer.client.http_client import HttpClient

        return HttpClient(address, key=key, settings=settings, retry=retry)
    from weighbridge_producer.client.redis_client import RedisClient

    return RedisClient(address, settings=settings, retry=retry)
