"""Ids of rows that repeat in a file of a known tool: a number is put after those of later rows that differ.

Tools write one row for each run, with the id of what was run: an example that was run three times has three rows.
"""

from __future__ import annotations

from functools import cached_property
from hashlib import blake2b
from typing import TYPE_CHECKING

import orjson

from weighbridge.jobs.limits import NAME_LIMIT
from weighbridge_producer.input.rows.source_rows import plain_value
from weighbridge_producer.input.temporary import scratch_database

if TYPE_CHECKING:
    from collections.abc import Callable
    from sqlite3 import Connection

    from weighbridge_producer.input.mapping.row_values import Row

SEPARATOR = "#"  #: between an id and the number of its repeat; `/` is usual within ids


class NumberedIds:
    """The ids of the rows read so far, on disk, with the rows that have each; there may be millions."""

    def __init__(self, on_numbered: Callable[[str], None] = lambda _: None) -> None:
        """Begin without rows; `on_numbered` is called with each new id that has a number."""
        self._on_numbered = on_numbered

    @cached_property
    def _base(self) -> Connection:
        table = "ids (id BLOB PRIMARY KEY, row BLOB, number INTEGER)"
        # An interrupted reading is closed by another thread than the one that reads.
        return scratch_database(table, is_of_one_thread=False)

    def id_of(self, custom_id: str, row: Row) -> str:
        """Return the id of the next row: its own or, if an earlier row has it, `id#2` for the second that differs, and so on.

        A row that is equal to an earlier one with its id has the id of that one.
        """
        digest = _digest(row)
        if self._is_new(custom_id, digest):
            return custom_id
        first, number = self._base.execute(
            "SELECT row, number FROM ids WHERE id = ?", (_key(custom_id),)
        ).fetchone()
        if first == digest:
            return custom_id
        of_row = _key(custom_id, digest)
        known = self._base.execute("SELECT number FROM ids WHERE id = ?", (of_row,)).fetchone()
        if known:
            return _numbered(custom_id, known[0])
        number += 1
        while not self._is_new(named := _numbered(custom_id, number), digest):
            number += 1
        self._base.execute("UPDATE ids SET number = ? WHERE id = ?", (number, _key(custom_id)))
        self._base.execute("INSERT INTO ids VALUES (?, ?, ?)", (of_row, digest, number))
        self._on_numbered(named)
        return named

    def _is_new(self, custom_id: str, digest: bytes) -> bool:
        """Register an id for a row, and return whether no earlier row has it."""
        values = (_key(custom_id), digest)
        return bool(
            self._base.execute("INSERT OR IGNORE INTO ids VALUES (?, ?, 1)", values).rowcount
        )

    def close(self) -> None:
        """Delete the ids."""
        if "_base" in self.__dict__:
            self._base.close()


def _numbered(custom_id: str, number: int) -> str:
    """Return an id with a number; a valid one is shortened as far as it has to be to stay valid."""
    after = f"{SEPARATOR}{number}"
    kept = NAME_LIMIT - len(after) if len(custom_id) <= NAME_LIMIT else None
    return f"{custom_id[:kept]}{after}"


def _digest(row: Row) -> bytes:
    """Return a digest of all values of a row."""
    try:
        text = orjson.dumps(row, plain_value, orjson.OPT_NON_STR_KEYS)
    except (TypeError, RecursionError):
        text = repr(row).encode(errors="surrogatepass")
    return blake2b(text, digest_size=16).digest()


def _key(custom_id: str, digest: bytes = b"") -> bytes:
    return blake2b(custom_id.encode(errors="surrogatepass"), key=digest, digest_size=16).digest()
