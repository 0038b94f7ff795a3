"""What a preview shows of the lines of an input: its first cases, and its first invalid lines."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import orjson

from weighbridge.errors import BadLine, Fault, LineError, TraceError
from weighbridge.graders.registry import default_registry
from weighbridge.grading.case import parse_case
from weighbridge.grading.line_grader import LineGrader
from weighbridge.jobs.error_codes import ErrorCode
from weighbridge.jobs.grader_spec import GraderSpec
from weighbridge.jobs.line import JSON_SPACE, peek_custom_id
from weighbridge.text import shorten
from weighbridge.traces import formats, read_traces
from weighbridge.traces.split import is_trace
from weighbridge_producer.input.source import Source
from weighbridge_producer.input.traces.input_kinds import InputKind
from weighbridge_producer.pages.column_pickers import ColumnPickers
from weighbridge_producer.pages.input_head import EXPANDED_BYTES
from weighbridge_producer.submit.id_conflict import id_conflict
from weighbridge_producer.trace_view.trace_summary import lacks_in_words

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from weighbridge.settings import Settings
    from weighbridge.traces import Trace
    from weighbridge_producer.input.mapping.field_mapping import FieldMapping
    from weighbridge_producer.input.source_lines import SourceLine
    from weighbridge_producer.pages.input_head import Head

LINES = 200  #: examined, at most
_CASES_SHOWN = 5
_FAULTS_SHOWN = 10
_EXCERPT_CHARACTERS = 160
#: What an input of each kind has, for the page.
_CONTENTS = {
    InputKind.CASES: "cases, one per line",
    InputKind.TRACES: "traces, one per line",
    InputKind.RESULTS: "results with their cases, one per line",
    InputKind.DOCUMENT: "one document of traces or cases",
    InputKind.ROWS: "rows with columns of their own",
    InputKind.DATABASE: "an SQLite database",
    InputKind.LINES: "lines",
    InputKind.NOTHING: "nothing that can be graded",
}


@dataclass(frozen=True, slots=True)
class CaseShown:
    """One of the first cases."""

    line: int
    custom_id: str
    size: int  #: bytes
    excerpt: str
    graders: tuple[str, ...]  #: labels of its graders
    trace_format: str = ""
    steps: int | None = None
    lacks: tuple[str, ...] = ()  #: information that its graders need and the trace lacks


@dataclass(slots=True)
class Preview:
    """The preview of an input."""

    kind: InputKind
    packing: str
    is_all: bool = False  #: True if the whole input was examined
    lines: int = 0  #: number of lines examined
    cases: list[CaseShown] = field(default_factory=list)
    bad_lines: list[BadLine] = field(default_factory=list)  #: the first invalid lines
    faulty: int = 0  #: number of examined lines that cannot be graded
    unknown: int = 0  #: number of examined cases whose trace format is not recognised
    first_unknown: int = 0  #: line number of the first of them
    note: str = ""
    columns: ColumnPickers | None = None  #: for rows with custom columns
    #: True if nothing could be examined, although the input goes on, so that only a mapping as text can be given
    is_unseen: bool = False
    #: name of the other tool's format, if recognised, and which needed inputs it lacks
    shape: str = ""
    mapping: str = ""  #: the mapping that follows from the shape of the rows

    @property
    def contents(self) -> str:
        """What the input has, in words."""
        if self.is_unseen:
            unseen = {InputKind.DOCUMENT: "one JSON document", InputKind.ROWS: "rows"}
            return f"{unseen.get(self.kind) or _CONTENTS[self.kind]}, not previewed"
        if self.kind is InputKind.ROWS and (self.shape or self.mapping):
            return self.shape or "rows with the names of a case's fields"
        return _CONTENTS[self.kind]

    @property
    def names_no_grader(self) -> bool:
        """True if no examined line could be graded because no grader is specified."""
        codes = {line.fault.code for line in self.bad_lines}
        return self.faulty == self.lines and ErrorCode.NO_GRADER in codes

    @property
    def columns_key(self) -> str:
        """A key that is equal if the same columns, or a mapping as text alone, can be chosen."""
        if self.columns:
            return self.columns.key
        return "unseen" if self.is_unseen else ""

    @property
    def formats(self) -> list[str]:
        """The formats of the traces in the preview."""
        return list(dict.fromkeys(case.trace_format for case in self.cases if case.trace_format))


class PreviewBuilder:
    """Builder of a preview."""

    def __init__(
        self, preview: Preview, specs: tuple[GraderSpec, ...], elsewhere: Collection[str]
    ) -> None:
        self._preview = preview
        self._specs = specs
        self._elsewhere = elsewhere
        self._grader = LineGrader(specs)
        self._first: dict[str, tuple[int, bytes]] = {}  #: number and line by id

    def add(self, number: int, line: SourceLine) -> None:
        """Add one line."""
        preview = self._preview
        preview.lines += 1
        fault = self._grader.fault_of(line.as_job(number)) or self._conflict(number, line)
        if fault and not self._is_for_workers(fault, line):
            preview.faulty += 1
            if len(preview.bad_lines) < _FAULTS_SHOWN:
                preview.bad_lines.append(BadLine(number, _with_hint_for_page(fault)))
        if not line.fault and _has_unknown_trace(line):
            preview.unknown += 1
            preview.first_unknown = preview.first_unknown or number
        if len(preview.cases) < _CASES_SHOWN and not line.fault:
            shown = _case_shown(number, line, self._specs)
            if shown:
                preview.cases.append(shown)

    def note(self, text: str) -> None:
        """Replace the note by a text that is not empty."""
        self._preview.note = text or self._preview.note

    def _conflict(self, number: int, line: SourceLine) -> Fault | None:
        """Return the fault of a line with the id of an earlier, different one, which is graded instead."""
        content = line.raw.strip(JSON_SPACE)
        custom_id = peek_custom_id(content)
        if custom_id is None:
            return None
        first, earlier = self._first.setdefault(custom_id, (number, content))
        return None if earlier == content else id_conflict(custom_id, first)

    def _is_for_workers(self, fault: Fault, line: SourceLine) -> bool:
        """Return whether a grader is unknown here but installed on workers."""
        if fault.code != ErrorCode.UNKNOWN_GRADER or not self._elsewhere:
            return False
        case = parse_case(line.raw.rstrip(b"\n"), self._specs)
        known = {*default_registry().ids(), *self._elsewhere}
        return all(spec.grader in known for spec in case.graders)


def _has_unknown_trace(line: SourceLine) -> bool:
    """Return whether a line is a case whose trace format is not recognised, which graders report as evidence."""
    try:
        trace = parse_case(line.raw.rstrip(b"\n"), (), needs_grader=False).inputs.get("trace")
    except LineError:
        return False
    if type(trace) is list and trace and is_trace(trace[0]):
        return False
    return type(trace) in {dict, list} and not is_trace(trace)


def _with_hint_for_page(fault: Fault) -> Fault:
    if fault.code != ErrorCode.NO_GRADER:
        return fault
    return Fault(fault.code, fault.message, "choose a grader above, or name one in the case")


def _case_shown(number: int, line: SourceLine, specs: tuple[GraderSpec, ...]) -> CaseShown | None:
    """Return a line's case for display; None if it is not a case, which its fault reports."""
    try:
        case = parse_case(line.raw.rstrip(b"\n"), specs, needs_grader=False)
    except LineError:
        return None
    trace = _trace_in(case.inputs)
    return CaseShown(
        line=number,
        custom_id=case.custom_id,
        size=len(line.raw),
        excerpt=shorten(orjson.dumps(case.inputs).decode(), _EXCERPT_CHARACTERS),
        graders=tuple(spec.label for spec in case.graders),
        trace_format=_format_name(trace.format) if trace else "",
        steps=len(trace.steps) if trace else None,
        lacks=tuple(_lacks(trace, case.graders)) if trace else (),
    )


