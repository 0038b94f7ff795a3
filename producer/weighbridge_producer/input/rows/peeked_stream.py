"""A stream whose first bytes are known before it is read, so that the format of its rows can be detected."""

from __future__ import annotations

import io
from typing import Any

from weighbridge.jobs.line import JSON_SPACE
from weighbridge_producer.input.rows.text_encodings import HEAD_BYTES

OPEN = frozenset({b"{", b"[", b","})  #: last characters of a line on which a document goes on


class PeekedStream(io.RawIOBase):
    """A stream whose first bytes can be inspected before reading."""

    def __init__(self, plain: io.BufferedReader, *, past_first_line: bool = False) -> None:
        self._plain = plain
        self._past_first_line = past_first_line  #: True if what follows a first row matters
        self.head = b""  #: as many bytes as needed to detect the format
        self.is_whole = False  #: True if `head` is the whole content
        while not self._is_enough():
            more = plain.read1(HEAD_BYTES - len(self.head))
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
        """Read into a buffer, the inspected bytes first."""
        data = self._ready[: len(buffer)] or self._plain.read1(len(buffer))
        self._ready = self._ready[len(data) :]
        buffer[: len(data)] = data
        return len(data)
