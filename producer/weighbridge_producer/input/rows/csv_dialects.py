"""The dialect of a table in text: its encoding, its separator, and the lines above its header."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from weighbridge_producer.input.files.table_form import USUAL_FORM, TableForm
from weighbridge_producer.input.proposals.column_names import is_usual
from weighbridge_producer.input.rows.text_encodings import (
    encoding_of,
    given_encoding,
    may_be_western,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "vertical bar"}
_ROWS_TRIED = 50
_LINES_ABOVE_MOST = 10  #: lines above a header that are skipped
_SEPARATOR_LINE = re.compile(r"\ufeff?sep=([,;|\t])[\r\n]*")  #: Excel's first line
#: In Markdown, below a header.
_RULE = re.compile(r"\|?(?:[ \t]*:?-+:?[ \t]*\|)*[ \t]*:?-+:?[ \t]*\|?")
_NUMBER = re.compile(r"[-+]?[\d.,\s]+%?")


@dataclass(frozen=True, slots=True)
class Dialect:
    """The encoding and delimiter of a table."""

    encoding: str
    delimiter: str
    skipped: int = 0  #: lines above the header
    is_markdown: bool = False  #: True for a table in Markdown
    has_header: bool = True
    is_given: bool = False  #: True if the encoding was given, not detected
    repeated: tuple[str, ...] = ()  #: names that several columns have
    may_be_western: bool = False  #: True if the text fits CP1252 as well as the detected encoding

    @property
    def is_ascii_based(self) -> bool:
        """True if a byte that the encoding lacks leaves what follows readable."""
        return not self.encoding.startswith(("utf-16", "utf-32"))

    @property
    def may_lack_header(self) -> bool:
        """True if the first row was read as a header for want of other information."""
        return self.has_header and not self.is_markdown

    def decoded(self, plain: io.BufferedReader[Any], newline: str | None) -> io.TextIOWrapper[Any]:
        """Return the text of a table, in which bytes that the encoding lacks are kept as surrogates where that is possible."""
        errors = "surrogateescape" if self.is_ascii_based else "strict"
        return io.TextIOWrapper(plain, self.encoding, errors, newline)

    def __str__(self) -> str:
        """Return a description of the dialect."""
        encoding = "UTF-8" if self.encoding == "utf-8-sig" else self.encoding.upper()
        encoding += ", or perhaps CP1252" if self.may_be_western else ""
        header = f", header in line {self.skipped + 1}" if self.skipped else ""
        if not self.has_header:
            header = (
                f", no header, rows from line {self.skipped + 1}" if self.skipped else ", no header"
            )
        if self.is_markdown:
            return f"{encoding.replace('_', '-')}{header}"
        delimiter = _DELIMITERS.get(self.delimiter, self.delimiter)
        return f"{encoding.replace('_', '-')}, {delimiter}-separated{header}"


def dialect_of(
    head: bytes, *, is_whole: bool, delimiter: str | None = None, form: TableForm = USUAL_FORM
) -> Dialect:
    """Detect the dialect of a table from its first bytes; raises InputError if the form gives an encoding that it cannot have."""
    encoding = given_encoding(head, form.encoding) if form.encoding else encoding_of(head)
    found = _dialect_of(head, encoding, delimiter, form, is_whole=is_whole)
    return replace(
        found,
        has_header=form.has_header or found.is_markdown,
        is_given=bool(form.encoding),
        may_be_western=not form.encoding and may_be_western(head, encoding),
    )


def _dialect_of(
    head: bytes, encoding: str, delimiter: str | None, form: TableForm, *, is_whole: bool
) -> Dialect:
    text = head.decode(encoding, errors="replace")
    lines = list(io.StringIO(text, newline=""))
    lines = lines if is_whole else lines[:-1] or lines
    found = _dialect_by_lines(lines, encoding, delimiter, form)
    return found if found.is_markdown else replace(found, repeated=_repeated_names(lines, found))


def _dialect_by_lines(
    lines: Sequence[str], encoding: str, delimiter: str | None, form: TableForm
) -> Dialect:
    separator_line = _SEPARATOR_LINE.fullmatch(lines[0]) if lines else None
    if separator_line:
        titles = _titles_above(lines[1:], separator_line[1]) if form.has_header else 0
        return Dialect(encoding, separator_line[1], 1 + titles)
    delimiters = [delimiter] if delimiter else list(_DELIMITERS)
    skipped = _lines_above_header(lines, delimiters)
    if (above := _lines_above_rule(lines)) is not None:
        return Dialect(encoding, "|", above, is_markdown=True)
    delimiter = delimiter or _delimiter_of(lines[skipped:])
    titles = _titles_above(lines[skipped:], delimiter) if form.has_header else 0
    return Dialect(encoding, delimiter, skipped + titles)


def _repeated_names(lines: Sequence[str], dialect: Dialect) -> tuple[str, ...]:
    """Return the names that occur more than once in a table's first row."""
    reader = csv.reader(iter(lines[dialect.skipped :]), delimiter=dialect.delimiter, strict=True)
    try:
        header = next(filter(any, reader), [])
    except csv.Error:
        return ()  # reading the table reports it
    names = Counter(filter(None, map(str.strip, header)))
    return tuple(name for name, times in names.items() if times > 1)


def _lines_above_rule(lines: Sequence[str]) -> int | None:
    """Return the number of lines above the header of a table in Markdown, which has a rule below; None if there is none."""
    for place, line in enumerate(lines[1 : _LINES_ABOVE_MOST + 2]):
        if "|" in line and "|" in lines[place] and _RULE.fullmatch(line.strip()):
            return place
    return None


def _delimiter_of(lines: Sequence[str]) -> str:
    """Return the delimiter that gives the first rows the same number of cells, and the most cells."""
    found = {delimiter: _fit(lines, delimiter) for delimiter in _DELIMITERS}
    return max(found, key=lambda delimiter: found[delimiter])


def _lines_above_header(lines: Sequence[str], delimiters: Iterable[str]) -> int:
    """Return the number of first lines, such as a title or comments, that no delimiter splits, unlike all rows below."""
    for skipped in range(min(_LINES_ABOVE_MOST, len(lines) - 2) + 1):
        if not lines[skipped].strip():
            continue
        fits = [_fit(lines[skipped:], delimiter) for delimiter in delimiters]
        if any(columns for _, columns in fits):
            return skipped if skipped == 0 or any(share == 1.0 for share, _ in fits) else 0
    return 0


def _fit(lines: Sequence[str], delimiter: str) -> tuple[float, int]:
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


def _titles_above(lines: Sequence[str], delimiter: str) -> int:
    """Return the number of first lines that are a title, padded with separators to the width of the table.

    The first row has only one cell that is not empty, and no name of a column in it. The header begins with a usual name
    and has another one; or it is the first row without an empty cell, below an empty row and no cells but the title's.
    """
    above: list[list[str]] = []
    before = 0
    reader = csv.reader(iter(lines), delimiter=delimiter, strict=True)
    try:
        for cells in islice(reader, _LINES_ABOVE_MOST + 1):
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


def _is_title(above: Sequence[Sequence[str]]) -> bool:
    first = next(filter(None, above), ())
    return len(first) == 1 and (" " in first[0] or not is_usual(first[0]))


def _is_header(names: Sequence[str], above: Sequence[Sequence[str]], *, is_full: bool) -> bool:
    if not names or len(set(names)) < len(names) or any(map(_NUMBER.fullmatch, names)):
        return False
    if is_full and not above[-1] and all(len(cells) < 2 for cells in above):
        return True
    return is_usual(names[0]) and sum(map(is_usual, names)) > 1
