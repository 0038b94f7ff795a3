"""The traces of an input in order, and the errors of lines without a readable trace."""

from __future__ import annotations

import shlex
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import typer

from weighbridge.errors import (
    Fault,
    InputError,
    LineError,
    MappingNeededError,
    TraceError,
    UnknownTraceFormatError,
)
from weighbridge.grading.case import may_be_case, parse_case
from weighbridge.grading.grader_cache import missing_input
from weighbridge.grading.hints import TRACE_AMONG_CASES
from weighbridge.jobs.error_codes import ErrorCode
from weighbridge.jobs.grader_spec import parse_specs
from weighbridge.jobs.line import JSON_SPACE
from weighbridge.settings import MIB, read_settings
from weighbridge.text import pluralize
from weighbridge.traces import read_traces
from weighbridge.traces.fields import json_in
from weighbridge.traces.recognition import described, hint_command, hint_for_unknown
from weighbridge.traces.split import is_trace
from weighbridge_producer.cli.mapping_choice import suggested_mapping
from weighbridge_producer.cli.reading import source_of
from weighbridge_producer.cli.reading_options import ReadingOptions
from weighbridge_producer.cli.show import err, shown
from weighbridge_producer.input.files.input_paths import Paths
from weighbridge_producer.input.source import Source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from weighbridge.jobs.chunk import Line
    from weighbridge.traces import Trace
    from weighbridge_producer.input.source_lines import SourceLine
    from weighbridge_producer.input.traces.trace_mapping_file import TraceMapping

_ERROR_WIDTH = 800
_COUNTED_LINES, _COUNTED_BYTES = 10_000, 16 * MIB
_NO_CASE = frozenset({ErrorCode.MISSING_FIELD, ErrorCode.NOT_AN_OBJECT, ErrorCode.UNKNOWN_FIELD})
_FAULTS_SHOWN = 5
_KEPT_UNKNOWN = 50  #: values
_NAME_OF_TRACE = b'"trace"'  #: contained in every line with a trace
_GRADERS = parse_specs(["loop"])  #: a grader of traces, which says that rows are mapped to traces
_HOW_TO_MAP = "give --map custom_id=@row,trace=COLUMN, with the column that has the traces"


class _NoTraceError(LineError):
    """A case has other inputs than a trace, such as an answer."""

    def __init__(self, inputs: list[str]) -> None:
        fault = missing_input("trace", ("trace",), inputs)
        super().__init__(fault.code, fault.message, fault.hint)
        self.inputs = inputs


class NamedTrace(NamedTuple):
    """A trace and its id."""

    name: str
    trace: Trace
    location: str = ""  #: file and line, if there may be several files


