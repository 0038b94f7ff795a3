"""Bare traces as cases: a file of traces is input as it is.

A file may have a trace on each line, or be one JSON document: a trace, a list of traces, or an export that holds
several; and all lines of a file may be one session. A trace's case is named after the trace's own id, or else after its file and line.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
import orjson

from weighbridge.errors import Fault
from weighbridge.jobs.line import JSON_SPACE
from weighbridge.jobs.model import NAME_LIMIT, ErrorCode
from weighbridge.settings import MIB
from weighbridge.traces.split import opens_session, session_id, single_traces, spans_lines
from weighbridge_producer.input.duplicates import Duplicate, DuplicateIndex
from weighbridge_producer.input.result_cases import cases_of_results, is_result
from weighbridge_producer.input.source_lines import HeldLines, SourceLine

if TYPE_CHECKING:
    from collections.abc import Iterator

DOCUMENT_LIMIT_BYTES = 128 * MIB
_OPENING = b"{[,"  #: what the first line of a document over several lines ends with
_CASE_KEYS = frozenset({"custom_id", "inputs"})
#: Fields of records that have inputs of their own: LangSmith's runs, Weave's calls.
_RECORD_KEYS = frozenset({"run_type", "op_name"})
_ID_KEYS = ("id", "trace_id", "traceId", "session_id")


class _Named(msgspec.Struct):
    custom_id: Any = msgspec.UNSET
    inputs: msgspec.Raw = msgspec.Raw()
    id: Any = None
    trace_id: Any = None
    traceId: Any = None  # noqa: N815 - as it is written
    session_id: Any = None
    run_type: Any = None
    op_name: Any = None


_Bare = _Named | list[msgspec.Raw]
_named = msgspec.json.Decoder(_Bare)


def as_cases(lines: Iterator[SourceLine], name: str, ids: DuplicateIndex) -> Iterator[SourceLine]:
    """Yield lines of cases as they are; where the first shows that they are traces, a case for each trace.

    `ids` are those that earlier files of the same input have taken.
    """
    blank = 0
    for head in lines:
        if head.fault or head.raw.strip(JSON_SPACE):
            break
        blank += 1
        yield head
    else:
        return
    kind = "cases" if head.fault else input_kind(head.raw)
    every = chain([head], lines)
    if kind == "cases":
        yield from every
    elif kind == "results":
        yield from cases_of_results(every, name)
    elif kind == "traces":
        yield from TraceWrapper(name, ids).lines(every, blank + 1)
    else:
        yield from _document(every, name, ids)


def begins_document(raw: bytes) -> bool:
    """Whether a file's first line begins a JSON value that goes on in the next."""
    try:
        orjson.loads(raw)
    except ValueError:
        return raw.strip(JSON_SPACE)[-1:] in _OPENING
    return False


def input_kind(raw: bytes) -> str:
    """Say what the first line begins: `cases`, `traces` or our `results`, one on each line, or a `document` over all lines."""
    try:
        value = orjson.loads(raw)
    except ValueError:
        return "document" if raw.strip(JSON_SPACE)[-1:] in _OPENING else "cases"
    if is_result(value):
        return "results"
    if _is_case(value):
        return "cases"
    if spans_lines(value) or _are_cases(value) or opens_session(value):
        return "document"
    found = single_traces(value)
    if not found:
        return "cases"
    return "traces" if found[0][1] is value else "document"


def _document(lines: Iterator[SourceLine], name: str, ids: DuplicateIndex) -> Iterator[SourceLine]:
    """Yield the traces (or cases) of a document; if it is none, the lines as they are."""
    read = HeldLines()
    size, first = 0, b""
    for line in lines:
        first = first or line.raw
        read.add(line)
        size += line.size
        if size > DOCUMENT_LIMIT_BYTES and begins_document(first):
            text = f"the document has more than {DOCUMENT_LIMIT_BYTES:,} bytes"
            hint = "write one trace per line, which may be as many as you like"
            yield SourceLine(b"\n", Fault(ErrorCode.INPUT_TOO_LARGE, text, hint), size)
            return
        if line.fault or size > DOCUMENT_LIMIT_BYTES:
            yield from read.lines()
            yield from lines
            return
    items = _items(read.text())
    if items is None:
        yield from read.lines()
        return
    wrapper = TraceWrapper(name, ids)
    for number, item in enumerate(items, start=1):
        # Outside of strings, where none can be, a line break is as good as a space.
        raw = item.raw.strip().replace(b"\n", b" ").replace(b"\r", b" ")
        bare = _bare(raw)
        where = name if len(items) == 1 else f"{name}:{number}"
        taken = size if number == 1 else 0
        if bare is None:
            yield SourceLine(raw + b"\n", None, taken)
        else:
            yield wrapper.case(raw, item.id or _own_id(bare), where, taken)


