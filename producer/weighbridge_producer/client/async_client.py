"""The asyncio client: the methods of the synchronous client, run in threads and awaited."""

from __future__ import annotations

import asyncio
from functools import partial, wraps
from typing import TYPE_CHECKING, Concatenate, ParamSpec, Self, TypeVar, cast

import orjson

from weighbridge_producer.client.async_cases import taken_in_thread
from weighbridge_producer.client.batch import Batch
from weighbridge_producer.client.client import Client
from weighbridge_producer.input.given_cases import is_asynchronous

if TYPE_CHECKING:
    from collections.abc import AsyncIterable, AsyncIterator, Callable, Coroutine
    from typing import Any

    from weighbridge.errors import Fault
    from weighbridge.jobs.batch_state import BatchState, Priority
    from weighbridge.settings import Settings
    from weighbridge.store import Durability
    from weighbridge_producer.client.backend import Graders
    from weighbridge_producer.client.batch import Page, Result
    from weighbridge_producer.input.source import Case, Cases

_Arguments = ParamSpec("_Arguments")
_Answer = TypeVar("_Answer")

_END_SECONDS = 5.0  #: that a cancelled submission waits for the end of its batch


def _of_client(
    method: Callable[Concatenate[Client, _Arguments], _Answer],
) -> Callable[Concatenate[AsyncClient, _Arguments], Coroutine[Any, Any, _Answer]]:
    """Return the asynchronous version of a method of Client."""

    @wraps(method)
    async def awaited(
        self: AsyncClient, /, *args: _Arguments.args, **options: _Arguments.kwargs
    ) -> _Answer:
        return await asyncio.to_thread(method, self.sync, *args, **options)

    return awaited


def _of_batch(
    method: Callable[Concatenate[Batch, _Arguments], _Answer],
) -> Callable[Concatenate[AsyncBatch, _Arguments], Coroutine[Any, Any, _Answer]]:
    """Return the asynchronous version of a method of Batch."""

    @wraps(method)
    async def awaited(
        self: AsyncBatch, /, *args: _Arguments.args, **options: _Arguments.kwargs
    ) -> _Answer:
        # The backend's own method, not the one that Batch declares.
        call = getattr(self.sync, method.__name__)
        return cast("_Answer", await asyncio.to_thread(call, *args, **options))

    return awaited


def _submit(
    method: Callable[Concatenate[Client, _Arguments], Batch],
) -> Callable[Concatenate[AsyncClient, _Arguments], Coroutine[Any, Any, AsyncBatch]]:
    @wraps(method)
    async def awaited(
        self: AsyncClient, /, *args: _Arguments.args, **options: _Arguments.kwargs
    ) -> AsyncBatch:
        return AsyncBatch(await asyncio.to_thread(method, self.sync, *args, **options))

    return awaited


async def _with_cases(
    method: Callable[[Cases], _Answer], cases: Cases | AsyncIterable[Case]
) -> _Answer:
    """Call a method in a thread with cases, which may be those of an asynchronous iterable."""
    if not is_asynchronous(cases):
        return await asyncio.to_thread(method, cast("Cases", cases))
    working: asyncio.Task[_Answer] | None = None
    try:
        async with taken_in_thread(cast("AsyncIterable[Case]", cases)) as taken:
            working = asyncio.create_task(asyncio.to_thread(method, taken))
            return await asyncio.shield(working)
    except asyncio.CancelledError as cancelled:
        if working:
            await _note_end(cancelled, working)
        raise


async def _note_end(cancelled: asyncio.CancelledError, working: asyncio.Task[Any]) -> None:
    """Add to a cancellation what became of the batch whose cases were read, as soon as its thread has ended."""
    await asyncio.wait([working], timeout=_END_SECONDS)
    if not working.done():
        # Or else its error would be logged.
        working.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
    elif error := working.exception():
        for note in getattr(error, "__notes__", ()):
            cancelled.add_note(note)
    elif isinstance(batch := working.result(), Batch):
        cancelled.add_note(f"batch {batch.id} was submitted before that")


