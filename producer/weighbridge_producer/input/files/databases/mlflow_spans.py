"""MLflow's traces in SQLite: the spans of each, as OTLP-JSON in a column."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weighbridge.traces.fields import json_in
from weighbridge.traces.stored_rows import json_cell
from weighbridge_producer.input.files.databases.row_readers import RowReader, of_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from weighbridge_producer.input.files.databases.sqlite_rows import Row

SPAN = "content"  #: the column with a span


class SpanReader(RowReader):
    """Reader of traces whose rows have a span each."""

    other_form = "its spans record no model call, tool call or agent"

    def readings(self) -> Iterator[Callable[[Row], Row | None]]:
        """Yield how to read a row, which must have a span."""
        yield _with_span

    def value(self, rows: list[Row]) -> Any:
        """Return the spans of a trace."""
        return [json_in(row[SPAN]) for row in rows]


def _with_span(row: Row) -> Row | None:
    kept = of_json(row)
    return kept if kept and type(json_cell(kept, SPAN)) is dict else None
