"""Rows of CSV and TSV files."""

from __future__ import annotations

import csv
import io
from collections import Counter
from itertools import count
from typing import TYPE_CHECKING, Any

from weighbridge.errors import Fault, InputError
from weighbridge.jobs.error_codes import ErrorCode
from weighbridge.settings import KIB
from weighbridge.text import pluralize
from weighbridge_producer.input.rows.lost_quotes import lost_quote
from weighbridge_producer.input.rows.source_rows import (
    UNCOUNTED,
    LeftOut,
    RowError,
    SourceRow,
    invalid_row,
)
from weighbridge_producer.input.rows.text_encodings import HEAD_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from weighbridge.settings import Settings
    from weighbridge_producer.input.rows.csv_dialects import Dialect

_BLOCK_CHARACTERS = 64 * KIB  #: number of characters read at once to find lines without quotes
_COLUMNS_LIMIT = 10_000

_TOO_FEW = (
    "add the missing cells: the row was cut off, or a cell with a line break lacks quotes around it"
)
_TOO_MANY = "put quotes around cells that hold the separator"


def table_rows(
    plain: io.BufferedReader[Any],
    dialect: Dialect,
    settings: Settings,
    most_lines: int | None = None,
    left_out: LeftOut = UNCOUNTED,
) -> Iterator[SourceRow]:
    """Yield the rows after the header as mappings by column, from at most `most_lines` lines.

    A row with more or fewer cells than the header, or with misplaced or missing quotes, becomes a fault. Rows without any value,
    as spreadsheets write them below their content, and headers of files that were appended are left out.
    """
    lines = _Lines(
        dialect.decoded(plain, newline=""), settings.line_limit_bytes, dialect.delimiter, most_lines
    )
    lines.has_blocks = dialect.is_ascii_based and most_lines is None
    for _ in range(dialect.skipped):
        next(lines, None)
    # The limit of the csv module applies to the whole process, and so does the line limit.
    csv.field_size_limit(settings.line_limit_bytes)
    reader = csv.reader(lines, delimiter=dialect.delimiter, strict=True)
    header: list[str] | None = None
    repeated: list[str] | None = None  #: cells of a row that repeats the header
    while True:
        while header and (block := lines.plain_block()):
            before = lines.read - len(block)
            yield from _plain_rows(block, before, dialect.delimiter, header, repeated, left_out)
        first = lines.read + 1
        lines.taken = 0
        try:
            cells = next(reader)
        except StopIteration:
            return
        except UnicodeDecodeError as error:
            raise not_decoded(error, first) from None
        except _LineTooLongError as error:
            yield SourceRow(first, {}, error.fault, lines.taken)
            continue
        except csv.Error as error:
            limit = settings.line_limit_bytes
            yield SourceRow(first, {}, _fault_of(error, limit, lines.read - first + 1), lines.taken)
            continue
        if not cells:
            continue  # a blank line
        if _is_blank(cells):
            if header:
                left_out.blanks()
            continue
        if header is None and dialect.has_header:
            header = header_of(cells)
            repeated = cells if len(cells) > 1 else None
            continue
        header = header or numbered(cells)
        if cells == repeated:
            left_out.headers()
        elif len(cells) != len(header):
            fault = ragged(len(cells), len(header), lines.read - first + 1)
            yield SourceRow(first, {}, fault, lines.taken)
        elif lines.read > first and (lost := lost_quote(cells, dialect.delimiter)):
            yield SourceRow(first, {}, lost, lines.taken)
        else:
            yield SourceRow(first, dict(zip(header, cells, strict=True)), None, lines.taken)


def not_decoded(error: UnicodeDecodeError, number: int) -> RowError:
    """Return the error for text that, from a line on, is not in the encoding of the file's beginning."""
    message = f"the text is not {error.encoding} from here on"
    return RowError(
        Fault(
            ErrorCode.INPUT_TRUNCATED,
            message,
            "save it as UTF-8, or name its encoding with --encoding",
        ),
        number,
    )


def long_line(characters: int, limit: int) -> Fault:
    """Return the fault for a line of a table that is too long."""
    return Fault(
        ErrorCode.LINE_TOO_LONG,
        f"the line has {characters:,} characters, at most {limit:,} are allowed",
        "split the row, or raise WEIGHBRIDGE_LINE_LIMIT_BYTES",
    )


def _plain_rows(
    block: list[str],
    before: int,
    delimiter: str,
    header: list[str],
    repeated: list[str] | None,
    left_out: LeftOut,
) -> Iterator[SourceRow]:
    """Yield the rows of lines without quotes; `before` is the number of lines before the first one."""
    columns = len(header)
    for number, line in enumerate(block, before + 1):
        cells = line.split(delimiter)
        if not line:
            continue
        if _is_blank(cells):
            left_out.blanks()
        elif cells == repeated:
            left_out.headers()
        elif len(cells) == columns:
            yield SourceRow(number, dict(zip(header, cells, strict=False)), None, len(line) + 1)
        else:
            yield SourceRow(number, {}, ragged(len(cells), columns), len(line) + 1)


