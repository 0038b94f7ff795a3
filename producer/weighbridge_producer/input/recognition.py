"""Detects, before an input is read, whether it has cases, traces, or rows that need a mapping."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from weighbridge.errors import LineError, MappingNeededError, WeighbridgeError
from weighbridge.graders.registry import default_registry
from weighbridge.grading.case import parse_case
from weighbridge.jobs.line import JSON_SPACE
from weighbridge.settings import MIB
from weighbridge.traces.formats.batch_results import is_batch_result
from weighbridge.traces.recognition import find_format
from weighbridge.traces.split import is_trace
from weighbridge_producer.input.files.databases.sqlite_file import SIGN
from weighbridge_producer.input.files.log_lines import is_log
from weighbridge_producer.input.first_rows import (
    Opened,
    SeenRows,
    first_rows,
    refuse_list_without_rows,
    under_keys,
)
from weighbridge_producer.input.grader_inputs import USUAL_INPUTS, input_groups, needed_inputs
from weighbridge_producer.input.mapping.expected_answers import all_accept_several
from weighbridge_producer.input.mapping.field_mapping import GRADER
from weighbridge_producer.input.mapping.known_datasets import INSPECT, shape_of
from weighbridge_producer.input.mapping.promptfoo_tables import (
    has_verdicts_in_cells,
    outputs_of,
    without_judgements,
)
from weighbridge_producer.input.mapping.row_values import MISSING, Path
from weighbridge_producer.input.mapping.same_source import is_beside
from weighbridge_producer.input.proposals.boolean_columns import boolean_words
from weighbridge_producer.input.proposals.proposal import Proposal
from weighbridge_producer.input.proposals.trace_proposals import (
    propose_beside_traces,
    propose_from_rows,
)
from weighbridge_producer.input.rows.keyed_documents import value_under_key
from weighbridge_producer.input.rows.row_formats import (
    RowFormat,
    beginning_of,
    may_be_document,
    may_be_table,
    table_format,
)
from weighbridge_producer.input.rows.span_tables import are_spans
from weighbridge_producer.input.rows.table_cells import is_of_totals
from weighbridge_producer.input.source import Source

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weighbridge.jobs.grader_spec import GraderSpec
    from weighbridge.settings import Settings
    from weighbridge_producer.input.mapping.dataset_shape import Shape
    from weighbridge_producer.input.mapping.field_mapping import FieldMapping
    from weighbridge_producer.input.mapping.row_values import Row
    from weighbridge_producer.input.source_lines import SourceLine

_LINES = 20
_LOOKED_AT = 100  #: files of which one may have traces
_BYTES = 8 * MIB
_RESPONSE = "agent_response"
_PROMPTFOO_TABLE = "promptfoo's table, with a verdict before the output in each cell"
_PROMPTFOO_OUTPUTS = "promptfoo's table, without expected answers among its columns"
_PROMPTFOO_HINT = "write the results as JSON, which need no mapping: promptfoo eval -o results.json"


@dataclass(frozen=True, slots=True)
class _ReadAs:
    """The reading of a file without a mapping."""

    trace: Any = None  #: the first trace; None if the file has cases, or no JSON

    def begins_with(self, row: Row) -> bool:
        """Return whether a row is the first of those that make the trace, such as its calls."""
        parts = self.trace
        return isinstance(parts, list) and bool(parts) and parts[0] == row


def traces_behind(
    files: Sequence[Opened], graders: Sequence[GraderSpec], settings: Settings
) -> Opened | None:
    """Return the first of the files after the first that has traces; None if there is none, or graders take other inputs too.

    One file of another kind among traces, such as an index of them, is no reason to read all of them as rows.
    """
    if set(input_groups(graders)) != {("trace",)}:
        return None
    return next(
        (each for each in files[1:_LOOKED_AT] if _has_traces(each, graders, settings)), None
    )


def _has_traces(opened: Opened, graders: Sequence[GraderSpec], settings: Settings) -> bool:
    with suppress(WeighbridgeError):  # reading the file reports it
        return (
            recognise(opened, graders, settings) is None
            and trace_format(opened, settings) is not None
        )
    return False


def recognise(opened: Opened, graders: Sequence[GraderSpec], settings: Settings) -> SeenRows | None:
    """Return a file's rows and their mapping; None if the file has cases or traces, which need no mapping.

    Rows of a known shape, or with columns named like a case's fields, get a mapping. Others get a proposal, which the
    user has to accept.
    """
    with opened.open() as stream:
        if beginning_of(stream, settings).startswith(SIGN):
            return None
    known = needed_inputs(graders)
    needed = known or USUAL_INPUTS
    is_table = table_format(opened.name) is not None
    is_trace_only = not is_table and needed == ("trace",)
    if is_trace_only and not may_be_table(opened.name) and _read_as(opened, settings):
        return None
    if not is_table and _is_log(opened, settings):
        return None
    seen = first_rows(opened, settings)
    return recognise_rows(opened, seen, needed, settings, graders, maps_traces=bool(known))


def recognise_rows(
    opened: Opened,
    seen: SeenRows,
    needed: Sequence[str],
    settings: Settings,
    graders: Sequence[GraderSpec] = (),
    *,
    maps_traces: bool = True,
) -> SeenRows | None:
    """Return the first rows of a file with their mapping to needed inputs, as `recognise` does.

    `maps_traces` allows a proposal for rows that are traces and have the needed inputs beside them.
    """
    is_table = table_format(opened.name) is not None
    is_table = is_table or (may_be_table(opened.name) and _is_whole_table(seen))
    if is_table and seen.rows and are_spans(dict(seen.rows[0])):
        return None
    shape = _shape_of(seen, needed)
    mapping = shape.mapping(needed, graders) if shape else None
    if (
        shape
        and mapping
        and seen.layout
        and (not shape.rows or seen.layout.rows in {"", shape.rows, shape.more_rows})
    ):
        return replace(seen, mapping=replace(mapping, rows=seen.layout.rows))
    if not needed:
        return None
    if _RESPONSE in needed and has_verdicts_in_cells(seen.rows):
        raise MappingNeededError(seen.file, _PROMPTFOO_TABLE, _PROMPTFOO_HINT)
    may_map = maps_traces and "trace" not in needed
    # Answers of batches are traces as well, but without an expected answer for graders of answers.
    are_rows = is_table or not seen.rows or (shape is not None and may_map)
    read_as = None if are_rows else _read_as(opened, settings)
    if not is_table and not read_as and not shape:
        seen = under_keys(opened, seen, needed, settings)
    if not is_table and not seen.rows:
        if not _read_as(opened, settings):
            refuse_list_without_rows(opened, seen, settings)
        return None
    are_parts = read_as is not None and read_as.begins_with(seen.rows[0])
    if read_as and not (may_map and (are_parts or read_as.trace == seen.rows[0])):
        return None
    proposal = _proposal(seen, needed, graders, beside_traces=read_as is not None)
    if proposal is None or (are_parts and (proposal.missing or proposal.guessed)):
        return None
    if shape and not mapping:
        proposal = _without_own_inputs(proposal, shape, seen.rows, needed)
    return _with_proposal(seen, proposal, takes_grader=not graders)


def _shape_of(seen: SeenRows, needed: Sequence[str]) -> Shape | None:
    """Return the known shape of rows that have the needed inputs; raises MappingNeededError if it says where a lacking one is."""
    if not seen.rows and seen.layout and seen.layout.format is RowFormat.EVAL:
        return INSPECT  # rows cannot be read from the beginning of an archive
    shape = shape_of(seen.rows)
    if shape and (lacking := shape.lacking(seen.rows, needed)):
        if hint := shape.hints.get(lacking[0]):
            raise MappingNeededError(seen.file, f"{shape.name} without {lacking[0]}", hint)
        return None
    return shape


def _with_proposal(seen: SeenRows, proposal: Proposal, *, takes_grader: bool) -> SeenRows:
    """Return rows with a proposal, or with its mapping if the columns are named like the fields of a case."""
    if proposal.mapping:
        mapping = replace(proposal.mapping, rows=seen.layout.rows if seen.layout else "")
        if takes_grader:
            mapping = _with_grader_of_rows(mapping, seen.rows)
        proposal = replace(proposal, mapping=mapping)
    names = all(path in {name, f"inputs.{name}"} for name, path in proposal.fields.items())
    if names and not proposal.missing:
        return replace(seen, mapping=proposal.mapping)
    return replace(seen, proposal=proposal)


def _with_grader_of_rows(mapping: FieldMapping, rows: Sequence[Row]) -> FieldMapping:
    """Return a mapping that takes the grader of each row from a column `grader`, if all of its values are graders' ids."""
    ids = default_registry().ids()
    if not all(row.get(GRADER) in ids for row in rows):
        return mapping
    metadata = {name: value for name, value in mapping.metadata.items() if name != GRADER}
    return replace(mapping, metadata=metadata, grader=Path(GRADER))


