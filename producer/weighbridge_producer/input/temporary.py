"""Temporary storage for data that is too large for memory, in private files that do not outlive the process."""

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


def scratch_database(
    table: str, *, has_long_rows: bool = False, is_of_one_thread: bool = True
) -> sqlite3.Connection:
    """Return a database with one empty table, of which up to 32 MiB are cached in memory.

    Without `is_of_one_thread`, other threads may read what one thread has written before.
    """
    # Without a name, SQLite uses a private file that is deleted when the connection closes.
    base = sqlite3.connect("", isolation_level=None, check_same_thread=is_of_one_thread)
    # Without a rowid, a row is kept in the index itself, which long rows would make deep.
    form = "" if has_long_rows else " WITHOUT ROWID"
    for command in (
        "PRAGMA journal_mode = OFF",
        "PRAGMA synchronous = OFF",
        f"PRAGMA cache_size = -{_CACHE_KIB}",
        f"CREATE TABLE {table}{form}",
        "BEGIN",
    ):
        base.execute(command)
    return base


@contextmanager
def seekable(stream: BinaryIO) -> Iterator[BinaryIO]:
    """Provide a seekable form of a stream, copied to disk if necessary: some formats are read from the end."""
    if stream.seekable():
        yield stream
        return
    with tempfile.TemporaryFile(prefix="weighbridge-") as spool:
        shutil.copyfileobj(stream, spool, MIB)
        spool.seek(0)
        yield cast("BinaryIO", spool)
