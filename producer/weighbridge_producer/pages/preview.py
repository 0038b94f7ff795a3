"""Preview of an input before it is submitted: its format, its first cases, and its first invalid lines."""

from __future__ import annotations

import io
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, cast

import orjson

from weighbridge.errors import BadLine, Fault, LineError, MappingNeededError, TraceError
from weighbridge.graders.registry import default_registry
from weighbridge.grading.case import parse_case
from weighbridge.grading.line_grader import LineGrader
from weighbridge.jobs.error_codes import ErrorCode
from weighbridge.jobs.grader_spec import GraderSpec
from weighbridge.jobs.line import JSON_SPACE
from weighbridge.settings import KIB, MIB
from weighbridge.traces import formats, read_traces
from weighbridge.traces.split import is_trace
from weighbridge_producer.input.files.databases.sqlite_file import SIGN
from weighbridge_producer.input.files.decompress import DAMAGE, unpacked
from weighbridge_producer.input.files.decompress import HEAD_BYTES as PACKED_SIGN_BYTES
from weighbridge_producer.input.files.lines import BLOCK_BYTES, StreamLines, plain_stream
from weighbridge_producer.input.first_rows import Opened
from weighbridge_producer.input.mapping.compared_values import compared_hint
from weighbridge_producer.input.mapping.expected_answers import with_accepted_answers
from weighbridge_producer.input.mapping.known_datasets import described_without
from weighbridge_producer.input.proposals.mapping_proposals import propose
from weighbridge_producer.input.recognition import USUAL_INPUTS, needed_inputs, recognise
from weighbridge_producer.input.rows.rows_search import USUAL_NAMES, has_all_rows
from weighbridge_producer.input.source import Source
from weighbridge_producer.input.traces.input_kinds import InputKind, input_kind
from weighbridge_producer.input.unmapped_rows import JOIN_HINT
from weighbridge_producer.pages.column_pickers import ColumnPickers, Picks, pickers_of
from weighbridge_producer.pages.large_cases import parts_of
from weighbridge_producer.pages.parquet_parts import (
    ParquetParts,
    is_parquet_name,
    row_of_schema,
)
from weighbridge_producer.trace_view.trace_summary import lacks_in_words

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from weighbridge.settings import Settings
    from weighbridge.traces import Trace
    from weighbridge_producer.input.first_rows import SeenRows
    from weighbridge_producer.input.mapping.field_mapping import FieldMapping
    from weighbridge_producer.input.source_lines import SourceLine

HEAD_BYTES = 256 * KIB  #: examined at the beginning of an input
_LINES = 200
_EXPANDED_BYTES = 4 * MIB
#: lines, and members of objects and arrays, that can be processed in about a second
_PARTS = 300_000
_CASES_SHOWN = 5
_FAULTS_SHOWN = 10
_EXCERPT_CHARACTERS = 160
_ONLY_COLUMNS = "its first rows are too large to preview; choose the columns of a case's fields above, by their names"
_NO_ROWS = "its rows cannot be previewed from its beginning; they are read after the upload"
_LONG_DOCUMENT = "one JSON document over several lines, too long to preview"
_LONG_DATABASE = "an SQLite database, which cannot be previewed from its beginning"
_CAN_BE_SUBMITTED = (
    "It can be submitted as it is if it has cases, traces or results of a known tool, which are recognised after the"
    " upload. Rows with columns of their own need a mapping, as text, above."
)
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
_PACKINGS = ((b"\x1f\x8b", "gzip"), (b"\x28\xb5\x2f\xfd", "zstd"))


@dataclass(frozen=True, slots=True)
class Head:
    """The beginning of an input."""

    name: str
    content: bytes
    is_whole: bool
    #: bytes of the whole input, if its content is a Parquet file's beginning and footer
    size: int = 0

    @property
    def packing(self) -> str:
        """The compression; empty if there is none."""
        return next((name for sign, name in _PACKINGS if self.content.startswith(sign)), "")

    def bounded(self) -> Head:
        """Return a part that can be processed quickly, with limited decompressed size and numbers of lines and members."""
        if is_parquet_name(self.name):
            return self  # its rows are read one batch at a time
        plain, is_all = self._plain()
        end = _end_within(plain)
        if is_all and end == len(plain):
            return self
        return Head(self.name, plain[:end], is_whole=False)

    def _plain(self) -> tuple[bytes, bool]:
        """Return the decompressed content, up to any damage, and whether it is complete."""
        if not self.packing:
            return self.content, True
        packed = cast("io.RawIOBase", io.BytesIO(self.content))
        unpacking = cast("io.RawIOBase", unpacked(packed, self.content[:PACKED_SIGN_BYTES]))
        plain = bytearray()
        with suppress(*DAMAGE):
            while len(plain) <= _EXPANDED_BYTES and (piece := unpacking.read(BLOCK_BYTES)):
                plain += piece
        return bytes(plain), len(plain) <= _EXPANDED_BYTES

    def stream(self) -> io.BytesIO:
        """Return a stream of the readable part; if not compressed, only complete lines, or parts of Parquet."""
        if self.size:
            return ParquetParts(self.content, self.size, self.name)
        if self.is_whole or self.packing:
            return _Named(self.content, self.name)
        return _Named(self.content[: self.content.rfind(b"\n") + 1], self.name)


