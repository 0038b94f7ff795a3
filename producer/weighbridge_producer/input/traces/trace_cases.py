"""Converts traces to cases, so that a file of traces can be used as input.

A file may have one trace per line, or be one JSON document: a trace, a list of traces, or an export with several; or
all of its lines may form one session. The case's id is the trace's own id, or else made from its file and line.
"""

from __future__ import annotations

import re
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
import orjson

from weighbridge.errors import Fault
from weighbridge.grading.case import may_be_case
from weighbridge.jobs.damaged_data import DAMAGED_DATA
from weighbridge.jobs.error_codes import ErrorCode
from weighbridge.jobs.limits import METADATA_LIMIT_BYTES, NAME_LIMIT
from weighbridge.jobs.line import JSON_SPACE
from weighbridge.jobs.result_line import is_result
from weighbridge.settings import MIB
from weighbridge.traces.formats.batch_results import is_batch_result
from weighbridge.traces.formats.request_log import begins_request_log, request_log_parts
from weighbridge.traces.split import (
    id_by_plug_in,
    is_trace,
    opens_session,
    session_id,
    single_traces,
    spans_lines,
)
from weighbridge.traces.wrappers import UNREAD_LINES
from weighbridge_producer.input.duplicates import Duplicate, DuplicateIndex
from weighbridge_producer.input.files.non_json_files import indented_objects, several_values_fault
from weighbridge_producer.input.result_cases import cases_of_results
from weighbridge_producer.input.source_lines import HeldLines, SourceLine
from weighbridge_producer.input.traces.processes import sessions_by_process
from weighbridge_producer.input.traces.unknown_lines import is_unknown, without_unknown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

DOCUMENT_LIMIT_BYTES = 128 * MIB
_LOOKED_AT = 100  #: lines that decide whether a file has a value on each
_LINES_NAMED = 5  #: of the damaged ones of a session
_FEWEST_LINES = 20  #: of a document, to be taken for one although it is not JSON
_ABOUT_FILE = b'{"metadata"'
_OPENING = b"{[,"  #: last characters of the first line of a multi-line document
#: Fields of traces that have an `inputs` field like cases: LangSmith's runs, Weave's calls.
_RECORD_KEYS = frozenset({"run_type", "op_name"})
_RESULT_FIELD = b'"receipt"'
_ID_KEYS = ("custom_id", "id", "trace_id", "traceId", "session_id", "conversation_id")


_INCOMPLETE = "check that the file is complete, and as the tool wrote it"
#: How the JSON library says that something follows a document, with the line.
_AFTER_DOCUMENT = re.compile(r"content after document: line (\d{1,15})\b")
_MANY_DIGITS = b"0" * 19
_DIGITS_AS_ZEROS = bytes.maketrans(b"123456789", b"000000000")
#: An id of a trace or span as an integer beyond 64 bits, which some libraries write and lines may not have.
_LARGE_ID = re.compile(
    rb'("(?:trace_id|span_id|parent_id|traceId|spanId|parentSpanId)"\s{0,99}:\s{0,99})([1-9][0-9]{18,38})(?![0-9.eE])'
)


class _Named(msgspec.Struct):
    custom_id: Any = msgspec.UNSET
    inputs: msgspec.Raw = msgspec.Raw()
    id: Any = None
    trace_id: Any = None
    traceId: Any = None  # noqa: N815 - the name in JSON
    session_id: Any = None
    conversation_id: Any = None
    run_type: Any = None
    op_name: Any = None
    metadata: msgspec.Raw = msgspec.Raw()


_Bare = _Named | list[msgspec.Raw]
_named = msgspec.json.Decoder(_Bare)


