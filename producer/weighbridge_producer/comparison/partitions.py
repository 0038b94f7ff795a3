"""Partitions: the entries of runs on disk, grouped so that those with the same custom_id can be read together."""

from __future__ import annotations

import tempfile
from typing import TYPE_CHECKING, Self
from zlib import crc32

import msgspec

from weighbridge_producer.comparison.compared_results import Entry

if TYPE_CHECKING:
    from collections.abc import Iterator

_PARTITIONS = 256  #: one is in memory at a time: about 8,000 results for two runs of 1,000,000
_BUFFERED = 48  #: entries buffered per partition

_Numbered = tuple[int, Entry]  #: an entry and the number of its run
_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(list[_Numbered])


class Partitions:
    """Entries in an unnamed temporary file, partitioned by key."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile(prefix="weighbridge-")  # noqa: SIM115 - closed by close()
        self._buffers: list[list[_Numbered]] = [[] for _ in range(_PARTITIONS)]
        self._segments: list[list[tuple[int, int]]] = [[] for _ in range(_PARTITIONS)]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def add(self, run: int, key: str, entry: Entry) -> None:
        """Store an entry of a run under a key."""
        number = crc32(key.encode()) % _PARTITIONS
        buffer = self._buffers[number]
        buffer.append((run, entry))
        if len(buffer) >= _BUFFERED:
            self._flush(number)

    def _flush(self, number: int) -> None:
        packed = _encoder.encode(self._buffers[number])
        self._segments[number].append((self._file.tell(), len(packed)))
        self._file.write(packed)
        self._buffers[number] = []

    def read(self) -> Iterator[Iterator[_Numbered]]:
        """Yield the entries of each partition; those of one run are in the order in which they were added."""
        for number, buffer in enumerate(self._buffers):
            if buffer:
                self._flush(number)
        for segments in self._segments:
            if segments:
                yield self._entries(segments)

    def _entries(self, segments: list[tuple[int, int]]) -> Iterator[_Numbered]:
        for offset, size in segments:
            self._file.seek(offset)
            yield from _decoder.decode(self._file.read(size))
