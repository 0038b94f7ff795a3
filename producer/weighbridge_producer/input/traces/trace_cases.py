"""Converts traces to cases, so that a file of traces can be used as input.

A file may have one trace per line, or be one JSON document: a trace, a list of traces, or an export with several; or
all of its lines may form one session. The case's id is the trace's own id, or else made from its file and line.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

import orjson

from weighbridge.errors import Fault
from weighbridge.jobs.error_codes import ErrorCode
from weighbridge.jobs.line import JSON_SPACE
from weighbridge.traces.formats.request_log import (
    begins_exchanges,
    begins_request_log,
    request_log_parts,
)
from weighbridge_producer.input.result_cases import cases_of_results
from weighbridge_producer.input.source_lines import HeldLines, SourceLine
from weighbridge_producer.input.traces.documents import (
    DOCUMENT_LIMIT_BYTES,
    LINES_LOOKED_AT,
    document_lines,
    torn_line,
)
from weighbridge_producer.input.traces.exchange_lines import exchange_cases
from weighbridge_producer.input.traces.input_kinds import InputKind, input_kind, is_about_file
from weighbridge_producer.input.traces.processes import sessions_by_process
from weighbridge_producer.input.traces.trace_wrapper import value_of
from weighbridge_producer.input.traces.unknown_lines import is_unknown, without_unknown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from weighbridge_producer.input.traces.trace_wrapper import TraceWrapper


def as_cases(
    lines: Iterator[SourceLine], wrapper: TraceWrapper, on_cases: Callable[[], None] | None = None
) -> Iterator[SourceLine]:
    """Yield lines with cases unchanged or, if the first line shows that they are traces, a case for each trace.

    `on_cases` is called if the lines are cases. One of several files whose lines are neither is one fault.
    """
    opening = _Opening()
    yield from opening.read(lines)
    head, about, first = opening.head, opening.about, opening.blank + 1
    if head is None:
        yield from opening.unread if about is None else [about, *opening.unread]
        return
    kind = _kind_of(head)
    if about is not None and kind is InputKind.TRACES:
        first += 1
        yield SourceLine(b"\n", None, about.size)
    elif about is not None:
        lines, head, kind = chain([head], lines), about, _kind_of(about)
    every = chain(opening.unread, [head], lines)
    is_one_of_several = wrapper.is_one_of_several
    if kind is InputKind.CASES and is_one_of_several and not head.fault and is_unknown(head.raw):
        yield from without_unknown(every, wrapper.name)
    elif kind is InputKind.CASES:
        if on_cases:
            on_cases()
        yield from every
    elif kind is InputKind.RESULTS:
        yield from cases_of_results(every, wrapper.name)
    elif kind is InputKind.TRACES:
        yield from _traces(every, first, wrapper)
    elif head.process is not None:
        yield from _of_each_process(every, wrapper)
    else:
        yield from document_lines(every, wrapper)


def _kind_of(line: SourceLine) -> InputKind:
    return InputKind.CASES if line.fault else input_kind(line.raw)


@dataclass(slots=True)
class _Opening:
    """The lines of an input up to the first that shows what the others are."""

    head: SourceLine | None = None  #: that line; None if there is none
    blank: int = 0  #: number of blank lines before it
    about: SourceLine | None = None  #: the line before it with metadata of the file
    #: Lines before it that could not be read, and the blank lines after them.
    unread: list[SourceLine] = field(default_factory=list)

    def read(self, lines: Iterator[SourceLine]) -> Iterator[SourceLine]:
        """Read the lines, and yield blank ones as they arrive."""
        for line in lines:
            if line.is_unread:
                self.unread.append(line)
            elif self.about is None and not line.fault and is_about_file(line.raw):
                self.about = line
            elif line.fault or line.raw.strip(JSON_SPACE):
                self.head = line
                return
            elif self.unread:
                self.unread.append(line)
            else:
                self.blank += line.count
                yield line


def _of_each_process(lines: Iterator[SourceLine], wrapper: TraceWrapper) -> Iterator[SourceLine]:
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
        yield from as_cases(iter(log), wrapper.of_process(process))


def _traces(lines: Iterator[SourceLine], first: int, wrapper: TraceWrapper) -> Iterator[SourceLine]:
    """Yield a case for the trace on each line, or for each conversation if the lines are the log of a model's API."""
    begun = list(islice(lines, 1))
    if begins_exchanges(begun[0].raw):
        yield from exchange_cases(chain(begun, lines), first, wrapper)
        return
    if begins_request_log(begun[0].raw):
        for line in islice(lines, LINES_LOOKED_AT):
            begun.append(line)
            if line.raw.strip(JSON_SPACE):
                break
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
                where = wrapper.name if len(parts) == 1 else f"{wrapper.name}:{number}"
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
            values += [value_of(line.raw)] if line.raw.strip(JSON_SPACE) else []
        except ValueError:
            torn = torn_line(number, len(line.raw.strip(JSON_SPACE)))
    return [part for _, part in request_log_parts(values)], torn
