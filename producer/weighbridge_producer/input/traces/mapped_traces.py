"""Converts traces in the user's own format to cases with native traces, by a trace mapping."""

from __future__ import annotations

from collections import Counter
from itertools import chain
from typing import TYPE_CHECKING, Any

import orjson

from weighbridge.errors import Fault, TraceError
from weighbridge.grading.strict_json import utf8_fault
from weighbridge.jobs.error_codes import ErrorCode
from weighbridge.jobs.line import JSON_SPACE
from weighbridge.traces.fields import id_of, json_in
from weighbridge.traces.json_pointers import PointerUse, entries_at, resolve
from weighbridge.traces.mapped_errors import how_to_point
from weighbridge_producer.input.source_lines import SourceLine
from weighbridge_producer.input.traces.documents import DOCUMENT_LIMIT_BYTES, with_unread_lines
from weighbridge_producer.input.traces.input_kinds import InputKind, begins_document, input_kind
from weighbridge_producer.input.traces.line_values import line_values
from weighbridge_producer.input.traces.trace_cases import as_cases
from weighbridge_producer.input.traces.trace_places import ITEM, LINE, TracePlace, run_named

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from weighbridge_producer.input.traces.trace_mapping_file import TraceMapping
    from weighbridge_producer.input.traces.trace_wrapper import TraceWrapper


#: Hint for a table that is to be read with a trace mapping.
NO_TABLES = (
    "a trace mapping is for traces in JSON; if a column of the table has traces in a known format, give --map"
    " custom_id=@row,trace=COLUMN instead of it"
)


def mapped_cases(
    lines: Iterator[SourceLine],
    wrapper: TraceWrapper,
    mapping: TraceMapping,
    use: PointerUse,
    on_known: Callable[[], None],
) -> Iterator[SourceLine]:
    """Yield a case for each trace, and a fault for each value without one; note in `use` what the pointers lead to.

    A file has a trace, or a case with one, on each line, or is one JSON document. One of several files whose first value
    is in a known format, and which the mapping does not fit, is read without it; `on_known` is called for it.
    """
    reader = _TraceReader(wrapper, mapping, use)
    may_be_known = wrapper.is_one_of_several and not mapping.together
    for number, line in enumerate(lines, 1):
        if line.fault or not line.raw.strip(JSON_SPACE):
            yield line
            continue
        is_document = mapping.together or begins_document(line.raw)
        whole = [line, *lines] if is_document else [line]
        if may_be_known and reader.is_of_known_format(whole):
            on_known()
            yield from as_cases(chain(whole, lines), wrapper)
            return
        may_be_known = False
        if is_document:
            yield from reader.document(whole, number)
        else:
            yield from reader.value(line.raw, f"{wrapper.name}:{number}", line.size, number)


def lines_by_run(lines: list[Any], pointer: str) -> dict[str, list[Any]]:
    """Return the values of lines by the ids of their runs at a pointer; see `places_by_run`."""
    runs = places_by_run(lines, pointer)
    return {run: [lines[each] for each in places] for run, places in runs.items()}


def places_by_run(lines: list[Any], pointer: str) -> dict[str, list[int]]:
    """Return the places of lines in their list by the ids of their runs at a pointer; empty if none has an id.

    A line without an id is of the run of the line above; those before the first id are of the first run.
    """
    runs: dict[str, list[int]] = {}
    run: str | None = None
    unnamed: list[int] = []  #: the lines before the first with an id
    for place, line in enumerate(lines):
        run = id_of(resolve(line, pointer)) or run
        if run is None:
            unnamed.append(place)
            continue
        if not runs:
            runs[run] = unnamed
        runs.setdefault(run, []).append(place)
    return runs


