"""The ordinary tables of an open SQLite database, and their rows, read within limits that hold for crafted ones."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any

from weighbridge.errors import Fault
from weighbridge.jobs.error_codes import ErrorCode
from weighbridge.settings import MIB
from weighbridge.text import printable, shorten
from weighbridge_producer.input.files.databases.sqlite_pages import damage_of_pages

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

_MOST_TABLES = 1_000
#: Steps of SQLite's virtual machine between two looks at their number.
_STEPS = 10_000
#: Steps allowed for any database, and for each of its bytes: a row takes tens of both.
_STEPS_OF_ALL, _STEPS_OF_BYTE = 5_000_000, 20
#: How many times the size of a database its rows may have: each is found once, and read at most twice.
_MOST_TIMES = 3
_LEAST_BYTES = 4  #: that a row takes, whatever it holds
#: Views and virtual tables have no pages of their own.
_TABLES = (
    "SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0 ORDER BY rowid LIMIT ?"
)
_OWN = "sqlite_"  #: how the names of SQLite's own tables begin
#: Generated columns, whose expressions would be evaluated, are hidden ones.
_COLUMNS = "SELECT name, hidden FROM pragma_table_xinfo(?)"
_COMPUTED = frozenset({2, 3})  #: what `hidden` is of these
_SCHEMA = "SELECT sql FROM sqlite_master WHERE type = 'table' AND name = ?"
#: A computed column that costs nothing to evaluate: the difference of two others, such as MLflow's durations.
_DIFFERENCE = re.compile(r"GENERATED ALWAYS AS \(\w{1,100} - \w{1,100}\)", re.IGNORECASE)
_EXPRESSION = re.compile(r"\bAS\b", re.IGNORECASE)
_RENAMED = re.compile(r'^CREATE TABLE "\w{1,100}"')  #: how SQLite writes a table that was renamed
_QUOTES = (
    "'",
    '"',
    "`",
    "[",
    "--",
    "/*",
)  #: beginnings of names, texts and comments, which may have any words
_ROOTS = "SELECT rootpage FROM sqlite_master WHERE rootpage > 0"
_VIRTUAL = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND rootpage = 0 LIMIT 1"
#: Since 3.44, a check of a database runs code of its virtual tables, and one of a table alone does not.
_CHECKS_VIRTUAL = sqlite3.sqlite_version_info >= (3, 44)
_is_number = re.compile(r"[+-]?\d").match  #: names that a check takes for a number of errors
_PAGES = "*** in database"  #: how the result of a check begins if pages are damaged
#: What SQLite says of a schema with a function that it does not evaluate for files it does not trust, such as JSON_EXTRACT.
_UNSAFE = "unsafe use of "
_NO_COLLATION = "no such collation sequence"
#: Names of the number of a row; a column of that name hides one.
_NUMBERS = ("rowid", "_rowid_", "oid")
_NAME_CHARACTERS = 40
_ALLOWED = frozenset({sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ})

Row = dict[str, Any]


class DatabaseError(Exception):
    """A database cannot be read, or not further: a crafted one has more rows than its size allows."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.message)
        self.fault = fault


class DamageError(DatabaseError):
    """A row or a table cannot be read; others may be readable."""


