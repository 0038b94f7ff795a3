"""Cells of a table that look as if their closing quote were missing, so that the rows below became part of them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from weighbridge_producer.input.rows.source_rows import invalid_row

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weighbridge.errors import Fault

_DENSE_ROWS = 3  #: in a cell that has no spaces at the separators; fewer may be so by chance
_DIGITS = re.compile(r"\d+")
_INTEGER = re.compile(r"\d{1,18}")
_LETTER = re.compile(r"[^\W\d_]")


def lost_quote(cells: Sequence[str], delimiter: str) -> Fault | None:
    """Return the fault of a row if a cell has rows of the table in it; None for others, also with a table in a cell."""
    others = len(cells) - 1
    for index, cell in enumerate(cells if others else ()):
        # The rest of the row, whole rows and the beginning of the last row have as many separators as whole rows.
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
    if index == last:  # an answer there may be a sentence and a table below it
        return all(_are_neighbours(own, row, number) for number, row in enumerate(rows, 1))
    is_dense = index > 0 and len(rows) >= _DENSE_ROWS and all(map(_is_dense, within))
    return is_dense or all(_resemble(own, row, index) for row in rows)


def _are_neighbours(own: Sequence[str], row: Sequence[str], distance: int) -> bool:
    """Return whether the first cells are ids of one form, or numbers of rows at this distance."""
    first, other = own[0].strip(), row[0].strip()
    are_numbers = _INTEGER.fullmatch(first) and _INTEGER.fullmatch(other)
    if are_numbers:  # not from 0 on, because many lists in answers count 1, 2, 3
        return int(first) > 0 and int(first) + distance == int(other)
    return _have_one_form(first, other)


def _resemble(own: Sequence[str], row: Sequence[str], index: int) -> bool:
    """Return whether two rows share a value, have one of one form, or begin with ascending numbers, but for one cell."""
    first, other = own[0].strip(), row[0].strip()
    are_numbers = _INTEGER.fullmatch(first) and _INTEGER.fullmatch(other)
    if index and are_numbers and int(first) < int(other):
        return True
    pairs = list(zip(own, row, strict=True))
    return any(
        _have_one_form(mine, its) or (mine == its and bool(mine.strip()))
        for mine, its in pairs[:index] + pairs[index + 1 :]
    )


def _is_dense(parts: Sequence[str]) -> bool:
    """Return whether no part is empty or begins with a space, as after a comma in prose."""
    return all(part and not part[0].isspace() for part in parts)


def _have_one_form(mine: str, its: str) -> bool:
    """Return whether two texts with letters differ only by their numbers, as ids do."""
    form = _DIGITS.sub("0", mine.strip())
    return "0" in form and bool(_LETTER.search(form)) and form == _DIGITS.sub("0", its.strip())
