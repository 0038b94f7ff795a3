"""How the rows of a store are read: those of most are read as they are, as the importer of the format takes them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from weighbridge_producer.input.files.databases.sqlite_rows import Row

_NAMES = frozenset({"id", "message_id"})  #: columns without which a row can be read


class RowReader:
    """Reader of the sessions in a database that are kept in one way; a subclass is for a way that needs more than the rows."""

    #: Why a session whose rows can all be read has no trace.
    other_form = "its rows do not have the form of this store"
    #: What sessions lack in which there is nothing to grade, if the reader finds these.
    lacking = ""

    def looked_at(self, columns: frozenset[str]) -> frozenset[str]:  # noqa: ARG002 - for subclasses
        """Return which columns of a table are looked at in all rows before the first session is read."""
        return frozenset()

    def look_ahead(self, row: Row) -> None:
        """Take what the sessions have to know of a row."""

    def beside(self, session: Any) -> str:  # noqa: ARG002 - for subclasses
        """Return the name of a table that also records what a session does, and is not read for it; empty if there is none."""
        return ""

    def readings(self) -> Iterator[Callable[[Row], Row | None]]:
        """Yield functions with which the rows of a session are read one after the other; what the last one returns counts.

        A function returns None for a row that cannot be read.
        """
        yield of_json

    def about(self, row: Row) -> Row:
        """Return the row of a session as the importer of the format takes it."""
        return without_bytes(row)

    def value(self, rows: list[Row]) -> Any:
        """Return the rows of a session that stand in one table, as the importer of the format takes them."""
        return rows

    def tells_nothing(self, value: Any) -> bool:  # noqa: ARG002 - for subclasses
        """Return whether there is nothing to grade in a session, from its value as the importer of the format takes it."""
        return False

    def leaves_out(self, trace: Any) -> bool:  # noqa: ARG002 - for subclasses
        """Return whether a trace of a session is part of another one."""
        return False


def without_bytes(row: Row) -> Row:
    """Return a row without cells that are no JSON."""
    return {column: cell for column, cell in row.items() if type(cell) is not bytes}


def of_json(row: Row) -> Row | None:
    """Return a row without cells that are no JSON; None if it cannot be read without these."""
    kept = without_bytes(row)
    return kept if _NAMES.issuperset(row.keys() - kept.keys()) else None