class AsyncClient:
    """The asyncio client: the methods of Client as coroutines."""

    def __init__(
        self,
        url: str | None = None,
        *,
        key: str | None = None,
        settings: Settings | None = None,
        retry: bool = True,
    ) -> None:
        self.sync = Client(url, key=key, settings=settings, retry=retry)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    close = _of_client(Client.close)
    open = _submit(Client.open)
    batches = _of_client(Client.batches)
    listed = _of_client(Client.listed)
    workers = _of_client(Client.workers)
    drain = _of_client(Client.drain)
    health = _of_client(Client.health)
    graders = _of_client(Client.graders)
    pause_queue = _of_client(Client.pause_queue)
    unpause_queue = _of_client(Client.unpause_queue)
    audit = _of_client(Client.audit)
    keys = _of_client(Client.keys)
    make_key = _of_client(Client.make_key)
    revoke_key = _of_client(Client.revoke_key)

    async def submit(
        self,
        cases: Cases | AsyncIterable[Case],
        *,
        graders: Graders = (),
        metadata: dict[str, str] | None = None,
        resume: str | None = None,
        strict: bool = False,
        priority: Priority = "normal",
        project: str | None = None,
    ) -> AsyncBatch:
        """Submit cases as `Client.submit` does, also those of an asynchronous iterable.

        It is read as fast as the batch takes the cases. If it raises, or if this is cancelled, the batch ends as failed.
        """
        submit = partial(
            self.sync.submit,
            graders=graders,
            metadata=metadata,
            resume=resume,
            strict=strict,
            priority=priority,
            project=project,
        )
        return AsyncBatch(await _with_cases(submit, cases))

    def batch(self, batch_id: str) -> AsyncBatch:
        """Return a handle to a batch."""
        return AsyncBatch(self.sync.batch(batch_id))


class AsyncBatch:
    """A handle to one batch for asyncio: the methods of Batch as coroutines."""

    def __init__(self, sync: Batch) -> None:
        self.sync = sync
        self.id = sync.id

    def __repr__(self) -> str:
        return f"AsyncBatch({self.id!r})"

    @property
    def durability(self) -> Durability | None:
        """How durably the sealed batch was stored in Redis; None if it was not submitted through this handle."""
        return self.sync.durability

    @property
    def unread(self) -> Fault | None:
        """Why the input was not read to its end, although what was read is submitted; None if it was."""
        return self.sync.unread

    async def fill(
        self,
        cases: Cases | AsyncIterable[Case],
        *,
        resumed: bool = False,
        on_wait: Callable[[str], None] = lambda _: None,
    ) -> Durability:
        """Submit cases to the open batch as `Batch.fill` does, also those of an asynchronous iterable."""
        fill = partial(self.sync.fill, resumed=resumed, on_wait=on_wait)
        return await _with_cases(fill, cases)

    status = _of_batch(Batch.status)
    summary = _of_batch(Batch.summary)
    options = _of_batch(Batch.options)
    result = _of_batch(Batch.result)
    search = _of_batch(Batch.search)
    case = _of_batch(Batch.case)
    case_finder = _of_batch(Batch.case_finder)
    wait = _of_batch(Batch.wait)
    cancel = _of_batch(Batch.cancel)
    retry = _of_batch(Batch.retry)
    pause = _of_batch(Batch.pause)
    unpause = _of_batch(Batch.unpause)
    delete = _of_batch(Batch.delete)

    async def pages(self, cursor: str | None = None, *, follow: bool = True) -> AsyncIterator[Page]:
        """Yield pages of result lines as bytes, one chunk each, with the cursor that follows the page."""
        pages = await asyncio.to_thread(self.sync.pages, cursor, follow=follow)
        while (page := await asyncio.to_thread(next, pages, None)) is not None:
            yield page

    async def states(self) -> AsyncIterator[BatchState]:
        """Yield the batch's state now and after each change, ending with its final state."""
        states = self.sync.states()
        while (state := await asyncio.to_thread(next, states, None)) is not None:
            yield state

    async def results(
        self, cursor: str | None = None, *, follow: bool = True
    ) -> AsyncIterator[Result]:
        """Yield results as they are recorded, until the batch ends."""
        async for page in self.pages(cursor, follow=follow):
            for line in page.lines.splitlines():
                yield orjson.loads(line)
