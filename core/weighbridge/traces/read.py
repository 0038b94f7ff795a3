"""Reading traces from any JSON, decoded or as text."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from weighbridge.errors import TraceError, UnknownTraceFormatError
from weighbridge.traces.event_stream import begins_events, events_in
from weighbridge.traces.failed_commands import with_failed_commands
from weighbridge.traces.fields import UNREADABLE, json_in, unreadable_noted
from weighbridge.traces.formats import aider
from weighbridge.traces.importer import damaged
from weighbridge.traces.model import CAPABILITIES
from weighbridge.traces.recognition import find_format, recognised
from weighbridge.traces.text_actions import missing_calls
from weighbridge.traces.text_logs import OPENING_BYTES, key_of_log
from weighbridge.traces.traces_by_id import traces_by_id
from weighbridge.traces.unread_counts import with_unread_calls, with_unread_lines
from weighbridge.traces.wrapped_calls import with_wrapped_calls
from weighbridge.traces.zero_costs import without_zero_costs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weighbridge.traces.model import Trace
    from weighbridge.traces.recognition import FoundFormat

_SHOWN_CHARACTERS = 200  #: maximum length of a quoted error that an importer raised


def read_traces(value: Any) -> Sequence[Trace]:
    """Return the traces in a JSON value, or in a list of them, decoded or as text; at least one.

    Raises UnknownTraceFormatError when no format has its shape, and TraceError when it is damaged.
    """
    decoded = _decoded(value) if type(value) in {str, bytes, bytearray} else value
    try:
        return _read(find_format(decoded))
    except UnknownTraceFormatError:
        if by_id := traces_by_id(decoded):
            return [trace for key, chat in by_id for trace in _read_chat(chat, key)]
        if type(decoded) is not list or not decoded or recognised(decoded[0]) is None:
            raise
    return [trace for number, item in enumerate(decoded, 1) for trace in _read_item(item, number)]


def read_trace(value: Any) -> Trace:
    """Return the one trace in a JSON value; see `read_traces`. Raises TraceError when there are several."""
    first, *others = read_traces(value)
    if others:
        raise TraceError(
            f"there are {len(others) + 1} traces in one value; expected one",
            "`weighbridge trace convert` writes each on a line of its own",
        )
    return first


def _read(found: FoundFormat) -> Sequence[Trace]:
    importer, value, trace_id, notes, metadata, unread_lines = found
    try:
        with unreadable_noted() as unreadable:
            traces = importer.read(value)
    except (TraceError, MemoryError):
        raise
    except Exception as error:
        # Importers validate only the fields they check; any other malformed data raises here.
        reason = f"{type(error).__name__}: {error}"[:_SHOWN_CHARACTERS]
        raise damaged(f"this looks like {importer.name}, but cannot be read: {reason}") from error
    if not traces:
        raise damaged(f"this looks like {importer.name}, but contains no trace")
    if unreadable:
        reasons = {name: UNREADABLE[name] for name in CAPABILITIES if name in unreadable}
        traces = [replace(trace, missing=reasons | trace.missing) for trace in traces]
    first = traces[0]
    if trace_id and len(traces) == 1 and first.id is None:
        first = replace(first, id=trace_id)
    if metadata:
        first = replace(first, metadata={**first.metadata, **metadata})
    if notes is not None and notes.summaries():
        missing = {**missing_calls(first.steps, notes, in_text=False), **first.missing}
        first = replace(
            first, missing=missing, not_carried=(*first.not_carried, *notes.summaries())
        )
    return [
        with_unread_lines(with_unread_calls(without_zero_costs(each)), unread_lines)
        for each in map(with_failed_commands, map(with_wrapped_calls, (first, *traces[1:])))
    ]


def _read_chat(chat: Any, key: str) -> Sequence[Trace]:
    try:
        traces = _read(find_format(chat))
    except TraceError as error:
        raise TraceError(f"the trace at {key!r}: {error.message}", error.hint) from None
    return [replace(trace, id=trace.id or key) for trace in traces]


def _read_item(item: Any, number: int) -> Sequence[Trace]:
    try:
        return _read(find_format(item))
    except TraceError as error:
        raise TraceError(f"trace {number} of the list: {error.message}", error.hint) from None


def _bytes_of(text: str | bytes | bytearray) -> bytes:
    # A lone surrogate has no UTF-8 form, and text that is not JSON may contain any.
    return text.encode(errors="replace") if isinstance(text, str) else bytes(text)


def _decoded(text: str | bytes | bytearray) -> Any:
    try:
        return json_in(text)
    except ValueError as error:
        whole_error = error
    # No `splitlines`: JSON's strings may hold the other characters that it splits at.
    lines = text.split("\n") if isinstance(text, str) else text.split(b"\n")
    filled = [line for line in lines if line.strip()]
    if filled and begins_events(_bytes_of(filled[0])):
        events = events_in(_bytes_of(text).split(b"\n"))
        if events is not None:
            return events
    if filled and aider.begins_session(_bytes_of(filled[0]).decode(errors="replace")):
        sessions = aider.sessions_in(_bytes_of(text).decode(errors="replace"))
        if not sessions:
            raise damaged("nothing was typed or answered in any session of this history of aider")
        return sessions if len(sessions) > 1 else sessions[0]
    key = key_of_log(_bytes_of(text[:OPENING_BYTES]).decode(errors="replace"))
    if key:
        return {key: _bytes_of(text).decode(errors="replace")}
    try:
        if len(filled) > 1:
            return [json_in(line) for line in filled]
    except ValueError:
        pass  # The error for the whole input is more informative than that for a line.
    raise TraceError(
        f"the trace is not JSON: {whole_error}", "give JSON, or JSON Lines of one format"
    )