def _proposal(
    seen: SeenRows, needed: Sequence[str], graders: Sequence[GraderSpec], *, beside_traces: bool
) -> Proposal | None:
    """Propose a mapping of rows, or of the answers beside their traces."""
    accepts_several = all_accept_several(graders)
    if beside_traces:
        return propose_beside_traces(
            seen.rows,
            needed,
            joined=seen.joined,
            accepts_several=accepts_several,
            booleans=boolean_words(graders),
        )
    outputs = outputs_of(seen.rows) if _RESPONSE in needed else []
    given = {_RESPONSE: outputs[0]} if outputs else value_under_key(seen.rows, needed)
    is_text = seen.layout is not None and seen.layout.format is RowFormat.CSV
    rows = [row for row in seen.rows if not is_of_totals(row)] if is_text else seen.rows
    proposal = propose_from_rows(
        without_judgements(rows, outputs) if outputs else rows,
        needed,
        has_only_texts=is_text,
        joined=seen.joined,
        given=given,
        accepts_several=accepts_several,
        booleans=boolean_words(graders),
    )
    if not outputs:
        return proposal
    if "expected_output" in proposal.missing:
        raise MappingNeededError(seen.file, _PROMPTFOO_OUTPUTS, _PROMPTFOO_HINT)
    rivals = tuple(outputs) if len(outputs) > 1 else ()
    return replace(proposal, columns=tuple(seen.rows[0]), rivals=rivals)


