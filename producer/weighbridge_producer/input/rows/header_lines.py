"""The lines around the header of a text table: a title, comments and facts about the run above it, and a rule below it."""

from __future__ import annotations

import csv
import re
from collections import Counter
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from weighbridge_producer.input.proposals.column_names import is_usual

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

LINES_ABOVE_MOST = 10  #: maximum number of lines above a header that are skipped, besides comments
_ROWS_TRIED = 50
_COMMENT = "#"
_MARKED = re.compile(r"# ?\w*")
_MOST = 0.5  #: minimum share of rows with as many cells as the header
_FACT = re.compile("[=:]")  #: character of a fact in a comment, which names of columns lack
#: The rule below a header that psql and mysql print.
_RULE = re.compile(r"\+?-+(?:\+-+)+\+?|\+-+\+").fullmatch
_NUMBER = re.compile(r"[-+]?[\d.,\s]+%?")


class Header(NamedTuple):
    """The place of a header."""

    above: int  #: number of lines above it
    delimiter: str


def comments_above(lines: Sequence[str], delimiters: Sequence[str], *, has_header: bool) -> int:
    """Return the number of first lines that are comments: they begin with `#`, whatever they contain.

    The last of these lines are not comments if they have as many cells as the rows below: they may be the header, or rows of
    a table without a header.
    """
    comments = next((n for n, line in enumerate(lines) if not line.startswith(_COMMENT)), 0)
    below = lines[comments:]
    delimiter = delimiter_of(below, delimiters)
    width = fit(below, delimiter)[1]
    if not comments or width < 2:
        return 0
    if has_header:
        names = _cells(below[0], delimiter)
        names = names if _names_a_header(names) else []
        for place in range(comments):
            if _has_marked_name(lines[place:], delimiters, names):
                return place
        if names:
            return comments
    first = comments
    while first and _may_be_row(lines[first - 1], delimiter, width):
        first -= 1
    return first


def header_by_names(lines: Sequence[str], delimiters: Sequence[str]) -> Header | None:
    """Return the header recognised by usual names of columns, below lines that cannot be the header; None if there is none.

    Such lines are comments, lines with fewer filled cells, and lines with keys that end with a colon. Below a blank line,
    any names may be those of a header.
    """
    for above in range(min(LINES_ABOVE_MOST, len(lines) - 2) + 1):
        for delimiter in delimiters:
            is_named = _names_a_header(_cells(lines[above], delimiter))
            if is_named and not above:
                return None
            is_apart = above > 1 and not lines[above - 1].replace(delimiter, "").strip()
            is_likely = is_named or (is_apart and _may_be_header(_cells(lines[above], delimiter)))
            least = _MOST if is_named else 1.0
            if is_likely and _begins_table(lines, above, delimiter, delimiters, least):
                return Header(above, delimiter)
    return None


def _begins_table(
    lines: Sequence[str], above: int, delimiter: str, delimiters: Sequence[str], least: float
) -> bool:
    """Return whether at least the share `least` of the rows fit a header, and no line above it can be the header."""
    share, width = fit(lines[above:], delimiter)
    if share < least or delimiter != delimiter_of(lines[above:], delimiters):
        return False
    first_share, first_width = fit(lines, delimiter_of(lines, delimiters))
    if first_width != width and first_share >= share:
        return False  # the row is one with too many cells
    is_within_quotes = "".join(lines[:above]).count('"') % 2
    return not is_within_quotes and all(
        _cannot_be_header(_cells(line, delimiter), width) for line in lines[:above]
    )


def lines_above_header(lines: Sequence[str], delimiters: Iterable[str]) -> int:
    """Return the number of first lines, such as a title, that no delimiter splits; a delimiter splits all rows below."""
    for skipped in range(min(LINES_ABOVE_MOST, len(lines) - 2) + 1):
        if not lines[skipped].strip():
            continue
        fits = [fit(lines[skipped:], delimiter) for delimiter in delimiters]
        if any(columns for _, columns in fits):
            return skipped if skipped == 0 or any(share == 1.0 for share, _ in fits) else 0
    return 0