def as_cases(
    lines: Iterator[SourceLine],
    name: str,
    ids: DuplicateIndex,
    on_cases: Callable[[], None] | None = None,
    *,
    is_one_of_several: bool = False,
) -> Iterator[SourceLine]:
    """Yield lines with cases unchanged or, if the first line shows that they are traces, a case for each trace.

    `ids` are the ids in earlier files of the same input; `on_cases` is called if the lines are cases. One of several files
    whose lines are neither is one fault.
    """
    blank = 0
    unread: list[SourceLine] = []  # before the first line that shows what the others are
    about: SourceLine | None = None
    for head in lines:
        if head.is_unread:
            unread.append(head)
        elif about is None and not head.fault and _is_about_file(head.raw):
            about = head
        elif head.fault or head.raw.strip(JSON_SPACE):
            break
        elif unread:
            unread.append(head)
        else:
            blank += 1
            yield head
    else:
        yield from unread if about is None else [about, *unread]
        return
    if about is not None and not head.fault and input_kind(head.raw) == "traces":
        blank += 1
        yield SourceLine(b"\n", None, about.size)
    elif about is not None:
        lines, head = chain([head], lines), about
    kind = "cases" if head.fault else input_kind(head.raw)
    every = chain(unread, [head], lines)
    if kind == "cases" and is_one_of_several and not head.fault and is_unknown(head.raw):
        yield from without_unknown(every)
    elif kind == "cases":
        if on_cases:
            on_cases()
        yield from every
    elif kind == "results":
        yield from cases_of_results(every, name)
    elif kind == "traces":
        yield from _traces(every, blank + 1, name, ids)
    elif head.process is not None:
        yield from _of_each_process(every, name, ids, is_one_of_several=is_one_of_several)
    else:
        yield from _document(every, name, ids)


def _of_each_process(
    lines: Iterator[SourceLine], name: str, ids: DuplicateIndex, *, is_one_of_several: bool
) -> Iterator[SourceLine]:
    """Yield the cases in a log of sessions, in which the lines of each process are a log of their own."""
    read: list[SourceLine] = []
    size = 0
    for line in lines:
        size += line.size
        if size > DOCUMENT_LIMIT_BYTES:
            text = f"the log of sessions has more than {DOCUMENT_LIMIT_BYTES:,} bytes"
            fault = Fault(
                ErrorCode.INPUT_TOO_LARGE,
                text,
                "give the log of each process, or each session, apart",
            )
            yield SourceLine(b"\n", fault, size)
            return
        if line.fault and not line.is_unread:
            yield from chain(read, [line], lines)
            return
        read.append(line)
    for process, log in sessions_by_process(read):
        log[0].size, size = size, 0  # of all lines, also blank ones
        of_process = f"{name}:{process}" if process else name
        yield from as_cases(iter(log), of_process, ids, is_one_of_several=is_one_of_several)


def _traces(
    lines: Iterator[SourceLine], first: int, name: str, ids: DuplicateIndex
) -> Iterator[SourceLine]:
    """Yield a case for the trace on each line, or for each conversation if all lines are the log of a chat API."""
    begun = list(islice(lines, 1))
    if begins_request_log(begun[0].raw):
        for line in islice(lines, _LOOKED_AT):
            begun.append(line)
            if line.raw.strip(JSON_SPACE):
                break
    wrapper = TraceWrapper(name, ids)
    held = HeldLines()
    if len(begun) > 1 and _log_of(begun)[0]:
        size = 0
        for line in chain(begun, lines):
            held.add(line)
            size += line.size
            if size > DOCUMENT_LIMIT_BYTES or line.fault:
                break
        else:
            parts, torn = _log_of(held.lines())
            for number, part in enumerate(parts, start=1):
                where = name if len(parts) == 1 else f"{name}:{number}"
                yield wrapper.case(orjson.dumps(part), None, where, size if number == 1 else 0)
            if parts:
                if torn:
                    yield SourceLine(b"\n", torn, 0)
                return
        begun = []
    yield from wrapper.lines(chain(held.lines(), begun, lines), first)


def _log_of(lines: Iterable[SourceLine]) -> tuple[list[Any], Fault | None]:
    """Return the conversations in lines that are the log of a chat API, and the fault of a last line that was cut off."""
    values: list[Any] = []
    torn: Fault | None = None
    for number, line in enumerate(lines, start=1):
        if torn:
            return [], None
        try:
            values += [orjson.loads(line.raw)] if line.raw.strip(JSON_SPACE) else []
        except ValueError:
            torn = _torn_line(number, len(line.raw.strip(JSON_SPACE)))
    return [part for _, part in request_log_parts(values)], torn


