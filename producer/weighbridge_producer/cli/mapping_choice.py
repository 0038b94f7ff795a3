"""The choice of the mapping for CASES: given, recognised or proposed, also with fields of joined files."""

from __future__ import annotations

import io
import shlex
import sys
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

import typer

from weighbridge.errors import InputError, MappingError, MappingNeededError, WeighbridgeError
from weighbridge.text import pluralize, shorten
from weighbridge_producer.cli.grader_groups import print_traces, runs_for_each
from weighbridge_producer.cli.mapping_hints import COLUMN, how_to_add, suggestion
from weighbridge_producer.cli.show import err, shown
from weighbridge_producer.input.files.read_as import ReadAs
from weighbridge_producer.input.files.table_form import USUAL_FORM, TableForm
from weighbridge_producer.input.mapping.field_mapping import GRADER, FieldMapping
from weighbridge_producer.input.mapping.mapping_text import (
    added_values,
    each_of,
    mapped_fields,
    parse_mapping,
)
from weighbridge_producer.input.mapping.missing_paths import (
    refuse_missing_paths,
    refuse_no_list,
)
from weighbridge_producer.input.mapping.row_values import WithFile
from weighbridge_producer.input.rows.row_notes import other_lists_note

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weighbridge.jobs.grader_spec import GraderSpec
    from weighbridge.settings import Settings
    from weighbridge_producer.input.files.input_paths import Paths
    from weighbridge_producer.input.first_rows import Opened, SeenRows
    from weighbridge_producer.input.joins import Joins, JoinSpec
    from weighbridge_producer.input.mapping.row_values import Path, Row, Value
    from weighbridge_producer.input.rows.row_formats import Layout

_WIDTH = 400
_EXAMPLE_WIDTH = 160


def choose_mapping(
    cases: Paths | None,
    graders: Sequence[GraderSpec],
    settings: Settings,
    *,
    texts: Sequence[str],
    saved: FieldMapping | None,
    joins: Sequence[JoinSpec],
    form: TableForm = USUAL_FORM,
) -> tuple[FieldMapping | None, Joins | None]:
    """Return the mapping of CASES, which is None for cases and traces, and the joined files.

    CASES are None if they are a pipe. `texts` are those of `--map`, and `saved` is the mapping of `--mapping`.
    """
    joins = [spec.beside(form) for spec in joins]
    if not (texts or saved or joins):
        return (_recognised_mapping(cases, graders, settings, form) if cases else None), None
    from weighbridge_producer.submit.mapped_inputs import check_known_inputs, check_needed_inputs

    given = mapped_fields(texts)
    if not cases:
        mapping = _combined(texts, saved)
        joined = _read_joins(joins, settings, None)
        check_known_inputs(mapping, graders)
        check_needed_inputs(mapping, graders, lambda fields: how_to_add(fields, mapping.custom_id))
        _require(joined, mapping, graders)
        return mapping, joined
    from weighbridge_producer.input.first_rows import Opened, from_first_row_on
    from weighbridge_producer.input.further_rows import FurtherRows
    from weighbridge_producer.input.mapping.known_datasets import with_shape_of
    from weighbridge_producer.input.proposals.trace_columns import left_out_tools_note
    from weighbridge_producer.input.recognition import recognise_rows

    files = from_first_row_on(Opened.all_of(cases, form), settings)
    opened = files[0]
    added = added_values(texts).union(
        saved.added if saved else (), (spec.left.text for spec in joins)
    )
    each = each_of(texts) or (saved.each if saved else None)
    own = _own_rows(opened, settings, saved.rows if saved else "", added, each)
    joined = _read_joins(joins, settings, own)
    seen = replace(own, rows=joined.of_first(own.rows), joined=joined.names) if joined else own
    recognised = None
    if not saved and "custom_id" not in given:
        needed = _still_needed(graders, given)
        # Fields of joined files are not proposed in addition to those that the user has chosen.
        found = recognise_rows(opened, own if texts else seen, needed, settings, graders)
        if not (found and found.mapping):
            _refuse_empty(own)
            _check_shape(seen, needed)
        found = _with_different_ids(found, files, settings) if found else None
        recognised = _added_to(found) if texts else _with_joined(found, seen, needed, graders)
    mapping = with_shape_of(seen.rows, _combined(texts, saved or recognised))
    check_known_inputs(mapping, graders)
    # Whether the first rows have a match or not, the joined files show which of their fields can be mapped.
    examples = joined.examples() if joined else ()
    further = FurtherRows(files, settings, mapping.rows, joined, added, mapping.each)
    # If no row can be read, reading them says why, and the joined files do not show what is missing.
    first = [*seen.rows, *examples] if own.rows or not own.faulty else []
    refuse_missing_paths(mapping, first, seen.file, recognised, own.wrong_rows_hint(), further)
    check_needed_inputs(mapping, graders, lambda fields: how_to_add(fields, mapping.custom_id))
    _require(joined, mapping, graders)
    print_layout(seen.file, seen.layout, mapping, joined)
    if note := left_out_tools_note(mapping.inputs.get("trace"), seen.rows, graders):
        err.print(f"  {shown(note, _WIDTH)}", soft_wrap=True)
    return mapping, joined


