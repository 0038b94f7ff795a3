"""Converts traces in the user's own format to cases with native traces, by a trace mapping."""

from __future__ import annotations

from collections import Counter
from itertools import chain
from typing import TYPE_CHECKING, Any

import orjson

from weighbridge.errors import Fault, TraceError
from weighbridge.jobs.error_codes import ErrorCode
from weighbridge.jobs.line import JSON_SPACE
from weighbridge.traces.fields import id_of, json_in
from weighbridge.traces.mapped_pointers import PointerUse, entries_at, resolve
from weighbridge_producer.input.source_lines import SourceLine
from weighbridge_producer.input.traces.documents import DOCUMENT_LIMIT_BYTES, with_unread_lines
from weighbridge_producer.input.traces.input_kinds import InputKind, begins_document, input_kind
from weighbridge_producer.input.traces.line_values import line_values
from weighbridge_producer.input.traces.trace_cases import as_cases

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from weighbridge_producer.input.traces.trace_mapping_file import TraceMapping
    from weighbridge_producer.input.traces.trace_wrapper import TraceWrapper


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
            yield from reader.value(line.raw, f"{wrapper.name}:{number}", line.size)


class _TraceReader:
    def __init__(self, wrapper: TraceWrapper, mapping: TraceMapping, use: PointerUse) -> None:
        self._wrapper = wrapper
        self._mapping = mapping
        self._use = use
        #: Number of lines that were not read, by the id of their run; by None for those that may be of any.
        self._unread: Counter[str | None] = Counter()

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
            rows = [row for line in lines if (row := line.raw.strip(JSON_SPACE))]
            yield from self.value(b"\n".join(rows), self._wrapper.name, size)

    def _together(self, lines: list[SourceLine], first: int, size: int) -> Iterator[SourceLine]:
        """Yield the cases of a file whose lines form one trace, or one for each run, and the faults of its damaged lines."""
        read = line_values(lines, first)
        values = read.values
        if len(values) == 1 and type(values[0]) is list:
            values = values[0]
        by = self._mapping.by
        self._unread.update(id_of(resolve(value, by)) if by else None for value in read.unread)
        if values or not read.unread:
            yield from self._of_lines(values, size)
            size = 0
        for number, fault in enumerate(read.faults()):
            yield SourceLine(b"\n", fault, 0 if number else size)

    def _of_lines(self, values: list[Any], size: int) -> Iterator[SourceLine]:
        if self._mapping.by:
            yield from self._runs(values, size)
        else:
            yield from self._traces(values, self._wrapper.name, size)

    def value(self, raw: bytes, where: str, size: int) -> Iterator[SourceLine]:
        """Yield the cases of the traces in a JSON text."""
        try:
            value = json_in(raw)
        except ValueError as error:
            hint = "write one JSON value per line, or one document"
            yield SourceLine(b"\n", Fault(ErrorCode.INVALID_JSON, f"not JSON: {error}", hint), size)
            return
        held = value.get("inputs") if type(value) is dict else None
        if type(held) is dict and "trace" in held:
            yield self._case_of(value, held, size)
        elif self._mapping.together and type(value) is list:
            yield from self._of_lines(value, size)
        else:
            yield from self._traces(value, where, size)

    def _traces(self, value: Any, where: str, size: int) -> Iterator[SourceLine]:
        traces = self._traces_in(value)
        if traces is None:
            text = f"there is no array of traces at {self._mapping.traces!r}"
            yield SourceLine(b"\n", Fault(ErrorCode.MISSING_FIELD, text, _HINT), size)
            return
        for number, (name, trace) in enumerate(traces, 1):
            one = where if len(traces) == 1 else f"{where}:{number}"
            yield self._trace(trace, one, size if number == 1 else 0, run=name)

    def _runs(self, lines: list[Any], size: int) -> Iterator[SourceLine]:
        """Yield the case of each run, by its id in the lines.

        A line without an id is of the run of the line above; those before the first id are of the first run.
        """
        runs: dict[str, list[Any]] = {}
        run: str | None = None
        unnamed: list[Any] = []  #: the lines before the first with an id
        for line in lines:
            run = id_of(resolve(line, self._mapping.by)) or run
            if run is None:
                unnamed.append(line)
                continue
            if not runs:
                runs[run] = unnamed
            runs.setdefault(run, []).append(line)
        for number, (name, held) in enumerate(runs.items()):
            yield self._trace(held, name, 0 if number else size, run=name)
        if not runs:
            text = f"no line has the id of its run at {self._mapping.by!r}"
            yield SourceLine(b"\n", Fault(ErrorCode.MISSING_FIELD, text, _HINT), size)

    def _is_list_of_traces(self, value: Any) -> bool:
        """Return whether a value has no array of steps, and is a list whose items each have one."""
        steps = self._mapping.form.steps
        if type(value) is not list or not value or entries_at(value, steps) is not None:
            return False
        return all(entries_at(item, steps) is not None for item in value)

    def _trace(self, trace: Any, where: str, size: int, run: str | None = None) -> SourceLine:
        found = self._native(trace)
        if isinstance(found, Fault):
            return SourceLine(b"\n", found, size)
        own_id = id_of(found.get("id")) or run
        if own_id:
            found["id"] = own_id
        metadata = found.get("metadata")
        raw, unread = orjson.dumps(found), self._unread[None] + (self._unread[run] if run else 0)
        return self._wrapper.case(
            *(with_unread_lines(raw, unread) if unread else raw, own_id, where, size),
            orjson.dumps(metadata) if metadata else b"",
        )

    def _case_of(self, case: dict[str, Any], inputs: dict[str, Any], size: int) -> SourceLine:
        found = self._native(inputs["trace"])
        if isinstance(found, Fault):
            return SourceLine(b"\n", found, size)
        whole = {**case, "inputs": {**inputs, "trace": found}}
        return SourceLine(orjson.dumps(whole, option=orjson.OPT_APPEND_NEWLINE), None, size)

    def _native(self, trace: Any) -> dict[str, Any] | Fault:
        """Return a trace in the native form, or a fault if it cannot be converted."""
        try:
            found = self._mapping.form.to_native(trace, self._use)
            orjson.dumps(found)
        except TraceError as error:
            return Fault(
                ErrorCode.INVALID_FIELD, f"the trace mapping does not fit: {error.message}", _HINT
            )
        except TypeError as error:
            return Fault(
                ErrorCode.NUMBER_OUT_OF_RANGE,
                f"the trace cannot be written as JSON: {error}",
                "write very large numbers as strings",
            )
        return found


_HINT = (
    "compare the pointers of the trace mapping with this line; `weighbridge trace check` tries it"
)
