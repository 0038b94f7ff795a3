"""What a client and its batches can do, over Redis and over HTTP alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import orjson

from weighbridge.errors import counted
from weighbridge.store.result_filter import ResultFilter

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from weighbridge.jobs.model import BatchState, GraderSpec, GraderSummary, Priority
    from weighbridge.settings import Settings
    from weighbridge.store import BatchOptions, Durability
    from weighbridge.store.health import Health
    from weighbridge.store.result_filter import ResultPage
    from weighbridge.store.worker_registry import WorkerInfo
    from weighbridge_producer.input.source import Cases

    Graders = Sequence[str | Mapping[str, Any] | GraderSpec]

Result = dict[str, Any]  #: one result line, decoded
ANYTHING = ResultFilter()


@dataclass(frozen=True, slots=True)
class Page:
    """Some result lines, whole, and the place after them."""

    lines: bytes
    cursor: str  #: give it back to go on after the page


class Client:
    """A connection to where batches live: `Client(url)` is a RedisClient or an HttpClient, by the URL's scheme.

    `url` is that of a Redis (`redis://`, `rediss://`, `unix://`) or of `weighbridge serve` (`http://`, `https://`), by
    default WEIGHBRIDGE_API_URL or else WEIGHBRIDGE_REDIS_URL. `key` is the API key that a `weighbridge serve` may ask
    for, by default WEIGHBRIDGE_API_KEY.
    """

    url: str
    settings: Settings

    def __new__(
        cls,
        url: str | None = None,
        *,
        key: str | None = None,  # noqa: ARG004 - for __init__, which Python calls with the same arguments
        settings: Settings | None = None,
        patient: bool = True,  # noqa: ARG004 - likewise, where it is one on Redis
    ) -> Self:
        """Choose the kind of client by the URL's scheme, as pathlib.Path does by the system."""
        if cls is not Client:
            return super().__new__(cls)
        from weighbridge_producer.client.connect import kind_for

        kind: Any = kind_for(url, settings)
        chosen: Self = object.__new__(kind)
        return chosen

    def __init__(
        self, url: str | None = None, *, key: str | None = None, settings: Settings | None = None
    ) -> None:
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Drop the connections."""
        raise NotImplementedError

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
        """Submit cases as one batch, or the rest of them to a batch that was begun, and return it.

        `cases` is a path of a JSONL file (plain, .gz, .zst), `-`, a binary stream, or an iterable of
        mappings or of lines as bytes; it is read once, at constant memory. `graders` apply to cases
        that name none. `resume` is the id of a batch that was begun with the same cases. Beside other
        batches, one of `priority` high gets ten times the workers' time of a normal one, and one of low
        a tenth. `project` is whose batch it is, by default that of the API key, or "default"; over HTTP
        only an admin key may name another.

        The batch's `durability` says whether the server has confirmed it to be on its disk and on its replicas, which
        is waited for, at most for WEIGHBRIDGE_CONFIRM_SECONDS each.

        Raises UnknownGraderError, ConfigError, InputError, ServerError, BatchError. A line that cannot
        be graded raises nothing: it becomes an errored job; but to be `strict`, all lines are read
        before anything is submitted, and one that cannot be graded raises InvalidInputError.
        """
        raise NotImplementedError

    def batch(self, batch_id: str) -> Batch:
        """Return a handle on a batch; nothing is asked of the server yet."""
        raise NotImplementedError

    def batches(self, most: int = 100, *, project: str | None = None) -> list[BatchState]:
        """Return the newest batches, of one project or of all that may be seen, newest first.

        Those that cannot be read, gone ones say, are left out.
        """
        raise NotImplementedError

    def workers(self) -> list[WorkerInfo]:
        """Return the living workers."""
        raise NotImplementedError

    def drain(self, worker: str) -> None:
        """Ask a worker to finish what it has and leave; NoSuchWorkerError when none has that name."""
        raise NotImplementedError

    def health(self) -> Health:
        """Return whether work goes on, and what holds it up."""
        raise NotImplementedError

    def graders(self) -> list[dict[str, Any]]:
        """Return the catalogue of graders."""
        raise NotImplementedError


class Batch:
    """A handle on one batch."""

    id: str
    #: How safe the batch was on the server when it was sealed; None where this handle has not submitted it.
    durability: Durability | None = None

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.id!r})"

    def status(self) -> BatchState:
        """Return the batch's state at this moment."""
        raise NotImplementedError

    def summary(self) -> list[GraderSummary]:
        """Return what each label's jobs came to so far."""
        raise NotImplementedError

    def options(self) -> BatchOptions:
        """Return what the batch was submitted with."""
        raise NotImplementedError

    def pages(self, cursor: str | None = None, *, follow: bool = True) -> Iterator[Page]:
        """Yield result lines as bytes, some at a time, each page with the cursor after it."""
        raise NotImplementedError

    def results(self, cursor: str | None = None, *, follow: bool = True) -> Iterator[Result]:
        """Yield results as they are recorded, until the batch has ended; without `follow`, those there are now."""
        for page in self.pages(cursor, follow=follow):
            for line in page.lines.splitlines():
                yield orjson.loads(line)

    def result(self, custom_id: str) -> list[Result]:
        """Return the results of one case, one for each of its graders.

        Raises NoSuchResultError when no case has that id, or it is not finished.
        """
        raise NotImplementedError

    def search(
        self, wanted: ResultFilter = ANYTHING, cursor: str | None = None, limit: int = 50
    ) -> ResultPage:
        """Return a page of the results that there are now and that a filter lets through.

        Raises StaleCursorError for a cursor of before a retry, InvalidFilterError for a limit that is none.
        """
        raise NotImplementedError

    def case(self, custom_id: str) -> bytes | None:
        """Return the line of a case as it was submitted; None when the batch's inputs are freed.

        A trace that was submitted bare is the case that it became. Raises NoSuchResultError when no case has that id.
        """
        raise NotImplementedError

    def wait(self, timeout_seconds: float | None = None) -> BatchState:
        """Wait until the batch has ended and return its state; TimeoutError after `timeout_seconds`."""
        raise NotImplementedError

    def _not_done(self, state: BatchState) -> TimeoutError:
        return TimeoutError(
            f"batch {self.id} is not done: {counted(state.counts.pending, 'job')} still to be graded"
        )

    def cancel(self) -> BatchState:
        """Cancel what is not graded yet; what is stays. An ended batch stays as it is."""
        raise NotImplementedError

    def retry(self) -> int:
        """Grade again the chunks of jobs whose errors another try may mend; return how many such jobs there are."""
        raise NotImplementedError

    def pause(self) -> None:
        """Let workers begin no more of the batch, until `unpause`; BatchError when it has ended."""
        raise NotImplementedError

    def unpause(self) -> None:
        """Let workers go on with the batch."""
        raise NotImplementedError

    def delete(self) -> bool:
        """Drop the batch, its inputs and results; False when there was nothing."""
        raise NotImplementedError