def _own_rows(
    opened: Opened, settings: Settings, rows: str, added: frozenset[str], each: Path | None
) -> SeenRows:
    """Return the first rows of a file, without joined fields; refuse a list without any."""
    from weighbridge_producer.input.first_rows import first_rows, refuse_list_without_rows

    own = first_rows(opened, settings, rows, added, each)
    refuse_list_without_rows(opened, own, settings)
    if each and not own.rows:
        without = first_rows(opened, settings, rows, added)
        refuse_no_list(each, without.rows, own.file)
    return own


def suggested_mapping(
    cases: Paths, graders: Sequence[GraderSpec], settings: Settings
) -> FieldMapping | None:
    """Return the mapping that the columns of rows suggest, and print it; None if the first rows are spans.

    Raises MappingNeededError if the columns suggest none.
    """
    from weighbridge_producer.input.first_rows import Opened, from_first_row_on
    from weighbridge_producer.input.recognition import recognise

    opened = from_first_row_on(Opened.all_of(cases), settings)[0]
    seen = recognise(opened, graders, settings)
    if seen is None:
        return None
    _refuse_empty(seen)
    proposed = seen.proposal
    mapping = seen.mapping or (proposed and proposed.mapping)
    if not mapping:
        raise MappingNeededError(seen.file, seen.described, "\n  ".join(suggestion(seen)))
    print_layout(seen.file, seen.layout, mapping, None)
    for line in suggestion(seen)[1:] if proposed else ():
        err.print(f"  {shown(line, _WIDTH)}", soft_wrap=True)
    return mapping


def _require(joined: Joins | None, mapping: FieldMapping, graders: Sequence[GraderSpec]) -> None:
    """Require of joined rows what each of the graders needs; what only some need is an error of their jobs alone."""
    from weighbridge_producer.input.grader_inputs import needed_inputs

    if joined and graders:
        needed = [needed_inputs([spec]) for spec in graders]
        joined.require(
            mapping, [name for name in needed[0] if all(name in each for each in needed)]
        )


def _still_needed(graders: Sequence[GraderSpec], given: frozenset[str]) -> tuple[str, ...]:
    from weighbridge_producer.input.grader_inputs import USUAL_INPUTS, needed_inputs

    return tuple(name for name in needed_inputs(graders) or USUAL_INPUTS if name not in given)


def _combined(texts: Sequence[str], base: FieldMapping | None) -> FieldMapping:
    return parse_mapping(texts, base) if texts or base is None else base


def _read_joins(
    specs: Sequence[JoinSpec], settings: Settings, seen: SeenRows | None
) -> Joins | None:
    if not specs:
        return None
    from weighbridge_producer.input.joins import Joins

    return (
        Joins.read(specs, settings, seen.rows, seen.file) if seen else Joins.read(specs, settings)
    )


def _added_to(found: SeenRows | None) -> FieldMapping | None:
    """Return the recognised mapping to which `--map` adds; raises MappingError if there is only a proposal."""
    if found and found.proposal:
        missing = dict.fromkeys(found.proposal.missing, "COLUMN")
        fields = ",".join(
            f"{name}={path}" for name, path in (found.proposal.fields | missing).items()
        )
        hints = (f"from its columns, add --map {shlex.quote(fields)}", found.proposal.caution)
        raise MappingError(
            "the mapping does not say what the custom_id of a case is",
            "\n  ".join(filter(None, hints)),
        )
    return found.mapping if found else None