class _Item(NamedTuple):
    """A trace or a case in a document: its JSON as it stands there, and its id where that stands outside."""

    raw: bytes
    id: str | None = None


def _items(document: bytes) -> list[_Item] | None:
    """Return the traces or cases in a document; None if it is not JSON.

    A document in no known format counts as one trace, and its result says what is wrong.
    """
    try:
        value = orjson.loads(document)
    except ValueError:
        rows = [row.strip(JSON_SPACE) for row in document.split(b"\n")]
        rows = [row for row in rows if row]
        try:
            value = [orjson.loads(row) for row in rows]
        except ValueError:
            return None
        if opens_session(value[0]):
            records = single_traces(value) or []
            if len(records) > 1:  # of several traces
                return [_Item(orjson.dumps(part), trace_id) for trace_id, part in records]
            return [_Item(b"[%b]" % b",".join(rows), session_id(value))]
        if not spans_lines(value):
            return None
    if type(value) not in {dict, list}:
        return None
    found = [(None, item) for item in value] if _are_cases(value) else single_traces(value)
    if not found or found[0][1] is value:
        return [_Item(document)]
    if type(value) is list and found[0][1] is value[0]:
        # As they were written: numbers and repeated keys must come before those who judge them.
        return [_Item(bytes(raw)) for raw in msgspec.json.decode(document, type=list[msgspec.Raw])]
    return [_Item(orjson.dumps(part), trace_id) for trace_id, part in found]


def _is_case(value: Any) -> bool:
    if type(value) is not dict or _CASE_KEYS.isdisjoint(value):
        return False
    return "custom_id" in value or _RECORD_KEYS.isdisjoint(value)


def _are_cases(value: Any) -> bool:
    return type(value) is list and bool(value) and all(map(_is_case, value))


class TraceWrapper:
    """Makes cases of traces, each with an id of its own."""

    def __init__(self, name: str, ids: DuplicateIndex) -> None:
        self._name = name
        self._ids = ids

    def lines(self, lines: Iterator[SourceLine], first: int) -> Iterator[SourceLine]:
        """Yield the trace of each line as a case; a line without a trace is passed on unchanged, and its result is an error."""
        for number, line in enumerate(lines, start=first):
            raw = line.raw.strip(JSON_SPACE)
            bare = _bare(raw) if raw and not line.fault else None
            if bare is None:
                yield line
            else:
                yield self.case(raw, _own_id(bare), f"{self._name}:{number}", line.size)

    def case(self, trace: bytes, own_id: str | None, location: str, size: int) -> SourceLine:
        """Return the line of a trace's case, which took that many bytes of input."""
        own_id = own_id if own_id and _is_name(own_id) else None
        custom_id = own_id or _fitting(location)
        # Two traces may bear one id; a trace that stands there twice is one job.
        if own_id and self._ids.claim(own_id, trace) is Duplicate.CONFLICT:
            custom_id = _fitting(f"{own_id} ({location})")
        case = b'{"custom_id":%b,"inputs":{"trace":%b}}\n' % (orjson.dumps(custom_id), trace)
        return SourceLine(case, None, size, custom_id=custom_id)


def _bare(raw: bytes) -> _Bare | None:
    """Return the trace of a line; None for a line that is a case, or neither an object nor an array."""
    try:
        found: _Bare = _named.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    if not isinstance(found, _Named):
        return found
    is_record = found.run_type is not None or found.op_name is not None
    is_case = found.custom_id is not msgspec.UNSET or (found.inputs and not is_record)
    return None if is_case else found


def _own_id(bare: _Bare) -> str | None:
    """Return the id that a trace gives itself."""
    ids = () if isinstance(bare, list) else (getattr(bare, key) for key in _ID_KEYS)
    return next((own for own in ids if type(own) is str and own), None)


def _is_name(text: str) -> bool:
    return 0 < len(text) <= NAME_LIMIT and text.isprintable()


def _fitting(name: str) -> str:
    """Return a name as a custom_id can be: its end, where it is too long."""
    return "".join(c if c.isprintable() else "?" for c in name)[-NAME_LIMIT:]
