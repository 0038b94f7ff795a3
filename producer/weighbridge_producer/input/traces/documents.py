"""Documents of JSON on several lines, and sessions of a value on each line, as traces or cases."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
import orjson

from weighbridge.errors import Fault
from weighbridge.grading.strict_json import SAVE_AS_UTF8, utf8_fault
from weighbridge.jobs.error_codes import ErrorCode
from weighbridge.jobs.line import JSON_SPACE
from weighbridge.settings import MIB
from weighbridge.text import encodable_json
from weighbridge.traces.split import (
    is_trace,
    opens_session,
    session_id,
    single_traces,
    spans_lines,
)
from weighbridge.traces.traces_by_id import empty_sessions
from weighbridge.traces.wrappers import UNREAD_LINES
from weighbridge_producer.input.files.non_json_files import indented_objects, several_values_fault
from weighbridge_producer.input.source_lines import HeldLines, SourceLine
from weighbridge_producer.input.traces.input_kinds import are_cases, begins_document, is_case
from weighbridge_producer.input.traces.trace_wrapper import (
    TraceWrapper,
    bare_trace,
    metadata_of,
    own_id_of,
    with_ids_as_text,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

DOCUMENT_LIMIT_BYTES = 128 * MIB
_LINES_NAMED = 5  #: of the damaged ones of a session
OTHERS_WERE_READ = "the other lines were read, so that counts are lower bounds"
_FEWEST_LINES = 20  #: of a document, to be taken for one although it is not JSON
_INCOMPLETE = "check that the file is complete, and as the tool wrote it"
_LONE_SURROGATE = Fault(
    ErrorCode.LONE_SURROGATE,
    "the document has cases, and in a text a lone surrogate",
    "write both halves of the surrogate pair, or U+FFFD",
)
#: How the JSON library says that something follows a document, with the line.
_AFTER_DOCUMENT = re.compile(r"content after document: line (\d{1,15})\b")
LINES_LOOKED_AT = 100  #: lines that decide whether a file has a value on each


def document_lines(lines: Iterator[SourceLine], wrapper: TraceWrapper) -> Iterator[SourceLine]:
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
    document = with_ids_as_text(read.text())
    items, torn = _items(document), None
    if items is None and (mended := encodable_json(document)) is not document:
        items, document = _items(mended), mended
        if items and is_case(orjson.loads(items[0].raw)):  # they are parsed strictly
            yield SourceLine(first, _LONE_SURROGATE, size)
            return
    if items is None:
        is_begun = begins_document(first)
        fault = _document_fault(document) if is_begun else None
        if not is_begun and (session := _damaged_session(document, has_unread=has_unread)):
            items, torn = session
        if items is None:
            # The first line stays, because it shows that the file is JSON.
            yield from [SourceLine(first, fault, size)] if fault else read.lines()
            return
    for number, item in enumerate(items, start=1):
        # JSON has no raw line breaks in strings, and outside of strings they can become spaces.
        raw = item.raw.strip().replace(b"\n", b" ").replace(b"\r", b" ")
        bare = bare_trace(raw)
        wrapper.on_empty_sessions(item.empty_sessions)
        where = wrapper.name if len(items) == 1 else f"{wrapper.name}:{number}"
        taken = size if number == 1 else 0
        if bare is None:
            yield SourceLine(raw + b"\n", None, taken)
        else:
            yield wrapper.case(
                raw, item.id or own_id_of(bare, raw), where, taken, metadata_of(bare)
            )
    if torn:
        yield SourceLine(b"\n", torn, 0)


def _document_fault(document: bytes) -> Fault | None:
    """Return the fault for a document on many lines that is not JSON; None for few lines, or some that are objects."""
    if fault := several_values_fault(document):
        return fault
    rows = [row for row in document.split(b"\n") if row.strip(JSON_SPACE)]
    if (
        len(rows) < _FEWEST_LINES
        or sum(map(_is_object, rows[:LINES_LOOKED_AT])) > _FEWEST_LINES // 10
    ):
        return None
    try:
        orjson.loads(document)
    except ValueError as error:
        if fault := utf8_fault(document, 1):
            return fault
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
    if not damaged or not values or not opens_session(values[0]) or any(map(is_case, values)):
        return None
    del values
    items = _items(b"\n".join(rows))
    if items is None:
        return None
    numbers = [number for number, _ in damaged]
    if numbers == [last] and not has_unread:
        return items, torn_line(last, len(damaged[0][1]))
    marked = [_Item(with_unread_lines(item.raw, len(numbers)), item.id) for item in items]
    return marked, _damaged_lines(numbers, are_utf8=not any(utf8_fault(row) for _, row in damaged))


def torn_line(number: int, size: int) -> Fault:
    """Return the fault for the last line of a session, which ends after some bytes."""
    text = f"line {number:,}, the last of the session, is cut off after {size:,} bytes"
    hint = "the lines before it were read; read the file again when the session has ended"
    return Fault(ErrorCode.INVALID_JSON, text, hint)


def _damaged_lines(numbers: list[int], *, are_utf8: bool) -> Fault:
    lines = lines_are(numbers, " of the session")
    if are_utf8:
        return Fault(ErrorCode.INVALID_JSON, f"{lines} not JSON", OTHERS_WERE_READ)
    hint = f"{SAVE_AS_UTF8}; {OTHERS_WERE_READ}"
    return Fault(ErrorCode.INVALID_UTF8, f"{lines} not UTF-8, or not JSON", hint)


def lines_are(numbers: list[int], of: str = "") -> str:
    """Return the beginning of a sentence about lines, with its verb."""
    return f"{lines_named(numbers)}{of} {'is' if len(numbers) == 1 else 'are'}"


def lines_named(numbers: list[int]) -> str:
    """Return the numbers of lines in words; of many, the first ones."""
    shown = [f"{number:,}" for number in numbers[:_LINES_NAMED]]
    if more := len(numbers) - len(shown):
        shown.append(f"{more:,} more")
    if len(numbers) == 1:
        return f"line {shown[0]}"
    return f"lines {', '.join(shown[:-1])} and {shown[-1]}"


def with_unread_lines(trace: bytes, count: int) -> bytes:
    """Return the trace of a session, as JSON, with the number of its lines that were not read."""
    return b'{"%b":%d,"trace":%b}' % (UNREAD_LINES.encode(), count, trace)


class _Item(NamedTuple):
    """A trace or case in a document: its original JSON, and its id if that is stored outside of it."""

    raw: bytes
    id: str | None = None
    empty_sessions: int = (
        0  #: number of sessions of the document without a message, if it is the first
    )


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
            is_known = indented and (are_cases(value) or is_trace(value[0]))
            return [_Item(row) for row in rows] if is_known else None
    if type(value) not in {dict, list}:
        return None
    found = [(None, item) for item in value] if are_cases(value) else single_traces(value)
    if not found or found[0][1] is value:
        return [_Item(document)]
    if type(value) is list and found[0][1] is value[0]:
        # Keep the original JSON, because graders check numbers and repeated keys.
        return [_Item(bytes(raw)) for raw in msgspec.json.decode(document, type=list[msgspec.Raw])]
    first, *others = (_Item(orjson.dumps(part), trace_id) for trace_id, part in found)
    return [first._replace(empty_sessions=empty_sessions(value)), *others]
