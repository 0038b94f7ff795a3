"""The client for asyncio: the same methods, awaited; the work is done in threads."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Self

import orjson

from weighbridge_producer.client.base import ANYTHING, Client

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from weighbridge.jobs.model import BatchState, GraderSummary, Priority
    from weighbridge.settings import Settings
    from weighbridge.store import BatchOptions
    from weighbridge.store.health import Health
    from weighbridge.store.result_filter import ResultFilter, ResultPage
    from weighbridge.store.worker_registry import WorkerInfo
    from weighbridge_producer.client.base import Batch, Graders, Page, Result
    from weighbridge_producer.input.source import Cases


class AsyncClient:
    """The client for asyncio: the same methods, awaited; the work is done in threads."""

    def __init__(
        self, url: str | None = None, *, key: str | None = None, settings: Settings | None = None
    ) -> None:
        self.sync = Client(url, key=key, settings=settings)

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
        strict: bool = False,
        priority: Priority = "normal",
        project: str | None = None,
    ) -> AsyncBatch:
        """Submit cases as one batch; see Client.submit."""
        batch = await asyncio.to_thread(
            self.sync.submit,
            cases,
            graders=graders,
            metadata=metadata,
            resume=resume,
            strict=strict,
            priority=priority,
            project=project,
        )
        return AsyncBatch(batch)

    def batch(self, batch_id: str) -> AsyncBatch:
        """Return a handle on a batch."""
        return AsyncBatch(self.sync.batch(batch_id))

    async def batches(self, most: int = 100, *, project: str | None = None) -> list[BatchState]:
        """Return the newest batches, of one project or of all that may be seen, newest first."""
        return await asyncio.to_thread(self.sync.batches, most, project=project)

    async def workers(self) -> list[WorkerInfo]:
        """Return the living workers."""
        return await asyncio.to_thread(self.sync.workers)

    async def drain(self, worker: str) -> None:
        """Ask a worker to finish what it has and leave."""
        await asyncio.to_thread(self.sync.drain, worker)

    async def health(self) -> Health:
        """Return whether work goes on, and what holds it up."""
        return await asyncio.to_thread(self.sync.health)

    async def graders(self) -> list[dict[str, Any]]:
        """Return the catalogue of graders installed here."""
        return await asyncio.to_thread(self.sync.graders)


class AsyncBatch:
    """A handle on one batch, for asyncio."""

    def __init__(self, sync: Batch) -> None:
        self.sync = sync
        self.id = sync.id
        self.durability = sync.durability

    async def status(self) -> BatchState:
        """Return the batch's state at this moment."""
        return await asyncio.to_thread(self.sync.status)

    async def summary(self) -> list[GraderSummary]:
        """Return what each label's jobs came to so far."""
        return await asyncio.to_thread(self.sync.summary)

    async def options(self) -> BatchOptions:
        """Return what the batch was submitted with."""
        return await asyncio.to_thread(self.sync.options)

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

    async def search(
        self, wanted: ResultFilter = ANYTHING, cursor: str | None = None, limit: int = 50
    ) -> ResultPage:
        """Return a page of the results that there are now and that a filter lets through."""
        return await asyncio.to_thread(self.sync.search, wanted, cursor, limit)

    async def case(self, custom_id: str) -> bytes | None:
        """Return the line of a case as it was submitted; None when the batch's inputs are freed."""
        return await asyncio.to_thread(self.sync.case, custom_id)

    async def wait(self, timeout_seconds: float | None = None) -> BatchState:
        """Wait until the batch has ended and return its state."""
        return await asyncio.to_thread(self.sync.wait, timeout_seconds)

    async def cancel(self) -> BatchState:
        """Cancel what is not graded yet."""
        return await asyncio.to_thread(self.sync.cancel)

    async def retry(self) -> int:
        """Grade again the jobs whose errors another try may mend."""
        return await asyncio.to_thread(self.sync.retry)

    async def pause(self) -> None:
        """Let workers begin no more of the batch, until `unpause`."""
        await asyncio.to_thread(self.sync.pause)

    async def unpause(self) -> None:
        """Let workers go on with the batch."""
        await asyncio.to_thread(self.sync.unpause)

    async def delete(self) -> bool:
        """Drop the batch, its inputs and results."""
        return await asyncio.to_thread(self.sync.delete)
