"""Streams whose beginning is kept, so that it can be read several times."""

from __future__ import annotations

import io
import tempfile
import weakref
from typing import TYPE_CHECKING, Any

from weighbridge.settings import MIB

if TYPE_CHECKING:
    from typing import BinaryIO

_KEPT_BYTES = 256 * MIB
_KEPT_BYTES_IN_MEMORY = MIB  #: more are kept in a private file


class KeptStream:
    """A stream whose first 256 MiB can be read several times, and then all of it once."""

    def __init__(self, stream: io.RawIOBase | io.BufferedIOBase | BinaryIO) -> None:
        self.name = str(getattr(stream, "name", ""))
        self._stream = stream
        self._kept = tempfile.SpooledTemporaryFile(_KEPT_BYTES_IN_MEMORY, prefix="weighbridge-")  # noqa: SIM115 - closed below
        weakref.finalize(self, self._kept.close)
        self._size = 0
        self._failure: Exception | None = None

    def beginning(self) -> io.BufferedReader:
        """Return a stream that ends where no more is kept."""
        return io.BufferedReader(_Reader(self, is_rest=False))

    def rest(self) -> io.RawIOBase:
        """Return a stream of all; after it, the beginning cannot be read again."""
        return _Reader(self, is_rest=True)

    def read_at(self, position: int, size: int, *, keeps: bool) -> bytes:
        """Return at most `size` bytes at a position, which is not behind those that were read."""
        if position < self._size:
            self._kept.seek(position)
            return self._kept.read(min(size, self._size - position))
        if self._failure:
            raise self._failure
        if not keeps:
            self._kept.close()
            return self._read(size)
        data = self._read(min(size, _KEPT_BYTES - self._size))
        self._kept.seek(self._size)
        self._kept.write(data)
        self._size += len(data)
        return data

    def _read(self, size: int) -> bytes:
        read1 = getattr(self._stream, "read1", None) or self._stream.read
        try:
            return bytes(read1(size) or b"")
        except Exception as error:
            self._failure = error
            raise


class _Reader(io.RawIOBase):
    def __init__(self, kept: KeptStream, *, is_rest: bool) -> None:
        self.name = kept.name
        self._kept = kept
        self._is_rest = is_rest
        self._position = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._kept.read_at(self._position, len(buffer), keeps=not self._is_rest)
        self._position += len(data)
        buffer[: len(data)] = data
        return len(data)
