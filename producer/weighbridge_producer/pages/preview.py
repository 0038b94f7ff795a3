"""Preview of an input before it is submitted: its format, its first cases, and its first invalid lines."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

from weighbridge.errors import MappingNeededError
from weighbridge.settings import KIB
from weighbridge_producer.input.files.databases.sqlite_file import SIGN
from weighbridge_producer.input.files.lines import StreamLines, plain_stream
from weighbridge_producer.input.first_rows import Opened
from weighbridge_producer.input.grader_inputs import USUAL_INPUTS, needed_inputs
from weighbridge_producer.input.mapping.compared_values import compared_hint
from weighbridge_producer.input.mapping.expected_answers import with_accepted_answers
from weighbridge_producer.input.mapping.known_datasets import described_without
from weighbridge_producer.input.proposals.mapping_proposals import propose
from weighbridge_producer.input.recognition import recognise
from weighbridge_producer.input.rows.rows_search import USUAL_NAMES, has_all_rows
from weighbridge_producer.input.traces.input_kinds import InputKind, input_kind
from weighbridge_producer.input.unmapped_rows import JOIN_HINT
from weighbridge_producer.pages.column_pickers import ColumnPickers, Picks, pickers_of
from weighbridge_producer.pages.input_head import HEAD_BYTES
from weighbridge_producer.pages.parquet_parts import is_parquet_name, row_of_schema
from weighbridge_producer.pages.preview_builder import (
    LINES,
    Preview,
    PreviewBuilder,
    examine,
    has_content,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from weighbridge.jobs.grader_spec import GraderSpec
    from weighbridge.settings import Settings
    from weighbridge_producer.input.first_rows import SeenRows
    from weighbridge_producer.input.mapping.field_mapping import FieldMapping
    from weighbridge_producer.pages.input_head import Head

_ONLY_COLUMNS = "its first rows are too large to preview; choose the columns of a case's fields above, by their names"
_NO_ROWS = "its rows cannot be previewed from its beginning; they are read after the upload"
_LONG_DOCUMENT = "one JSON document over several lines, too long to preview"
_LONG_DATABASE = "an SQLite database, which cannot be previewed from its beginning"
_CAN_BE_SUBMITTED = (
    "It can be submitted as it is if it has cases, traces or results of a known tool, which are recognised after the"
    " upload. Rows with columns of their own need a mapping, as text, above."
)


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
    packing, why_nothing = head.packing, _why_nothing(head)
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
    if seen and not seen.rows:
        if seen.mapping and not mapping:
            return _with_mapping(Preview(InputKind.ROWS, packing, note=_NO_ROWS), seen.mapping)
        return _unseen(InputKind.ROWS, packing, _NO_ROWS, mapping)
    if seen or mapping:
        preview = _preview_of_rows(head, specs, settings, elsewhere, mapping, picks, seen)
        preview.packing = packing  # its `head` may be unpacked
        if preview.lines or preview.columns or head.is_whole:
            return preview
        return _unseen(InputKind.LINES, packing, why_nothing, mapping)
    return _preview_of_lines(head, specs, settings, elsewhere, packing, why_nothing)


def _preview_of_lines(
    head: Head,
    specs: Sequence[GraderSpec],
    settings: Settings,
    elsewhere: Collection[str],
    packing: str,
    why_nothing: str,
) -> Preview:
    """Return the preview of lines that need no mapping."""
    lines = islice(StreamLines(head.stream(), head.name, settings), LINES)
    first = next(filter(has_content, lines), None)
    if first is None and head.is_whole:
        return Preview(InputKind.NOTHING, packing, is_all=True)
    if first is None:
        return _unseen(InputKind.LINES, packing, why_nothing)
    kind = InputKind.CASES if first.fault else input_kind(first.raw)
    if kind is InputKind.DOCUMENT and not head.is_whole:
        return _unseen(kind, packing, _LONG_DOCUMENT)
    preview = Preview(kind, packing)
    builder = PreviewBuilder(preview, tuple(specs), elsewhere)
    preview.is_all = examine(head, settings, builder) and head.is_whole
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
    preview = Preview(InputKind.ROWS, "")
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
    builder = PreviewBuilder(preview, tuple(specs), elsewhere)
    used = with_accepted_answers(used, specs)
    preview.is_all = examine(head, settings, builder, used) and head.is_whole
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


def _unseen(
    kind: InputKind, packing: str, why: str, mapping: FieldMapping | None = None
) -> Preview:
    """Return the preview of an input whose beginning was not enough: why, and how it can be submitted without a mapping."""
    note = why if mapping else f"{why}. {_CAN_BE_SUBMITTED}"
    return Preview(kind, packing, note=note, is_unseen=True)


def _why_nothing(head: Head) -> str:
    """Return why an input may have no line that can be previewed."""
    if not head.packing and b"\n" not in head.content:
        return f"its first line is longer than {HEAD_BYTES // KIB} KiB, or has too many parts, so it cannot be previewed"
    return "its beginning contains no whole line, or one that is too large to preview"
