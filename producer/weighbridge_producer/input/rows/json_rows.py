"""Rows in JSON: one row per line, or the items of a list in one document, read as a stream."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

import orjson

from weighbridge.errors import Fault, InputError, LineError
from weighbridge.grading.strict_json import decode_line, decode_row
from weighbridge.jobs.error_codes import ErrorCode
from weighbridge.jobs.line import JSON_SPACE
from weighbridge.settings import MIB
from weighbridge.text import closest, did_you_mean, pluralize
from weighbridge_producer.input.files.decompress import DAMAGE, ExpansionError
from weighbridge_producer.input.files.non_json_files import several_values_fault
from weighbridge_producer.input.rows.json_scanner import JsonScanner, ScanError, TooDeepError
from weighbridge_producer.input.rows.source_rows import RowError, SourceRow, invalid_row

if TYPE_CHECKING:
    import io
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from weighbridge.settings import Settings
    from weighbridge_producer.input.source_lines import SourceLine

_DEPTH_LOOKED_AT = 4  #: levels of a document that are searched for its list of rows
_ITEMS_LOOKED_AT = 100  #: of a list, to find an object
_SEARCHED_BYTES = 32 * MIB  #: at the beginning of a document with lists of objects
_ROW_BYTES = 32 * MIB  #: of a row whose shape is looked at
#: Names of lists of rows. Other lists describe columns (Hugging Face), or plans and scores (Inspect).
USUAL_NAMES = frozenset(
    {"rows", "data", "results", "samples", "examples", "records", "items", "instances", "cases"}
)
_COLUMNS = "columns"  #: name of the list of names in tables of W&B and of pandas (`orient="split"`)
_COLUMNS_BYTES = MIB
_TABLES = (["data"], ["rows"])  #: where such tables have their rows, which are lists
_NAMES_SHOWN = 8  #: of an object without the key that a pointer has
_NAMES_COMPARED = 100
_TYPES = {
    b"{": "an object",
    b"[": "a list",
    b'"': "a text",
    b"n": "null",
    b"": "missing",
    **dict.fromkeys((b"t", b"f"), "a boolean"),
}  #: of JSON values, by their first byte


def line_rows(
    lines: Iterable[SourceLine], most_lines: int | None = None, limit_bytes: int = MIB
) -> Iterator[SourceRow]:
    """Yield the row of each line that is not blank, for at most `most_lines` lines; or that of one object on many lines."""
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
    """Return all lines up to a limit if the first begins an object that goes on in the next, else only the first."""
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
    plain: io.BufferedIOBase, pointer: str, settings: Settings
) -> Iterator[SourceRow]:
    """Yield the items of the list at a JSON Pointer; the empty pointer is the document itself.

    Items that are lists have the names in `columns`, which come before the rows. Raises RowError if there is no list.
    """
    keys, limit = _keys(pointer), settings.line_limit_bytes
    number = start = 0
    try:
        scanner = JsonScanner(plain.read1)
        place = _step_into(scanner, keys)
        if place.fault:
            raise RowError(place.fault, 1)
        for _ in scanner.items():
            number += 1
            text = scanner.cut(limit)
            size, start = scanner.offset - start, scanner.offset
            row = SourceRow(number, {}, None, size)
            if text is None:
                row.fault = _too_long(limit)
            else:
                _read_into(row, text, place.columns)
            yield row
        place.finish(scanner)
    except TooDeepError as error:
        raise RowError(Fault(ErrorCode.TOO_DEEP, str(error), "flatten the value"), number) from None
    except ScanError as error:
        raise RowError(_not_json(error), number) from None


def rows_pointer(read: Callable[[int], bytes], *, only_known: bool = False) -> str | None:
    """Return the JSON Pointer to the list of rows in a document; None if there is none, or none that is of a known shape.

    It is the list of a known shape, or else the longest list of objects, those with usual names first. The search ends
    where the rows of a known shape begin, or after 32 MiB if there has been a list of objects.

    `only_known` restricts it to lists of a known shape, because the document may be a row itself.
    """
    search = _Search(read)
    with suppress(ScanError, ExpansionError, *DAMAGE):  # reading the document reports the error
        search.look_into(JsonScanner(search.read, depth_limit=None), [])
    return None if only_known and not search.is_over else search.pointer


def has_all_rows(read: Callable[[int], bytes], pointer: str) -> bool:
    """Return whether the list at a JSON Pointer ends in this part of a document."""
    with suppress(ScanError, ExpansionError, *DAMAGE):
        scanner = JsonScanner(read, depth_limit=None)
        _step_into(scanner, _keys(pointer))
        scanner.skip()
        return True
    return False


class _Search:
    """A search for the list of rows in a document."""

    def __init__(self, read: Callable[[int], bytes]) -> None:
        self._read = read
        self._left = _SEARCHED_BYTES
        self._has_list = False
        self.pointer: str | None = None  #: of the best list so far
        self.is_over = False  #: True if no other list can be better
        self._rank = (False, 0)  # of that list: whether its name is usual, and its bytes
        self._columns: list[str] | None = None  # names of the values of rows that are lists

    def read(self, size: int) -> bytes:
        """Read on; return nothing if enough has been searched."""
        if self._left <= 0 and self._has_list:
            return b""
        data = self._read(size)
        self._left -= len(data)
        return data

    def look_into(self, scanner: JsonScanner, keys: list[str]) -> None:
        """Look for lists of objects in the next value, which is at a path of keys."""
        first = scanner.peek()
        if first == b"[":
            self._look_at_list(scanner, keys)
        elif first == b"{" and len(keys) < _DEPTH_LOOKED_AT - 1:
            for name in scanner.members():
                if name == _COLUMNS and not keys:
                    self._columns = _names(scanner.cut(_COLUMNS_BYTES))
                elif name is None:
                    scanner.skip()
                else:
                    self.look_into(scanner, [*keys, name])
                if self.is_over:
                    return
        else:
            scanner.skip()

    def _look_at_list(self, scanner: JsonScanner, keys: list[str]) -> None:
        start = scanner.offset
        for count, _ in enumerate(scanner.items(), 1):
            first = scanner.peek()
            if first == b"{":
                self._look_at_rows(scanner, keys, start)
                return
            if first == b"[" and self._columns and keys in _TABLES:
                self._end_at(keys)
                return
            scanner.skip()
            if count == _ITEMS_LOOKED_AT:
                scanner.skip_rest()
                return

    def _look_at_rows(self, scanner: JsonScanner, keys: list[str], start: int) -> None:
        if not keys or self._are_known(scanner.cut(_ROW_BYTES), keys):
            self._end_at(keys)
            return
        self._has_list = True
        try:
            scanner.skip_rest()
        finally:  # a list that is cut off has rows too
            rank = (keys[-1] in USUAL_NAMES, scanner.offset - start)
            if rank > self._rank:
                self._rank, self.pointer = rank, _pointer(keys)

    def _are_known(self, first: bytes | None, keys: list[str]) -> bool:
        """Return whether rows are of a known shape, by the first of them and the place of their list."""
        from weighbridge_producer.input.mapping.known_datasets import shape_of

        try:
            shape = shape_of([decode_line(first or b"")])
        except LineError:
            return False
        return shape is not None and shape.rows == _pointer(keys)

    def _end_at(self, keys: list[str]) -> None:
        self.pointer, self.is_over = _pointer(keys), True


@dataclass(slots=True)
class _Place:
    """A value in a document, what is open around it, and the names of columns before it."""

    fault: Fault | None = None  #: why it is not a list
    columns: list[str] = field(default_factory=list)
    around: list[Iterator[str | None]] = field(default_factory=list)

    def finish(self, scanner: JsonScanner) -> None:
        """Step over the rest of the document after the value."""
        for members in reversed(self.around):
            for _ in members:
                scanner.skip()
        scanner.end()


def _step_into(scanner: JsonScanner, keys: list[str]) -> _Place:
    """Step to the list at a path of keys; if there is none, over all other values."""
    place = _Place()
    for depth, key in enumerate(keys):
        if scanner.peek() != b"{":
            break
        members = scanner.members()
        place.around.append(members)
        names: list[str] = []
        for name in members:
            if name == key:
                break
            if name is not None and len(names) < _NAMES_COMPARED:
                names.append(name)
            if name == _COLUMNS and depth == 0:
                place.columns = _names(scanner.cut(_COLUMNS_BYTES)) or []
            else:
                scanner.skip()
        else:
            place.fault = _not_there(keys, depth, names)
            return place
    if len(place.around) < len(keys) or scanner.peek() != b"[":
        place.fault = _no_list(keys, len(place.around), scanner.peek())
        scanner.skip()
    return place


def _names(text: bytes | None) -> list[str] | None:
    """Return the names of columns; None if the text is no list of different names."""
    try:
        names = orjson.loads(text or b"")
    except orjson.JSONDecodeError:
        return None
    is_list = type(names) is list and all(type(name) is str for name in names)
    return names if is_list and len(set(names)) == len(names) > 0 else None


def _read_into(found: SourceRow, text: bytes, columns: list[str]) -> None:
    """Read the values of a row by name; it gets a fault if it is not strict JSON, or its values have no names."""
    # JSON has no raw line breaks in strings; without others, a fault's place is a byte of the row.
    row = text.replace(b"\n", b" ").replace(b"\r", b" ")
    try:
        if not columns or not row.startswith(b"["):
            found.values, found.doubt = decode_row(row)
            return
        wrapped, found.doubt = decode_row(b'{"row":%b}' % row)
    except LineError as error:
        found.fault = _as_item(error.fault)
        return
    values: list[Any] = wrapped["row"]
    if len(values) == len(columns):
        found.values = dict(zip(columns, values, strict=True))
    else:
        found.fault = _ragged(len(values), columns)


def _keys(pointer: str) -> list[str]:
    if pointer and not pointer.startswith("/"):
        raise InputError(
            f"the pointer to the rows {pointer!r} does not begin with /", "write /results/rows"
        )
    return [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]]


def _pointer(keys: Sequence[str]) -> str:
    return "".join("/" + key.replace("~", "~0").replace("/", "~1") for key in keys)


def _as_row(fault: Fault) -> Fault:
    if fault.code != ErrorCode.NOT_AN_OBJECT:
        return fault
    return Fault(
        fault.code, fault.message, 'rows are objects: write {"COLUMN": VALUE, ...} on each line'
    )


def _as_item(fault: Fault) -> Fault:
    if fault.code == ErrorCode.NOT_AN_OBJECT:
        message = fault.message.replace("the line is", "the row is", 1)
        return Fault(fault.code, message, "make each row an object")
    if fault.code == ErrorCode.INVALID_JSON:
        return Fault(fault.code, f"{fault.message} of the row", "correct the row")
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


def _not_there(keys: Sequence[str], depth: int, names: Sequence[str]) -> Fault:
    """Return the fault of a pointer that leads to an object without its next key."""
    has = f"it has {', '.join(map(repr, names[:_NAMES_SHOWN]))}" if names else "it is empty"
    more = " and others" if len(names) > _NAMES_SHOWN else ""
    return Fault(
        ErrorCode.MISSING_FIELD,
        f"no rows at {_pointer(keys)!r}: {_location_of(keys, depth)} has no {keys[depth]!r}; {has}{more}",
        f"correct the pointer to the rows{did_you_mean(closest(keys[depth], names))}",
    )


def _no_list(keys: Sequence[str], depth: int, first: bytes) -> Fault:
    """Return the fault of a pointer that leads to a value with this first byte instead of a list, or through it."""
    return Fault(
        ErrorCode.INVALID_FIELD,
        f"no rows at {_pointer(keys)!r}: {_location_of(keys, depth)} is {_TYPES.get(first, 'a number')}",
        "correct the pointer to the rows: it leads through objects to a list",
    )


def _location_of(keys: Sequence[str], depth: int) -> str:
    return repr(_pointer(keys[:depth])) if depth else "the document"


def _ragged(values: int, columns: Sequence[str]) -> Fault:
    return invalid_row(
        f"the row has {pluralize(values, 'value')}, and the document {len(columns):,} columns",
        "give each row a value for each column, or null",
    )