class Database:
    """A database open for reading; its methods raise DatabaseError."""

    def __init__(self, connection: sqlite3.Connection, path: Path, *, is_checked: bool) -> None:
        self._connection = connection
        size = path.stat().st_size
        self._steps = Steps(size)
        self._most_bytes = _MOST_TIMES * size + MIB
        self._bytes = 0
        self._numbers: dict[str, str | None] = {}  #: what the number of a row is called, by table
        self._has_computed = False
        self.damage: DamageError | None = None  #: that may hide rows of any table
        self._steps.watch(connection)
        with as_errors():
            read_schema(connection)
            self.tables = self._found_tables()  #: the columns of each ordinary table
            if is_checked:
                self.damage = self._found_damage(path)
            connection.set_authorizer(_allowed)

    def rows(
        self, table: str, columns: Sequence[str], at: int | None = None
    ) -> Iterator[tuple[Any, ...]]:
        """Yield the number and some columns of a table's rows, or of the one with the number `at`.

        The numbers ascend; a damaged table ends early, with an error.
        """
        number = self._number_in(table)
        selected = ", ".join([number, *map(_quoted, columns)])
        where = "" if at is None else f" WHERE {number} = ?"
        command = f"SELECT {selected} FROM {_quoted(table)} NOT INDEXED{where}"  # noqa: S608 - quoted
        last: int | None = None
        with as_errors():
            for row in self._connection.execute(command, () if at is None else (at,)):
                if type(row[0]) is not int or (last is not None and row[0] <= last):
                    raise DamageError(damage("the numbers of its rows do not ascend"))
                last = row[0]
                self._bytes += _LEAST_BYTES
                self._bytes += sum(len(cell) for cell in row if type(cell) in {str, bytes})
                if self._bytes > self._most_bytes:
                    raise DatabaseError(damage("its rows are longer than the file"))
                yield row

    def _found_tables(self) -> dict[str, frozenset[str]]:
        found: dict[str, frozenset[str]] = {}
        for (name,) in self._connection.execute(_TABLES, (_MOST_TABLES,)).fetchall():
            if type(name) is not str:
                continue
            columns = self._connection.execute(_COLUMNS, (name,)).fetchall()
            if any(hidden in _COMPUTED for _, hidden in columns):
                self._has_computed = self._has_computed or not (
                    self._has_differences_alone(name) or self._is_empty(name)
                )
            if not name.startswith(_OWN):
                found[name] = frozenset(column for column, hidden in columns if not hidden)
                own = {column.lower() for column, _ in columns}
                self._numbers[name] = next((each for each in _NUMBERS if each not in own), None)
        return found

    def _has_differences_alone(self, table: str) -> bool:
        """Return whether all computed columns of a table are differences of two others."""
        text = _RENAMED.sub("", str(*self._connection.execute(_SCHEMA, (table,)).fetchone()))
        has_quotes = any(quote in text for quote in _QUOTES)
        return not has_quotes and len(_EXPRESSION.findall(text)) == len(_DIFFERENCE.findall(text))

    def _is_empty(self, table: str) -> bool:
        """Return whether a table has no rows, so that a check computes none of its columns."""
        command = f"SELECT 1 FROM {_quoted(table)} NOT INDEXED LIMIT 1"  # noqa: S608 - quoted
        return self._connection.execute(command).fetchone() is None

    def _number_in(self, table: str) -> str:
        """Return what the number of a row is called in a table."""
        number = self._numbers[table]
        if number is None:
            raise DamageError(
                _unnumbered(table, f"has columns of its own named {', '.join(_NUMBERS)}")
            )
        try:
            self._connection.execute(f"SELECT {number} FROM {_quoted(table)} LIMIT 0").close()  # noqa: S608 - quoted
        except sqlite3.OperationalError as error:
            if "no such column" in str(error):
                raise DamageError(_unnumbered(table, "was made WITHOUT ROWID")) from None
        except sqlite3.Error:
            pass  # The command that reads the rows says what is wrong.
        return number

    def _found_damage(self, path: Path) -> DamageError | None:
        """Check all pages, as a copy of a file that was being written to may have old and new ones."""
        size, count = page_sizes(self._connection)
        roots = [root for (root,) in self._connection.execute(_ROOTS) if type(root) is int]
        wrong = damage_of_pages(path, size, count, [1, *roots])
        if wrong is None and self._may_compute():
            return DamageError(_UNCHECKED)
        try:
            wrong = wrong or self._checked()
        except sqlite3.OperationalError as error:
            if _NO_COLLATION not in str(error):
                raise
            return DamageError(_UNCHECKED)
        finally:
            self._steps.taken = 0
        return DamageError(damage(wrong)) if wrong else None

    def _may_compute(self) -> bool:
        """Return whether a check would evaluate expressions, or run code of virtual tables, which nothing limits."""
        many = self._connection.execute(_TABLES, (_MOST_TABLES + 1,)).fetchall()
        is_apart = not self._runs_virtual() or not any(map(_is_number, self.tables))
        return self._has_computed or not is_apart or len(many) > _MOST_TABLES

    def _runs_virtual(self) -> bool:
        """Return whether a check of the whole database would run code of virtual tables."""
        return _CHECKS_VIRTUAL and self._connection.execute(_VIRTUAL).fetchone() is not None

    def _checked(self) -> str | None:
        """Return what SQLite's own check of the pages finds first, of each table alone if there are virtual ones."""
        if not self._runs_virtual():
            return self._found_by("PRAGMA quick_check(1)")
        checks = (f"PRAGMA quick_check({_quoted(table)})" for table in self.tables)
        return next(filter(None, map(self._found_by, checks)), None)

    def _found_by(self, check: str) -> str | None:
        """Return what a check of pages finds first."""
        try:
            with closing(self._connection.execute(check)) as found:
                text = str(*(next(found, None) or ("",)))
        except sqlite3.DataError:
            return None  # A row is too long, which is looked at after the pages.
        except sqlite3.OperationalError:
            raise
        except sqlite3.DatabaseError as error:
            return str(error)
        return text.partition("\n")[2] or text if text.startswith(_PAGES) else None


