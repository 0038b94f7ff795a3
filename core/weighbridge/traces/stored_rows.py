"""Rows of the databases in which agents keep their sessions: columns with JSON as text, and rows of several sessions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weighbridge.traces.fields import id_of, json_in, objects_of

if TYPE_CHECKING:
    from collections.abc import Callable

#: Keys of a session from a database: the session's own row, and the rows of its messages.
SESSION, ROWS = "session", "rows"
#: Further keys: the parts of its messages, if they have rows of their own, and the rows of the sessions that it started. The
#: messages and parts of those sessions stand among its own.
PARTS, SUB_SESSIONS = "parts", "sub_sessions"
BESIDE = "beside"  #: key of the name of a table with spans of the session, which are not read
Sessions = list[tuple[str | None, list[dict[str, Any]]]]  #: sessions, each with its ID and its rows
_LOOKED_AT = 20  #: number of rows by which a list of rows is recognised


def json_cell(row: dict[str, Any], column: str) -> Any:
    """Return the JSON value in a column, which databases keep as text; None if the text is not JSON."""
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
    """Return the rows of each session, sorted by the column `order`, with the session's ID.

    Rows of one session have the same values in `columns`; the last of these columns has the ID.
    """
    sessions: dict[tuple[str | None, ...], list[dict[str, Any]]] = {}
    for row in objects_of(rows):
        key = tuple(id_of(row.get(column)) for column in columns)
        sessions.setdefault(key, []).append(row)
    return [(key[-1], in_order(listed, order)) for key, listed in sessions.items()]


def in_order(rows: list[dict[str, Any]], column: str) -> list[dict[str, Any]]:
    """Return rows sorted by a column, if it has a number in all of them or a text in all; otherwise in their own order."""
    kinds = {type(row.get(column)) for row in rows}
    is_ordered = kinds <= {int, float} or kinds == {str}
    return sorted(rows, key=lambda row: row[column]) if is_ordered else rows


def several(sessions: Sessions) -> list[tuple[str | None, Any]]:
    """Return the rows of each session as a value of its own, if there are several."""
    return [*sessions] if len(sessions) > 1 else []
