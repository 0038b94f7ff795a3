"""A bounded pipe through which another thread reads a request's body as a file."""

from __future__ import annotations

import asyncio
import io
import threading
from collections import deque
from typing import Any

from weighbridge_producer.service.uploads.form import NextFile

HELD_LIMIT_BYTES = 4 * 1024 * 1024  #: buffered between sender and reader


class PeekedStream(io.RawIOBase):
    """A stream whose beginning can be inspected before reading."""

    def __init__(self, stream: BodyStream, size: int) -> None:
        super().__init__()
        self.name = stream.name
        self._stream = stream
        head = bytearray()
        while len(head) < size and (piece := stream.read(size - len(head))):
            head += piece
        self.head = bytes(head)  #: the first `size` bytes, or all
        self._left = memoryview(self.head)

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read the beginning, then the rest; return 0 at the end."""
        if not self._left:
            return self._stream.readinto(buffer)
        filled = min(len(buffer), len(self._left))
        buffer[:filled] = self._left[:filled]
        self._left = self._left[filled:]
        return filled


class BodyStream(io.RawIOBase):
    """A pipe from the event loop to a thread; the loop waits when it is full, the thread when it is empty."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name
        self.loop = asyncio.get_running_loop()  #: the sender's loop
        self._room = asyncio.Event()  # for the loop: set when a full pipe has room again
        self._news = threading.Condition()  # for the reader; its lock guards all attributes below
        self._pieces: deque[bytes | NextFile] = deque()
        self._held = 0
        self._ended = False
        self._failure: Exception | None = None
        self._waits_for_room = False

    # The event loop's side.

    async def put(self, piece: bytes | NextFile) -> None:
        """Pass a piece to the reader, or the end of a file of several; then wait for room."""
        if piece == b"":
            return  # the reader would take it for the end
        with self._news:
            self._pieces.append(piece)
            self._held += len(piece) if isinstance(piece, bytes) else 0
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
        """True if the pipe is full."""
        return self._held >= HELD_LIMIT_BYTES

    def end(self) -> None:
        """Mark the body as complete."""
        with self._news:
            self._ended = True
            self._news.notify()

    def break_off(self, failure: Exception) -> None:
        """Make the reader fail with an exception, unless the body is complete."""
        with self._news:
            if not self._ended:
                self._failure = self._failure or failure
            self._news.notify()

    # The reader's side.

    @property
    def failure(self) -> Exception | None:
        """The exception passed to `break_off`, or None."""
        return self._failure

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read available bytes, and wait if there are none; return 0 at the end of the body, or of a file of several."""
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

    def next_file(self) -> str | None:
        """Skip the rest of a file, and return the name of the next one; None if there is none."""
        while self.read(HELD_LIMIT_BYTES):
            pass
        with self._news:
            following = self._pieces.popleft() if self._pieces else None
            return following.name if isinstance(following, NextFile) else None

    def _fill(self, buffer: memoryview) -> int:
        filled = 0
        while self._pieces and filled < len(buffer):
            piece = self._pieces[0]
            if isinstance(piece, NextFile):
                break
            self._pieces.popleft()
            taken = min(len(piece), len(buffer) - filled)
            buffer[filled : filled + taken] = piece[:taken]
            filled += taken
            if taken < len(piece):
                self._pieces.appendleft(piece[taken:])
        self._held -= filled
        return filled
