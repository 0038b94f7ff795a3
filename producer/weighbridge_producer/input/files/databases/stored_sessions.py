"""The sessions that agents keep in databases, read as a line of JSON for each.

A line has the rows of a session as they are; the importer of the format reads the JSON in their columns.
"""

from __future__ import annotations

import errno
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING, Any, BinaryIO

import orjson

from weighbridge.errors import Fault
from weighbridge.jobs.error_codes import ErrorCode
from weighbridge.settings import MIB
from weighbridge.text import pluralize
from weighbridge.traces.fields import id_of, json_in
from weighbridge.traces.formats.agno_members import MEMBERS, ContainedRuns
from weighbridge.traces.split import single_traces
from weighbridge.traces.stored_rows import PARTS, ROWS, SESSION, SUB_SESSIONS
from weighbridge.traces.wrappers import UNREAD_LINES
from weighbridge_producer.input.files.databases.agent_stores import (
    NAMES_SHOWN,
    Table,
    shown_name,
    stores_in,
    unknown_store,
)
from weighbridge_producer.input.files.databases.langgraph_checkpoints import STATE, Checkpoints
from weighbridge_producer.input.files.databases.sqlite_file import (
    database_without_log,
    is_database,
    opened_database,
    wal_of,
)
from weighbridge_producer.input.files.databases.sqlite_rows import DamageError, DatabaseError
from weighbridge_producer.input.source_lines import SourceLine, length_fault
from weighbridge_producer.input.temporary import scratch_database

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from weighbridge_producer.input.files.databases.agent_stores import Store
    from weighbridge_producer.input.files.databases.sqlite_rows import Database, Row

_MOST_COPIED = 64 * MIB  #: of a database and its log, to find whether it is a store
_MOST_FAULTS = 1_000  #: that are kept before the first line
_ROWS_OF_SESSION = "SELECT source, row FROM rows WHERE session = ? ORDER BY source, row"
_NAMES = frozenset({"id", "message_id"})  #: columns without which a row can be read


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
    stream: BinaryIO, check_size: Callable[[int], None], limit_bytes: int, kept_bytes: int
) -> Iterator[SourceLine]:
    """Yield each session in a database as a line; what cannot be read becomes a fault, after the first line.

    The content of lines over the limit is kept up to `kept_bytes`.
    """
    faults = _Faults(max(limit_bytes, kept_bytes))
    is_begun = False
    most = max(limit_bytes, kept_bytes)
    try:
        with opened_database(stream, check_size, most) as database:
            for line in _lines_of(database, most):
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


def _lines_of(database: Database, most: int) -> Iterator[SourceLine]:
    found = stores_in(database)
    if not found:
        raise DatabaseError(unknown_store(database))
    count = 0
    contained = ContainedRuns()
    each = [_Sessions(database, *described, most, contained) for described in found]
    for sessions in each:
        sessions.find_contained()
    for sessions in each:
        for line in sessions.lines():
            count += 1
            yield line
    if database.damage:
        if not any(sessions.is_damaged for sessions in each):
            yield SourceLine(b"\n", database.damage.fault)
    elif not count:
        tables = ", ".join(shown_name(table) for table, _ in found[:NAMES_SHOWN])
        have_rows = any(sessions.have_rows for sessions in each)
        lacking = next((store.filled[2] for _, store in found if store.filled), "content")
        why = f"the rows of {tables} have no {lacking}"
        why = why if have_rows else f"there are no rows in {tables}"
        text = f"the SQLite database has no sessions yet: {why}"
        yield SourceLine(b"\n", Fault(ErrorCode.INVALID_JSON, text, "give one with sessions"))