def _is_about_file(raw: bytes) -> bool:
    """Return whether a line only has metadata of the file's traces, as Invariant's first lines do."""
    if len(raw) > METADATA_LIMIT_BYTES or not raw.lstrip().startswith(_ABOUT_FILE):
        return False
    try:
        return list(orjson.loads(raw)) == ["metadata"]
    except ValueError:
        return False


def begins_document(raw: bytes) -> bool:
    """Return whether a file's first line starts a JSON value that continues on the next line."""
    try:
        orjson.loads(raw)
    except ValueError:
        return raw.strip(JSON_SPACE)[-1:] in _OPENING
    return False


def input_kind(raw: bytes) -> str:
    """Return the kind of input by its first line: `cases`, `traces` or `results`, one per line, or a `document`."""
    if _is_surely_case(raw):
        return "cases"
    try:
        value = orjson.loads(_with_ids_as_text(raw))
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
    """Yield the traces or cases of a document; if the lines are not a document, yield them unchanged."""
    read = HeldLines()
    size, first, has_unread = 0, b"", False
    for line in lines:
        first = first or line.raw
        has_unread = has_unread or line.is_unread
        read.add(line)
        size += line.size
        if size > DOCUMENT_LIMIT_BYTES and begins_document(first):
            text = f"the document has more than {DOCUMENT_LIMIT_BYTES:,} bytes"
            hint = "write one trace per line: the limit is then for each line"
            yield SourceLine(b"\n", Fault(ErrorCode.INPUT_TOO_LARGE, text, hint), size)
            return
        if (line.fault and not line.is_unread) or size > DOCUMENT_LIMIT_BYTES:
            yield from read.lines()
            yield from lines
            return
    document = _with_ids_as_text(read.text())
    items, torn = _items(document), None
    if items is None:
        is_begun = begins_document(first)
        fault = _document_fault(document) if is_begun else None
        if not is_begun and (session := _damaged_session(document, has_unread=has_unread)):
            items, torn = session
        if items is None:
            # The first line stays, because it shows that the file is JSON.
            yield from [SourceLine(first, fault, size)] if fault else read.lines()
            return
    wrapper = TraceWrapper(name, ids)
    for number, item in enumerate(items, start=1):
        # JSON has no raw line breaks in strings, and outside of strings they can become spaces.
        raw = item.raw.strip().replace(b"\n", b" ").replace(b"\r", b" ")
        bare = _bare(raw)
        where = name if len(items) == 1 else f"{name}:{number}"
        taken = size if number == 1 else 0
        if bare is None:
            yield SourceLine(raw + b"\n", None, taken)
        else:
            yield wrapper.case(raw, item.id or _own_id(bare, raw), where, taken, _metadata(bare))
    if torn:
        yield SourceLine(b"\n", torn, 0)


def _document_fault(document: bytes) -> Fault | None:
    """Return the fault for a document on many lines that is not JSON; None for few lines, or some that are objects."""
    if fault := several_values_fault(document):
        return fault
    rows = [row for row in document.split(b"\n") if row.strip(JSON_SPACE)]
    if len(rows) < _FEWEST_LINES or sum(map(_is_object, rows[:_LOOKED_AT])) > _FEWEST_LINES // 10:
        return None
    try:
        orjson.loads(document)
    except ValueError as error:
        text, hint = f"the document is not JSON: {error}", _INCOMPLETE
        if after := _AFTER_DOCUMENT.search(str(error)):
            text = f"the file goes on after its first JSON value, on line {int(after[1]):,}"
            hint = "write each value on one line, as jq -c does, and leave out other text"
        return Fault(ErrorCode.INVALID_JSON, text, hint)
    return None


def _is_object(row: bytes) -> bool:
    try:
        return type(orjson.loads(row)) is dict
    except ValueError:
        return False


