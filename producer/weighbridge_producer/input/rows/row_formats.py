"""Detection of the format of files with rows, and a reader for the rows."""

from __future__ import annotations

import io
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, BinaryIO, cast

import orjson

from weighbridge.errors import InputError
from weighbridge.jobs.error_codes import ErrorCode
from weighbridge.jobs.line import BYTE_ORDER_MARK, JSON_SPACE
from weighbridge_producer.input.files.decompress import DAMAGE, ExpansionError
from weighbridge_producer.input.files.eval_archive import (
    OFFICE,
    OFFICE_PARTS,
    SAVE_AS_CSV,
    SIGNS,
    may_be_log,
    names_in,
    no_log_fault,
)
from weighbridge_producer.input.files.folder_files import unpacked_name
from weighbridge_producer.input.files.kept_streams import KeptStream
from weighbridge_producer.input.files.lines import BLOCK_BYTES, StreamLines, plain_stream
from weighbridge_producer.input.files.non_json_files import YAML_TO_JSON, known_binary
from weighbridge_producer.input.files.table_form import USUAL_FORM, TableForm
from weighbridge_producer.input.mapping.row_values import FILE, KEY
from weighbridge_producer.input.rows.csv_dialects import Dialect, dialect_of
from weighbridge_producer.input.rows.csv_tables import table_rows
from weighbridge_producer.input.rows.markdown_tables import markdown_rows
from weighbridge_producer.input.rows.misnamed_json import json_in
from weighbridge_producer.input.rows.peeked_stream import OPEN, PeekedStream, WholeLines
from weighbridge_producer.input.rows.printed_tables import printed_rows
from weighbridge_producer.input.rows.source_rows import UNCOUNTED, LeftOut, until_damage

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from weighbridge.settings import Settings
    from weighbridge_producer.input.rows.source_rows import SourceRow

_PARQUET = b"PAR1"
#: First bytes of an Arrow file with an index at its end; an Arrow stream, as Hugging Face writes it, has no such mark.
_ARROW_FILE = b"ARROW1"
_OLD_EXCEL = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_WORKBOOKS = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
_YAML = (".yaml", ".yml")
_XML = (".xml", ".html", ".htm", ".xhtml")
_CONVERT = "convert it to CSV or JSON Lines"
#: Endings of names that do not show the format.
_TEXT_SUFFIXES = frozenset({"", ".txt", ".text", ".dat", ".md", ".markdown"})


class RowFormat(StrEnum):
    """A file format of rows."""

    CSV = "CSV"
    PARQUET = "Parquet"
    ARROW = "Arrow"
    JSON_LINES = "JSON Lines"
    JSON = "JSON"
    EVAL = "an Inspect archive"


_SUFFIXES = {
    ".csv": RowFormat.CSV,
    ".tsv": RowFormat.CSV,
    ".tab": RowFormat.CSV,
    ".parquet": RowFormat.PARQUET,
    ".pq": RowFormat.PARQUET,
    ".arrow": RowFormat.ARROW,
    ".feather": RowFormat.ARROW,
}


@dataclass(frozen=True, slots=True)
class Layout:
    """The format and location of the rows in a file."""

    format: RowFormat
    dialect: Dialect | None = None  #: dialect of a table
    rows: str = ""  #: JSON Pointer to the list of rows in a document
    by_key: bool = False  #: True if the rows may stand under keys, unless there is a list
    others: tuple[str, ...] = ()  #: JSON Pointers to further lists that may be rows
    #: True if the file is a document with one object, which is read as a row.
    is_object: bool = False

    @property
    def has_lines(self) -> bool:
        """True if rows have line numbers."""
        return self.dialect is not None or self.format is RowFormat.JSON_LINES

    def __str__(self) -> str:
        """Return a description of the layout."""
        if self.dialect:
            if self.dialect.is_markdown:
                return f"a Markdown table ({self.dialect})"
            if self.dialect.is_printed:
                return f"a table as psql and mysql print it ({self.dialect})"
            name = "TSV" if self.dialect.delimiter == "\t" else "CSV"
            return f"{name} ({self.dialect})"
        if self.by_key:
            within = f" of {self.rows}" if self.rows else ""
            return f"{self.format}, a row under each key{within}"
        if self.is_object:
            return f"{RowFormat.JSON}, one object"
        return f"{self.format}, rows at {self.rows}" if self.rows else str(self.format)


def table_format(name: str) -> RowFormat | None:
    """Return the format of a table by its file name; None if the name is not that of a table."""
    plain = unpacked_name(name).lower()
    return next((form for suffix, form in _SUFFIXES.items() if plain.endswith(suffix)), None)


def table_suffix(head: bytes) -> str:
    """Return the ending of a binary table's name by its first bytes; empty for other content."""
    return ".parquet" if head.startswith(_PARQUET) else ".arrow" * head.startswith(_ARROW_FILE)


def may_be_table(name: str) -> bool:
    """Return whether a file with this name may be a table, although the ending does not show it."""
    return PurePath(unpacked_name(name).lower()).suffix in _TEXT_SUFFIXES


