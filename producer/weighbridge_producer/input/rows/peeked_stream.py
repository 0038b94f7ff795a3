"""A stream whose first bytes are known before it is read, so that the format of its rows can be detected."""

from __future__ import annotations

import io
from typing import Any

from weighbridge.jobs.line import JSON_SPACE
from weighbridge.settings import MIB
from weighbridge_producer.input.files.decompress import DAMAGE, ExpansionError
from weighbridge_producer.input.rows.text_encodings import HEAD_BYTES

_HELD_LINE_BYTES = MIB  #: maximum length of a line that is held until its end is read
OPEN = frozenset({b"{", b"[", b","})  #: last characters of a line after which a document continues


class PeekedStream(io.RawIOBase):
    """A stream whose first bytes can be inspected before reading."""

    def __init__(self, plain: io.BufferedReader, *, past_first_line: bool = False) -> None:
        self._plain = plain
        self._past_first_line = past_first_line  #: True if the data after the first row matter
        self.head = b""  #: first bytes, as many as needed to detect the format
        self.is_whole = False  #: True if `head` is the whole content
        self._failure: Exception | None = None  #: failure of reading beyond the first bytes
        while not self._is_enough():
            try:
                more = plain.read1(HEAD_BYTES - len(self.head))
            except (ExpansionError, *DAMAGE) as error:
                if not self.head:
                    raise
                self._failure = error
                break
            self.head += more
            if not more:
                self.is_whole = True
                break
        self._ready = self.head

    def _is_enough(self) -> bool:
        # Rows that arrive one by one through a pipe must not be delayed until others follow.
        first, newline, rest = self.head.lstrip(JSON_SPACE).partition(b"\n")
        is_row = first.startswith(b"{") and newline and first.rstrip(JSON_SPACE)[-1:] not in OPEN
        is_followed = not self._past_first_line or rest.strip(JSON_SPACE)
        return len(self.head) >= HEAD_BYTES or bool(is_row and is_followed)

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read into a buffer, the inspected bytes first; then raise the error that ended the inspection, if any."""
        if self._failure and not self._ready:
            raise self._failure
        data = self._ready[: len(buffer)] or self._plain.read1(len(buffer))
        self._ready = self._ready[len(data) :]
        buffer[: len(data)] = data
        return len(data)


class WholeLines(io.RawIOBase):
    """A stream that ends with the last whole line before any damage.

    Text is decoded and split in blocks; without this class, the block with the damage would be lost. Line breaks must be
    ASCII bytes.
    """

    def __init__(self, stream: io.RawIOBase) -> None:
        self._stream = stream
        self._ready = b""
        self._begun = b""  #: beginning of a line whose end has not been read
        self._is_read = False
        self.damage: Exception | None = None  #: set when the end is reached

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read into a buffer, up to any damage."""
        while not self._ready and not self._is_read:
            self._read(len(buffer))
        data, self._ready = self._ready[: len(buffer)], self._ready[len(buffer) :]
        buffer[: len(data)] = data
        return len(data)

    def _read(self, size: int) -> None:
        try:
            more = self._stream.read(size) or b""
        except (ExpansionError, *DAMAGE) as error:
            self.damage, self._is_read = error, True
            return
        data = self._begun + more
        self._is_read = not more
        end = len(data) if self._is_read else data.rfind(b"\n") + 1
        end = len(data) if len(data) - end > _HELD_LINE_BYTES else end
        self._ready, self._begun = data[:end], data[end:]
