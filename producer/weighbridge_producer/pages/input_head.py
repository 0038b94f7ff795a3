"""The beginning of an input, of which as much is read as can be processed quickly."""

from __future__ import annotations

import io
from contextlib import suppress
from dataclasses import dataclass
from typing import cast

from weighbridge.settings import KIB, MIB
from weighbridge_producer.input.files.decompress import DAMAGE, unpacked
from weighbridge_producer.input.files.decompress import HEAD_BYTES as PACKED_SIGN_BYTES
from weighbridge_producer.input.files.lines import BLOCK_BYTES
from weighbridge_producer.pages.large_cases import parts_of
from weighbridge_producer.pages.parquet_parts import ParquetParts, is_parquet_name

HEAD_BYTES = 256 * KIB  #: examined at the beginning of an input
EXPANDED_BYTES = 4 * MIB  #: decompressed and examined
#: lines, and members of objects and arrays, that can be processed in about a second
_PARTS = 300_000
_PACKINGS = ((b"\x1f\x8b", "gzip"), (b"\x28\xb5\x2f\xfd", "zstd"))


@dataclass(frozen=True, slots=True)
class Head:
    """The beginning of an input."""

    name: str
    content: bytes
    is_whole: bool
    #: bytes of the whole input, if its content is a Parquet file's beginning and footer
    size: int = 0

    @property
    def packing(self) -> str:
        """The compression; empty if there is none."""
        return next((name for sign, name in _PACKINGS if self.content.startswith(sign)), "")

    def bounded(self) -> Head:
        """Return a part that can be processed quickly, with limited decompressed size and numbers of lines and members."""
        if is_parquet_name(self.name):
            return self  # its rows are read one batch at a time
        plain, is_all = self._plain()
        end = _end_within(plain)
        if is_all and end == len(plain):
            return self
        return Head(self.name, plain[:end], is_whole=False)

    def _plain(self) -> tuple[bytes, bool]:
        """Return the decompressed content, up to any damage, and whether it is complete."""
        if not self.packing:
            return self.content, True
        packed = cast("io.RawIOBase", io.BytesIO(self.content))
        unpacking = cast("io.RawIOBase", unpacked(packed, self.content[:PACKED_SIGN_BYTES]))
        plain = bytearray()
        with suppress(*DAMAGE):
            while len(plain) <= EXPANDED_BYTES and (piece := unpacking.read(BLOCK_BYTES)):
                plain += piece
        return bytes(plain), len(plain) <= EXPANDED_BYTES

    def stream(self) -> io.BytesIO:
        """Return a stream of the readable part; if not compressed, only complete lines, or parts of Parquet."""
        if self.size:
            return ParquetParts(self.content, self.size, self.name)
        if self.is_whole or self.packing:
            return _Named(self.content, self.name)
        return _Named(self.content[: self.content.rfind(b"\n") + 1], self.name)


def _end_within(plain: bytes) -> int:
    """Return the end of the first lines if these, or their members, are too many."""
    if plain.count(b"\n") + parts_of(plain) <= _PARTS:
        return len(plain)
    end = parts = 0
    for line in io.BytesIO(plain):
        parts += 1 + parts_of(line)
        if parts > _PARTS:
            break
        end += len(line)
    return end


class _Named(io.BytesIO):
    def __init__(self, content: bytes, name: str) -> None:
        super().__init__(content)
        self.name = name
