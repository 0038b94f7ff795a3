"""The sessions whose rows are in one table of a database, and in those beside it.

A line has the rows of a session as they are; the importer of the format reads the JSON in their columns.
"""

from __future__ import annotations

from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING, Any

import orjson

from weighbridge.errors import Fault
from weighbridge.jobs.error_codes import ErrorCode
from weighbridge.text import pluralize
from weighbridge.traces.fields import id_of, json_in
from weighbridge.traces.split import single_traces
from weighbridge.traces.stored_rows import BESIDE, PARTS, ROWS, SESSION, SUB_SESSIONS
from weighbridge.traces.wrappers import UNREAD_LINES
from weighbridge_producer.input.files.databases.agent_stores import Table, shown_name
from weighbridge_producer.input.files.databases.sqlite_rows import DamageError
from weighbridge_producer.input.source_lines import SourceLine, length_fault
from weighbridge_producer.input.temporary import scratch_database

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator, Sequence

    from weighbridge_producer.input.files.databases.agent_stores import Store
    from weighbridge_producer.input.files.databases.row_readers import RowReader
    from weighbridge_producer.input.files.databases.sqlite_rows import Database, Row

_ROWS_OF_SESSION = "SELECT source, row FROM rows WHERE session = ? ORDER BY source, row"


class TableSessions:
    """The sessions whose rows are in one table, and in that of their parts."""

    def __init__(
        self, database: Database, table: str, store: Store, reader: RowReader, most: int
    ) -> None:
        self._database = database
        self._reader = reader
        said = Table(table, store.columns.union(store.key), store.others)
        #: The tables with the rows of sessions, each with the columns that are read.
        self._tables = [(each.name, self._columns_of(each)) for each in (said, store.parts) if each]
        self._store = store
        self._most = most
        #: By the id of a session: the number of its row, those of its sub-sessions, and of one of these the id of the first.
        self._sessions: dict[Any, int] = {}
        self._subs: dict[Any, list[int]] = {}
        self._roots: dict[Any, Any] = {}
        self._damage = database.damage  #: that may hide rows of any session
        self.is_damaged = False  #: whether damage was found in the rows
        self.have_rows = False
        self.empty = 0  #: number of sessions in which nothing was said
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
            self.empty = self._without_rows(keys)
            for key, number in keys.items():
                yield from self._session(key, partial(index.execute, _ROWS_OF_SESSION, (number,)))
        damage = self._damage if self.is_damaged else self._damaged_row
        if damage:
            self.is_damaged = True
            yield SourceLine(b"\n", damage.fault)

    def _without_rows(self, keys: Container[tuple[Any, ...]]) -> int:
        """Return how many sessions have no row in the tables of what was said; `keys` are those of the others."""
        if self._store.sessions:
            firsts = (name for name in self._sessions if name not in self._roots)
            return sum((name,) not in keys for name in firsts)
        table, columns = self._store.listed or ("", ())
        if not columns or not self._database.tables.get(table, frozenset()).issuperset(columns):
            return 0
        try:
            return sum(tuple(key) not in keys for _, *key in self._database.rows(table, columns))
        except DamageError as error:
            self._found(error)
            return 0

    def _found(self, damage: DamageError) -> None:
        self._damage, self.is_damaged = damage, True

    def look_ahead(self) -> None:
        """Let the reader look at the rows that are not too long, if it has to before the first session is read."""
        table = self._tables[0][0]
        columns = sorted(self._reader.looked_at(self._database.tables[table]))
        if not columns:
            return
        try:
            for _, *cells in self._database.rows(table, columns):
                row = dict(zip(columns, cells, strict=True))
                if _characters(row) <= self._most:
                    self._reader.look_ahead(row)
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
        lists: list[list[Row]] = []
        size = unread = 0
        for read in self._reader.readings():
            lists, size, unread = self._rows_in(numbers(), read)
            if size > self._most:
                yield SourceLine(b"\n", length_fault(size, self._most), size)
                return
        if not (any(lists) or unread) or (not unread and self._tells_nothing(lists[0])):
            self.empty += not self._store.copies
            return
        value = self._value(key[-1], lists) if any(lists) else None
        if value is not None and not unread and self._reader.tells_nothing(value):
            self.empty += 1
            return
        traces = None if value is None else single_traces(value)
        if traces is None:
            name, table = shown_name(str(key[-1])), shown_name(self._tables[0][0])
            why = (
                f"{pluralize(unread, 'row')} cannot be read" if unread else self._reader.other_form
            )
            text = f"the session {name} in the table {table} cannot be read: {why}"
            yield SourceLine(b"\n", Fault(ErrorCode.INVALID_JSON, text, "look at its rows"), size)
            return
        for trace_id, trace in traces:
            if not self._reader.leaves_out(trace):
                yield _line({"id": trace_id or id_of(key[-1]), "trace": trace}, unread)

    def _rows_in(
        self, numbers: Iterable[tuple[int, int]], read: Callable[[Row], Row | None]
    ) -> tuple[list[list[Row]], int, int]:
        """Return the rows of a session in each table, how long they are up to the limit, and how many cannot be read."""
        lists: list[list[Row]] = [[] for _ in self._tables]
        size, unread = 0, int(self._damage is not None)
        for source, number in numbers:
            table, columns = self._tables[source]
            cells = self._row(table, columns, number)
            row = None if cells is None else read(cells)
            if row is None or not self._is_readable(row):
                unread += 1
                continue
            if not self._is_filled(row) or self._is_copy(row):
                continue
            size += _characters(row)
            if size > self._most:
                break
            lists[source].append(row)
        return lists, size, unread

    def _value(self, name: Any, lists: list[list[Row]]) -> Any:
        """Return what is known of a session, as the importer of its format takes it."""
        if not self._store.sessions:
            return self._reader.value([row for rows in lists for row in rows])
        about = self._about(self._sessions.get(name)) or {"id": name}
        value = {SESSION: about, **dict(zip((ROWS, PARTS), lists, strict=False))}
        subs = [found for each in self._subs.get(name, ()) if (found := self._about(each))]
        beside = self._reader.beside(name)
        more = {SUB_SESSIONS: subs, BESIDE: beside}
        return value | {key: held for key, held in more.items() if held}

    def _tells_nothing(self, rows: list[Row]) -> bool:
        """Return whether the rows of a session are all of kinds by which there is nothing to grade."""
        if self._store.told_by is None:
            return False
        column, values, _ = self._store.told_by
        return all(row[column] not in values for row in rows)

    def _is_readable(self, row: Row) -> bool:
        """Return whether the cell of a row that may hold what was said is JSON, or empty."""
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
        row = self._row(table.name, self._columns_of(table), number)
        return None if row is None else self._reader.about(row)

    def _row(self, table: str, columns: Sequence[str], number: int) -> Row | None:
        """Return a row; None if it is damaged."""
        try:
            found = next(self._database.rows(table, columns, at=number), None)
        except DamageError as error:
            self._damaged_row = self._damaged_row or error
            return None
        return None if found is None else dict(zip(columns, found[1:], strict=True))


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


def _characters(row: Row) -> int:
    return sum(len(cell) for cell in row.values() if type(cell) is str)


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
