"""Rows of the databases in which agents keep their sessions: columns with JSON as text, and rows of several sessions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weighbridge.traces.fields import id_of, json_in, objects_of

if TYPE_CHECKING:
    from collections.abc import Callable

#: Keys of a session that a database keeps in a row of its own: that row, and the rows of what was said.
SESSION, ROWS = "session", "rows"
#: Beside these: the parts of what was said, if they have rows of their own, and the rows of sessions that this one started,
#: whose other rows stand among its own.
PARTS, SUB_SESSIONS = "parts", "sub_sessions"
Sessions = list[tuple[str | None, list[dict[str, Any]]]]  #: the rows of each, with its id
_LOOKED_AT = 20  #: rows that decide whether a list is of them


def json_cell(row: dict[str, Any], column: str) -> Any:
    """Return what a column holds, which databases keep as text; None if it is not JSON."""
    held = row.get(column)
    if type(held) is not str:
        return held
    try:
        return json_in(held)
    except ValueError:
        return None


def are_rows(value: Any, is_row: Callable[[Any], bool]) -> bool:
    """Return whether a value is a list of rows, by the first of them."""
    return type(value) is list and bool(value) and all(map(is_row, value[:_LOOKED_AT]))


def rows_by_session(rows: Any, columns: tuple[str, ...], order: str) -> Sessions:
    """Return the rows of each session in order, with its id, the last of the columns that say which session a row is of."""
    sessions: dict[tuple[str | None, ...], list[dict[str, Any]]] = {}
    for row in objects_of(rows):
        key = tuple(id_of(row.get(column)) for column in columns)
        sessions.setdefault(key, []).append(row)
    return [(key[-1], in_order(listed, order)) for key, listed in sessions.items()]


def in_order(rows: list[dict[str, Any]], column: str) -> list[dict[str, Any]]:
    """Return rows in the order of a column, if all of them have a number there or all of them a text; else as they are."""
    kinds = {type(row.get(column)) for row in rows}
    is_ordered = kinds <= {int, float} or kinds == {str}
    return sorted(rows, key=lambda row: row[column]) if is_ordered else rows


def several(sessions: Sessions) -> list[tuple[str | None, Any]]:
    """Return the rows of each session as a value of its own, if there are several."""
    return [*sessions] if len(sessions) > 1 else []
