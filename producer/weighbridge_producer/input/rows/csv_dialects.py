"""The dialect of a table in text: its encoding, its separator, and the lines above its header."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from weighbridge.errors import InputError
from weighbridge_producer.input.files.table_form import USUAL_FORM, TableForm
from weighbridge_producer.input.rows.header_lines import (
    LINES_ABOVE_MOST,
    Header,
    comments_above,
    delimiter_of,
    header_by_names,
    is_ruled,
    lines_above_header,
    titles_above,
)
from weighbridge_producer.input.rows.text_encodings import (
    encoding_of,
    given_encoding,
    may_be_western,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

_DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "vertical bar"}
#: First line of some files for Excel, with the separator.
_SEPARATOR_LINE = re.compile(r"\ufeff?sep=([,;|\t])[\r\n]*")
#: The rule below a header in Markdown.
_RULE = re.compile(r"\|?(?:[ \t]*:?-+:?[ \t]*\|)*[ \t]*:?-+:?[ \t]*\|?")


@dataclass(frozen=True, slots=True)
class Dialect:
    """The encoding and delimiter of a table."""

    encoding: str
    delimiter: str
    skipped: int = 0  #: number of lines above the header
    is_markdown: bool = False  #: True for a table in Markdown
    is_printed: bool = False  #: True for a table as psql and mysql print it
    has_header: bool = True
    is_given: bool = False  #: True if the encoding was given, not detected
    repeated: tuple[str, ...] = ()  #: names that several columns have
    may_be_western: bool = False  #: True if the text fits CP1252 as well as the detected encoding

    @property
    def is_ascii_based(self) -> bool:
        """True if the text after a byte that the encoding lacks is still readable."""
        return not self.encoding.startswith(("utf-16", "utf-32"))

    @property
    def may_lack_header(self) -> bool:
        """True if the first row was only assumed to be a header."""
        return self.has_header and not self.is_drawn

    @property
    def is_drawn(self) -> bool:
        """True for a table that is drawn with bars and a rule, as in Markdown."""
        return self.is_markdown or self.is_printed

    def decoded(self, plain: io.BufferedReader[Any], newline: str | None) -> io.TextIOWrapper[Any]:
        """Return the text of a table; bytes that the encoding lacks are kept as surrogates if possible."""
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
        if self.is_drawn:
            return f"{encoding.replace('_', '-')}{header}"
        delimiter = _DELIMITERS.get(self.delimiter, self.delimiter)
        return f"{encoding.replace('_', '-')}, {delimiter}-separated{header}"


def dialect_of(
    head: bytes, *, is_whole: bool, delimiter: str | None = None, form: TableForm = USUAL_FORM
) -> Dialect:
    """Detect the dialect of a table from its first bytes; raises InputError if the given form cannot be right."""
    encoding = given_encoding(head, form.encoding) if form.encoding else encoding_of(head)
    found = _dialect_of(head, encoding, delimiter, form, is_whole=is_whole)
    return replace(
        found,
        has_header=form.has_header or found.is_drawn,
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
    return found if found.is_drawn else replace(found, repeated=_repeated_names(lines, found))


def _dialect_by_lines(
    lines: Sequence[str], encoding: str, delimiter: str | None, form: TableForm
) -> Dialect:
    if form.header_line:
        return _dialect_below(lines, encoding, delimiter, form.header_line)
    separator_line = _SEPARATOR_LINE.fullmatch(lines[0]) if lines else None
    if separator_line:
        above = _above(lines[1:], [separator_line[1]], form).above
        return Dialect(encoding, separator_line[1], 1 + above)
    if drawn := _drawn(lines[: LINES_ABOVE_MOST + 2], encoding):
        return drawn
    above, delimiter = _above(lines, [delimiter] if delimiter else list(_DELIMITERS), form)
    return Dialect(encoding, delimiter, above)


def _dialect_below(
    lines: Sequence[str], encoding: str, delimiter: str | None, header_line: int
) -> Dialect:
    """Return the dialect of a table whose header is in a given line; raises InputError if there is no such line."""
    below = lines[header_line - 1 :]
    if not below:
        raise InputError(
            f"there is no line {header_line:,} at the beginning of the table",
            f"--header-line is at most {len(lines):,}",
        )
    if drawn := _drawn(below[:2], encoding):
        return replace(drawn, skipped=header_line - 1)
    return Dialect(encoding, delimiter or delimiter_of(below, _DELIMITERS), header_line - 1)


def _above(lines: Sequence[str], delimiters: Sequence[str], form: TableForm) -> Header:
    """Return the delimiter, and the number of lines above the header, or above the first row if there is no header."""
    comments = comments_above(lines, delimiters, has_header=form.has_header)
    lines = lines[comments:]
    if form.has_header and (found := header_by_names(lines, delimiters)):
        return Header(comments + found.above, found.delimiter)
    skipped = lines_above_header(lines, delimiters)
    delimiter = delimiter_of(lines[skipped:], delimiters)
    titles = titles_above(lines[skipped:], delimiter) if form.has_header else 0
    return Header(comments + skipped + titles, delimiter)


def _repeated_names(lines: Sequence[str], dialect: Dialect) -> tuple[str, ...]:
    """Return the names that occur more than once in a table's first row."""
    reader = csv.reader(iter(lines[dialect.skipped :]), delimiter=dialect.delimiter, strict=True)
    try:
        header = next(filter(any, reader), [])
    except csv.Error:
        return ()  # reading the table reports it
    names = Counter(filter(None, map(str.strip, header)))
    return tuple(name for name, times in names.items() if times > 1)


def _drawn(lines: Sequence[str], encoding: str) -> Dialect | None:
    """Return the dialect of a table with a rule below its header; None if no line is such a rule."""
    for place, (header, below) in enumerate(pairwise(lines)):
        if "|" in below and "|" in header and _RULE.fullmatch(below.strip()):
            return Dialect(encoding, "|", place, is_markdown=True)
        if is_ruled(header, below):
            return Dialect(encoding, "|", place, is_printed=True)
    return None
