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
_ROLE = "role"
_ASKED = frozenset({"user", "system", "signal"})  #: roles of messages that are no answer
_TRACE, _SPAN, _PARENT = "traceId", "spanId", "parentSpanId"
_THREAD, _METADATA = "threadId", "metadata"
_OF_SPAN = frozenset({_TRACE, _SPAN, _THREAD, _METADATA})  #: columns of a span
_TYPE, _AGENT = "spanType", "agent_run"
_SCORERS = "scorer_"  #: start of the types of spans of an evaluation, in which agents may run too


class MastraReader(RowReader):
    """Reader of threads, whose rows have a message each, and of traces, whose rows have a span each.

    A trace with a span that names a thread with an answer records the same run, and is left out; not if an agent
    outside of other agents runs in it and names no such thread. The first versions name the thread in the metadata of a span.
    """

    other_form = "its rows record no message, model call, tool call or agent that can be read"

    def __init__(self) -> None:
        self._answered: set[str] = set()  #: the threads that have answers
        self._traced: set[str] = set()  #: those that spans name
        self._named: dict[tuple[Any, Any], str] = {}  #: by the ids of a trace and a span: a thread

    def looked_at(self, columns: frozenset[str]) -> frozenset[str]:
        """Return the columns with the ids of traces, spans and threads, and the roles of messages."""
        of_message = frozenset({_OF_MESSAGE, _ROLE})
        return of_message if _OF_MESSAGE in columns else _OF_SPAN & columns

    def look_ahead(self, row: Row) -> None:
        """Note the thread that a model's message is in, or that a span names."""
        if _OF_MESSAGE in row:
            if row[_ROLE] not in _ASKED:
                self._answered.update(filter(None, [string_of(row[_OF_MESSAGE])]))
            return
        thread = string_of(row.get(_THREAD)) or _in_metadata(row)
        if thread:
            self._named[row[_TRACE], row[_SPAN]] = thread
            self._traced.add(thread)

    def readings(self) -> Iterator[Callable[[Row], Row | None]]:
        """Yield how to read a row."""
        yield _with_texts

    def beside(self, session: Any) -> str:
        """Return the name of the table of spans if a trace names this thread, which has answers."""
        is_in_both = session in self._answered and session in self._traced
        return MASTRA_SPANS if is_in_both else ""

    def leaves_out(self, trace: Any) -> bool:
        """Return whether each outermost agent of a trace, or a span outside of agents, names a thread that has answers."""
        spans = {row[_SPAN]: row for row in objects_of(trace) if _SPAN in row}
        agents = _agents_around(spans)
        named = {
            agents[span][-1:]
            for span, row in spans.items()
            if self._named.get((row.get(_TRACE), span)) in self._answered
        }
        outermost = {
            around[:1] for around in agents.values() if around and spans[around[0]][_TYPE] == _AGENT
        }
        return () in named or (bool(named) and named >= outermost)


def _agents_around(spans: dict[Any, Row]) -> dict[Any, tuple[Any, ...]]:
    """Return for each span the outermost and the nearest one of an agent or an evaluation that it is or is in, if there are any."""
    found: dict[Any, tuple[Any, ...]] = {}
    for start in spans:
        path, span = [], start
        while span in spans and span not in found:
            found[span] = ()  # ends the walk in a cycle
            path.append(span)
            span = spans[span].get(_PARENT)
        around = found.get(span, ())
        for passed in reversed(path):
            kind = string_of(spans[passed].get(_TYPE)) or ""
            if kind == _AGENT or kind.startswith(_SCORERS):
                around = (*around[:1], passed)
            found[passed] = around
    return found


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