def _damaged_session(document: bytes, *, has_unread: bool) -> tuple[list[_Item], Fault] | None:
    """Return what is in the lines of a session that are JSON, and the fault of the other lines; None for other lines."""
    rows: list[bytes] = []
    damaged: list[tuple[int, bytes]] = []
    last = 0
    values: list[Any] = []
    for number, row in enumerate(document.split(b"\n"), start=1):
        if not row.strip(JSON_SPACE):
            continue
        last = number
        try:
            values.append(orjson.loads(row))
        except ValueError:
            damaged.append((number, row))
        else:
            rows.append(row)
    if not damaged or not values or not opens_session(values[0]) or any(map(_is_case, values)):
        return None
    del values
    items = _items(b"\n".join(rows))
    if items is None:
        return None
    numbers = [number for number, _ in damaged]
    if numbers == [last] and not has_unread:
        return items, _torn_line(last, len(damaged[0][1]))
    return [_with_unread_lines(item, len(numbers)) for item in items], _damaged_lines(numbers)


def _torn_line(number: int, size: int) -> Fault:
    text = f"line {number:,}, the last of the session, is cut off after {size:,} bytes"
    hint = "the lines before it were read; read the file again when the session has ended"
    return Fault(ErrorCode.INVALID_JSON, text, hint)


def _damaged_lines(numbers: list[int]) -> Fault:
    shown = [f"{number:,}" for number in numbers[:_LINES_NAMED]]
    if more := len(numbers) - len(shown):
        shown.append(f"{more:,} more")
    which = f"line {shown[0]}"
    if len(numbers) > 1:
        which = f"lines {', '.join(shown[:-1])} and {shown[-1]}"
    verb = "is" if len(numbers) == 1 else "are"
    text = f"{which} of the session {verb} not JSON"
    hint = "the other lines were read, so that counts are lower bounds"
    return Fault(ErrorCode.INVALID_JSON, text, hint)


def _with_unread_lines(item: _Item, count: int) -> _Item:
    """Return the trace of a session with the number of its lines that were not read."""
    return _Item(b'{"%b":%d,"trace":%b}' % (UNREAD_LINES.encode(), count, item.raw), item.id)


class _Item(NamedTuple):
    """A trace or case in a document: its original JSON, and its id if that is stored outside of it."""

    raw: bytes
    id: str | None = None


def _items(document: bytes) -> list[_Item] | None:
    """Return the traces or cases in a document; None if it is not JSON.

    A document in an unknown format is taken as one trace, and its result reports the error.
    """
    try:
        value = orjson.loads(document)
    except ValueError:
        indented = indented_objects(document)
        rows = [
            row for line in indented or document.split(b"\n") if (row := line.strip(JSON_SPACE))
        ]
        try:
            value = [orjson.loads(row) for row in rows]
        except ValueError:
            return None
        if opens_session(value[0]):
            records = single_traces(value) or []
            if len(records) > 1:  # the document contains several traces
                return [_Item(orjson.dumps(part), trace_id) for trace_id, part in records]
            return [_Item(b"[%b]" % b",".join(rows), session_id(value))]
        if not spans_lines(value):
            is_known = indented and (_are_cases(value) or is_trace(value[0]))
            return [_Item(row) for row in rows] if is_known else None
    if type(value) not in {dict, list}:
        return None
    found = [(None, item) for item in value] if _are_cases(value) else single_traces(value)
    if not found or found[0][1] is value:
        return [_Item(document)]
    if type(value) is list and found[0][1] is value[0]:
        # Keep the original JSON, because graders check numbers and repeated keys.
        return [_Item(bytes(raw)) for raw in msgspec.json.decode(document, type=list[msgspec.Raw])]
    return [_Item(orjson.dumps(part), trace_id) for trace_id, part in found]


def _is_case(value: Any) -> bool:
    if type(value) is not dict or not may_be_case(value):
        return False
    if "custom_id" in value:
        return not is_batch_result(value)
    return _RECORD_KEYS.isdisjoint(value)