def _end_within(plain: bytes) -> int:
    """Return the end of the first lines if these, or their members, are too many."""
    if plain.count(b"\n") + parts_of(plain) <= _PARTS:
        return len(plain)
    end = parts = 0
    for line in io.BytesIO(plain):
        parts += 1 + parts_of(line)
        if parts > _PARTS:
            break
        end += len(line)
    return end


class _Named(io.BytesIO):
    def __init__(self, content: bytes, name: str) -> None:
        super().__init__(content)
        self.name = name


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


def preview_of(
    head: Head,
    specs: Sequence[GraderSpec],
    settings: Settings,
    elsewhere: Collection[str] = (),
    mapping: FieldMapping | None = None,
    picks: Picks | None = None,
) -> Preview:
    """Return the preview of an input's beginning, read as on submission; `elsewhere` are graders on workers.

    `picks` are for rows whose columns have to be chosen; other inputs do not need them.
    """
    packing = head.packing
    is_one_line = not packing and b"\n" not in head.content
    head = head.bounded()
    if head.content.startswith(SIGN) and not head.is_whole:
        return _unseen(InputKind.DATABASE, packing, _LONG_DATABASE, mapping)
    try:
        seen = recognise(Opened(head.name, head.name, head.stream), specs, settings)
    except MappingNeededError:
        if not mapping:
            raise
        seen = None
    if seen and not seen.rows and is_parquet_name(head.name):
        return _preview_of_columns(head, specs, mapping, picks, seen)
    if seen and not head.is_whole and _may_be_elsewhere(seen, head, settings):
        return _unseen(InputKind.ROWS, packing, _NO_ROWS, mapping)
    if seen and not seen.rows and seen.mapping and not mapping:
        return _with_mapping(Preview(InputKind.ROWS, packing, note=_NO_ROWS), seen.mapping)
    if seen and not seen.rows:
        return _unseen(InputKind.ROWS, packing, _NO_ROWS, mapping)
    if seen or mapping:
        preview = _preview_of_rows(head, specs, settings, elsewhere, mapping, picks, seen)
        is_empty = not (preview.lines or preview.columns or head.is_whole)
        return (
            _unseen(InputKind.LINES, packing, _why_nothing(is_one_line), mapping)
            if is_empty
            else preview
        )
    lines = islice(StreamLines(head.stream(), head.name, settings), _LINES)
    first = next(filter(_has, lines), None)
    if first is None and head.is_whole:
        return Preview(InputKind.NOTHING, packing, is_all=True)
    if first is None:
        return _unseen(InputKind.LINES, packing, _why_nothing(is_one_line), mapping)
    kind = InputKind.CASES if first.fault else input_kind(first.raw)
    if kind is InputKind.DOCUMENT and not head.is_whole:
        return _unseen(kind, packing, _LONG_DOCUMENT, mapping)
    preview = Preview(kind, packing)
    builder = _PreviewBuilder(preview, tuple(specs), elsewhere)
    preview.is_all = _look_at(head, settings, builder) and head.is_whole
    return preview


def _may_be_elsewhere(seen: SeenRows, head: Head, settings: Settings) -> bool:
    """Return whether the rows of a document may be in another list than the best of those in its beginning."""
    pointer = seen.layout.rows if seen.layout else ""
    if not pointer or not (seen.proposal and seen.proposal.missing):
        return False
    plain = plain_stream(head.stream(), settings)
    return pointer.rpartition("/")[2] not in USUAL_NAMES or has_all_rows(plain.read1, pointer)


