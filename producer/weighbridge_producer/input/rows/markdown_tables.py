"""Rows of tables in Markdown: cells with vertical bars between them, and often at both ends; a rule below the header."""

from __future__ import annotations

import io
import re
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from weighbridge.errors import Fault
from weighbridge.jobs.error_codes import ErrorCode
from weighbridge_producer.input.rows.csv_tables import header_of, long_line, not_decoded, ragged
from weighbridge_producer.input.rows.source_rows import UNCOUNTED, LeftOut, SourceRow

if TYPE_CHECKING:
    from collections.abc import Iterator

    from weighbridge.settings import Settings
    from weighbridge_producer.input.rows.csv_dialects import Dialect

_BAR = re.compile(r"(?<!\\)\|")
_RULE = re.compile(r":?-{3,}:?")
ANOTHER_TABLE = Fault(
    ErrorCode.INVALID_ROW,
    "the header of another table, which is not read",
    "put each table into a file of its own",
)


class _Line(NamedTuple):
    """A line of a table."""

    number: int
    cells: list[str]
    size: int


def markdown_rows(
    plain: io.BufferedReader[Any],
    dialect: Dialect,
    settings: Settings,
    most_lines: int | None = None,
    left_out: LeftOut = UNCOUNTED,
) -> Iterator[SourceRow]:
    """Yield the rows below the rule of a table, from at most `most_lines` lines.

    A table ends at a blank line unless a line with bars follows. A second table becomes a fault, and is not read.
    """
    limit = settings.line_limit_bytes
    header: list[str] = []  #: cells of the first row
    names: list[str] = []  #: names of the columns
    ends = False, False
    rule = number = 0
    is_apart = False  #: True after a blank line
    held: _Line | None = None  #: a row after a blank line, which may be the header of another table
    try:
        for number, (line, size) in enumerate(
            islice(limited_lines(dialect.decoded(plain, newline=None), limit), most_lines), start=1
        ):
            if number <= dialect.skipped or number == rule:
                continue
            if not line.strip():
                is_apart = True
                continue
            if not header:
                ends, rule = _ends_of(line), number + 1
                header = _cells(line, *ends)
                names = header_of(header)
                is_apart = False
                continue
            cells = _cells(line, *ends)
            if held and _are_rule(cells):
                yield SourceRow(held.number, {}, ANOTHER_TABLE, held.size)
                return
            if held:
                yield from _rows_of(held, names, limit, left_out)
                held = None
            if is_apart and not _BAR.search(line):
                continue
            row = _Line(number, cells, size)
            if cells == header and size <= limit:
                left_out.headers()
            elif is_apart:
                held = row
            else:
                yield from _rows_of(row, names, limit, left_out)
            is_apart = False
        if held:
            yield from _rows_of(held, names, limit, left_out)
    except UnicodeDecodeError as error:
        raise not_decoded(error, number + 1) from None


def _rows_of(row: _Line, names: list[str], limit: int, left_out: LeftOut) -> Iterator[SourceRow]:
    if row.size > limit:
        yield SourceRow(row.number, {}, long_line(row.size, limit), row.size)
    elif not any(row.cells):
        left_out.blanks()
    elif len(row.cells) != len(names):
        fault = ragged(len(row.cells), len(names), hint=r"write \| for a bar within a cell")
        yield SourceRow(row.number, {}, fault, row.size)
    elif not _are_rule(row.cells):
        yield SourceRow(row.number, dict(zip(names, row.cells, strict=True)), None, row.size)


def _are_rule(cells: list[str]) -> bool:
    """Return whether the cells are the rule below a header."""
    return all(map(_RULE.fullmatch, cells))


def limited_lines(text: io.TextIOWrapper[Any], limit: int) -> Iterator[tuple[str, int]]:
    """Yield each line up to a limit of characters, and the number of characters in it."""
    while line := text.readline(limit + 1):
        rest, size = line, len(line)
        while len(rest) > limit and not rest.endswith("\n"):
            rest = text.readline(limit + 1)
            size += len(rest)
        yield line, size


def _ends_of(header: str) -> tuple[bool, bool]:
    """Return whether the lines of a table begin and end with a bar."""
    cells = _BAR.split(header.strip())
    return not cells[0], not cells[-1]


def _cells(line: str, begins: bool, ends: bool) -> list[str]:
    """Return the cells of a line without the bars and the space around them."""
    cells = [cell.strip().replace(r"\|", "|") for cell in _BAR.split(line.strip())]
    first = 1 if begins and not cells[0] else 0
    return cells[first:-1] if ends and len(cells) > 1 + first and not cells[-1] else cells[first:]
