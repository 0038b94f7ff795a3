"""Streams of result lines in constant memory; an incomplete stream ends with a broken connection, or with a marked error."""

from __future__ import annotations

from contextlib import aclosing
from functools import partial
from typing import TYPE_CHECKING, TypeVar

import orjson
from anyio import to_thread

from weighbridge.errors import BatchError, ServerUnavailableError, StaleCursorError
from weighbridge.store.result_filter import ResultFilter
from weighbridge_producer.input.annotated_lines import RECORD_SEPARATOR
from weighbridge_producer.service.limits.slots import take_turn
from weighbridge_producer.service.responses.response_sender import counted_pieces

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Generator, MutableMapping
    from typing import Any

    from weighbridge.store.result_filter import ResultPage
    from weighbridge_producer.client.batch import Page
    from weighbridge_producer.client.redis_batch import RedisBatch
    from weighbridge_producer.service.service import Service

    T = TypeVar("T")

_LARGE_BYTES = 1024 * 1024  #: chunks over this size are released before the next is read
_LINES_AT_ONCE = 1_000
_LOOK_SECONDS = 0.2  #: per search step, after which others get a turn


class ResultStream:
    """A stream of a batch's results that match a filter, from a cursor or from the start."""

    def __init__(
        self,
        service: Service,
        batch: RedisBatch,
        wanted: ResultFilter,
        cursor: str | None,
        *,
        scope: MutableMapping[str, Any],
        follow: bool,
        marked: bool = False,
    ) -> None:
        """Start after a cursor; a `marked` stream has no filter, and contains a mark with the cursor after each chunk.

        A mark is a separate line with a RECORD_SEPARATOR and the cursor as JSON, or null as a heartbeat, or at the end an
        error of the batch. `scope` is the request's, whose turns the stream takes.
        """
        self._service = service
        self._store = service.client.store
        self._scope = scope
        self._pages: Generator[Page] | None = None  #: the open generator of `_all`
        self._batch = batch
        self._wanted = wanted
        self._cursor = cursor
        self._follow = follow
        self._marked = marked
        self._takes_all = wanted == ResultFilter()

    async def begin(self) -> None:
        """Raise errors about the batch or cursor before the response starts."""
        self._results_version = await self._in_thread(
            partial(self._store.results_version, self._batch.id)
        )
        if self._cursor:
            await self._in_thread(self._check_cursor if self._takes_all else self._search_step)

    def _check_cursor(self) -> None:
        self._batch.pages(self._cursor, follow=False)

    async def blobs(self) -> AsyncGenerator[bytes]:
        """Yield blocks of complete lines; raises if the batch is deleted or retried meanwhile, unless the stream is marked."""
        try:
            async with aclosing(self._all() if self._takes_all else self._matching()) as blobs:
                async for blob in blobs:
                    yield blob
            await self._in_thread(self._check_nothing_was_missed)
        except BatchError as error:
            if not self._marked:
                raise
            ended = {"code": error.code, "detail": error.message, "hint": error.hint}
            yield RECORD_SEPARATOR + orjson.dumps(ended) + b"\n"

    async def _all(self) -> AsyncGenerator[bytes]:
        """Yield the stored results chunk by chunk, without parsing."""
        async with aclosing(self._rounds()) as rounds:
            async for is_news in rounds:
                while is_news and (lines := await self._next_lines()):
                    async with aclosing(self._counted(lines)) as pieces:
                        del lines  # release the memory of sent lines
                        async for piece in pieces:
                            yield piece
                    if self._marked:
                        yield RECORD_SEPARATOR + orjson.dumps(self._cursor) + b"\n"
                if self._marked and not is_news:
                    yield RECORD_SEPARATOR + b"null\n"

    async def _next_lines(self) -> bytes:
        turn = await take_turn(self._scope, self._service.stream_reads)
        lines = await self._in_thread(self._read_on)
        if not lines:
            turn.release()
        return lines

    def _read_on(self) -> bytes:
        """Return the lines of the next chunk and advance the cursor; empty if there are none yet."""
        if self._pages is None:
            self._pages = self._batch.pages(self._cursor, follow=False)
        page = next((page for page in self._pages if page.lines), None)
        if page is None or len(page.lines) > _LARGE_BYTES:
            # A suspended generator would hold one or two chunks in memory.
            self._pages.close()
            self._pages = None
        if page is None:
            return b""
        self._cursor = page.cursor
        return page.lines

    def _counted(self, lines: bytes) -> AsyncGenerator[bytes]:
        return counted_pieces(self._scope, self._service.stream_bytes, lines)

    async def _matching(self) -> AsyncGenerator[bytes]:
        passed_on = 0  # number of lines after the cursor
        async with aclosing(self._rounds()) as rounds:
            async for is_news in rounds:
                more = is_news
                while more:
                    turn = await take_turn(self._scope, self._service.searches)
                    page = await self._in_thread(self._search_step)
                    found, cursor = len(page.lines), page.cursor
                    lines = b"\n".join([*page.lines[passed_on:], b""])
                    del page
                    if found > passed_on:
                        async with aclosing(self._counted(lines)) as pieces:
                            async for piece in pieces:
                                yield piece
                    del lines
                    turn.release()
                    more = cursor is not None
                    passed_on = max(0, passed_on - found) if more else found
                    self._cursor = cursor or self._cursor

    def _search_step(self) -> ResultPage:
        return self._batch.search(self._wanted, self._cursor, _LINES_AT_ONCE, _LOOK_SECONDS)

    async def _rounds(self) -> AsyncGenerator[bool]:
        """Yield True when there may be new results: once or, with `follow`, until the batch ends.

        Yield False after a long time without results.
        """
        if not self._follow:
            yield True
            return
        ended = False
        async with aclosing(self._service.live.snapshots(self._batch.id)) as snapshots:
            async for snapshot in snapshots:
                if snapshot:
                    ended = snapshot.state.status.final
                yield snapshot is not None
        if not ended:
            raise ServerUnavailableError("the service stops before the batch has ended")

    def _check_nothing_was_missed(self) -> None:
        if self._store.is_deleted(self._batch.id):
            raise self._store.missing(self._batch.id)
        if self._store.results_version(self._batch.id) != self._results_version:
            raise StaleCursorError(
                f"batch {self._batch.id} was retried while its results were read"
            )

    async def _in_thread(self, work: Callable[[], T]) -> T:
        # Separate threads, so that slow streams do not block other requests.
        return await to_thread.run_sync(work, limiter=self._service.stream_threads)