class _TraceReader:
    def __init__(self, wrapper: TraceWrapper, mapping: TraceMapping, use: PointerUse) -> None:
        self._wrapper = wrapper
        self._mapping = mapping
        self._use = use
        #: Number of lines that were not read, by the id of their run; by None for those that may be of any.
        self._unread: Counter[str | None] = Counter()
        #: Whether a line had several traces or none, so that the lines that are passed on have other numbers.
        self._names_lines = False

    def is_of_known_format(self, lines: list[SourceLine]) -> bool:
        """Return whether the first value of a file is in a known format of traces, and the mapping does not fit it."""
        raw = b" ".join(line.raw.strip(JSON_SPACE) for line in lines)
        if len(raw) > DOCUMENT_LIMIT_BYTES:
            return False
        try:
            value = json_in(raw)
        except ValueError:
            return False
        traces = self._traces_in(value)
        if traces and self._fits(traces[0][1]):
            return False
        return input_kind(raw) in {InputKind.TRACES, InputKind.DOCUMENT}

    def _fits(self, trace: Any) -> bool:
        try:
            self._mapping.form.to_native(trace, PointerUse())
        except TraceError:
            return False
        return True

    def _traces_in(self, value: Any) -> list[tuple[str | None, Any]] | None:
        """Return the traces in a value, each with the key it stands under if they are in an object; None if there are none."""
        at = self._mapping.traces
        if at is None:
            return [(None, each) for each in (value if self._is_list_of_traces(value) else [value])]
        return entries_at(value, at)

    def document(self, lines: list[SourceLine], first: int) -> Iterator[SourceLine]:
        """Yield the cases of a file that is one document, or whose lines form one trace, or one for each run.

        `first` is the number of the first line.
        """
        size = sum(line.size for line in lines)
        fault = next((line.fault for line in lines if line.fault), None)
        if fault is None and size > DOCUMENT_LIMIT_BYTES:
            text = f"the document has {size:,} bytes, at most {DOCUMENT_LIMIT_BYTES:,} can be read"
            fault = Fault(ErrorCode.INPUT_TOO_LARGE, text, "write one trace per line")
        if fault:
            yield SourceLine(b"\n", fault, size)
            return
        if self._mapping.together and not begins_document(lines[0].raw):
            yield from self._together(lines, first, size)
        else:
            rows = b"\n".join(line.raw.removesuffix(b"\n") for line in lines)
            yield from self.value(rows, self._wrapper.name, size, first=first)

    def _together(self, lines: list[SourceLine], first: int, size: int) -> Iterator[SourceLine]:
        """Yield the cases of a file whose lines form one trace, or one for each run, and the faults of its damaged lines."""
        read = line_values(lines, first)
        values, numbers = read.values, read.numbers
        by = self._mapping.by
        self._unread.update(id_of(resolve(value, by)) if by else None for value in read.unread)
        if values or not read.unread:
            if len(values) == 1 and type(values[0]) is list:
                yield from self._of_lines(values[0], ITEM, size)
            else:
                yield from self._of_lines(values, LINE, size, numbers)
            size = 0
        for number, fault in enumerate(read.faults()):
            yield SourceLine(b"\n", fault, 0 if number else size)

    def _of_lines(
        self, values: list[Any], unit: str, size: int, numbers: Sequence[int] = ()
    ) -> Iterator[SourceLine]:
        """Yield the case of all lines or items together, or that of each run, by its id in them."""
        numbers = numbers or range(1, len(values) + 1)
        by = self._mapping.by
        if not by and self._is_list_of_traces(values):
            yield from self._traces(values, self._wrapper.name, size, None)
            return
        runs = places_by_run(values, by) if by else {"": [*range(len(values))]}
        for name, places in runs.items():
            steps = [numbers[each] for each in places]
            is_each = self._mapping.form.steps in {"", "/*"}
            place = TracePlace(
                unit if steps else "",
                next(iter(steps), 0),
                steps if is_each else (),
                run_named(name) if by else "",
            )
            held = [values[each] for each in places]
            yield self._trace(held, name or self._wrapper.name, size, place, run=name or None)
            size = 0
        if not runs:
            text = f"no line has the id of its run at {by!r}"
            hint = "correct `lines` in the trace mapping: the JSON Pointer of a text or whole number in each line"
            yield SourceLine(b"\n", Fault(ErrorCode.MISSING_FIELD, text, hint), size)

    def value(
        self, raw: bytes, where: str, size: int, line: int | None = None, first: int = 0
    ) -> Iterator[SourceLine]:
        """Yield the cases of the traces in a JSON text, which is a line with a number, or a document with that of its first."""
        place = TracePlace(LINE, line) if line and self._names_lines else TracePlace()
        try:
            value = json_in(raw)
        except ValueError as error:
            text, hint = f"not JSON: {error}", "write one JSON value per line, or one document"
            told = utf8_fault(raw, first) or Fault(ErrorCode.INVALID_JSON, text, hint)
            fault = place.fault(told.code, told.message, told.hint)
            yield SourceLine(b"\n", fault, size)
            return
        held = value.get("inputs") if type(value) is dict else None
        if type(held) is dict and "trace" in held:
            yield self._case_of(value, held, size, place)
        elif self._mapping.together and type(value) is list:
            yield from self._of_lines(value, ITEM, size)
        else:
            yield from self._traces(value, where, size, line)

    def _traces(self, value: Any, where: str, size: int, line: int | None) -> Iterator[SourceLine]:
        traces = self._traces_in(value)
        self._names_lines |= traces is not None and len(traces) != 1
        unit = ITEM if line is None else LINE
        unit = unit if self._names_lines else ""
        if traces is None:
            text = f"there is no array of traces at {self._mapping.traces!r}"
            hint = how_to_point("traces", self._mapping.traces or "")
            fault = TracePlace(unit, line or 1).fault(ErrorCode.MISSING_FIELD, text, hint)
            yield SourceLine(b"\n", fault, size)
            return
        for number, (name, trace) in enumerate(traces, 1):
            one = where if len(traces) == 1 else f"{where}:{number}"
            of_several = f"trace {number:,}" if line and len(traces) > 1 else ""
            run = run_named(name) if name else of_several
            place = TracePlace(unit, line or number, run=run)
            yield self._trace(trace, one, size if number == 1 else 0, place, run=name)

    def _is_list_of_traces(self, value: Any) -> bool:
        """Return whether a value has no array of steps, and is a list whose items each have one."""
        steps = self._mapping.form.steps
        if type(value) is not list or not value or entries_at(value, steps) is not None:
            return False
        return all(entries_at(item, steps) is not None for item in value)

    def _trace(
        self, trace: Any, where: str, size: int, place: TracePlace, run: str | None
    ) -> SourceLine:
        found = self._native(trace, place)
        if isinstance(found, Fault):
            return SourceLine(b"\n", found, size)
        own_id = id_of(found.get("id")) or run
        if own_id:
            found["id"] = own_id
        metadata = found.get("metadata")
        raw = _written(found, place)
        if isinstance(raw, Fault):
            return SourceLine(b"\n", raw, size)
        unread = self._unread[None] + (self._unread[run] if run else 0)
        return self._wrapper.case(
            *(with_unread_lines(raw, unread) if unread else raw, own_id, where, size),
            orjson.dumps(metadata) if metadata else b"",
        )

    def _case_of(
        self, case: dict[str, Any], inputs: dict[str, Any], size: int, place: TracePlace
    ) -> SourceLine:
        found = self._native(inputs["trace"], place)
        if isinstance(found, Fault):
            return SourceLine(b"\n", found, size)
        raw = _written({**case, "inputs": {**inputs, "trace": found}}, place)
        if isinstance(raw, Fault):
            return SourceLine(b"\n", raw, size)
        return SourceLine(raw + b"\n", None, size)

    def _native(self, trace: Any, place: TracePlace) -> dict[str, Any] | Fault:
        """Return a trace in the native form, or a fault if it cannot be converted."""
        try:
            return self._mapping.form.to_native(trace, self._use)
        except TraceError as error:
            return place.misfit(error)


def _written(value: Any, place: TracePlace) -> bytes | Fault:
    """Return a trace, or a case with one, as JSON, or a fault if it has what a line cannot have."""
    try:
        return orjson.dumps(value)
    except TypeError as error:
        text = f"the trace cannot be written as JSON: {error}"
        hint = "write very large numbers as strings"
        return place.fault(ErrorCode.NUMBER_OUT_OF_RANGE, text, hint)
