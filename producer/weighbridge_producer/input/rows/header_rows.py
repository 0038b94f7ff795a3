"""Detection of tables without a header, whose first row was read as a header."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from weighbridge.text import shorten
from weighbridge_producer.input.proposals.column_names import is_usual

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from weighbridge_producer.input.mapping.row_values import Row

_WIDTH = 40
_KINDS = (
    ("a number", re.compile(r"[-+]?\d{1,18}(?:[.,]\d{1,18})?(?:[eE][-+]?\d{1,3})?%?").fullmatch),
    ("a date", re.compile(r"\d{4}-\d\d-\d\d(?:[T ][\d:.]{4,20}(?:Z|[-+][\d:]{2,5})?)?").fullmatch),
    ("a boolean", re.compile(r"true|false", re.IGNORECASE).fullmatch),
)


def data_in_header(rows: Sequence[Row], repeated: Collection[str] = ()) -> str:
    """Return the reason why the names of a table's columns seem to be its first row of data; empty if they do not.

    They do if one name is a number, date, boolean or numbered ID like all values below it, or is among these values, or is
    `repeated`. Each usual name must then be among the values below it. Numbers that increase by 1, such as those of runs and
    years, may be names.
    """
    names = list(rows[0]) if rows else []
    cells = as_written(names, repeated)
    # The header of an appended file is not a value, and rows with other columns are from other files.
    below = [row for row in rows if row.keys() == rows[0].keys() and list(row.values()) != cells]
    written = list(zip(names, cells, strict=True))
    if not below or any(
        is_usual(cell) and cell not in _values(name, below) for name, cell in written
    ):
        return ""
    why = next(
        filter(None, (_why(cell, _values(name, below), cells) for name, cell in written)), ""
    )
    return f"its first row, which is read as a header, looks like data: {why}" if why else ""


def as_data(rows: Sequence[Row], repeated: Collection[str] = ()) -> list[Row]:
    """Return rows with numbers as names of columns; the original names become the first row."""
    cells = [as_written(list(rows[0]), repeated), *(list(row.values()) for row in rows)]
    return [{str(number): cell for number, cell in enumerate(row, 1)} for row in cells]


def as_written(names: Sequence[str], repeated: Collection[str]) -> list[str]:
    """Return names as written in the table, without the numbers that distinguish `repeated` ones."""
    plain = [name.rpartition("_")[0] for name in names]
    return [cell if cell in repeated else name for cell, name in zip(plain, names, strict=True)]


def _values(name: str, rows: Sequence[Row]) -> list[str]:
    return [str(row[name]).strip() for row in rows]


def _why(name: str, values: Sequence[str], names: Sequence[str]) -> str:
    shown = repr(shorten(name, _WIDTH))
    present = list(filter(None, values))
    for what, is_one in _KINDS:
        if is_one(name) and present and all(map(is_one, present)) and not _is_counted(name, names):
            return f"{shown} is {what} like all values below it"
    before, number = _numbered(name)
    if before and number and present and all(_numbered(value)[0] == before for value in present):
        return f"{shown} is numbered like all values below it"
    if name in values:
        return f"{shown} is also a value below it"
    return f"{shown} is in it more than once" if names.count(name) > 1 else ""


def _numbered(text: str) -> tuple[str, str]:
    """Return the text before the number at the end of a text, and the number."""
    before = text.rstrip("0123456789")
    return before, text[len(before) :]


def _is_counted(name: str, names: Sequence[str]) -> bool:
    """Return whether a name is one of two neighbouring whole numbers in the header that differ by 1."""
    place = names.index(name)
    beside = names[max(place - 1, 0) : place + 2]
    numbers = [int(each) for each in beside if each.isascii() and each.isdigit()]
    return any(b - a == 1 for a, b in pairwise(numbers))
