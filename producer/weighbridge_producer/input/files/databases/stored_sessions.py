"""The sessions that agents keep in databases, read as a line of JSON for each, and what cannot be read as faults."""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING, BinaryIO

from weighbridge.errors import Fault
from weighbridge.jobs.error_codes import ErrorCode
from weighbridge.settings import MIB
from weighbridge.text import pluralize
from weighbridge_producer.input.files.databases.agent_stores import (
    NAMES_SHOWN,
    shown_name,
    stores_in,
    unknown_store,
)
from weighbridge_producer.input.files.databases.sqlite_file import (
    database_without_log,
    is_database,
    opened_database,
    wal_of,
)
from weighbridge_producer.input.files.databases.sqlite_rows import DatabaseError
from weighbridge_producer.input.files.databases.table_sessions import TableSessions
from weighbridge_producer.input.source_lines import SourceLine, length_fault

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from weighbridge_producer.input.files.databases.sqlite_rows import Database

_MOST_COPIED = 64 * MIB  #: of a database and its log, to find whether it is a store
_MOST_FAULTS = 1_000  #: that are kept before the first line


def is_known_store(file: Path) -> bool:
    """Return whether a file is a database in which an agent keeps its sessions.

    A database whose log is large is taken for one only if it was before the changes in the log.
    """
    if not is_database(file):
        return False
    try:
        with database_without_log(file) as database:
            is_known = bool(stores_in(database))
        wal = wal_of(file)
        if is_known or wal is None:
            return is_known
        if file.stat().st_size + wal.stat().st_size > _MOST_COPIED:
            return False
        with (
            file.open("rb") as stream,
            opened_database(stream, _check_copied, MIB, is_checked=False) as database,
        ):
            return bool(stores_in(database))
    except (DatabaseError, OSError):
        return False


def _check_copied(size: int) -> None:
    """Raise OSError if more is copied than the sizes of the files were."""
    if size > _MOST_COPIED:
        raise OSError(errno.EFBIG, "the file grows")


def session_lines(
    stream: BinaryIO,
    check_size: Callable[[int], None],
    limit_bytes: int,
    kept_bytes: int,
    on_empty: Callable[[int], None] = lambda _: None,
) -> Iterator[SourceLine]:
    """Yield each session in a database as a line; what cannot be read becomes a fault, after the first line.

    The content of lines over the limit is kept up to `kept_bytes`. `on_empty` is called with numbers of empty sessions.
    """
    faults = _Faults(max(limit_bytes, kept_bytes))
    is_begun = False
    most = max(limit_bytes, kept_bytes)
    try:
        with opened_database(stream, check_size, most) as database:
            for line in _lines_of(database, most, on_empty):
                if line.fault is None and len(line.raw) - 1 > limit_bytes:
                    raw = line.raw if kept_bytes else b"\n"
                    line.fault = length_fault(line.size - 1, limit_bytes)
                    line.raw = raw
                if line.fault and not is_begun:
                    # The kind of an input is detected from its first line.
                    faults.add(line)
                    continue
                is_begun = True
                yield line
                yield from faults.taken()
    except DatabaseError as error:
        yield from faults.taken()
        yield SourceLine(b"\n", error.fault)
    yield from faults.taken()


class _Faults:
    """Faults that wait for the first line: some of them, with up to `most` bytes of content, and how many more there are."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: list[SourceLine] = []
        self._bytes = 0
        self._more = 0

    def add(self, line: SourceLine) -> None:
        """Keep a fault, or count it."""
        if len(self._kept) == _MOST_FAULTS:
            self._more += 1
            return
        if self._bytes + len(line.raw) > self._most:
            line.raw = b"\n"
        self._bytes += len(line.raw)
        self._kept.append(line)

    def taken(self) -> list[SourceLine]:
        """Return the faults, which are then no longer kept."""
        taken, self._kept = self._kept, []
        if self._more:
            which = pluralize(self._more, "more session")
            text = f"{which} of the SQLite database cannot be read"
            taken.append(
                SourceLine(b"\n", Fault(ErrorCode.INVALID_JSON, text, "look at their rows"))
            )
        self._bytes = self._more = 0
        return taken


def _lines_of(
    database: Database, most: int, on_empty: Callable[[int], None]
) -> Iterator[SourceLine]:
    found = stores_in(database)
    if not found:
        raise DatabaseError(unknown_store(database))
    count = 0
    # What sessions in one table have, those in another one may have too.
    readers = {reader: reader() for reader in {store.reader for _, store in found}}
    each = [
        TableSessions(database, table, store, readers[store.reader], most) for table, store in found
    ]
    for sessions in each:
        sessions.look_ahead()
    for sessions in each:
        for line in sessions.lines():
            count += 1
            yield line
        on_empty(sessions.empty)
    if database.damage:
        if not any(sessions.is_damaged for sessions in each):
            yield SourceLine(b"\n", database.damage.fault)
    elif not count:
        tables = ", ".join(shown_name(table) for table, _ in found[:NAMES_SHOWN])
        have_rows = any(sessions.have_rows for sessions in each)
        lacking = next(filter(None, (store.lacking for _, store in found)), "content")
        why = f"the rows of {tables} have no {lacking}"
        why = why if have_rows else f"there are no rows in {tables}"
        text = f"the SQLite database has no sessions yet: {why}"
        fault = Fault(ErrorCode.NO_SESSIONS, text, "give one with sessions")
        yield SourceLine(b"\n", fault)
