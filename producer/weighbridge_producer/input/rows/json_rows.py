"""Rows in JSON: one row per line, or the items of a list or an object in one document, read as a stream."""

from __future__ import annotations

from itertools import chain, islice
from typing import TYPE_CHECKING, Any

from weighbridge.errors import Fault, LineError
from weighbridge.grading.strict_json import decode_row
from weighbridge.jobs.error_codes import ErrorCode
from weighbridge.jobs.line import JSON_SPACE
from weighbridge.settings import MIB
from weighbridge.text import pluralize
from weighbridge_producer.input.files.non_json_files import several_values_fault
from weighbridge_producer.input.mapping.row_values import KEY
from weighbridge_producer.input.rows.json_places import keys_of, step_into
from weighbridge_producer.input.rows.json_scanner import (
    NAME_BYTES,
    JsonScanner,
    ScanError,
    TooDeepError,
)
from weighbridge_producer.input.rows.source_rows import RowError, SourceRow, invalid_row

if TYPE_CHECKING:
    import io
    from collections.abc import Iterable, Iterator, Sequence

    from weighbridge.settings import Settings
    from weighbridge_producer.input.rows.json_places import Place
    from weighbridge_producer.input.source_lines import SourceLine

VALUE = "value"  #: column of a value under a key that is not an object
_NO_KEY = f"the key of the row has more than {NAME_BYTES:,} bytes, or is not Unicode"


def line_rows(
    lines: Iterable[SourceLine], most_lines: int | None = None, limit_bytes: int = MIB
) -> Iterator[SourceRow]:
    """Yield the row of each filled line, for at most `most_lines` lines; or the single row of an object on several lines."""
    read = islice(lines, most_lines)
    held = _object_on_many_lines(read, limit_bytes)
    text = b"".join(line.raw for line in held)
    if len(held) > 1 and (fault := several_values_fault(text)):
        yield SourceRow(1, {}, fault, len(text))
        return
    if len(held) > 1 and not any(line.fault for line in held):
        row = SourceRow(1, {}, None, len(text))
        _read_into(row, text.strip(JSON_SPACE), [])
        if not row.fault or row.fault.code != ErrorCode.INVALID_JSON:
            yield row
            return
    for number, line in enumerate(chain(held, read), 1):
        content = line.raw.strip(JSON_SPACE)
        if line.fault:
            yield SourceRow(number, {}, line.fault, line.size)
        elif content:
            try:
                values, doubt = decode_row(content)
                yield SourceRow(number, values, None, line.size, doubt)
            except LineError as error:
                yield SourceRow(number, {}, _as_row(error.fault), line.size)


def _object_on_many_lines(lines: Iterator[SourceLine], limit_bytes: int) -> list[SourceLine]:
    """Return all lines up to a limit if the first line begins an object that continues on the next; else only the first."""
    held: list[SourceLine] = []
    size = 0
    for line in lines:
        held.append(line)
        size += len(line.raw)
        content = line.raw.strip(JSON_SPACE)
        begins = len(held) > 1 or not content or (content[:1] in b"{[" and content[-1:] in b"{[,")
        if not begins or line.fault or size > limit_bytes:
            break
    return held


def document_rows(
    plain: io.BufferedIOBase, pointer: str, settings: Settings, *, by_key: bool = False
) -> Iterator[SourceRow]:
    """Yield the items of the list at a JSON Pointer; the empty pointer is the document itself.

    The values of items that are lists have their names in `columns`, which precedes the rows. If there is an object at the
    pointer and `by_key` is true, its members are the rows. Raises RowError if there is no list.
    """
    limit = settings.line_limit_bytes
    number = start = 0
    try:
        scanner = JsonScanner(plain.read1)
        place = step_into(scanner, keys_of(pointer), b"[{" if by_key else b"[")
        if place.fault:
            raise RowError(place.fault, 1)
        is_list = scanner.peek() == b"["
        for key in scanner.items() if is_list else scanner.members():
            number += 1
            text = scanner.cut(limit)
            size, start = scanner.offset - start, scanner.offset
            row = SourceRow(number, {}, None, size)
            if text is None:
                row.fault = _too_long(limit)
            elif is_list:
                _read_into(row, text, place.columns)
            else:
                _read_under(row, key, text)
            yield row
        for row in _rows_beside(scanner, place, pointer, number + 1, limit):
            number = row.number
            yield row
        place.finish(scanner)
    except TooDeepError as error:
        raise RowError(Fault(ErrorCode.TOO_DEEP, str(error), "flatten the value"), number) from None
    except ScanError as error:
        raise RowError(_not_json(error), number) from None


