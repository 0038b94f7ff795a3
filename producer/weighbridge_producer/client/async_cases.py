"""Cases of an asynchronous iterable, for a client that reads them in a thread."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from weighbridge.errors import InputError

if TYPE_CHECKING:
    from collections.abc import AsyncIterable, AsyncIterator, Iterator

_AHEAD = 1_000  #: most cases that are read before the thread takes them


class _End:
    """The end of the cases, with the error that ended them, if any."""

    def __init__(self, error: Exception | None = None) -> None:
        self.error = error


class AsyncCases:
    """The cases of an asynchronous iterable as an iterator, to be used in another thread than the event loop's.

    One task reads all of them, because what an asynchronous generator holds, such as a timeout, may belong to a task.
    """

    def __init__(self, cases: AsyncIterable[Any]) -> None:
        self._cases = cases
        self._loop = asyncio.get_running_loop()
        self._read: asyncio.Queue[Any] = asyncio.Queue()
        self._room = asyncio.Semaphore(_AHEAD)

    def __iter__(self) -> Iterator[Any]:
        while True:
            taken = asyncio.run_coroutine_threadsafe(self._take(), self._loop).result()
            for case in taken:
                if isinstance(case, _End):
                    if case.error:
                        raise case.error
                    return
                yield case

    async def _take(self) -> list[Any]:
        """Return all cases that were read so far, at least one."""
        taken = [await self._read.get()]
        while not self._read.empty():
            taken.append(self._read.get_nowait())
        for _ in taken:
            self._room.release()
        return taken

    async def read(self) -> None:
        """Read the cases, as fast as they are taken."""
        end = _End(InputError("reading the cases was cancelled", "submit them as a new batch"))
        try:
            async for case in self._cases:
                await self._room.acquire()
                self._read.put_nowait(case)
            end = _End()
        except Exception as error:  # noqa: BLE001 - raised where the cases are taken
            end = _End(error)
        finally:
            self._read.put_nowait(end)


@asynccontextmanager
async def taken_in_thread(cases: AsyncIterable[Any]) -> AsyncIterator[AsyncCases]:
    """Read cases until the context ends, for a thread that takes them."""
    given = AsyncCases(cases)
    reading = asyncio.create_task(given.read())
    try:
        yield given
    finally:
        reading.cancel()
        await asyncio.wait([reading])
