"""SQLite databases as input: opened so that nothing beside them changes."""

from __future__ import annotations

import errno
import os
import sqlite3
import stat
import tempfile
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO
from urllib.parse import quote

from weighbridge.errors import Fault
from weighbridge.jobs.error_codes import ErrorCode
from weighbridge.settings import KIB, MIB
from weighbridge_producer.input.files.databases.sqlite_rows import (
    Database,
    DatabaseError,
    Steps,
    as_errors,
    damage,
    page_sizes,
    read_schema,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SIGN = b"SQLite format 3\0"  #: the first bytes of a database
_WAL, _JOURNAL = "-wal", "-journal"
_SIDE_FILES = (_WAL, "-shm", _JOURNAL)  #: ends of the names of files that SQLite keeps beside one
_JOURNAL_SIGN = b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"  #: of a transaction that was not ended
_AT_ONCE = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)  #: opens without waiting
_MOST_RETRIES = 3


def database_beside(file: Path) -> Path | None:
    """Return the database beside which SQLite keeps a file; None if it is no such file."""
    end = next((end for end in _SIDE_FILES if file.name.endswith(end)), None)
    if end is None:
        return None
    database = file.with_name(file.name.removesuffix(end))
    return database if is_database(database) else None


def is_database(file: Path) -> bool:
    """Return whether a regular file is an SQLite database."""
    return _begins_with(file, SIGN)


def _begins_with(file: Path, sign: bytes) -> bool:
    """Return whether a regular file begins with some bytes."""
    try:
        with _opened_regular(file) as stream:
            return stream.read(len(sign)) == sign
    except (OSError, ValueError):
        return False


def _opened_regular(file: Path) -> BinaryIO:
    """Open a regular file; a pipe, which could block, and anything else is an OSError."""
    stream = os.fdopen(os.open(file, os.O_RDONLY | _AT_ONCE), "rb")
    if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
        stream.close()
        raise OSError(errno.EINVAL, "not a regular file")
    return stream


def wal_of(file: Path) -> Path | None:
    """Return the write-ahead log beside a file, which holds the latest changes of a database; None if there is none."""
    real = Path(os.path.realpath(file))  # SQLite keeps it beside the file that a link leads to
    wal = real.with_name(real.name + _WAL)
    status = _status(wal)
    return wal if status and status.st_size and stat.S_ISREG(status.st_mode) else None


@contextmanager
def opened_database(
    stream: BinaryIO,
    check_size: Callable[[int], None],
    longest_cell: int,
    *,
    is_checked: bool = True,
) -> Iterator[Database]:
    """Open the database in a stream.

    The file of the stream is read where it is, unless the latest changes are in a write-ahead log: SQLite would write beside
    it. Then, and if there is no file, a copy is read; `check_size` is called with the number of bytes copied so far.
    With `is_checked`, all pages are. Raises DatabaseError.
    """
    path = _path_of(stream)
    if path and _begins_with(path.with_name(path.name + _JOURNAL), _JOURNAL_SIGN):
        raise DatabaseError(
            Fault(
                ErrorCode.INPUT_TRUNCATED,
                f"a transaction of the SQLite database is not ended: its journal (FILE{_JOURNAL}) is beside it",
                "read it when the program that writes it has ended; if that broke off, `sqlite3 FILE .tables` restores"
                " the state before",
            )
        )
    wal = wal_of(path) if path else None
    if path and not wal:
        before = _version(path)
        with database_without_log(path, longest_cell, is_checked=is_checked) as database:
            yield database
        if _version(path) != before:
            raise DatabaseError(_being_written("was written to while it was read"))
        return
    with tempfile.TemporaryDirectory(prefix="weighbridge-") as folder:
        copy = Path(folder) / "store.db"
        if path and wal:
            _copy_both(path, wal, copy, check_size)
            _write_log(copy)
        else:
            _copy(stream, copy, check_size)
        with database_without_log(copy, longest_cell, is_checked=is_checked) as database:
            yield database


@contextmanager
def database_without_log(
    file: Path, longest_cell: int = MIB, *, is_checked: bool = False
) -> Iterator[Database]:
    """Open a database where it is, without what stands beside it; raises DatabaseError."""
    with _connected(file, longest_cell) as connection:
        yield Database(connection, file, is_checked=is_checked)


def _write_log(copy: Path) -> None:
    """Write the changes in the log of a copy into the copy itself."""
    has = sum(file.stat().st_size for file in copy.parent.iterdir())
    with as_errors(), closing(sqlite3.connect(copy, isolation_level=None)) as connection:
        Steps(has).watch(connection)
        for setting in ("synchronous = OFF", "trusted_schema = OFF", "cell_size_check = ON"):
            connection.execute(f"PRAGMA {setting}").close()
        read_schema(connection)
        size, count = page_sizes(connection)
        if size * (count - 1) >= has:
            raise DatabaseError(damage(f"{count:,} pages are stated, of which some are missing"))
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


@contextmanager
def _connected(path: Path, longest_cell: int) -> Iterator[sqlite3.Connection]:
    with as_errors():
        connection = sqlite3.connect(
            f"file:{quote(os.fsencode(path.absolute()))}?mode=ro&immutable=1",
            uri=True, isolation_level=None, check_same_thread=False,
        )  # fmt: skip
    with closing(connection):
        connection.text_factory = lambda text: text.decode(errors="replace")
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, longest_cell)
        with as_errors():
            for setting in (
                "trusted_schema = OFF",
                "query_only = ON",
                "ignore_check_constraints = ON",
                "cell_size_check = ON",
                "mmap_size = 0",
            ):
                connection.execute(f"PRAGMA {setting}").close()
        yield connection


def _path_of(stream: BinaryIO) -> Path | None:
    """Return the path of the regular file that a stream reads from its start to its end; None for other streams."""
    name = getattr(stream, "name", None)
    if not isinstance(name, (str, Path)) or not hasattr(stream, "fileno"):
        return None
    try:
        path = Path(os.path.realpath(name))
        status = os.fstat(stream.fileno())
        is_same = stat.S_ISREG(status.st_mode) and os.path.samestat(status, path.stat())
    except (OSError, ValueError):
        return None
    return path if is_same else None


def _copy_both(path: Path, wal: Path, copy: Path, check_size: Callable[[int], None]) -> None:
    """Copy a database and its write-ahead log as they are at one time."""
    for _ in range(_MOST_RETRIES):
        before = [_version(path), _version(wal)]
        for source, target in ((path, copy), (wal, copy.with_name(copy.name + _WAL))):
            with _opened_regular(source) as stream:
                _copy(stream, target, check_size)
        if before == [_version(path), _version(wal)]:
            return
    raise DatabaseError(_being_written("is being written to"))


def _being_written(what: str) -> Fault:
    return Fault(
        ErrorCode.INPUT_TRUNCATED,
        f"the SQLite database {what}",
        "read it again when the program that writes it has ended",
    )


def _version(path: Path) -> tuple[int, int] | None:
    status = _status(path)
    return (status.st_size, status.st_mtime_ns) if status else None


def _status(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except (OSError, ValueError):
        return None


def _copy(stream: BinaryIO, target: Path, check_size: Callable[[int], None]) -> None:
    size = 0
    with target.open("wb") as copy:
        while block := stream.read(256 * KIB):
            size += len(block)
            check_size(size)
            copy.write(block)