def titles_above(lines: Sequence[str], delimiter: str) -> int:
    """Return the number of first lines that are a title, padded with separators to the width of the table.

    A title is a first row with one filled cell, which is not the name of a column. The header is then a row that begins with
    a usual name and has another one. It may also be the first row without empty cells, if an empty row stands above it and
    the title has the only filled cells.
    """
    above: list[list[str]] = []
    before = 0
    reader = csv.reader(iter(lines), delimiter=delimiter, strict=True)
    try:
        for cells in islice(reader, LINES_ABOVE_MOST + 1):
            names = list(filter(None, map(str.strip, cells)))
            is_full = len(names) == len(cells) > 1
            if _is_title(above) and _is_header(names, above, is_full=is_full):
                return before
            if is_full:
                return 0
            before = reader.line_num
            above.append(names)
    except csv.Error:
        pass  # reading the table reports it
    return 0


def is_rule(line: str) -> bool:
    """Return whether a line is a rule of `-` and `+`, such as psql and mysql print."""
    return _RULE(line.strip()) is not None


def is_ruled(header: str, rule: str) -> bool:
    """Return whether two lines are a header, and below it such a rule with the same number of columns."""
    return is_rule(rule) and header.count("|") == rule.count("+") > 0


def delimiter_of(lines: Sequence[str], delimiters: Iterable[str]) -> str:
    """Return the delimiter for which most rows have the header's number of cells, and among such, the most cells."""
    found = {delimiter: fit(lines, delimiter) for delimiter in delimiters}
    return max(found, key=lambda delimiter: found[delimiter])


def fit(lines: Sequence[str], delimiter: str) -> tuple[float, int]:
    """Return the share of rows with as many cells as the header for a delimiter, and the number of cells."""
    widths: Counter[int] = Counter()
    header = 0
    try:
        for cells in csv.reader(iter(lines), delimiter=delimiter, strict=True):
            if not cells:
                continue
            header = header or len(cells)
            widths[len(cells)] += 1
            if widths.total() >= _ROWS_TRIED:
                break
    except csv.Error:
        pass  # evaluate the rows read so far
    if header < 2:
        return 0.0, 0
    return widths[header] / widths.total(), header


def _cells(line: str, delimiter: str) -> list[str]:
    """Return the cells of a single line without surrounding space; empty if its quotes span several lines."""
    try:
        return list(map(str.strip, next(csv.reader([line], delimiter=delimiter, strict=True), [])))
    except csv.Error:
        return []


def _may_be_row(line: str, delimiter: str, width: int) -> bool:
    return len(_cells(line, delimiter)) == width and not _FACT.search(line)


def _has_marked_name(lines: Sequence[str], delimiters: Sequence[str], names: Sequence[str]) -> bool:
    """Return whether the first line is a header whose first name is `#` (for row numbers), or `#` and a word.

    If it has a word, half of the rows below must have the same number of cells. If `names` of columns stand below, it must
    have other usual names.
    """
    delimiter = delimiter_of(lines, delimiters)
    cells = _cells(lines[0], delimiter)
    if len(cells) < 2 or not _MARKED.fullmatch(cells[0]):
        return False
    if cells[0] == _COMMENT:
        return True
    own = [cells[0].removeprefix(_COMMENT).lstrip(), *cells[1:]]
    is_other = not names or (_names_a_header(own) and own != list(names))
    return is_other and fit(lines, delimiter)[0] >= _MOST


def _cannot_be_header(cells: Sequence[str], width: int) -> bool:
    filled = list(filter(None, cells))
    is_comment = any(cells) and cells[0].startswith(_COMMENT) and cells[0] != _COMMENT
    if is_comment or any(cell.endswith(":") for cell in filled):
        return True
    return len(filled) < width and not _names_a_header(filled)


def _may_be_header(cells: Sequence[str]) -> bool:
    """Return whether a row has only cells that may be names, all of them different."""
    is_unique = len(set(cells)) == len(cells) > 1
    return is_unique and all(cells) and not any(map(_NUMBER.fullmatch, cells))


def _names_a_header(cells: Sequence[str]) -> bool:
    """Return whether the filled cells begin with a usual name of a column and include another one."""
    names = list(filter(None, cells))
    return _may_be_header(names) and is_usual(names[0]) and sum(map(is_usual, names)) > 1


def _is_title(above: Sequence[Sequence[str]]) -> bool:
    first = next(filter(None, above), ())
    return len(first) == 1 and (" " in first[0] or not is_usual(first[0]))


def _is_header(names: Sequence[str], above: Sequence[Sequence[str]], *, is_full: bool) -> bool:
    if is_full and not above[-1] and all(len(cells) < 2 for cells in above):
        return _may_be_header(names)
    return _names_a_header(names)
