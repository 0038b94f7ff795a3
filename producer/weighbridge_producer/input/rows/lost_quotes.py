"""Detection of cells whose closing quote seems to be missing, so that the rows below became part of the cell."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from weighbridge_producer.input.rows.source_rows import invalid_row

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weighbridge.errors import Fault

#: Minimum number of rows in a cell without spaces at separators; fewer may occur by chance.
_DENSE_ROWS = 3
_DIGITS = re.compile(r"\d+")
_INTEGER = re.compile(r"\d{1,18}")
_LETTER = re.compile(r"[^\W\d_]")


def lost_quote(cells: Sequence[str], delimiter: str) -> Fault | None:
    """Return the fault of a row if a cell has rows of the table in it; None for others, even if a cell has another table."""
    others = len(cells) - 1
    for index, cell in enumerate(cells if others else ()):
        # The rest of the first row and the beginning of the last row have as many separators as one whole row.
        if (
            "\n" in cell
            and (separators := cell.count(delimiter)) >= others
            and separators == (breaks := cell.count("\n")) * others
        ):
            within = [line.removesuffix("\r").split(delimiter) for line in cell.split("\n")]
            if _are_rows(within, cells, index):
                return invalid_row(
                    f"a cell has {breaks:,} line {'break' if breaks == 1 else 'breaks'}, after each of which a row of the"
                    " table seems to begin: its closing quote may be missing",
                    "close the quote; if the cell is as it should be, write the rows as JSON Lines",
                )
    return None


def _are_rows(within: Sequence[list[str]], cells: Sequence[str], index: int) -> bool:
    """Return whether the lines of a cell are the rest of its row, and rows that resemble it or are written as densely."""
    last = len(cells) - 1
    own = [*cells[:index], *within[0]]
    rows = [*within[1:-1], [*within[-1], *cells[index + 1 :]]]
    if any(len(row) != len(cells) for row in (own, *rows)):
        return False
    is_dense = 0 < index < last and len(rows) >= _DENSE_ROWS and all(map(_is_dense, within))
    return is_dense or all(
        _resemble(own, row, index, number, of=len(rows)) for number, row in enumerate(rows, start=1)
    )


def _resemble(
    own: Sequence[str], row: Sequence[str], index: int, distance: int, *, of: int
) -> bool:
    """Return whether two rows may stand `distance` rows apart in a table; `of` is the number of rows in the cell.

    Cell `index`, with the missing quote, is left out of the comparison. Numbers in the first cells must differ by the
    distance. They need only increase if the cell has several rows and is not the last one, which may hold a list. Otherwise
    the first cells must be IDs of the same form, or two other cells must agree; one is enough if the cell has several rows.
    """
    first, other = own[0].strip(), row[0].strip()
    pairs = list(zip(own, row, strict=True))
    agreeing = sum(
        _have_one_form(mine, its) or (mine == its and bool(mine.strip()))
        for mine, its in pairs[:index] + pairs[index + 1 :]
    )
    if index and _INTEGER.fullmatch(first) and _INTEGER.fullmatch(other):
        if index < len(own) - 1 and of > 1:
            return int(first) < int(other)
        # Many lists in answers are numbered 1, 2, 3.
        return int(first) + distance == int(other) and bool(int(first) or agreeing)
    return (index > 0 and _have_one_form(first, other)) or agreeing >= (1 if of > 1 else 2)


def _is_dense(parts: Sequence[str]) -> bool:
    """Return whether no part is empty, or begins with a space, as parts do after a comma in prose."""
    return all(part and not part[0].isspace() for part in parts)


def _have_one_form(mine: str, its: str) -> bool:
    """Return whether two texts with letters differ only by their numbers, as ids do."""
    form = _DIGITS.sub("0", mine.strip())
    return "0" in form and bool(_LETTER.search(form)) and form == _DIGITS.sub("0", its.strip())