def _with_joined(
    found: SeenRows | None, seen: SeenRows, needed: Sequence[str], graders: Sequence[GraderSpec]
) -> FieldMapping:
    """Return the mapping of rows that have joined fields; raises MappingNeededError if they are not mapped."""
    if found is None:
        from weighbridge_producer.input.proposals.mapping_proposals import propose

        what = "read as cases or traces, without the joined fields"
        hint = f"map them, such as --map {shlex.quote(propose(seen.rows, needed, joined=seen.joined).text)}"
        raise MappingNeededError(seen.file, what, hint)
    return found.mapping or _confirmed_mapping(found, graders)


def _refuse_empty(seen: SeenRows) -> None:
    """Raise InputError for a file without rows, which have no columns to be mapped."""
    if not (seen.rows or seen.layout) and seen.fault:
        raise InputError(f"{seen.file!r}: {seen.fault.message}", "create the file again")
    if seen.rows or not seen.layout:
        return
    what = f"{seen.file!r} is {seen.layout}"
    if seen.fault:
        rows = f"first {seen.faulty:,} rows" if seen.faulty > 1 else "first row"
        unit = "line" if seen.layout.has_lines else "row"
        unread = f"its {rows} cannot be read: {unit} {seen.faulty_line:,}, {seen.fault.message}"
        raise InputError(f"{what}, and {unread}", seen.fault.hint)
    raise InputError(f"{what} and has no rows", "write at least one row below the header")


def _check_shape(seen: SeenRows, needed: Sequence[str]) -> None:
    """Raise MappingNeededError for rows of a known shape that lacks an input of the graders."""
    from weighbridge_producer.input.mapping.known_datasets import described_without, shape_of
    from weighbridge_producer.input.mapping.same_source import is_beside
    from weighbridge_producer.input.proposals.mapping_proposals import propose

    shape = shape_of(seen.rows)
    lacking = [name for name in needed if shape and name not in shape.inputs]
    if shape and lacking:
        # What the shape takes for one of the inputs, such as a data set's answers, is not the other one.
        own = shape.inputs.values()
        found = propose(seen.rows, lacking).fields
        fields = {name: path for name, path in found.items() if is_beside(path, own)}
        what = described_without(seen.rows, needed)
        if lacking[0] not in fields and (hint := shape.hints.get(lacking[0])):
            raise MappingNeededError(seen.file, what, hint)
        text = ",".join(f"{name}={fields.get(name, COLUMN)}" for name in lacking)
        raise MappingNeededError(
            seen.file, what, how_to_add(text, _present_id(shape.custom_id, seen.rows))
        )


def _present_id(custom_id: Value, rows: Sequence[Row]) -> Value:
    """Return the id of a shape, of alternatives only those that one of the first rows has."""
    from weighbridge_producer.input.mapping.row_values import MISSING, FirstOf

    if not isinstance(custom_id, FirstOf):
        return custom_id
    values = custom_id.values
    present = [each for each in values if any(each.of(row, 1) is not MISSING for row in rows)]
    return FirstOf(tuple(present) or values)


def _recognised_mapping(
    cases: Paths, graders: Sequence[GraderSpec], settings: Settings, form: TableForm
) -> FieldMapping | None:
    """Return the mapping that was recognised, or that the user accepted; None for cases and traces."""
    from weighbridge_producer.input.first_rows import Opened, from_first_row_on
    from weighbridge_producer.input.grader_inputs import input_groups
    from weighbridge_producer.input.recognition import recognise, traces_behind

    files = from_first_row_on(Opened.all_of(cases, form, ReadAs.ANYTHING), settings)
    opened = files[0]
    seen = recognise(opened, graders, settings)
    groups = input_groups(graders)
    if seen is not None and (traces := traces_behind(files, graders, settings)):
        opened, seen = traces, None
    if seen is None:
        print_traces(opened, groups, settings)
        return None
    if not seen.mapping:
        _refuse_empty(seen)
    if seen.proposal and len(groups) > 1:
        hint = "\n  ".join(runs_for_each(groups, seen.rows))
        raise MappingNeededError(seen.file, seen.described, hint)
    if seen.proposal and seen.proposal.missing:
        [needed] = groups or [()]
        _check_shape(seen, needed)
    seen = _with_different_ids(seen, files, settings)
    mapping = seen.mapping or _confirmed_mapping(seen, graders)
    print_layout(seen.file, seen.layout, mapping, None)
    return mapping