def _preview_of_rows(
    head: Head,
    specs: Sequence[GraderSpec],
    settings: Settings,
    elsewhere: Collection[str],
    mapping: FieldMapping | None,
    picks: Picks | None,
    seen: SeenRows | None,
) -> Preview:
    """Return the preview of rows as cases, with the given mapping or else that of the pickers."""
    preview = Preview(InputKind.ROWS, head.packing)
    if seen and seen.proposal:
        preview.shape = described_without(seen.rows, needed_inputs(specs) or USUAL_INPUTS)
        columns = pickers_of(seen, specs, mapping, picks)
        preview.columns = _with_hints(columns, seen, preview.shape)
    used = mapping or (seen.mapping if seen else None)
    if not mapping:
        _with_mapping(preview, used)
    if used is None and preview.columns:
        used = preview.columns.mapping
    if used is None:
        preview.note = "Choose the columns that hold the fields of a case."
        return preview
    is_picked = preview.columns and seen and seen.proposal and used is not seen.proposal.mapping
    builder = _PreviewBuilder(preview, tuple(specs), elsewhere)
    used = with_accepted_answers(used, specs)
    preview.is_all = _look_at(head, settings, builder, used) and head.is_whole
    if not mapping and seen and seen.mapping:
        builder.note("; ".join(filter(None, (preview.note, seen.lists_hint()))))
    if (mapping or is_picked) and seen:  # for a proposal, the pickers say it
        builder.note("; ".join(filter(None, (preview.note, compared_hint(seen.rows, used)))))
    return preview


def _with_hints(columns: ColumnPickers, seen: SeenRows, shape: str) -> ColumnPickers:
    """Return pickers that also say what to check in a proposal besides its names, if they are set to it.

    Where a field has to be chosen that rows of a known `shape` lack, they say what else to do.
    """
    is_proposed = seen.proposal and columns.mapping is seen.proposal.mapping
    hints = seen.hints() if is_proposed else []
    if shape and columns.mapping is None:
        hints.append(
            f"this is {shape}: choose its column if the rows have the value; if another file has it, {JOIN_HINT}"
        )
    return replace(columns, caution="; ".join(filter(None, (columns.caution, *hints))))


def _preview_of_columns(
    head: Head,
    specs: Sequence[GraderSpec],
    mapping: FieldMapping | None,
    picks: Picks | None,
    seen: SeenRows,
) -> Preview:
    """Return the preview of a Parquet file whose rows have not arrived, by its columns."""
    row = row_of_schema(head.stream())
    if row is None:
        return _unseen(InputKind.ROWS, head.packing, _NO_ROWS, mapping)
    preview = Preview(InputKind.ROWS, head.packing, note=_ONLY_COLUMNS)
    needed = needed_inputs(specs) or USUAL_INPUTS
    seen = replace(seen, proposal=propose([row], needed))
    preview.columns = pickers_of(seen, specs, mapping, picks)
    return preview


def _with_mapping(preview: Preview, mapping: FieldMapping | None) -> Preview:
    """Add the mapping determined by the shape of the rows to a preview, and return the preview."""
    if mapping:
        preview.shape, preview.mapping = mapping.name, str(mapping)
    return preview


def _unseen(kind: InputKind, packing: str, why: str, mapping: FieldMapping | None) -> Preview:
    """Return the preview of an input whose beginning was not enough: why, and how it can be submitted without a mapping."""
    note = why if mapping else f"{why}. {_CAN_BE_SUBMITTED}"
    return Preview(kind, packing, note=note, is_unseen=True)


def _why_nothing(is_one_line: bool) -> str:
    if is_one_line:
        return f"its first line is longer than {HEAD_BYTES // KIB} KiB, or has too many parts, so it cannot be previewed"
    return "its beginning contains no whole line, or one that is too large to preview"


def _look_at(
    head: Head, settings: Settings, builder: _PreviewBuilder, mapping: FieldMapping | None = None
) -> bool:
    """Examine the lines that are not blank; return False if the limit was reached."""
    expanded = 0
    source = Source(head.stream(), settings, mapping)
    for number, line in enumerate(source, 1):
        if number > _LINES or expanded > _EXPANDED_BYTES:
            return False
        cut_off = line.fault and line.fault.code == ErrorCode.INPUT_TRUNCATED
        if cut_off and not head.is_whole:
            return False
        if _has(line):
            builder.add(number, line)
        expanded += len(line.raw)
        builder.note("; ".join(source.notes.counts()))
    return True


def _has(line: SourceLine) -> bool:
    return bool(line.fault or line.raw.strip(JSON_SPACE))


class _PreviewBuilder:
    """Builder of a preview."""

    def __init__(
        self, preview: Preview, specs: tuple[GraderSpec, ...], elsewhere: Collection[str]
    ) -> None:
        self._preview = preview
        self._specs = specs
        self._elsewhere = elsewhere
        self._grader = LineGrader(specs)

    def add(self, number: int, line: SourceLine) -> None:
        """Add one line."""
        preview = self._preview
        preview.lines += 1
        fault = self._grader.fault_of(line.as_job(number))
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
        excerpt=orjson.dumps(case.inputs).decode()[:_EXCERPT_CHARACTERS],
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
