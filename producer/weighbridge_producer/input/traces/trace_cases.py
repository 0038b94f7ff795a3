"""Converts traces to cases, so that a file of traces can be used as input.

A file may have one trace per line, or be one JSON document: a trace, a list of traces, or an export with several; or
all of its lines may form one session. The case's id is the trace's own id, or else made from its file and line.
"""

from __future__ import annotations

from itertools import chain, islice
from typing import TYPE_CHECKING, Any

import orjson

from weighbridge.errors import Fault
from weighbridge.jobs.error_codes import ErrorCode
from weighbridge.jobs.line import JSON_SPACE
from weighbridge.traces.formats.request_log import begins_request_log, request_log_parts
from weighbridge_producer.input.duplicates import DuplicateIndex
from weighbridge_producer.input.result_cases import cases_of_results
from weighbridge_producer.input.source_lines import HeldLines, SourceLine
from weighbridge_producer.input.traces.documents import (
    DOCUMENT_LIMIT_BYTES,
    LINES_LOOKED_AT,
    document_lines,
    torn_line,
)
from weighbridge_producer.input.traces.input_kinds import input_kind, is_about_file
from weighbridge_producer.input.traces.processes import sessions_by_process
from weighbridge_producer.input.traces.trace_wrapper import TraceWrapper
from weighbridge_producer.input.traces.unknown_lines import is_unknown, without_unknown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator


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
        elif about is None and not head.fault and is_about_file(head.raw):
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
        yield from document_lines(every, name, ids)


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
        for line in islice(lines, LINES_LOOKED_AT):
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
            torn = torn_line(number, len(line.raw.strip(JSON_SPACE)))
    return [part for _, part in request_log_parts(values)], torn
