"""Spans of Mastra's own tracing in SQLite, whose columns have JSON as text or, in newer versions, as SQLite's binary JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson

from weighbridge_producer.input.files.databases.row_readers import RowReader
from weighbridge_producer.input.files.databases.sqlite_jsonb import json_of_jsonb

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from weighbridge_producer.input.files.databases.sqlite_rows import Row


class MastraSpanReader(RowReader):
    """Reader of traces whose rows have a span each."""

    other_form = "its spans record no model call, tool call or agent"

    def readings(self) -> Iterator[Callable[[Row], Row | None]]:
        """Yield how to read a row."""
        yield _with_texts


def _with_texts(row: Row) -> Row | None:
    """Return a row with its binary JSON as text; None if a cell is neither."""
    try:
        return {
            column: orjson.dumps(json_of_jsonb(cell)).decode() if type(cell) is bytes else cell
            for column, cell in row.items()
        }
    except (ValueError, TypeError):
        return None