class Steps:
    """How many steps SQLite has taken for a database of some size, with a limit."""

    def __init__(self, size: int) -> None:
        self.taken = 0
        self._most = _STEPS_OF_ALL + _STEPS_OF_BYTE * size

    def watch(self, connection: sqlite3.Connection) -> None:
        """Count the steps of a connection, and interrupt it after too many."""
        connection.set_progress_handler(self._are_too_many, _STEPS)

    def _are_too_many(self) -> int:
        """Add the steps since the last call, and return whether there are too many."""
        self.taken += _STEPS
        return self.taken > self._most


def read_schema(connection: sqlite3.Connection) -> None:
    """Let SQLite read the schema, also one whose indexes have functions that it evaluates for trusted files alone.

    They are not evaluated: no row is written, no index is read, and tables with computed columns are not checked.
    """
    try:
        connection.execute("SELECT 1 FROM sqlite_master LIMIT 0").close()
    except sqlite3.DatabaseError as error:
        if _UNSAFE not in str(error):
            raise
        connection.execute("PRAGMA trusted_schema = ON").close()


def page_sizes(connection: sqlite3.Connection) -> tuple[int, int]:
    """Return the size of a database's pages, and their number."""
    (size,), (count,) = (
        connection.execute(f"PRAGMA {name}").fetchone() for name in ("page_size", "page_count")
    )
    return size, count


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _allowed(
    action: int, _table: str | None, _column: str | None, _: str | None, by: str | None
) -> int:
    """Allow what reads ordinary tables, and nothing that a view or a trigger does."""
    return sqlite3.SQLITE_OK if action in _ALLOWED and by is None else sqlite3.SQLITE_DENY


@contextmanager
def as_errors() -> Iterator[None]:
    """Raise the errors of SQLite as a DatabaseError or DamageError."""
    try:
        yield
    except sqlite3.OperationalError as error:
        if str(error) == "interrupted":
            text = "reading it takes more steps than a database of its size needs"
            raise DatabaseError(damage(text)) from None
        raise DamageError(damage(str(error))) from None
    except sqlite3.DataError:
        fault = Fault(
            ErrorCode.LINE_TOO_LONG,
            "a row of the SQLite database is too long",
            "raise WEIGHBRIDGE_LINE_LIMIT_BYTES",
        )
        raise DamageError(fault) from None
    except (sqlite3.Error, OverflowError, ValueError) as error:
        raise DamageError(damage(str(error))) from None


def damage(what: str) -> Fault:
    """Return the error for a damaged database."""
    return Fault(
        ErrorCode.INPUT_TRUNCATED,
        f"the SQLite database is damaged: {what[:200]}",
        "copy it while the program that writes it does not run; `sqlite3 FILE .recover` repairs some damage",
    )


_UNCHECKED = Fault(
    ErrorCode.INPUT_TRUNCATED,
    "the SQLite database may be damaged, which is not checked, as it has computed columns, collations of the program"
    " that writes it, very many tables, or virtual tables beside one whose name begins with a digit",
    "for exact counts, export the rows: `sqlite3 -json FILE 'SELECT * FROM TABLE'`",
)


def _unnumbered(table: str, why: str) -> Fault:
    name = printable(shorten(table, _NAME_CHARACTERS))
    return Fault(
        ErrorCode.INVALID_JSON,
        f"the rows of the table {name} in the SQLite database have no numbers to read them by: it {why}",
        "export them: `sqlite3 -json FILE 'SELECT * FROM TABLE'`",
    )
