"""Several files that are read as one, with the methods of `Path` that are needed to read input."""

from __future__ import annotations

import io
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from weighbridge.settings import MIB

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

#: Of all files in a group that is one document: more are read file by file.
GROUP_LIMIT_BYTES = 120 * MIB
BLOCK_BYTES = 256 * 1024


@dataclass(frozen=True)
class FileGroup:
    """Files of one run, named by the path of their folder, or of the first of them."""

    path: Path
    files: tuple[Path, ...]  #: in reading order

    @property
    def name(self) -> str:
        """The name of the folder, or of the first file."""
        return self.path.name or self.path.resolve().name

    def __str__(self) -> str:
        return str(self.path)

    def open(self, _mode: str = "rb", buffering: int = -1) -> BinaryIO:
        """Open the files for reading, as the text of one file."""
        size = buffering if buffering > 0 else io.DEFAULT_BUFFER_SIZE
        return cast("BinaryIO", io.BufferedReader(_Blocks(self.blocks()), size))

    def size(self) -> int:
        """Return the total size in bytes as read."""
        return sum(file.stat().st_size for file in self.every()) + self.added_bytes()

    def version(self) -> list[str | int]:
        """Return a value that changes with the names, sizes and modification times of the files."""
        digest = sha256()
        for file in self.every():
            digest.update(repr((str(file.absolute()), *version_of(file))).encode())
        return [str(self.path.absolute()), digest.hexdigest()]

    def every(self) -> list[Path]:
        """Return all files that are read."""
        return [*self.files]

    def added_bytes(self) -> int:
        """Return how many bytes stand between the files' contents."""
        return len(self.files)

    def blocks(self) -> Iterator[bytes]:
        """Yield the text: the files one after the other, each with a line break after it."""
        for file in self.files:
            yield from content(file)
            yield b"\n"


def version_of(file: Path) -> tuple[int, int]:
    """Return the size and the modification time of a file."""
    status = file.stat()
    return status.st_size, status.st_mtime_ns


def content(file: Path) -> Iterator[bytes]:
    """Yield the bytes of a file in blocks."""
    with file.open("rb") as stream:
        while block := stream.read(BLOCK_BYTES):
            yield block


def part(file: Path, start: int, size: int) -> bytes:
    """Return bytes of a file from its start, or from its end if `start` is negative; none if it cannot be read."""
    try:
        with file.open("rb") as stream:
            if start < 0:
                stream.seek(max(start, -file.stat().st_size), io.SEEK_END)
            return stream.read(size)
    except OSError:
        return b""  # reported when the file is read


class _Blocks(io.RawIOBase):
    """Blocks of bytes as a stream."""

    def __init__(self, blocks: Iterator[bytes]) -> None:
        self._blocks = blocks
        self._left = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._left:
            block = next(self._blocks, None)
            if block is None:
                return 0
            self._left = block
        given, self._left = self._left[: len(buffer)], self._left[len(buffer) :]
        buffer[: len(given)] = given
        return len(given)
