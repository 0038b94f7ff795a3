"""What a request brings, as a file that another thread reads: bounded, and broken off when its sender is."""

from __future__ import annotations

import asyncio
import io
import threading
from collections import deque
from typing import Any

HELD_LIMIT_BYTES = 4 * 1024 * 1024  #: between sender and reader; more waits in the network


class BodyStream(io.RawIOBase):
    """A pipe from the event loop to a thread; the loop waits when it is full, the thread when it is empty."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name
        self.loop = asyncio.get_running_loop()  #: of who sends
        self._room = asyncio.Event()  # the loop's; set when a full pipe has room again
        self._news = threading.Condition()  # the reader's; its lock guards all below
        self._pieces: deque[bytes] = deque()
        self._held = 0
        self._ended = False
        self._failure: Exception | None = None
        self._waits_for_room = False

    # The event loop's side.

    async def put(self, piece: bytes) -> None:
        """Hand a piece to the reader, once there is room."""
        with self._news:
            self._pieces.append(piece)
            self._held += len(piece)
            self._news.notify()
        while self._must_wait():
            await self._room.wait()

    def _must_wait(self) -> bool:
        with self._news:
            self._waits_for_room = self.is_full
            if self._waits_for_room:
                self._room.clear()
            return self._waits_for_room

    @property
    def is_full(self) -> bool:
        """Whether nothing more is taken for now."""
        return self._held >= HELD_LIMIT_BYTES

    def end(self) -> None:
        """Say that all has come."""
        with self._news:
            self._ended = True
            self._news.notify()

    def break_off(self, failure: Exception) -> None:
        """Let the reader fail with that, now, unless all has come."""
        with self._news:
            if not self._ended:
                self._failure = self._failure or failure
            self._news.notify()

    # The reader's side.

    @property
    def failure(self) -> Exception | None:
        """Why it was broken off; None when it was not."""
        return self._failure

    def readable(self) -> bool:
        """Say that this is for reading."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Give what is there, waiting for something; 0 at the end."""
        with self._news:
            while not self._pieces and not self._ended and not self._failure:
                self._news.wait()
            if self._failure:
                raise self._failure
            filled = self._fill(memoryview(buffer))
            if self._waits_for_room and self._held <= HELD_LIMIT_BYTES // 2:
                self._waits_for_room = False
                self.loop.call_soon_threadsafe(self._room.set)
            return filled

    def _fill(self, buffer: memoryview) -> int:
        filled = 0
        while self._pieces and filled < len(buffer):
            piece = self._pieces.popleft()
            taken = min(len(piece), len(buffer) - filled)
            buffer[filled : filled + taken] = piece[:taken]
            filled += taken
            if taken < len(piece):
                self._pieces.appendleft(piece[taken:])
        self._held -= filled
        return filled