def _trace_in(inputs: dict[str, Any]) -> Trace | None:
    try:
        traces = read_traces(inputs["trace"]) if "trace" in inputs else ()
    except TraceError:
        return None  # graders report the problem as evidence
    return traces[0] if len(traces) == 1 else None


def _lacks(trace: Trace, specs: Sequence[GraderSpec]) -> Iterator[str]:
    """Yield the information that graders need and the trace lacks."""
    registry = default_registry()
    words = lacks_in_words(trace)
    for spec in specs:
        if spec.grader not in registry.ids():
            continue
        config = dict(spec.config) if spec.config is not None else None
        needed = registry.get(spec.grader).requirements(config).capabilities
        for capability, reason in trace.missing.items():
            if capability in needed:
                yield f"{spec.label}: {words[capability]}: {reason}"


def _format_name(format_id: str) -> str:
    return next((known.name for known in formats() if known.id == format_id), format_id)


def examine(
    head: Head, settings: Settings, builder: PreviewBuilder, mapping: FieldMapping | None = None
) -> bool:
    """Examine the lines that are not blank; return False if the limit was reached."""
    expanded = 0
    source = Source(head.stream(), settings, mapping)
    for number, line in enumerate(source, 1):
        if number > LINES or expanded > EXPANDED_BYTES:
            return False
        cut_off = line.fault and line.fault.code == ErrorCode.INPUT_TRUNCATED
        if cut_off and not head.is_whole:
            return False
        if has_content(line):
            builder.add(number, line)
        expanded += len(line.raw)
        builder.note("; ".join(source.notes.counts()))
    return True


def has_content(line: SourceLine) -> bool:
    """Return whether a line is not blank."""
    return bool(line.fault or line.raw.strip(JSON_SPACE))