def _rows_beside(
    scanner: JsonScanner, place: Place, pointer: str, number: int, limit: int
) -> Iterator[SourceRow]:
    """Yield the rows, from a number on, of the list beside rows of a known shape that has the errors in place of answers."""
    from weighbridge_producer.input.mapping.known_datasets import rows_beside

    known = rows_beside(pointer)
    for name in place.around[-1] if known else ():
        has_shape = known.get(name or "")
        if has_shape is None or scanner.peek() != b"[":
            scanner.skip()
            continue
        start, is_known = scanner.offset, False
        for _ in scanner.items():
            text = scanner.cut(limit)
            row = SourceRow(number, {}, None, scanner.offset - start)
            start = scanner.offset
            if text is None:
                row.fault = _too_long(limit)
            else:
                _read_into(row, text, [])
            is_known = is_known or (row.fault is None and has_shape(row.values))
            if not is_known:
                scanner.skip_rest()
                break
            yield row
            number += 1


def _read_under(found: SourceRow, key: str | None, text: bytes) -> None:
    """Read the values of a row that stands under a key; a row that is not an object has a single value."""
    is_object = text.startswith(b"{")
    _read_into(found, text if is_object else b'{"%b":%b}' % (VALUE.encode(), text), [])
    if found.fault:
        return
    if key is None:
        found.fault = invalid_row(_NO_KEY, "give each row a key of at most 256 characters")
    elif KEY in found.values or key == KEY:
        found.fault = invalid_row(f"there is a {KEY!r} besides the row's key", "rename it")
    else:
        found.values = {KEY: key, **found.values}
    if found.fault:
        found.values, found.doubt = {}, None


def _read_into(found: SourceRow, text: bytes, columns: list[str]) -> None:
    """Read the values of a row by name; it gets a fault if it is not strict JSON, or its values have no names."""
    # JSON strings have no raw line breaks. Without the others, the place of a fault is a byte of the row.
    row = text.replace(b"\n", b" ").replace(b"\r", b" ")
    try:
        if not columns or not row.startswith(b"["):
            found.values, found.doubt = decode_row(row)
            return
        wrapped, found.doubt = decode_row(b'{"row":%b}' % row)
    except LineError as error:
        found.fault = _as_item(error.fault, found.number)
        return
    values: list[Any] = wrapped["row"]
    if len(values) == len(columns):
        found.values = dict(zip(columns, values, strict=True))
    else:
        found.fault = _ragged(len(values), columns)


def _as_row(fault: Fault) -> Fault:
    if fault.code != ErrorCode.NOT_AN_OBJECT:
        return fault
    return Fault(
        fault.code, fault.message, 'rows are objects: write {"COLUMN": VALUE, ...} on each line'
    )


def _as_item(fault: Fault, number: int) -> Fault:
    if fault.code == ErrorCode.NOT_AN_OBJECT:
        message = fault.message.replace("the line is", "the row is", 1)
        return Fault(fault.code, message, "make each row an object")
    if fault.code == ErrorCode.INVALID_JSON:
        return Fault(fault.code, f"{fault.message} of row {number:,}", "correct the row")
    return fault


def _not_json(error: ScanError) -> Fault:
    return Fault(
        ErrorCode.INPUT_TRUNCATED,
        f"the document is not JSON from byte {error.offset + 1:,} on: {error}",
        "the rows before it are graded; for the rest, create the file again",
    )


def _too_long(limit: int) -> Fault:
    return Fault(
        ErrorCode.LINE_TOO_LONG,
        f"the row has more than {limit:,} bytes",
        "split the row, or raise WEIGHBRIDGE_LINE_LIMIT_BYTES",
    )


def _ragged(values: int, columns: Sequence[str]) -> Fault:
    return invalid_row(
        f"the row has {pluralize(values, 'value')}, and the document {len(columns):,} columns",
        "give each row a value for each column, or null",
    )
