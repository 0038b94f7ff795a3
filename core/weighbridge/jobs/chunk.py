"""Chunks: the slice of raw input lines that travels in one message, and what the producer already knows of them."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from threading import local
from typing import TYPE_CHECKING

import msgspec
import orjson
import zstandard

from weighbridge.jobs.codec import JSON_SPACE
from weighbridge.jobs.model import SCHEMA_VERSION, ErrorCode, JobError
from weighbridge.settings import MIB

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

COMPRESSION_LEVEL = 1
UNPACKED_LIMIT_BYTES = 1024 * MIB  #: over what any chunk or its results come to
_BLOCK_BYTES = 256 * 1024
UNREADABLE = (zstandard.ZstdError, ValueError, TypeError, KeyError, AttributeError)


class _Contexts(local):
    """What compresses and decompresses; each thread needs its own."""

    def __init__(self) -> None:
        self.compressor = zstandard.ZstdCompressor(level=COMPRESSION_LEVEL)
        self.decompressor = zstandard.ZstdDecompressor()


_contexts = _Contexts()


def compress(data: bytes) -> bytes:
    """Compress a blob for the store."""
    return _contexts.compressor.compress(data)


def decompress(data: bytes) -> bytes:
    """Undo `compress`; ValueError for what would fill the memory, which ours never does."""
    _checked_size(data)
    return _contexts.decompressor.decompress(data)


def decompressed_lines(data: bytes) -> Iterator[bytes]:
    """Undo `compress` some whole lines at a time: that is quicker than all at once, for it stays in the cache.

    Raises one of UNREADABLE, as `decompress` does.
    """
    left = _checked_size(data)
    begun: list[bytes] = []
    for block in zstandard.ZstdDecompressor().read_to_iter(data, write_size=_BLOCK_BYTES):
        left -= len(block)
        whole = block.rfind(b"\n") + 1
        if whole:
            yield b"".join((*begun, block[:whole]))
            begun.clear()
        begun.append(block[whole:])
    if left:
        raise ValueError(f"{left:,} bytes of a blob are missing")
    if any(begun):
        yield b"".join(begun)


def _checked_size(data: bytes) -> int:
    size = zstandard.frame_content_size(data)
    if not 0 <= size <= UNPACKED_LIMIT_BYTES:
        raise ValueError(f"a blob must unpack to at most {UNPACKED_LIMIT_BYTES:,} bytes")
    return size


@dataclass(frozen=True, slots=True)
class ChunkId:
    """A chunk's number and, where it was split, the part of its lines: `17` or `17:250-251`."""

    number: int
    start: int = 0
    end: int | None = None  #: exclusive; None: to the end

    @classmethod
    def parse(cls, text: str) -> ChunkId:
        """Read the form that `str` writes."""
        number, _, part = text.partition(":")
        if not part:
            return cls(int(number))
        start, _, end = part.partition("-")
        return cls(int(number), int(start), int(end))

    def __str__(self) -> str:
        return str(self.number) if self.end is None else f"{self.number}:{self.start}-{self.end}"

    def part(self, start: int, end: int) -> ChunkId:
        """Return the id of some of the chunk's lines, counted from the whole chunk's first."""
        return ChunkId(self.number, start, end)


class Line(msgspec.Struct, gc=False):
    """One line of a chunk: its place, its bytes, and why it cannot be graded where that is known."""

    index: int  #: from 0, within the whole chunk
    number: int  #: from 1, within the input; 0 where it is not known any more
    raw: bytes
    fault: JobError | None = None
    origins: Sequence[Origin] = ()

    @property
    def place(self) -> str:
        """Where the line stands, if its input is several files: "b.jsonl, line 2"; else empty."""
        at = bisect_right(self.origins, self.index, key=_index_of)
        if not at:
            return ""
        first, name, number = self.origins[at - 1]
        return f"{name} {number + self.index - first}"


