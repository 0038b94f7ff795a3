"""Tables with a row per job, or a row per case with columns for each label, safe to open in a spreadsheet."""

from __future__ import annotations

import csv
import io
import re
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
import orjson

from weighbridge.jobs.result_line_parts import line_number_of, read_labelled_metadata
from weighbridge.text import shorten
from weighbridge_producer.reports.job_columns import (
    FACTS,
    JUDGED,
    PROOFS,
    facts_of,
    judged_of,
    names_of,
    proofs_of,
)
from weighbridge_producer.reports.metadata_fields import flat
from weighbridge_producer.reports.report import parsed_lines
from weighbridge_producer.reports.table_rows import TableRow

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from weighbridge_producer.reports.report import Report
    from weighbridge_producer.reports.table_rows import Judgement

METADATA_COLUMNS = 100  #: metadata fields with their own columns; the others are JSON in one column
LABELS_LIMIT = 100  #: labels with their own columns, in a table of cases
CELL_CHARACTERS = 32_000  #: a spreadsheet holds 32,767
_REST = "metadata"
_ROWS_AT_ONCE = 500
_RUN_BYTES = 256 * 1024  #: read at a time
_OF_CASE = ("custom_id", "line", "outcome", "reason", "cause", "expected", "observed")
_OF_LABEL = ("verdict", "score", "reason")
# Spreadsheets execute cells that start with these as formulas, some also after spaces.
_SIGNS = "=+@\uff1d\uff0b\uff0d\uff20-"


def _formulas(separators: str) -> re.Pattern[str]:
    """Return a pattern of what is before formulas, also where a program takes `separators` and line breaks for the ends of cells.

    Such a program may drop quotes around the beginning of a cell.
    """
    part = rf"\t\r\n{separators}"
    inside = rf'(?<![\s"{separators}])(?:[^\S\t\r\n]|")*+[{part}][\s"{separators}]*+'
    return re.compile(rf"\A(?=[\t\r\n])|(?:\A\s*+|{inside})(?=[{_SIGNS}])")


_CSV_FORMULAS, _TSV_FORMULAS = _formulas(";"), _formulas(";,")
_NUMBER = re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
_FIRST = frozenset(f" {_SIGNS}")  #: perhaps dangerous at the beginning of a cell
#: control characters, and what a program may take for one
_SEPARATORS = bytes([*range(32), *b";\x7f"])
_FIRST_MARKED = bytes.maketrans(b" =+@-", b"=====")
_BEGINNING = b'"='  #: of a dangerous cell, in a line that is so marked
_NUL = str.maketrans({"\0": "\ufffd"})


class Columns(NamedTuple):
    """The columns that depend on the results."""

    metadata: tuple[str, ...]  #: dotted paths
    has_rest: bool  #: True if there are more metadata fields
    labels: tuple[str, ...]  #: in order of first occurrence


def csv_blocks(report: Report) -> Iterator[bytes]:
    """Yield the report as CSV with all cells quoted."""
    return _csv(_rows(report))


def tsv_blocks(report: Report) -> Iterator[bytes]:
    """Yield the report as TSV; cells with tabs or line breaks are quoted."""
    return _tsv(_rows(report))


def csv_table(rows: Iterable[list[Any]]) -> Iterator[bytes]:
    """Yield rows as CSV with all cells quoted."""
    return _csv(map(_texts, rows))


def tsv_table(rows: Iterable[list[Any]]) -> Iterator[bytes]:
    """Yield rows as TSV; cells with tabs or line breaks are quoted."""
    return _tsv(map(_texts, rows))


def _csv(rows: Iterable[list[str]]) -> Iterator[bytes]:
    lines: list[bytes] = []
    for cells in rows:
        line = '","'.join(cells)
        raw = f'"{line}"\r\n'.encode(errors="replace")
        if not _is_plain(raw, len(cells)):
            safe = _safe(cells, _CSV_FORMULAS)
            line = '","'.join([cell.replace('"', '""') for cell in safe])
            raw = f'"{line}"\r\n'.encode(errors="replace")
        lines.append(raw)
        if len(lines) >= _ROWS_AT_ONCE:
            yield b"".join(lines)
            lines.clear()
    yield b"".join(lines)


