"""Rows of tables as `psql` and `mysql` print them, with bars between cells and a rule of `-` and `+` below the header."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

from weighbridge_producer.input.rows.csv_tables import header_of, long_line, not_decoded, ragged
from weighbridge_producer.input.rows.header_lines import is_rule
from weighbridge_producer.input.rows.markdown_tables import ANOTHER_TABLE, limited_lines
from weighbridge_producer.input.rows.source_rows import UNCOUNTED, LeftOut, SourceRow, invalid_row

if TYPE_CHECKING:
    import io
    from collections.abc import Iterator

    from weighbridge.settings import Settings
    from weighbridge_producer.input.rows.csv_dialects import Dialect

_BAR = "|"
#: Marks of psql at the end of a column for a cell that continues on the next line.
_CONTINUATION_MARKS = ("+", ".")
_HINT = "write the rows as CSV: psql --csv, or mysql --batch"
_SEVERAL_LINES = invalid_row(
    "the row has a cell of several lines, which cannot be told apart", _HINT
)


def printed_rows(
    plain: io.BufferedReader[Any],
    dialect: Dialect,
    settings: Settings,
    most_lines: int | None = None,
    left_out: LeftOut = UNCOUNTED,
) -> Iterator[SourceRow]:
    """Yield the rows below the rule of a table, from at most `most_lines` lines.

    A table without a frame ends at a line without bars, such as `(8 rows)`; one with a frame ends at the next rule. A second
    table becomes a fault, and is not read. So does a row with a cell of several lines.
    """
    limit = settings.line_limit_bytes
    lines = islice(limited_lines(dialect.decoded(plain, newline=None), limit), most_lines)
    table: _Table | None = None
    header = ""
    number = 0
    try:
        for number, (line, size) in enumerate(lines, start=1):
            text = line.rstrip()
            if number <= dialect.skipped:
                continue
            if not header:
                header = text
            elif table is None:
                table = _Table(header, len(text))
            elif size > limit and not table.has_ended:
                yield SourceRow(number, {}, long_line(size, limit), size)
            elif table.has_ended or table.ends_at(text):
                if table.has_ended and is_rule(text):
                    yield SourceRow(number, {}, ANOTHER_TABLE, size)
                    return
                table.has_ended = True
            elif (row := table.row(number, text, size, left_out)) is not None:
                yield row
    except UnicodeDecodeError as error:
        raise not_decoded(error, number + 1) from None


class _Table:
    """A table whose header and rule have been read."""

    def __init__(self, header: str, width: int) -> None:
        self._is_framed = header.startswith(_BAR)
        self._width = width  #: number of characters in the rule
        self._header = self._cells(header)
        self._names = header_of(self._header)
        self._is_in_row = False  #: True if the row of the last line continues
        self.has_ended = False

    def ends_at(self, text: str) -> bool:
        """Return whether a line is the first below the table."""
        return is_rule(text) or not (self._is_framed or _BAR in text)

    def row(self, number: int, text: str, size: int, left_out: LeftOut) -> SourceRow | None:
        """Return the row of a line; None if the line has no row, or continues the row above."""
        begins = text.startswith(_BAR)
        if self._is_framed and not (begins and text.endswith(_BAR) and len(text) > 1):
            is_new, self._is_in_row = begins or not self._is_in_row, True
            return SourceRow(number, {}, _SEVERAL_LINES, size) if is_new else None
        was_in_row, self._is_in_row = self._is_in_row, self._goes_on(text)
        if not self._is_framed and was_in_row:
            return None
        if self._is_in_row:
            return SourceRow(number, {}, _SEVERAL_LINES, size)
        cells = self._cells(text)
        if cells == self._header:
            left_out.headers()
        elif not any(cells):
            left_out.blanks()
        elif len(cells) != len(self._names):
            return SourceRow(number, {}, ragged(len(cells), len(self._names), hint=_HINT), size)
        else:
            return SourceRow(number, dict(zip(self._names, cells, strict=True)), None, size)
        return None

    def _goes_on(self, text: str) -> bool:
        *before, last = self._parts(text)
        if any(
            part.endswith(_CONTINUATION_MARKS)
            for part in (*before, *([last] if self._is_framed else []))
        ):
            return True
        # The last column has no bar after it, and its texts end before the end of the rule.
        is_at_end = len(text) >= self._width and text.endswith(_CONTINUATION_MARKS)
        return not self._is_framed and (is_at_end or text.endswith(" +"))

    def _parts(self, text: str) -> list[str]:
        parts = text.split(_BAR)
        return parts[1:-1] if self._is_framed else parts

    def _cells(self, text: str) -> list[str]:
        return list(map(str.strip, self._parts(text)))