class Traces:
    """The traces of a file, folder, pattern or pipe, either in cases or on their own.

    Lines without a readable trace are reported on standard error, or to `tell`, with their location.
    """

    def __init__(
        self,
        file: str | Paths,
        mapping: TraceMapping | None = None,
        tell: Callable[[Fault, str], None] | None = None,
        maps: list[str] | None = None,
    ) -> None:
        if maps and mapping:
            raise typer.BadParameter("traces have no rows to map", param_hint="--trace-mapping")
        self._settings = read_settings()
        self._source = (
            source_of([str(file)], _GRADERS, self._settings, ReadingOptions(maps=maps))
            if maps
            else Source(file, self._settings, trace_mapping=mapping)
        )
        self._file = file
        self._tell = tell or print_fault
        self._lines = iter(self._source)
        self._line: Line
        self._read = 0  #: traces read so far
        self.lost = 0  #: lines or traces that could not be read or written
        self._unknown: list[Any] = []  #: the first values that are no case and no trace
        self._unknown_count = 0
        self._inputs: list[str] = []  #: of the first case without a trace
        self._without_trace = 0  #: cases with other inputs

    def __iter__(self) -> Iterator[NamedTrace]:
        """Yield every trace that can be read.

        A table without a mapping is read as its columns suggest. Raises MappingNeededError if they suggest no mapping, if
        the table comes after other files, or if it is a pipe.
        """
        try:
            yield from self._found()
        except MappingNeededError as error:
            if self._source.trace_mapping:
                raise
            is_first = not (self._read or self.lost) and self._source.rereadable
            paths = Paths.of([self._file]) if isinstance(self._file, str) else self._file
            mapping = suggested_mapping(paths, _GRADERS, self._settings) if is_first else None
            if mapping is None:
                error.fault = replace(error.fault, hint=_HOW_TO_MAP)
                raise
            self._source = Source(self._file, self._settings, mapping)
            self._lines = iter(self._source)
            yield from self._found()

    def _found(self) -> Iterator[NamedTrace]:
        for number, line in enumerate(self._lines, start=1):
            if not _is_not_blank(line):
                continue
            self._line = line.as_job(number)
            try:
                found = _traces_of(self._line)
            except (LineError, TraceError) as error:
                if isinstance(error, _NoTraceError):
                    self._without_trace += 1
                    self._inputs = self._inputs or error.inputs
                self.lose(self._with_unknown(error))
                continue
            self._read += len(found)
            for each in found:
                yield each._replace(location=self._line.location)

    @property
    def location(self) -> str:
        """The location of the line that was read last, or its number."""
        return self._line.location or f"line {self._line.number}"

    def lose(self, error: LineError | TraceError) -> None:
        """Report an error in the line read last, or in one of its traces."""
        self.lost += 1
        location = self._line.location
        is_of_file = error.fault.code == ErrorCode.NO_SESSIONS
        is_located = location or is_of_file or error.fault.names_line
        where = "" if is_located else f"line {self._line.number}: "
        self._tell(self._with_name(error.fault).at(location), where)

    def _with_name(self, fault: Fault) -> Fault:
        """Return a fault whose hint has the name of the file, if it has the command that drafts a mapping for one."""
        command = hint_command(self._word())
        return replace(fault, hint=fault.hint.replace(hint_command(), command))

    def prefix_note(self) -> str:
        """Return what was left out before the JSON of each line read so far; empty if there was nothing."""
        return self._source.notes.prefix_note()

    def empty_sessions_note(self) -> str:
        """Return how many sessions of a database were left out as empty; empty if there are none."""
        return self._source.notes.empty_sessions_note()

    def pointers_without_value(self) -> dict[str, str]:
        """Return the pointers of the trace mapping at which no trace read so far has anything, by their names."""
        return self._source.pointers_without_value()

    def fault_of_all(self) -> Fault | None:
        """Return one fault for all lines read, if none is a trace: all are cases without one, or all neither; else None."""
        if not self._read and 0 < self._without_trace == self.lost:
            what = pluralize(self.lost, "case has", "cases have")
            return Fault(
                ErrorCode.MISSING_FIELD,
                f"{what} no trace, but the inputs {', '.join(self._inputs)}",
                "they are for graders of answers, such as `weighbridge run FILE --grader string-match`; a trace is in the input"
                " 'trace', or a line or file of its own",
            )
        if self._read or not self._unknown or self._unknown_count < self.lost:
            return None
        first = described(self._unknown[0])
        lines = first if self.lost == 1 else f"{self.lost:,} lines, the first of them {first}"
        return UnknownTraceFormatError(
            f"not a recognised trace format: {lines}",
            hint_for_unknown(self._unknown if self.lost > 1 else self._unknown[0], self._word()),
        ).fault

    def _with_unknown(self, error: LineError | TraceError) -> LineError | TraceError:
        """Return the error of a line; of a value that is no case and no trace, which is kept, what it is."""
        value = _value_of(self._line) if error.fault.code in _NO_CASE else None
        if type(value) is not list and (type(value) is not dict or may_be_case(value)):
            return error
        self._unknown_count += 1
        if len(self._unknown) < _KEPT_UNKNOWN:
            self._unknown.append(value)
        text = f"not a recognised trace format: {described(value)}"
        return UnknownTraceFormatError(text, hint_for_unknown(value, self._word()))

    def _word(self) -> str:
        """Return the name of the file as a word of a command; FILE if there may be several, or it is a pipe."""
        name = self._file if isinstance(self._file, str) else ""
        return shlex.quote(name) if Path(name).is_file() else "FILE"

    def about_how_many(self) -> str:
        """Return the number of traces as text if it is cheap to count; empty if it is one or unknown."""
        if not self._source.rereadable:
            return ""  # a pipe may stay open for a long time
        try:
            count, is_all = self._count_on()
        except InputError:
            return ""  # in a later file, which the caller does not need
        if not is_all:
            return f"more than {count:,}"
        return f"{count:,}" if count > 1 else ""

    def _count_on(self) -> tuple[int, bool]:
        """Count the traces up to a limit; return the count and whether it is complete."""
        count, size = self._read, 0
        for line in islice(self._lines, _COUNTED_LINES):
            count += _NAME_OF_TRACE in line.raw
            size += len(line.raw)
            if size > _COUNTED_BYTES:
                break
        return count, next(self._lines, None) is None


