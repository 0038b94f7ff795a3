"""Parquet tables of spans, such as Phoenix's dataframes, read as one JSON line per row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, BinaryIO

import orjson

from weighbridge.errors import InputError
from weighbridge.traces.split import opens_session
from weighbridge_producer.input.rows.parquet_rows import parquet_rows
from weighbridge_producer.input.rows.source_rows import RowError
from weighbridge_producer.input.source_lines import SourceLine

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Column of tables of spans; tables without it are rows for a mapping.
_SPAN_COLUMN = "context.trace_id"


def are_spans(row: dict[str, Any]) -> bool:
    """Return whether a table contains spans, by its first row."""
    return _SPAN_COLUMN in row and opens_session(row)


def is_span_table(stream: BinaryIO) -> bool:
    """Return whether a file is a Parquet table of spans; its position stays at the start."""
    if not stream.seekable():
        return False
    try:
        first = next(parquet_rows(stream), None)
    except (RowError, InputError):
        first = None
    stream.seek(0)
    return first is not None and are_spans(first.values)


def span_lines(stream: BinaryIO) -> Iterator[SourceLine]:
    """Yield the rows of a Parquet table as JSON lines, and a fault if it is damaged."""
    try:
        for row in parquet_rows(stream):
            line = orjson.dumps(row.values, default=str, option=orjson.OPT_NON_STR_KEYS)
            yield SourceLine(line + b"\n", None, len(line) + 1)
    except RowError as error:
        yield SourceLine(b"\n", error.fault)
