"""Scratch: what is too much for memory, in a private file that is gone when its user is."""

from __future__ import annotations

import sqlite3

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
