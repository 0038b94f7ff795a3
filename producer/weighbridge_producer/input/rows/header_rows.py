"""Detection of tables without a header, whose first row was read as one."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from weighbridge.text import shorten
from weighbridge_producer.input.proposals.column_names import is_usual

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weighbridge_producer.input.mapping.row_values import Row

_WIDTH = 40
_KINDS = (
    ("a number", re.compile(r"[-+]?\d{1,18}(?:[.,]\d{1,18})?(?:[eE][-+]?\d{1,3})?%?").fullmatch),
    ("a date", re.compile(r"\d{4}-\d\d-\d\d(?:[T ][\d:.]{4,20}(?:Z|[-+][\d:]{2,5})?)?").fullmatch),
    ("a boolean", re.compile(r"true|false", re.IGNORECASE).fullmatch),
)


def data_in_header(rows: Sequence[Row]) -> str:
    """Return why the names of a table's columns seem to be its first row of data; empty if they do not.

    One name is a number, date, boolean or numbered id like all values below it, or is itself among them, and each usual name
    is. Numbers that go up by 1, such as those of runs and years, may be names.
    """
    names = list(rows[0]) if rows else []
    # The header of a file that was appended to another one is not a value.
    below = [row for row in rows if list(row.values()) != names]
    if not below or any(is_usual(name) and name not in _values(name, below) for name in names):
        return ""
    why = next(filter(None, (_why(name, below, names) for name in names)), "")
    return f"its first row, which is read as a header, looks like data: {why}" if why else ""


def as_data(rows: Sequence[Row]) -> list[Row]:
    """Return rows with the names of their columns as the first of them, and numbers as names."""
    cells = [list(rows[0]), *(list(row.values()) for row in rows)]
    return [{str(number): cell for number, cell in enumerate(row, 1)} for row in cells]


def _values(name: str, rows: Sequence[Row]) -> list[str]:
    return [str(row[name]).strip() for row in rows]


def _why(name: str, rows: Sequence[Row], names: Sequence[str]) -> str:
    values = _values(name, rows)
    shown = repr(shorten(name, _WIDTH))
    present = list(filter(None, values))
    for what, is_one in _KINDS:
        if is_one(name) and present and all(map(is_one, present)) and not _is_counted(name, names):
            return f"{shown} is {what} like all values below it"
    before, number = _numbered(name)
    if before and number and present and all(_numbered(value)[0] == before for value in present):
        return f"{shown} is numbered like all values below it"
    return f"{shown} is also a value below it" if name in values else ""


def _numbered(text: str) -> tuple[str, str]:
    """Return what stands before the number at the end of a text, and the number."""
    before = text.rstrip("0123456789")
    return before, text[len(before) :]


def _is_counted(name: str, names: Sequence[str]) -> bool:
    """Return whether a name is one of two whole numbers that follow each other in the header."""
    place = names.index(name)
    beside = names[max(place - 1, 0) : place + 2]
    numbers = [int(each) for each in beside if each.isascii() and each.isdigit()]
    return any(b - a == 1 for a, b in pairwise(numbers))
