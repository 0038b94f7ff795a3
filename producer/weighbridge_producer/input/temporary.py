"""Temporary storage for data that is too large for memory, in a private file that is deleted with its process."""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from contextlib import contextmanager
from typing import TYPE_CHECKING, BinaryIO, cast

from weighbridge.settings import MIB

if TYPE_CHECKING:
    from collections.abc import Iterator

_CACHE_KIB = 32 * 1024


def scratch_database(table: str) -> sqlite3.Connection:
    """Return a database of one empty table; 32 MiB of it are in memory, the rest on disk."""
    # With no name, SQLite keeps a private file that is gone when the connection is.
    base = sqlite3.connect("", isolation_level=None)
    for command in (
        "PRAGMA journal_mode = OFF",
        "PRAGMA synchronous = OFF",
        f"PRAGMA cache_size = -{_CACHE_KIB}",
        f"CREATE TABLE {table} WITHOUT ROWID",
        "BEGIN",
    ):
        base.execute(command)
    return base


@contextmanager
def seekable(stream: BinaryIO) -> Iterator[BinaryIO]:
    """Give a stream that can be read from its end, where some formats begin: a copy on disk, if need be."""
    if stream.seekable():
        yield stream
        return
    with tempfile.TemporaryFile(prefix="weighbridge-") as spool:
        shutil.copyfileobj(stream, spool, MIB)
        spool.seek(0)
        yield cast("BinaryIO", spool)