class _Sessions:
    """The sessions whose rows are in one table, and in that of their parts."""

    def __init__(
        self, database: Database, table: str, store: Store, most: int, contained: ContainedRuns
    ) -> None:
        self._database = database
        self._contained = contained if store.container_columns else None
        said = Table(table, store.columns.union(store.key), store.others)
        #: The tables with the rows of sessions, each with the columns that are read.
        self._tables = [(each.name, self._columns_of(each)) for each in (said, store.parts) if each]
        self._store = store
        self._most = most
        #: By the id of a session: the number of its row, those of its sub-sessions, and of one of these the id of the first.
        self._sessions: dict[Any, int] = {}
        self._subs: dict[Any, list[int]] = {}
        self._roots: dict[Any, Any] = {}
        self._messages: dict[str, int] = {}  #: of the threads of LangGraph that were read
        self._damage = database.damage  #: that may hide rows of any session
        self.is_damaged = False  #: whether damage was found in the rows
        self.have_rows = False
        self._damaged_row: DamageError | None = None  #: the first one

    def _columns_of(self, table: Table) -> list[str]:
        return sorted(table.columns | (table.others & self._database.tables[table.name]))

    def lines(self) -> Iterator[SourceLine]:
        """Yield the lines of all sessions in the order in which they began."""
        if self._store.sessions:
            self._find_sessions(self._store.sessions)
        index = scratch_database(
            "rows (session INTEGER, source INTEGER, row INTEGER, PRIMARY KEY (session, source, row))",
            is_of_one_thread=False,
        )
        with closing(index):
            keys: dict[tuple[Any, ...], int] = {}
            for source, (table, _) in enumerate(self._tables):
                try:
                    for row, *names, name in self._database.rows(table, self._store.key):
                        root = self._roots.get(name, name)
                        number = keys.setdefault((*names, root), len(keys))
                        values = (number, source, row)
                        index.execute("INSERT OR IGNORE INTO rows VALUES (?, ?, ?)", values)
                except DamageError as error:
                    self._found(error)
            self.have_rows = bool(keys)
            for key, number in keys.items():
                yield from self._session(key, partial(index.execute, _ROWS_OF_SESSION, (number,)))
        damage = self._damage if self.is_damaged else self._damaged_row
        if damage:
            self.is_damaged = True
            yield SourceLine(b"\n", damage.fault)

    def _found(self, damage: DamageError) -> None:
        self._damage, self.is_damaged = damage, True

    def find_contained(self) -> None:
        """Find the runs that others contain, in rows that have such runs."""
        [(table, columns), *_] = self._tables
        if self._contained is None or self._store.container_columns.isdisjoint(
            self._database.tables[table]
        ):
            return
        try:
            for _, *cells in self._database.rows(table, columns):
                row = {
                    name: cell
                    for name, cell in zip(columns, cells, strict=True)
                    if type(cell) is str
                }
                size = sum(map(len, row.values()))
                if size <= self._most and any(
                    name in cell for cell in row.values() for name in MEMBERS
                ):
                    self._contained.add_row(row)
        except DamageError as error:
            self._found(error)

    def _find_sessions(self, table: Table) -> None:
        """Find the rows of sessions, and which of them others have started."""
        parents: dict[Any, Any] = {}
        columns = ("id", *filter(None, [self._store.parent]))
        try:
            for row, name, *parent in self._database.rows(table.name, columns):
                self._sessions[name] = row
                parents[name] = parent[0] if parent else None
        except DamageError as error:
            self._found(error)
        for name, first in _firsts(parents).items():
            if first != name:
                self._roots[name] = first
                self._subs.setdefault(first, []).append(self._sessions[name])

    def _session(
        self, key: tuple[Any, ...], numbers: Callable[[], Iterable[tuple[int, int]]]
    ) -> Iterator[SourceLine]:
        checkpoints = Checkpoints(self._messages) if self._store.is_packed else None
        lists, size, unread = self._rows_in(numbers(), checkpoints)
        if checkpoints and checkpoints.copied:
            # A thread of nothing but copies is read as it is.
            checkpoints = Checkpoints({}, checkpoints.copied)
            lists, size, unread = self._rows_in(numbers(), checkpoints)
        if size > self._most:
            yield SourceLine(b"\n", length_fault(size, self._most), size)
            return
        if checkpoints:
            checkpoints.close(self._messages)
        if not (any(lists) or unread):
            return
        traces = single_traces(self._value(key[-1], lists)) if any(lists) else None
        if traces is None:
            name, table = shown_name(str(key[-1])), shown_name(self._tables[0][0])
            text = f"the session {name} in the table {table} cannot be read: {self._why(unread)}"
            yield SourceLine(b"\n", Fault(ErrorCode.INVALID_JSON, text, "look at its rows"), size)
            return
        for trace_id, trace in traces:
            if self._contained is not None and type(trace) is dict and trace in self._contained:
                continue
            yield _line({"id": trace_id or id_of(key[-1]), "trace": trace}, unread)

    def _rows_in(
        self, numbers: Iterable[tuple[int, int]], checkpoints: Checkpoints | None
    ) -> tuple[list[list[Row]], int, int]:
        """Return the rows of a session in each table, how long they are up to the limit, and how many cannot be read."""
        lists: list[list[Row]] = [[] for _ in self._tables]
        size, unread = 0, int(self._damage is not None)
        for source, number in numbers:
            table, columns = self._tables[source]
            row = self._row(table, columns, number)
            if row is not None and checkpoints:
                row, columns = checkpoints.as_text(row), [STATE]
            if row is None or not self._is_readable(row, columns):
                unread += 1
                continue
            if not self._is_filled(row) or self._is_copy(row):
                continue
            size += sum(len(cell) for cell in row.values() if type(cell) is str)
            if size > self._most:
                break
            lists[source].append(row)
        return lists, size, unread

    def _why(self, unread: int) -> str:
        if unread:
            return f"{pluralize(unread, 'row')} cannot be read"
        if self._store.is_packed:
            return "its messages have a form that is not read"
        return "its rows do not have the form of this store"

    def _value(self, name: Any, lists: list[list[Row]]) -> Any:
        """Return what is known of a session, as the importer of its format takes it."""
        if self._store.is_packed:
            return [json_in(row[STATE]) for listed in lists for row in listed]
        if not self._store.sessions:
            return lists[0]
        about = self._about(self._sessions.get(name)) or {"id": name}
        value = {SESSION: about, **dict(zip((ROWS, PARTS), lists, strict=False))}
        subs = [found for each in self._subs.get(name, ()) if (found := self._about(each))]
        return value | ({SUB_SESSIONS: subs} if subs else {})

    def _is_readable(self, row: Row, columns: Sequence[str]) -> bool:
        """Return whether all cells of a row are of JSON, or of text where that holds JSON with what was said."""
        if not _NAMES.issuperset(column for column in columns if column not in row):
            return False
        held = row[self._store.filled[0]] if self._store.filled else None
        if type(held) is str and held and not self._is_filled(row):
            try:
                json_in(held)
            except ValueError:
                return False
        return held is None or type(held) is str

    def _is_filled(self, row: Row) -> bool:
        if self._store.filled is None:
            return True
        column, text, _ = self._store.filled
        return text in str(row[column])

    def _is_copy(self, row: Row) -> bool:
        if self._store.copies is None:
            return False
        column, start = self._store.copies
        return str(row[column]).startswith(start)

    def _about(self, number: int | None) -> Row | None:
        table = self._store.sessions
        if table is None or number is None:
            return None
        return self._row(table.name, self._columns_of(table), number)

    def _row(self, table: str, columns: Sequence[str], number: int) -> Row | None:
        """Return a row, without what is no JSON unless it is packed; None if it is damaged."""
        try:
            found = next(self._database.rows(table, columns, at=number), None)
        except DamageError as error:
            self._damaged_row = self._damaged_row or error
            return None
        if found is None:
            return None
        cells = zip(columns, found[1:], strict=True)
        is_packed = self._store.is_packed
        return {column: cell for column, cell in cells if is_packed or type(cell) is not bytes}


def _firsts(parents: dict[Any, Any]) -> dict[Any, Any]:
    """Return of each session the first of those by which it was started, one by another; where they go in a circle, one of it."""
    firsts: dict[Any, Any] = {}
    for each in parents:
        name = each
        passed: dict[Any, None] = {}
        while name not in firsts:
            passed[name] = None
            parent = parents[name]
            if parent in parents and parent not in passed:
                name = parent
            else:
                firsts[name] = name
        firsts.update(dict.fromkeys(passed, firsts[name]))
    return firsts


def _line(value: Row, unread: int) -> SourceLine:
    try:
        raw = orjson.dumps(value | ({UNREAD_LINES: unread} if unread else {}))
    except (TypeError, RecursionError) as error:
        fault = Fault(
            ErrorCode.INVALID_JSON,
            f"a session has no form in JSON: {error}"[:200],
            "look at its rows",
        )
        return SourceLine(b"\n", fault)
    return SourceLine(raw + b"\n", None, len(raw) + 1)