def _is_blank(cells: list[str]) -> bool:
    # Nearly all rows have a filled first cell, and checking every cell takes time.
    return not (cells[0].strip() or any(map(str.strip, cells)))


class _LineTooLongError(Exception):
    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.message)
        self.fault = fault


class _Lines:
    """The lines of a text, counted and limited in length."""

    def __init__(
        self, text: io.TextIOWrapper[Any], limit: int, delimiter: str, most: int | None
    ) -> None:
        self._text = text
        self._ahead = io.StringIO()  #: text that was read as a block, but has quotes
        self._ahead_left = 0  #: number of unread characters in that text
        self.has_blocks = False  #: True if whole blocks can be read at once
        self._most = most
        self._limit = limit
        self._delimiter = delimiter
        self.read = 0  #: number of lines read
        self.taken = 0  #: number of characters read since the last reset to 0

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = "" if self.read == self._most else self._readline(self._limit + 2)
        if not line:
            raise StopIteration
        self.read += 1
        self.taken += len(line)
        if len(line) > self._limit and not line.endswith(("\n", "\r")):
            while line and not line.endswith(("\n", "\r")):
                line = self._readline(HEAD_BYTES)
                self.taken += len(line)
            raise _LineTooLongError(long_line(self.taken, self._limit))
        if len(line) > _COLUMNS_LIMIT and line.count(self._delimiter) > 100 * _COLUMNS_LIMIT:
            raise _LineTooLongError(
                invalid_row("the line has over 1,000,000 cells", "split the table")
            )
        return line

    def plain_block(self) -> list[str]:
        """Return the next whole lines without line breaks; none if the csv module has to read one of them."""
        if self._ahead_left or not self.has_blocks:
            return []
        text = self._text.read(_BLOCK_CHARACTERS)
        if text and not text.endswith("\n"):
            text += self._text.readline(self._limit + 2)
        plain = text.replace("\r\n", "\n")
        is_plain = '"' not in plain and "\r" not in plain and plain.endswith("\n")
        if not is_plain or len(text) > min(self._limit, 2 * _BLOCK_CHARACTERS):
            self._ahead, self._ahead_left = io.StringIO(text, newline=""), len(text)
            return []
        lines = plain[:-1].split("\n")
        self.read += len(lines)
        return lines

    def _readline(self, most: int) -> str:
        if not self._ahead_left:
            return self._text.readline(most)
        line = self._ahead.readline(most)
        self._ahead_left -= len(line)
        return line


def header_of(cells: list[str]) -> list[str]:
    """Return the names of a table's columns, with a number after each repeated one: `Status_1` and `Status_2`.

    Raises InputError if there are too many.
    """
    if len(cells) > _COLUMNS_LIMIT:
        raise InputError(
            f"the table has {len(cells):,} columns", f"at most {_COLUMNS_LIMIT:,} can be read"
        )
    return told_apart([cell.strip() or f"column {index}" for index, cell in enumerate(cells, 1)])


def told_apart(names: list[str]) -> list[str]:
    """Return the names of columns, with a number after each repeated one."""
    if len(taken := set(names)) == len(names):
        return names
    repeated = {name: count(1) for name, times in Counter(names).items() if times > 1}
    return [_next_free(name, repeated[name], taken) if name in repeated else name for name in names]


def _next_free(name: str, numbers: Iterator[int], taken: set[str]) -> str:
    return next(each for number in numbers if (each := f"{name}_{number}") not in taken)


def numbered(cells: list[str]) -> list[str]:
    """Return the names of the columns of a table without a header: their numbers, from 1."""
    return header_of([str(number) for number in range(1, len(cells) + 1)])


def ragged(
    cells: int,
    columns: int,
    lines: int = 1,
    hint: str = "",
) -> Fault:
    """Return the fault of a row with more or fewer cells than the header."""
    usual = _TOO_FEW if cells < columns else _TOO_MANY
    return invalid_row(
        f"the row has {pluralize(cells, 'cell')}, and the header {columns:,}{_covering(lines)}",
        hint or usual,
    )


def _fault_of(error: csv.Error, limit: int, lines: int) -> Fault:
    what = str(error)
    if "field limit" in what:
        return invalid_row(
            f"a cell has more than {limit:,} characters: its closing quote may be missing{_covering(lines)}",
            "close the quote, or raise WEIGHBRIDGE_LINE_LIMIT_BYTES",
        )
    if "unexpected end" in what:
        return Fault(
            ErrorCode.INPUT_TRUNCATED,
            f"a quote that opens in this row is never closed{_covering(lines)}",
            "close it; everything below is part of the cell",
        )
    return invalid_row(
        f"the row is not CSV: {what}{_covering(lines)}",
        'write a quote inside a quoted cell twice, as ""',
    )


def _covering(lines: int) -> str:
    """Return how many lines of the file became one row, if a quote spans more than one."""
    return f"; because of its quotes, the row covers {lines:,} lines" if lines > 1 else ""
