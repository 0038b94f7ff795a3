"""Mastra's threads in SQLite, and the spans of its own tracing, with JSON as text or, in newer versions, as SQLite's binary JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

from weighbridge.traces.fields import object_of, objects_of, string_of
from weighbridge.traces.stored_rows import json_cell
from weighbridge_producer.input.files.databases.row_readers import RowReader
from weighbridge_producer.input.files.databases.sqlite_jsonb import json_of_jsonb

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from weighbridge_producer.input.files.databases.sqlite_rows import Row

MASTRA_SPANS = "mastra_ai_spans"  #: table of the spans
_OF_MESSAGE = "thread_id"  #: column of a message with the id of its thread
_TRACE, _THREAD, _METADATA = "traceId", "threadId", "metadata"
_OF_SPAN = frozenset({_TRACE, _THREAD, _METADATA})  #: columns of a span


class MastraReader(RowReader):
    """Reader of threads, whose rows have a message each, and of traces, whose rows have a span each.

    A trace with a span that names a thread with messages records the same run, and is left out. The first versions name the
    thread in the metadata of a span.
    """

    other_form = "its spans record no model call, tool call or agent"

    def __init__(self) -> None:
        self._threads: set[str] = set()  #: those that have messages
        self._traced: set[str] = set()  #: those that traces name
        self._named: dict[str, set[str]] = {}  #: by the id of a trace: the threads that it names

    def looked_at(self, columns: frozenset[str]) -> frozenset[str]:
        """Return the columns with the ids of traces and threads."""
        return frozenset({_OF_MESSAGE}) if _OF_MESSAGE in columns else _OF_SPAN & columns

    def look_ahead(self, row: Row) -> None:
        """Note the thread that a message is in, or that a span names."""
        if _OF_MESSAGE in row:
            self._threads.update(filter(None, [string_of(row[_OF_MESSAGE])]))
            return
        trace, thread = string_of(row[_TRACE]), string_of(row.get(_THREAD)) or _in_metadata(row)
        if trace and thread:
            self._named.setdefault(trace, set()).add(thread)
            self._traced.add(thread)

    def readings(self) -> Iterator[Callable[[Row], Row | None]]:
        """Yield how to read a row."""
        yield _with_texts

    def beside(self, session: Any) -> str:
        """Return the name of the table of spans if a trace names this thread."""
        return MASTRA_SPANS if session in self._traced else ""

    def leaves_out(self, trace: Any) -> bool:
        """Return whether a trace with spans names a thread that has messages."""
        named = (self._named.get(string_of(row.get(_TRACE)) or "") for row in objects_of(trace))
        return not self._threads.isdisjoint(next(filter(None, named), ()))


def _in_metadata(row: Row) -> str | None:
    """Return the id of a thread in the metadata of a span, which are JSON."""
    if not row.get(_METADATA):
        return None
    held = _with_texts({_METADATA: row[_METADATA]})
    return string_of(object_of(json_cell(held, _METADATA)).get(_THREAD)) if held else None


def _with_texts(row: Row) -> Row | None:
    """Return a row with its binary JSON as text; None if a cell is neither."""
    try:
        return {
            column: orjson.dumps(json_of_jsonb(cell)).decode() if type(cell) is bytes else cell
            for column, cell in row.items()
        }
    except (ValueError, TypeError):
        return None
