"""Live batches: how each batch that somebody listens to stands, read once for all its listeners."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING

import orjson
from anyio import CapacityLimiter, to_thread

from weighbridge.errors import ServerError
from weighbridge_producer.service.schemas import state_json

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable

    from weighbridge.jobs.model import BatchState
    from weighbridge_producer.client.redis_client import RedisClient
    from weighbridge_producer.service.problems import Problem

LOOK_SECONDS = 0.5
EVENTS_PER_SECOND = 500  #: of all listeners together; of a crowd, each is told more rarely
HEARTBEAT_SECONDS = 15.0
_LOOKS_AT_ONCE = 4  #: threads


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A batch at one moment, ready to be sent."""

    state: BatchState
    data: bytes  #: the state as JSON
    etag: str  #: tells it from every other state
    event: bytes  #: all of it as a server-sent event

    @classmethod
    def of(cls, state: BatchState) -> Snapshot:
        """Take a state as it is sent."""
        data = orjson.dumps(state_json(state))
        etag = blake2b(data, digest_size=8).hexdigest()
        return cls(state, data, etag, sse_event("counts", etag, data))


def sse_event(name: str, event_id: str, data: bytes) -> bytes:
    """Return a server-sent event of one line of data."""
    return b"event: %b\nid: %b\ndata: %b\n\n" % (name.encode(), event_id.encode(), data)


def problem_event(problem: Problem, instance: str) -> bytes:
    """Return the event that ends a stream because of a problem."""
    return sse_event("problem", "", problem.as_json(instance))


class LiveBatches:
    """The batches that somebody listens to in this process."""

    def __init__(self, client: RedisClient, closing: asyncio.Event) -> None:
        self._client = client
        self._closing = closing
        self._feeds: dict[str, _BatchFeed] = {}
        self.listeners = 0  #: all of them
        self._threads = CapacityLimiter(_LOOKS_AT_ONCE)

    @property
    def batches(self) -> set[str]:
        """Those that are looked at."""
        return set(self._feeds)

    async def snapshots(self, batch_id: str) -> AsyncGenerator[Snapshot | None]:
        """Yield how a batch stands and, as it changes, how it stands then, to its end; None when long nothing changed.

        Who takes long to come back gets only the newest. Ends before the batch does when the service closes. Raises
        what reading the state raises, once the batch is gone.
        """
        feed = self._join(batch_id)
        seen = None
        try:
            while not feed.closed:
                if feed.latest is seen:
                    await feed.news(HEARTBEAT_SECONDS)
                if feed.failure:
                    raise feed.failure
                snapshot = feed.latest
                yield snapshot if snapshot is not seen else None
                if snapshot and snapshot.state.status.final:
                    return
                seen = snapshot
        finally:
            self._leave(batch_id, feed)

    def _join(self, batch_id: str) -> _BatchFeed:
        self.listeners += 1
        feed = self._feeds.get(batch_id)
        if feed is None or feed.over:
            look = self._client.batch(batch_id).status
            feed = _BatchFeed(look, self._pause_seconds, self._closing, self._threads)
            self._feeds[batch_id] = feed
        feed.listeners += 1
        return feed

    def _pause_seconds(self) -> float:
        return max(LOOK_SECONDS, self.listeners / EVENTS_PER_SECOND)

    def _leave(self, batch_id: str, feed: _BatchFeed) -> None:
        self.listeners -= 1
        feed.listeners -= 1
        if not feed.listeners:
            feed.stop()
            if self._feeds.get(batch_id) is feed:
                del self._feeds[batch_id]


class _BatchFeed:
    """What the listeners of one batch share: its newest state, and who looks for it."""

    def __init__(
        self,
        look: Callable[[], BatchState],
        pause_seconds: Callable[[], float],
        closing: asyncio.Event,
        threads: CapacityLimiter,
    ) -> None:
        self._look = look
        self._pause_seconds = pause_seconds
        self._closing = closing
        self._threads = threads
        self._changed = asyncio.Event()
        self.listeners = 0
        self.latest: Snapshot | None = None
        self.failure: Exception | None = None
        self.closed = False  #: the service is about to end
        self._looking = asyncio.create_task(self._look_on())

    @property
    def over(self) -> bool:
        """Whether nobody looks any more."""
        return self._looking.done()

    def stop(self) -> None:
        """Look no more."""
        self._looking.cancel()

    async def news(self, seconds: float) -> None:
        """Wait for a change, at most so long."""
        try:
            async with asyncio.timeout(seconds):
                await self._changed.wait()
        except TimeoutError:
            return

    async def _look_on(self) -> None:
        while not self.closed and not self.failure:
            try:
                state = await to_thread.run_sync(self._look, limiter=self._threads)
            except ServerError:
                pass  # it may come back; till then nothing changes
            except Exception as error:  # noqa: BLE001 - whatever it is, whoever listens is told
                self.failure = error
                self._wake_listeners()
            else:
                self._take(state)
                if state.status.final:
                    return
            await self._pause()

    async def _pause(self) -> None:
        try:
            async with asyncio.timeout(self._pause_seconds()):
                await self._closing.wait()
        except TimeoutError:
            return
        self.closed = True
        self._wake_listeners()

    def _take(self, state: BatchState) -> None:
        if self.latest is None or state != self.latest.state:
            self.latest = Snapshot.of(state)
            self._wake_listeners()

    def _wake_listeners(self) -> None:
        # Whoever waits holds the old event; whoever comes later waits for the next.
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()