def layout_of(
    head: bytes,
    name: str,
    *,
    is_whole: bool,
    find_rows: Callable[[], str | None] = lambda: None,
    form: TableForm = USUAL_FORM,
) -> Layout:
    """Detect the format of the rows in a file from its name and its first decompressed bytes.

    `find_rows` returns the JSON Pointer to the list of rows in a document; None if there is none.
    """
    named_format = table_format(name)
    start = head.removeprefix(BYTE_ORDER_MARK).lstrip(JSON_SPACE)[:1]
    is_workbook = unpacked_name(name).lower().endswith(_WORKBOOKS) and not start.startswith(b"{")
    is_office = head.startswith(SIGNS) and any(part in head for part in OFFICE_PARTS)
    if head.startswith(_OLD_EXCEL) or is_office or is_workbook:
        raise InputError(f"{name!r} is {OFFICE}, which cannot be read", SAVE_AS_CSV)
    if head.startswith(SIGNS):
        if not may_be_log(head, name):
            fault = no_log_fault(names_in(head))
            raise InputError(fault.message.replace("the file", repr(name), 1), fault.hint)
        return Layout(RowFormat.EVAL)
    if binary := known_binary(head):
        raise InputError(f"{name!r} is {binary[0]}", binary[1])
    if unpacked_name(name).lower().endswith(_YAML) and start not in {b"{", b"["}:
        raise InputError(f"{name!r} is YAML, which cannot be read", YAML_TO_JSON)
    if head.startswith(b"<?xml") or (start == b"<" and unpacked_name(name).lower().endswith(_XML)):
        raise InputError(f"{name!r} is an XML document, which cannot be read", _CONVERT)
    if head.startswith(_PARQUET) or named_format is RowFormat.PARQUET:
        return Layout(RowFormat.PARQUET)
    if head.startswith(_ARROW_FILE) or named_format is RowFormat.ARROW:
        return Layout(RowFormat.ARROW)
    if named_format is RowFormat.CSV and (found := json_in(head)):
        raise InputError(
            f"{name!r} looks like {found[0]}, not like CSV", f"rename it to end in {found[1]}"
        )
    if named_format is RowFormat.CSV or start not in {b"{", b"["}:
        tab = "\t" if unpacked_name(name).lower().endswith((".tsv", ".tab")) else None
        return Layout(RowFormat.CSV, dialect_of(head, is_whole=is_whole, delimiter=tab, form=form))
    rows = find_rows()
    if rows is None:
        return Layout(RowFormat.JSON_LINES, is_object=start == b"{" and _is_document(head, name))
    return Layout(RowFormat.JSON, rows=rows)


def may_be_document(head: bytes, name: str) -> bool:
    """Return whether a file may be a JSON document, by its beginning; for a single line, only its content can show it."""
    content = head.removeprefix(BYTE_ORDER_MARK).lstrip(JSON_SPACE)
    is_one_line = content.startswith(b"{") and b"\n" not in content and not table_format(name)
    return is_one_line or _is_document(head, name)


def _is_document(head: bytes, name: str) -> bool:
    """Return whether a file is a JSON document rather than one row per line, by its beginning."""
    head = head.removeprefix(BYTE_ORDER_MARK)
    start = head.lstrip(JSON_SPACE)[:1]
    if table_format(name) or start not in {b"{", b"["}:
        return False
    if start == b"[":
        return True
    first, _, rest = head.lstrip(JSON_SPACE).partition(b"\n")
    if not rest.strip(JSON_SPACE):
        return unpacked_name(name).lower().endswith(".json")  # a single line, possibly truncated
    try:
        orjson.loads(first.removeprefix(BYTE_ORDER_MARK))
    except orjson.JSONDecodeError:
        # A truncated or invalid first line is an error in that line, unless a document starts there.
        return first.strip(JSON_SPACE)[-1:] in OPEN
    return False


def beginning_of(stream: BinaryIO, settings: Settings) -> bytes:
    """Return the first decompressed bytes of a stream, up to any damage; the format is detected from them."""
    try:
        return PeekedStream(plain_stream(stream, settings)).head
    except (ExpansionError, *DAMAGE):
        return b""