Origin = tuple[int, str, int]
"""From which index on lines come from a file, "b.jsonl, line" for one, and the number there of the first."""


def _index_of(origin: Origin) -> int:
    return origin[0]


@dataclass(slots=True)
class Chunk:
    """A run of whole lines of input, with the number of the first, and the exceptions to grading them as they are."""

    first_line: int
    raw: bytes = b""
    line_count: int = 0
    #: indices of lines that an earlier line says already
    repeats: set[int] = field(default_factory=set)
    faults: dict[int, JobError] = field(default_factory=dict)  #: by index, what the producer found
    origins: list[Origin] = field(default_factory=list)  #: of an input of several files

    def note_origin(self, name: str, number: int) -> None:
        """Note where the line that is added next stands; those after it follow it unless they say otherwise."""
        if self.origins:
            index, last_name, last_number = self.origins[-1]
            if (name, number) == (last_name, last_number + self.line_count - index):
                return
        self.origins.append((self.line_count, name, number))

    def lines(self, part: ChunkId) -> Iterator[Line]:
        """Yield the lines of a part of the chunk that are jobs: not the blank ones, not the repeats."""
        rows = self.raw.split(b"\n")
        end = self.line_count if part.end is None else part.end
        for index in range(part.start, end):
            fault = self.faults.get(index)
            raw = rows[index] if index < len(rows) else b""
            if index not in self.repeats and (fault or raw.strip(JSON_SPACE)):
                number = self.first_line + index if self.first_line else 0
                yield Line(index, number, raw, fault, self.origins)

    def refuse(self, error: JobError) -> None:
        """Let every line be errored, because this worker does not know how to grade the chunk."""
        jobs = (line.index for line in self.lines(ChunkId(0)))
        self.faults |= dict.fromkeys(jobs if self.raw else range(self.line_count), error)

    def end_of(self, part: ChunkId) -> int:
        """Return the index after a part's last line."""
        return self.line_count if part.end is None else part.end

    def pack(self) -> bytes:
        """Return the chunk as the store keeps it: a line of JSON, then the raw lines, compressed."""
        header = orjson.dumps(
            {
                "v": SCHEMA_VERSION,
                "first": self.first_line,
                "lines": self.line_count,
                "repeats": sorted(self.repeats),
                "faults": {
                    str(index): [e.code, e.message, e.hint] for index, e in self.faults.items()
                },
                "origins": self.origins,
            }
        )
        return compress(header + b"\n" + self.raw)

    @classmethod
    def lost(cls, part: ChunkId, jobs: int) -> Chunk:
        """Return what stands for a chunk, or part of one, that cannot be read any more."""
        chunk = cls(0, line_count=jobs if part.end is None else part.end)
        chunk.refuse(
            JobError(
                ErrorCode.INPUT_LOST,
                "the server has lost the line, or cannot read it any more",
                "submit the case again",
            )
        )
        return chunk

    @classmethod
    def unpack(cls, blob: bytes) -> Chunk:
        """Undo `pack`; raises one of UNREADABLE for anything else."""
        head, _, raw = decompress(blob).partition(b"\n")
        header = orjson.loads(head)
        if header["v"] != SCHEMA_VERSION:
            chunk = cls(header["first"], line_count=header["lines"])
            chunk.refuse(unknown_version(header["v"]))
            return chunk
        faults = {int(index): JobError(*fault) for index, fault in header["faults"].items()}
        origins = [(index, name, number) for index, name, number in header.get("origins", ())]
        return cls(header["first"], raw, header["lines"], set(header["repeats"]), faults, origins)


def unknown_version(version: object) -> JobError:
    """Return what jobs are errored with whose schema version is another than ours."""
    return JobError(
        ErrorCode.SCHEMA_VERSION,
        f"the job has schema version {str(version)[:40]}, this worker knows {SCHEMA_VERSION}",
        "bring producer and workers to the same release",
    )