def _without_own_inputs(
    proposal: Proposal, shape: Shape, rows: Sequence[Row], needed: Sequence[str]
) -> Proposal:
    """Return a proposal that does not take one input of a known shape, such as a data set's answers, for another one."""
    own = {name: shape.inputs[name] for name in needed if name in shape.inputs}
    wrong = {
        name
        for name, path in proposal.fields.items()
        if name in needed and name not in own and not is_beside(path, own.values())
    }
    if not wrong:
        return proposal
    fields = {name: path for name, path in proposal.fields.items() if name not in wrong}
    for name, value in own.items():
        if path := next(
            (
                path
                for path in value.paths()
                if any(path.of(row, 1) not in (MISSING, None) for row in rows)
            ),
            None,
        ):
            fields.setdefault(name, path.text)
    return Proposal(
        None,
        fields,
        tuple(name for name in needed if name not in fields),
        proposal.columns,
        guessed=tuple(name for name in proposal.guessed if name in fields),
    )


def _is_log(opened: Opened, settings: Settings) -> bool:
    """Return whether a file is a log with JSON after a prefix, which may look like a table."""
    with opened.open() as stream:
        return is_log(beginning_of(stream, settings))


def begins_document(opened: Opened, settings: Settings) -> bool:
    """Return whether a file may be one JSON document, instead of one row per line."""
    with opened.open() as stream:
        return may_be_document(beginning_of(stream, settings), opened.name)


def _is_whole_table(seen: SeenRows) -> bool:
    """Return whether each of the first lines has as many cells as the header, and more than one."""
    is_csv = seen.layout is not None and seen.layout.format is RowFormat.CSV
    return is_csv and not seen.faulty and bool(seen.rows) and len(seen.rows[0]) > 1


def trace_format(opened: Opened, settings: Settings) -> str | None:
    """Return the name of the format of a file's first trace; None if it is not read as traces."""
    read_as = _read_as(opened, settings)
    if read_as is None or read_as.trace is None:
        return None
    return find_format(read_as.trace).importer.name


def _read_as(opened: Opened, settings: Settings) -> _ReadAs | None:
    """Return how a file is read without a mapping; None if it has JSON objects that are neither cases nor traces.

    One of the first lines is a case or a trace of a known format, or none of them has JSON.
    """
    taken = 0
    objects = 0
    with opened.open() as stream:
        for line in islice(Source(stream, settings), _LINES):
            taken += line.size
            if found := _case_in(line):
                return found
            objects += line.raw.lstrip(JSON_SPACE).startswith((b"{", b"["))
            if taken > _BYTES:
                break
    return None if objects else _ReadAs()


def _case_in(line: SourceLine) -> _ReadAs | None:
    """Return the kind of the case on a line; None if it has neither a case nor a trace."""
    content = line.raw.strip(JSON_SPACE)
    if line.fault or not content:
        return None
    try:
        case = parse_case(content, (), needs_grader=False)
    except LineError:
        return _ReadAs() if b'"inputs"' in content and b'"custom_id"' in content else None
    if "trace" not in case.inputs or not line.custom_id:
        return _ReadAs()
    trace = case.inputs["trace"]
    # Results of batches have a mapping, which tells requests without an answer from the others.
    return _ReadAs(trace) if is_trace(trace) and not is_batch_result(trace) else None