class RowReader:
    """A reader of one file's rows; each `read` starts at the beginning."""

    def __init__(
        self,
        name: str,
        settings: Settings,
        rows: str = "",
        on_bytes: Callable[[int], None] = lambda _: None,
        *,
        most_lines: int | None = None,
        left_out: LeftOut = UNCOUNTED,
        added: Collection[str] = (),
        form: TableForm = USUAL_FORM,
    ) -> None:
        self.name = name  #: name of the file within the input
        #: Fields that are added to the rows: `@file`, the file's name, and `@key` for rows that stand under keys.
        self._added = added
        self._form = form
        self._most_lines = most_lines
        self._settings = settings
        self._rows = rows
        self._on_bytes = on_bytes
        self._left_out = left_out
        self._others: tuple[str, ...] = ()
        self.layout: Layout | None = None  #: set when the first row is read

    def read(self, stream: BinaryIO, columns: Sequence[str] | None = None) -> Iterator[SourceRow]:
        """Return the rows of a file opened at its start; `columns` are the needed columns, or None for all.

        Raises InputError, with the file's name, if it has no rows that can be read.
        """
        rows = until_damage(self._read(stream, columns), self._settings, self.name)
        return self._with_file(rows) if FILE in self._added else rows

    def _with_file(self, rows: Iterable[SourceRow]) -> Iterator[SourceRow]:
        """Yield rows with the file's name, unless they have a column of that name."""
        for row in rows:
            if not row.fault:
                row.values.setdefault(FILE, self.name)
            yield row

    def _read(self, stream: BinaryIO, columns: Sequence[str] | None) -> Iterator[SourceRow]:
        plain = PeekedStream(
            plain_stream(stream, self._settings, self._on_bytes), past_first_line=KEY in self._added
        )
        kept = KeptStream(plain)
        layout = layout_of(
            plain.head,
            self.name,
            is_whole=plain.is_whole,
            find_rows=lambda: self._find_rows(plain.head, kept),
            form=self._form,
        )
        if not layout.dialect and str(self._form) and not self._form.is_of_another:
            raise InputError(
                f"{self.name!r} is {layout}",
                "--encoding, --no-header and --header-line are for CSV and TSV",
            )
        if layout.format is RowFormat.JSON and self._may_be_keyed(plain.head):
            layout = replace(layout, by_key=True)
        self.layout = layout = replace(layout, others=self._others)
        is_text = layout.dialect is not None and layout.dialect.is_ascii_based
        lines = WholeLines(kept.rest()) if is_text else None
        buffered = io.BufferedReader(lines or kept.rest(), BLOCK_BYTES)
        if layout.format is RowFormat.PARQUET:
            from weighbridge_producer.input.rows.parquet_rows import parquet_rows

            as_it_is = stream if _is_parquet_file(stream) else cast("BinaryIO", buffered)
            limit = self._settings.expansion_limit
            yield from parquet_rows(as_it_is, columns, self._left_out.blanks, limit)
        elif layout.format is RowFormat.ARROW:
            from weighbridge_producer.input.rows.arrow_rows import arrow_rows

            has_index = plain.head.startswith(_ARROW_FILE)
            file = cast("BinaryIO", buffered)
            yield from arrow_rows(file, columns, self._left_out.blanks, has_index=has_index)
        elif layout.dialect:
            most = self._most_lines
            rows_of = _rows_of(layout.dialect)
            rows = rows_of(buffered, layout.dialect, self._settings, most, self._left_out)
            yield from _rows_before_damage(rows, lines) if lines else rows
        else:
            yield from self._json_rows(buffered, layout)

    def _find_rows(self, head: bytes, kept: KeptStream) -> str | None:
        """Return the JSON Pointer to the list of rows in a document; None if there is none."""
        if self._rows:
            return self._rows
        is_one_line = b"\n" not in head.strip(JSON_SPACE)
        if self._may_be_keyed(head) and (is_one_line or may_be_document(head, self.name)):
            return ""
        if not may_be_document(head, self.name):
            return None
        from weighbridge_producer.input.rows.rows_search import lists_of_rows

        is_sure = _is_document(head, self.name)
        found = lists_of_rows(kept.beginning().read1, only_known=not is_sure)
        self._others = found.others
        return found.pointer

    def _may_be_keyed(self, head: bytes) -> bool:
        is_object = head.removeprefix(BYTE_ORDER_MARK).lstrip(JSON_SPACE).startswith(b"{")
        return is_object and KEY in self._added

    def _json_rows(self, stream: io.BufferedReader[Any], layout: Layout) -> Iterator[SourceRow]:
        from weighbridge_producer.input.rows.json_rows import document_rows, line_rows

        if layout.format is RowFormat.JSON:
            by_key = layout.by_key
            yield from document_rows(stream, layout.rows, self._settings, by_key=by_key)
        else:
            lines = StreamLines(cast("BinaryIO", stream), self.name, self._settings)
            yield from line_rows(lines, self._most_lines, self._settings.line_limit_bytes)


def _rows_of(dialect: Dialect) -> Callable[..., Iterator[SourceRow]]:
    if dialect.is_drawn:
        return markdown_rows if dialect.is_markdown else printed_rows
    return table_rows


def _rows_before_damage(rows: Iterable[SourceRow], lines: WholeLines) -> Iterator[SourceRow]:
    """Yield the whole rows of a table; then raise the error of its damage, if any."""
    for row in rows:
        # Damage within quotes is reported once, and not also as a quote that is not closed.
        if not (lines.damage and row.fault and row.fault.code == ErrorCode.INPUT_TRUNCATED):
            yield row
    if lines.damage:
        raise lines.damage


def _is_parquet_file(stream: BinaryIO) -> bool:
    """Return whether a stream is seekable and contains Parquet; its position stays at the start."""
    if not stream.seekable():
        return False
    position = stream.tell()
    stream.seek(0)
    is_parquet = stream.read(len(_PARQUET)) == _PARQUET
    stream.seek(0 if is_parquet else position)
    return is_parquet