def _is_plain(line: bytes, cells: int) -> bool:
    """Return whether no cell of a line of CSV needs a change; most lines need none, and this is quicker than each cell."""
    return (
        len(line) <= CELL_CHARACTERS
        and line.isascii()
        and line.count(b'"') == 2 * cells  # so these are the quotes around the cells
        and len(line.translate(None, _SEPARATORS)) == len(line) - len(b"\r\n")
        and _BEGINNING not in line.translate(_FIRST_MARKED)
    )


def _tsv(rows: Iterable[list[str]]) -> Iterator[bytes]:
    buffer = io.StringIO()
    writer = csv.writer(buffer, dialect="excel-tab")
    for count, cells in enumerate(rows):
        writer.writerow(_safe(cells, _TSV_FORMULAS))
        if count % _ROWS_AT_ONCE == 0:
            yield _drained(buffer)
    yield _drained(buffer)


def _rows(report: Report) -> Iterator[list[str]]:
    columns = columns_of(report.results)
    return _cases(report, columns) if report.by_case else _jobs(report, columns)


def _drained(buffer: io.StringIO) -> bytes:
    text = buffer.getvalue()
    buffer.seek(0)
    buffer.truncate()
    return text.encode(errors="replace")


def _safe(cells: list[str], formulas: re.Pattern[str]) -> list[str]:
    """Return the cells of a row as safe texts; most rows are safe, so all cells are checked together first."""
    texts = "".join(cells)
    # `isprintable` is false for all control characters.
    is_plain = len(texts) <= CELL_CHARACTERS and ";" not in texts and texts.isprintable()
    if is_plain and formulas is _TSV_FORMULAS:
        is_plain = "," not in texts
    if is_plain and _FIRST.isdisjoint([cell[:1] for cell in cells]):
        return cells
    return [_inert(cell, formulas) for cell in cells]


def _texts(row: list[Any]) -> list[str]:
    return [cell if type(cell) is str else "" if cell is None else str(cell) for cell in row]


def _inert(cell: str, formulas: re.Pattern[str]) -> str:
    """Return a cell that a spreadsheet neither executes nor truncates nor rejects."""
    if len(cell) > CELL_CHARACTERS:
        cell = shorten(cell, CELL_CHARACTERS)
    # A spreadsheet reads what is wholly a number as that number, also with a sign.
    if _NUMBER.fullmatch(cell):
        return cell
    return formulas.sub(r"\g<0>'", cell.translate(_NUL) if "\0" in cell else cell)


def columns_of(results: Path) -> Columns:
    """Determine the columns from the results."""
    paths: dict[str, None] = {}
    labels: dict[str, None] = {}
    has_rest = False
    for row in parsed_lines(results, read_labelled_metadata):
        label, metadata = row.label, row.metadata
        if label not in labels and label is not None and len(labels) < LABELS_LIMIT:
            labels[label] = None
        if not metadata or (
            paths.keys() >= metadata.keys() and dict not in map(type, metadata.values())
        ):
            continue
        for path in flat(metadata):
            if path in paths:
                continue
            if len(paths) < METADATA_COLUMNS:
                paths[path] = None
            else:
                has_rest = True
    return Columns(tuple(paths), has_rest, tuple(labels))


def _metadata(metadata: dict[str, Any] | None, columns: Columns) -> list[str]:
    if not metadata:
        return [""] * (len(columns.metadata) + columns.has_rest)
    values = flat(metadata)
    cells = [_cell(values.get(path)) for path in columns.metadata]
    if columns.has_rest:
        rest = {path: values[path] for path in values if path not in columns.metadata}
        cells.append(_json(rest) if rest else "")
    return cells


def _cell(value: Any) -> str:
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    return _json(value) if isinstance(value, (dict, list, bool)) else str(value)


def _cells(values: tuple[Any, ...]) -> list[str]:
    """Return what `_cell` returns of each value, in a third of the time."""
    return [
        value
        if (kind := type(value)) is str
        else ""
        if value is None
        else str(value)
        if kind is int or kind is float
        else _cell(value)
        for value in values
    ]


