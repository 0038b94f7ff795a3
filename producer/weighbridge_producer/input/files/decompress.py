"""Decompression of gzip and zstd in constant memory, with detection of every kind of damage."""

from __future__ import annotations

import io
import re
import zlib
from typing import TYPE_CHECKING, Any

import zstandard

from weighbridge.settings import KIB, MIB

if TYPE_CHECKING:
    from collections.abc import Callable

HEAD_BYTES = 4  #: enough to detect the format
#: Exceptions for damaged or truncated input.
DAMAGE = (
    EOFError,
    zlib.error,
    zstandard.ZstdError,
)

_GZIP = re.compile(rb"\x1f\x8b")
_ZSTD = re.compile(rb"\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18")  #: a frame, or a skippable one
_SLICE_BYTES = KIB  #: compressed bytes processed at a time: at most 32 MiB decompressed
_ZSTD_WINDOW_BYTES = 128 * MIB  #: the zstd command's own limit; more is a memory bomb
_ZSTD_WRITE_BYTES = 32 * KIB  #: size of output blocks
_CHECKED_AFTER_BYTES = 8 * MIB  #: of decompressed data, which costs seconds at most


class ExpansionError(Exception):
    """Compressed input expands beyond its limit."""


def check_expansion(plain_bytes: int, packed_bytes: int, limit: int) -> None:
    """Raise ExpansionError for a decompression bomb: input that expands by more than a factor of `limit`."""
    if plain_bytes > _CHECKED_AFTER_BYTES and plain_bytes > limit * packed_bytes:
        raise ExpansionError


def unpacked(packed: io.RawIOBase, head: bytes) -> io.RawIOBase | None:
    """Return the decompressed form of a stream that starts with `head`; None if it is not compressed."""
    if _GZIP.match(head):
        return _Unpacked(packed, lambda: zlib.decompressobj(wbits=31))
    if _ZSTD.match(head):
        return _Unpacked(packed, _zstd_frame)
    return None


class _Unpacked(io.RawIOBase):
    """Decompresses all gzip members or zstd frames, and detects a truncated last one.

    GzipFile discards data that precedes damage, and zstandard's reader does not report truncation.
    """

    def __init__(self, packed: io.RawIOBase, new_member: Callable[[], Any]) -> None:
        self._packed = packed
        self._new_member = new_member
        self._member: Any = None
        self._rest = b""  #: compressed bytes not processed yet
        self._ready = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._ready:
            piece = self._rest or self._packed.read(_SLICE_BYTES) or b""
            if not piece and self._member:
                raise EOFError("its end is missing")
            if not piece:
                return 0
            if self._member is None:
                piece = piece.lstrip(b"\0")  # gzip allows padding after a member
                self._member = self._new_member() if piece else None
            self._rest = self._unpack(piece) if piece else b""
        size = min(len(buffer), len(self._ready))
        buffer[:size], self._ready = self._ready[:size], self._ready[size:]
        return size

    def _unpack(self, piece: bytes) -> bytes:
        """Decompress a piece of input, and return the part of it that belongs to the next member."""
        self._ready = memoryview(self._member.decompress(piece))
        rest: bytes = self._member.unused_data
        if self._member.eof:
            self._member = None
        return rest


def _zstd_frame() -> Any:
    decompressor = zstandard.ZstdDecompressor(max_window_size=_ZSTD_WINDOW_BYTES)
    return decompressor.decompressobj(_ZSTD_WRITE_BYTES)