def _is_surely_case(raw: bytes) -> bool:
    """Return whether a line has a case's id and inputs, and is no result; of a long line, in a fraction of the time of parsing it."""
    try:
        found: _Bare = _named.decode(raw)
    except DAMAGED_DATA:
        return False
    has_both = isinstance(found, _Named) and found.custom_id is not msgspec.UNSET and found.inputs
    return bool(has_both) and _RESULT_FIELD not in raw


def _are_cases(value: Any) -> bool:
    return type(value) is list and bool(value) and all(map(_is_case, value))


class TraceWrapper:
    """Converts traces to cases with unique ids."""

    def __init__(self, name: str, ids: DuplicateIndex) -> None:
        self._name = name
        self._ids = ids

    def lines(self, lines: Iterator[SourceLine], first: int) -> Iterator[SourceLine]:
        """Convert the trace on each line to a case; a line without one is passed on, to become an error."""
        for number, line in enumerate(lines, start=first):
            raw = line.raw.strip(JSON_SPACE)
            bare = _bare(raw) if raw and not line.fault else None
            if bare is None:
                yield line
            else:
                where = f"{self._name}:{number}"
                yield self.case(raw, _own_id(bare, raw), where, line.size, _metadata(bare))

    def case(
        self, trace: bytes, own_id: str | None, location: str, size: int, metadata: bytes = b""
    ) -> SourceLine:
        """Return a line with the case for a trace; `size` is its number of input bytes, and `metadata` a JSON object."""
        trace = _with_ids_as_text(trace)
        own_id = own_id if own_id and _is_name(own_id) else None
        custom_id = own_id or _fitting(location)
        # Different traces may have the same id; a repeated trace is one job.
        if own_id and self._ids.claim(own_id, trace) is Duplicate.CONFLICT:
            custom_id = _fitting(f"{own_id} ({location})")
        more = b',"metadata":%b' % metadata if metadata else b""
        case = b'{"custom_id":%b,"inputs":{"trace":%b}%b}\n' % (
            orjson.dumps(custom_id),
            trace,
            more,
        )
        return SourceLine(case, None, size, custom_id=custom_id)


def _with_ids_as_text(raw: bytes) -> bytes:
    """Return a trace with the large integers that are ids of traces or spans as strings."""
    if _MANY_DIGITS not in raw.translate(_DIGITS_AS_ZEROS):
        return raw
    return _LARGE_ID.sub(rb'\1"\2"', raw)


def _bare(raw: bytes) -> _Bare | None:
    """Return the trace on a line; None if the line is a case, or neither an object nor an array."""
    try:
        found: _Bare = _named.decode(raw)
    except DAMAGED_DATA:
        return None
    if not isinstance(found, _Named):
        return found
    if found.custom_id is not msgspec.UNSET:
        return found if not found.inputs and _has_batch_result(raw) else None
    is_record = found.run_type is not None or found.op_name is not None
    return None if found.inputs and not is_record else found


def _has_batch_result(raw: bytes) -> bool:
    try:
        return is_batch_result(orjson.loads(raw))
    except ValueError:
        return False


def _metadata(bare: _Bare) -> bytes:
    """Return the metadata that a trace has, if a case may have them; empty otherwise."""
    held = b"" if isinstance(bare, list) else bytes(bare.metadata)
    is_object = held[:1] == b"{" and held[1:-1].strip(JSON_SPACE)
    return held if is_object and len(held) <= METADATA_LIMIT_BYTES else b""


def _own_id(bare: _Bare, raw: bytes) -> str | None:
    """Return the trace's own id; of a result of a batch the one that its request was given."""
    ids = () if isinstance(bare, list) else (getattr(bare, key) for key in _ID_KEYS)
    own_id = next((own for own in ids if type(own) is str and own), None)
    return own_id or id_by_plug_in(raw)


def _is_name(text: str) -> bool:
    return 0 < len(text) <= NAME_LIMIT and text.isprintable()


def _fitting(name: str) -> str:
    """Return a name in the form of a custom_id, shortened to its end if it is too long."""
    return "".join(c if c.isprintable() else "?" for c in name)[-NAME_LIMIT:]
