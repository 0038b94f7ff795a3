"""Result lines as a stream, at constant memory; a stream that is not complete breaks off."""

from __future__ import annotations

from contextlib import aclosing
from functools import partial
from typing import TYPE_CHECKING, TypeVar

import orjson
from anyio import to_thread

from weighbridge.errors import ServerUnavailableError, StaleCursorError
from weighbridge.store.result_filter import ResultFilter
from weighbridge_producer.input.annotated_lines import RECORD_SEPARATOR
from weighbridge_producer.service.answers import counted_pieces
from weighbridge_producer.service.limits import take_turn

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Generator, MutableMapping
    from typing import Any

    from weighbridge.store.result_filter import ResultPage
    from weighbridge_producer.client.backend import Page
    from weighbridge_producer.client.redis_batch import RedisBatch
    from weighbridge_producer.service.service import Service

    T = TypeVar("T")

_LARGE_BYTES = 1024 * 1024  #: of lines, after which nothing is kept for the next
_LINES_AT_ONCE = 1_000
_LOOK_SECONDS = 0.2  #: for one look at what matches; then others have a turn


class ResultStream:
    """The results of a batch that match a filter, after a cursor or all of them."""

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
        """Begin after a cursor; a `marked` stream has no filter, and gives a cursor after each chunk.

        It is a line of its own, JSON after a RECORD_SEPARATOR, or null to show that the stream lives. `scope` is that of
        the request, whose turns the stream takes.
        """
        self._service = service
        self._store = service.client.store
        self._scope = scope
        self._pages: Generator[Page] | None = None  #: of `_all`, where it has read on to
        self._batch = batch
        self._wanted = wanted
        self._cursor = cursor
        self._follow = follow
        self._marked = marked
        self._takes_all = wanted == ResultFilter()

    async def begin(self) -> None:
        """Raise what is wrong with the batch or the cursor, while there is no answer yet."""
        self._results_version = await self._in_thread(
            partial(self._store.results_version, self._batch.id)
        )
        if self._cursor:
            await self._in_thread(self._check_cursor if self._takes_all else self._look)

    def _check_cursor(self) -> None:
        self._batch.pages(self._cursor, follow=False)

    async def blobs(self) -> AsyncGenerator[bytes]:
        """Yield lines, newline included, some at a time; raise when the batch vanishes or is retried meanwhile."""
        async with aclosing(self._all() if self._takes_all else self._matching()) as blobs:
            async for blob in blobs:
                yield blob
        await self._in_thread(self._check_nothing_was_missed)

    async def _all(self) -> AsyncGenerator[bytes]:
        """Pass on what lies in the store, chunk by chunk, unread."""
        async with aclosing(self._rounds()) as rounds:
            async for is_news in rounds:
                while is_news and (lines := await self._next_lines()):
                    async with aclosing(self._counted(lines)) as pieces:
                        del lines  # nothing here keeps what is sent
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
        """Return the lines of the next chunk and move on behind them; none when there are none now."""
        if self._pages is None:
            self._pages = self._batch.pages(self._cursor, follow=False)
        page = next((page for page in self._pages if page.lines), None)
        if page is None or len(page.lines) > _LARGE_BYTES:
            # It keeps a chunk or two, compressed and not, for as long as it waits.
            self._pages.close()
            self._pages = None
        if page is None:
            return b""
        self._cursor = page.cursor
        return page.lines

    def _counted(self, lines: bytes) -> AsyncGenerator[bytes]:
        return counted_pieces(self._scope, self._service.stream_bytes, lines)

    async def _matching(self) -> AsyncGenerator[bytes]:
        passed_on = 0  # of the lines after the cursor
        async with aclosing(self._rounds()) as rounds:
            async for is_news in rounds:
                more = is_news
                while more:
                    turn = await take_turn(self._scope, self._service.searches)
                    page = await self._in_thread(self._look)
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

    def _look(self) -> ResultPage:
        return self._batch.search(self._wanted, self._cursor, _LINES_AT_ONCE, _LOOK_SECONDS)

    async def _rounds(self) -> AsyncGenerator[bool]:
        """Yield when there may be something to read: once, or to follow the batch until it has ended.

        False when long there was nothing.
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
        # Threads of their own: who reads slowly must not keep other requests waiting.
        return await to_thread.run_sync(work, limiter=self._service.stream_threads)