def _json(value: Any) -> str:
    try:
        return orjson.dumps(value).decode()
    except TypeError:  # an integer over 64 bits
        return msgspec.json.encode(value).decode()


def _metadata_names(columns: Columns) -> list[str]:
    return [f"{_REST}.{path}" for path in columns.metadata] + [_REST] * columns.has_rest


def _jobs(report: Report, columns: Columns) -> Iterator[list[str]]:
    yield [*names_of((*FACTS, *JUDGED)), *_metadata_names(columns), *names_of(PROOFS)]
    for row in parsed_lines(report.results, TableRow.from_bytes):
        cells = _cells((*facts_of(row), *judged_of(row.judgement())))
        cells += _metadata(row.metadata, columns)
        cells += _cells(proofs_of(row))
        yield cells


def _cases(report: Report, columns: Columns) -> Iterator[list[str]]:
    """Yield a row for each case; labels beyond the limit are omitted."""
    labels = columns.labels
    yield [
        *_OF_CASE,
        *(f"{label}.{name}" for label in labels for name in _OF_LABEL),
        *_metadata_names(columns),
    ]
    for rows in _by_line(report.results):
        first, judged = rows[0], [row.judgement() for row in rows]
        worst = min(judged, key=lambda each: each.outcome.rank)
        by_label = {row.label: each for row, each in zip(rows, judged, strict=True)}
        yield [
            *(_cell(first.custom_id), _cell(first.line), worst.outcome.word),
            *(
                _cell(worst.reason),
                _cell(worst.cause),
                _cell(worst.expected),
                _cell(worst.observed),
            ),
            *(cell for label in labels for cell in _of_label(by_label.get(label))),
            *_metadata(first.metadata, columns),
        ]


def _of_label(judged: Judgement | None) -> tuple[str, str, str]:
    if judged is None:
        return "", "", ""
    return judged.outcome.word, _cell(judged.score), _cell(judged.reason)


def _by_line(results: Path) -> Iterator[list[TableRow]]:
    """Yield the results of each input line together, in input order.

    They are adjacent in the file, except for those of a chunk that was split.
    """
    places = _places(results)
    with results.open("rb") as file:

        def read(offset: int, size: int) -> Iterator[TableRow]:
            file.seek(offset)
            yield from map(TableRow.from_bytes, file.read(size).splitlines())

        held: list[TableRow] = []
        for _, start, length in sorted(places.runs):
            for row in read(start, length):
                if held and (row.line != held[0].line or not row.line):
                    yield held
                    held = []
                if not held:
                    late = places.late.get(row.line, ())
                    held = [each for place in late for each in read(*place)]
                held.append(row)
        if held:
            yield held


class _Places(NamedTuple):
    """The offsets of results in a file."""

    runs: list[tuple[int, int, int]]  #: sorted by line: first line, offset and size
    #: Offset and size of results that are not adjacent to others of their line.
    late: dict[int, list[tuple[int, int]]]


def _places(results: Path) -> _Places:
    runs: list[tuple[int, int, int]] = []
    late: dict[int, list[tuple[int, int]]] = {}
    #: bitmaps of 1,024 lines each, which foreign lines may number at will
    seen: dict[int, int] = {}
    offset, last = 0, -1
    with results.open("rb") as file:
        for line in file:
            number, size = line_number_of(line), len(line)
            bitmap, bit = seen.get(number >> 10, 0), 1 << (number & 1023)
            if number and number != last and bitmap & bit:
                late.setdefault(number, []).append((offset, size))
            else:
                if not runs or not last <= number <= last + 1 or _is_full(runs[-1], offset):
                    runs.append((number, offset, 0))
                first, start, length = runs[-1]
                runs[-1] = (first, start, length + size)
                last = number
            seen[number >> 10] = bitmap | bit
            offset += size
    return _Places(runs, late)


def _is_full(run: tuple[int, int, int], offset: int) -> bool:
    """Return whether a run is large enough, or does not end at `offset`."""
    _, start, length = run
    return length > _RUN_BYTES or start + length != offset
