"""Index of custom_ids, which detects duplicates without a server: in a dry run, a strict check, or a verification.

Of a batch, `submit/chunk_draft.py` and `submit/feeder.py` find them: within a chunk itself, in earlier chunks by asking the store.
"""

from __future__ import annotations

from enum import Enum, auto
from functools import cached_property
from hashlib import blake2b
from sqlite3 import Connection

from weighbridge_producer.input.temporary import scratch_database


class Duplicate(Enum):
    """How a line relates to earlier lines with the same custom_id."""

    FIRST = auto()  #: no earlier line has the id
    REPEAT = auto()  #: the first line with the id is identical
    CONFLICT = auto()  #: the first line with the id is different


class DuplicateIndex:
    """Index on disk of the first line with each custom_id, by digest; there may be millions."""

    @cached_property
    def _base(self) -> Connection:
        # Created on first use: most inputs do not need the database, and creating it takes time.
        table = "first_lines (id BLOB PRIMARY KEY, line BLOB, file TEXT)"
        # An interrupted reading is closed by another thread than the one that reads.
        return scratch_database(table, is_of_one_thread=False)

    def claim(self, custom_id: str, line: bytes, file: str | None = None) -> Duplicate:
        """Register the id of a line in a file, and return how the line relates to an earlier one with that id."""
        key, digest = _digest(custom_id.encode()), _digest(line)
        claimed = self._base.execute(
            "INSERT OR IGNORE INTO first_lines VALUES (?, ?, ?)", (key, digest, file)
        )
        if claimed.rowcount:
            return Duplicate.FIRST
        [first] = self._base.execute("SELECT line FROM first_lines WHERE id = ?", (key,)).fetchone()
        return Duplicate.REPEAT if first == digest else Duplicate.CONFLICT

    def first_file(self, custom_id: str) -> str:
        """Return the file of the first line with an id that has been claimed."""
        key = _digest(custom_id.encode())
        [file] = self._base.execute("SELECT file FROM first_lines WHERE id = ?", (key,)).fetchone()
        return str(file)

    def close(self) -> None:
        """Delete the index."""
        if "_base" in self.__dict__:
            self._base.close()


def _digest(data: bytes) -> bytes:
    return blake2b(data, digest_size=16).digest()
