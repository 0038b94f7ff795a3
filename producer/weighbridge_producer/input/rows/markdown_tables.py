"""Rows of tables in Markdown: cells between vertical bars, which may stand at both ends too, with a rule below the header."""

from __future__ import annotations

import io
import re
from itertools import islice
from typing import TYPE_CHECKING, Any

from weighbridge_producer.input.rows.csv_tables import header_of, long_line, not_decoded, ragged
from weighbridge_producer.input.rows.source_rows import SourceRow

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from weighbridge.settings import Settings
    from weighbridge_producer.input.rows.csv_dialects import Dialect

_BAR = re.compile(r"(?<!\\)\|")


def markdown_rows(
    plain: io.BufferedReader[Any],
    dialect: Dialect,
    settings: Settings,
    most_lines: int | None = None,
    on_blank: Callable[[], None] = lambda: None,
) -> Iterator[SourceRow]:
    """Yield the rows below the rule of a table, from at most `most_lines` lines; `on_blank` is called for each without a value."""
    limit = settings.line_limit_bytes
    header: list[str] = []
    ends = False, False
    rule = number = 0
    try:
        for number, (line, size) in enumerate(
            islice(_lines(dialect.decoded(plain, newline=None), limit), most_lines), start=1
        ):
            if number <= dialect.skipped or not line.strip() or number == rule:
                continue
            if not header:
                ends, rule = _ends_of(line), number + 1
                header = header_of(_cells(line, *ends))
                continue
            cells = _cells(line, *ends)
            if size > limit:
                yield SourceRow(number, {}, long_line(size, limit), size)
            elif not any(cells):
                on_blank()
            elif len(cells) != len(header):
                fault = ragged(len(cells), len(header), hint=r"write \| for a bar within a cell")
                yield SourceRow(number, {}, fault, size)
            else:
                yield SourceRow(number, dict(zip(header, cells, strict=True)), None, size)
    except UnicodeDecodeError as error:
        raise not_decoded(error, number + 1) from None


def _lines(text: io.TextIOWrapper[Any], limit: int) -> Iterator[tuple[str, int]]:
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