class FirstFaults:
    """The errors of the first lines without a trace, printed at the end with the number of further ones."""

    def __init__(self) -> None:
        self._first: list[tuple[Fault, str]] = []
        self._more = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for each in self._first:
            print_fault(*each)
        if self._more:
            err.print(f"... and {pluralize(self._more, 'more line')} without a trace")

    def add(self, fault: Fault, where: str) -> None:
        """Keep an error, if it is one of the first."""
        if len(self._first) < _FAULTS_SHOWN:
            self._first.append((fault, where))
        else:
            self._more += 1

    def clear(self) -> None:
        """Forget the errors."""
        self._first.clear()
        self._more = 0


def print_fault(fault: Fault, where: str) -> None:
    """Print the error of a line on standard error."""
    err.print(f"{where}[red]{fault.code}[/]: {shown(fault.message, _ERROR_WIDTH)}")
    if fault.hint:
        err.print(f"  {shown(fault.hint, _ERROR_WIDTH)}")


def _is_not_blank(line: SourceLine) -> bool:
    return bool(line.fault or line.raw.strip(JSON_SPACE))


def _value_of(line: Line) -> Any:
    """Return the JSON value on a line; None if there is none."""
    try:
        return json_in(line.raw)
    except ValueError:
        return None


def _traces_of(line: Line) -> list[NamedTrace]:
    """Return the traces on a line; raises LineError or TraceError if there is none."""
    if line.fault:
        raise LineError(line.fault.code, line.fault.message, line.fault.hint)
    try:
        case = parse_case(line.raw, (), needs_grader=False)  # parsed as for grading
    except LineError as error:
        # With a `custom_id`, such as results of a batch API, but no case.
        bare = _value_of(line)
        if type(bare) is not dict or "inputs" in bare or not _is_bare_trace(bare, error):
            raise
        return [NamedTrace(trace.id or line.location, trace) for trace in read_traces(bare)]
    if "trace" not in case.inputs:
        raise _NoTraceError(sorted(case.inputs))
    value: Any = case.inputs["trace"]
    found = read_traces(value)
    if len(found) == 1:
        return [NamedTrace(case.custom_id, found[0])]
    return [NamedTrace(trace.id or case.custom_id, trace) for trace in found]


def _is_bare_trace(value: dict[str, Any], error: LineError) -> bool:
    """Return whether a value that is not a case is a trace; an error about missing fields says so in its hint."""
    if error.fault.code == ErrorCode.MISSING_FIELD:
        return error.fault.hint == TRACE_AMONG_CASES
    return is_trace(value)
