"""Rows in JSON: one row per line, or the items of a list in one document, read as a stream."""

from __future__ import annotations

import io
from itertools import islice
from typing import TYPE_CHECKING, Any

import ijson

from weighbridge.errors import Fault, InputError, LineError
from weighbridge.grading.strict_json import decode_line
from weighbridge.jobs.error_codes import ErrorCode
from weighbridge.jobs.line import JSON_SPACE, json_type
from weighbridge.settings import KIB, MIB
from weighbridge.text import pluralize
from weighbridge_producer.input.rows import RowError, SourceRow, invalid_row

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from weighbridge.settings import Settings
    from weighbridge_producer.input.source_lines import SourceLine

_BUFFER_BYTES = 64 * KIB
_DEPTH_LOOKED_AT = 4  #: levels of a document that are searched for its list of rows
_EVENTS_LOOKED_AT = 100_000
#: Names of lists of rows. Other lists before them describe columns (Hugging Face), or plans and scores (Inspect).
_USUAL_NAMES = frozenset(
    {"rows", "data", "results", "samples", "examples", "records", "items", "instances", "cases"}
)


def line_rows(lines: Iterable[SourceLine], most_lines: int | None = None) -> Iterator[SourceRow]:
    """Yield the row of each line that is not blank, for at most `most_lines` lines."""
    for number, line in enumerate(islice(lines, most_lines), 1):
        content = line.raw.strip(JSON_SPACE)
        if line.fault:
            yield SourceRow(number, {}, line.fault, line.size)
        elif content:
            try:
                yield SourceRow(number, decode_line(content), None, line.size)
            except LineError as error:
                yield SourceRow(number, {}, _as_row(error.fault), line.size)


def document_rows(
    plain: io.BufferedIOBase, pointer: str, settings: Settings, columns: Sequence[str] = ()
) -> Iterator[SourceRow]:
    """Yield the items of the list at a JSON Pointer; the empty pointer is the document itself.

    `columns` are the names of the values in items that are lists.
    """
    source = _Bounded(plain, settings.line_limit_bytes)
    prefix = ".".join([*(_keys(pointer)), "item"])
    number = 0
    items = ijson.items(source, prefix, buf_size=_BUFFER_BYTES, use_float=True)
    while True:
        number += 1
        try:
            item = next(items, None)
        except ijson.JSONError as error:
            raise RowError(_not_json(str(error)), number) from None
        if item is None:
            return
        size = source.taken()
        if type(item) is dict:
            yield SourceRow(number, item, None, size)
        elif columns and type(item) is list and len(item) == len(columns):
            yield SourceRow(number, dict(zip(columns, item, strict=True)), None, size)
        elif columns and type(item) is list:
            yield SourceRow(number, {}, _ragged(item, columns), size)
        else:
            yield SourceRow(number, {}, _no_object(item), size)


def rows_pointer(head: bytes) -> str | None:
    """Return the JSON Pointer to the list of rows in a document, from its beginning; None if there is none.

    It is the first list of objects with a usual name, or else the first list of objects.
    """
    first: str | None = None
    try:
        for count, (prefix, event, _) in enumerate(ijson.parse(io.BytesIO(head), use_float=True)):
            if event == "start_map" and (prefix == "item" or prefix.endswith(".item")):
                keys = prefix.split(".")[:-1]
                if "item" not in keys and len(keys) < _DEPTH_LOOKED_AT:
                    pointer = "".join(f"/{key}" for key in keys)
                    if not keys or keys[-1] in _USUAL_NAMES:
                        return pointer
                    first = pointer if first is None else first
            if count > _EVENTS_LOOKED_AT:
                break
    except ijson.JSONError:
        pass  # truncated, or not JSON: reading it reports the error
    return first


def table_in(head: bytes) -> tuple[str, tuple[str, ...]] | None:
    """Return the JSON Pointer to the list of rows that are lists, and the names of their values; None if there is none.

    The names are in `columns` before the rows, as in tables of W&B and of pandas (`orient="split"`).
    """
    columns: list[str] = []
    try:
        for count, (prefix, event, value) in enumerate(
            ijson.parse(io.BytesIO(head), use_float=True)
        ):
            if event == "string" and prefix == "columns.item":
                columns.append(value)
            elif event == "start_array" and prefix in {"data.item", "rows.item"}:
                is_table = len(set(columns)) == len(columns) > 0
                return (f"/{prefix.removesuffix('.item')}", tuple(columns)) if is_table else None
            if count > _EVENTS_LOOKED_AT:
                break
    except ijson.JSONError:
        pass  # truncated, or not JSON: reading it reports the error
    return None


class _Bounded:
    """An input stream for the parser, with a limit on the bytes of each row."""

    def __init__(self, plain: io.BufferedIOBase, limit: int) -> None:
        self._plain = plain
        self._limit = limit + MIB
        self._since = 0
        self._total = 0
        self._total_at_last_call = 0

    def read(self, size: int) -> bytes:
        data = self._plain.read(size)
        self._since += len(data)
        self._total += len(data)
        if self._since > self._limit:
            raise RowError(
                Fault(
                    ErrorCode.LINE_TOO_LONG,
                    f"more than {self._limit - MIB:,} bytes without the end of a row",
                    "split the row, or raise WEIGHBRIDGE_LINE_LIMIT_BYTES",
                ),
                0,
            )
        return data

    def taken(self) -> int:
        """Return the number of bytes read since the last call."""
        taken, self._total_at_last_call, self._since = (
            self._total - self._total_at_last_call,
            self._total,
            0,
        )
        return taken


def _keys(pointer: str) -> list[str]:
    if pointer and not pointer.startswith("/"):
        raise InputError(
            f"the pointer to the rows {pointer!r} does not begin with /", "write /results/rows"
        )
    return [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]]


def _as_row(fault: Fault) -> Fault:
    if fault.code != ErrorCode.NOT_AN_OBJECT:
        return fault
    return Fault(fault.code, fault.message, "write an object on each line")


def _not_json(what: str) -> Fault:
    first = what.strip().splitlines()[0] if what.strip() else "it ends early"
    return Fault(
        ErrorCode.INVALID_JSON,
        f"the document is not JSON from here on: {first[:120]}",
        "the rows before it are graded; for the rest, create the file again",
    )


def _ragged(item: list[Any], columns: Sequence[str]) -> Fault:
    return invalid_row(
        f"the row has {pluralize(len(item), 'value')}, and the document {len(columns):,} columns",
        "give each row a value for each column, or null",
    )


def _no_object(item: Any) -> Fault:
    return Fault(
        ErrorCode.NOT_AN_OBJECT,
        f"the row is a JSON {json_type(item)}, not an object",
        "make each row an object",
    )