def _with_different_ids(seen: SeenRows, files: Sequence[Opened], settings: Settings) -> SeenRows:
    """Return rows whose proposed ids do not repeat in later rows and other files, if columns or the file's name tell them apart."""
    from weighbridge_producer.input.further_rows import FurtherRows
    from weighbridge_producer.input.repeated_ids import with_file_in_id, with_variants_in_id

    rows = FurtherRows(files[:1], settings, seen.layout.rows if seen.layout else "")
    return with_file_in_id(with_variants_in_id(seen, rows), files, settings)


def print_unmapped(
    name: str, head: bytes, graders: Sequence[GraderSpec], settings: Settings
) -> None:
    """Say how a pipe without a mapping is read, by its first bytes, if they are rows, or traces that a grader cannot take."""
    from weighbridge_producer.input.first_rows import Opened
    from weighbridge_producer.input.grader_inputs import input_groups
    from weighbridge_producer.input.recognition import recognise

    lines = head[: head.rfind(b"\n") + 1] or head  # the last line may not have arrived
    opened = Opened("stdin", name, lambda: io.BytesIO(lines))
    with suppress(WeighbridgeError):  # reading the pipe reports it
        seen = recognise(opened, graders, settings)
        if seen is None:
            print_traces(opened, input_groups(graders), settings)
            return
        what = f"{seen.described}, read as cases or traces because there is no --map"
        err.print(f"{shown(name)}: {shown(what, _WIDTH)}", soft_wrap=True)
        for line in suggestion(seen):
            err.print(f"  {shown(line, _WIDTH)}", soft_wrap=True)


def print_layout(
    file: str, layout: Layout | None, mapping: FieldMapping, joined: Joins | None
) -> None:
    """Say how a file is read: its format, its joined files and its mapping."""
    what = [str(layout)] if layout else []
    if mapping.name:
        what.insert(0, mapping.name)
    err.print(f"{shown(file)}: {', '.join(what)}", soft_wrap=True)
    if layout and layout.others and mapping.rows:  # otherwise, reading the rows notes them
        err.print(f"  {shown(other_lists_note(layout.others), _WIDTH)}", soft_wrap=True)
    _print_joins(joined)
    err.print(f"  mapped: {shown(mapping.with_names, _WIDTH)}", soft_wrap=True)
    if isinstance(mapping.custom_id, WithFile):
        from weighbridge_producer.input.repeated_ids import FILE_NOTE

        err.print(f"  {FILE_NOTE}", soft_wrap=True)


def _print_joins(joined: Joins | None) -> None:
    for join in joined or ():
        rows = f"{join.index.layout}, {pluralize(join.index.rows, 'row')}"
        err.print(f"  joined: {shown(f'{join.spec}: {rows}', _WIDTH)}", soft_wrap=True)


def _confirmed_mapping(seen: SeenRows, graders: Sequence[GraderSpec]) -> FieldMapping:
    """Show the proposed mapping and return it if the user accepts it; otherwise raise MappingNeededError."""
    proposal = seen.proposal
    assert proposal is not None
    what, lines = seen.described, [*_unread(seen), *suggestion(seen)]
    if not (graders or GRADER in proposal.columns):
        lines.append("name a grader too, with --grader ID: `weighbridge graders` lists them")
    if proposal.mapping is None or not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise MappingNeededError(seen.file, what, "\n  ".join(lines))
    err.print(f"{shown(seen.file)} is {shown(what, _WIDTH)}", soft_wrap=True)
    for line in lines:
        err.print(shown(f"{line[0].upper()}{line[1:]}", _WIDTH), soft_wrap=True)
    err.print(f"The first row would be: {shown(_first_case(seen, proposal.mapping))}")
    is_likely = not (proposal.caution or seen.hints() or seen.fault)
    if not typer.confirm("Grade with this mapping?", default=is_likely, err=True):
        raise MappingNeededError(seen.file, what)
    return proposal.mapping


def _unread(seen: SeenRows) -> list[str]:
    """Return which of the first rows cannot be read, and why, if there is one."""
    if not (seen.fault and seen.layout):
        return []
    unit = "line" if seen.layout.has_lines else "row"
    more = f"; {seen.faulty - 1:,} more of the first rows as well" if seen.faulty > 1 else ""
    return [f"{unit} {seen.faulty_line:,} cannot be read: {seen.fault}{more}"]


def _first_case(seen: SeenRows, mapping: FieldMapping) -> str:
    from weighbridge_producer.input.rows.source_rows import excerpt_of

    return shorten(excerpt_of(mapping.case(seen.rows[0], 1), 10 * _EXAMPLE_WIDTH), _EXAMPLE_WIDTH)
