"""Ids that repeat in later rows, or in several files, and what makes them different: another column, or the file's name."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from weighbridge.text import shorten
from weighbridge_producer.input.first_rows import first_rows
from weighbridge_producer.input.mapping.mapping_text import value_of
from weighbridge_producer.input.mapping.missing_paths import listed
from weighbridge_producer.input.mapping.row_values import (
    FILE,
    KEY,
    MISSING,
    ROW_NUMBER,
    Path,
    Template,
    Value,
    WithFile,
)
from weighbridge_producer.input.proposals.column_values import column_values
from weighbridge_producer.input.proposals.proposed_ids import id_paths

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from weighbridge.settings import Settings
    from weighbridge_producer.input.first_rows import Opened, SeenRows
    from weighbridge_producer.input.mapping.field_mapping import FieldMapping
    from weighbridge_producer.input.mapping.row_values import Row
    from weighbridge_producer.input.proposals.proposal import Proposal

_FILES = 20  #: whose first rows are compared with those of the first file
_PAIRS = 100  #: of rows with the same id, which are compared
_WIDTH = 40
_ID = "custom_id"
FILE_NOTE = f"{_ID}: ids repeat in several files, so the file's name is part of them"


def with_variants_in_id(seen: SeenRows, rows: Iterable[Row]) -> SeenRows:
    """Return rows whose proposed id has what tells later rows of the file with the same id apart, such as the model.

    `rows` are the first and later rows of the file. If no column is known to do so, a note names those that might.
    """
    proposal = seen.proposal
    written = proposal.fields.get(_ID, "") if proposal else ""
    value = value_of(written) if written else None
    if proposal is None or not isinstance(value, Path) or value.text in {ROW_NUMBER, KEY}:
        return seen
    pairs = _repeats(value, rows)
    if not pairs:
        return seen
    both = list({id(row): row for pair in pairs for row in pair}.values())
    path, *variants = id_paths(column_values(both), len(both)) or ("",)
    if path != value.text or not variants:
        shown = str(value.of(pairs[0][0], 1))
        note = f"{_ID}: {shorten(shown, _WIDTH)!r} repeats in a later row, so ids need another column beside {path or value.text!r}"
        differing = [name for name in both[0] if all(a.get(name) != b.get(name) for a, b in pairs)]
        named = f"; these rows differ in {listed(differing)}" if differing else ""
        return replace(seen, proposal=replace(proposal, notes=(*proposal.notes, note + named)))
    template = Template("/".join(f"{{{each}}}" for each in (path, *variants)))
    note = f"{_ID}: ids repeat in later rows, so {', '.join(variants)} {_is_part(variants)} of them"
    return _with_id(seen, proposal, template, note)


def _is_part(variants: Sequence[str]) -> str:
    return "is part" if len(variants) == 1 else "are parts"


def _repeats(value: Path, rows: Iterable[Row]) -> list[tuple[Row, Row]]:
    """Return the first pairs of different rows that have the same id."""
    first: dict[str, Row] = {}
    pairs: list[tuple[Row, Row]] = []
    for row in rows:
        found = value.of(row, 1)
        if found is MISSING or found is None or found == "":
            continue
        earlier = first.setdefault(str(found), row)
        if earlier is not row and earlier != row:
            pairs.append((earlier, row))
        if len(pairs) == _PAIRS:
            break
    return pairs


def _with_id(seen: SeenRows, proposal: Proposal, template: Template, note: str) -> SeenRows:
    mapping = proposal.mapping and replace(proposal.mapping, custom_id=template)
    fields = {**proposal.fields, _ID: template.text}
    changed = replace(proposal, mapping=mapping, fields=fields, notes=(*proposal.notes, note))
    return replace(seen, proposal=changed)


def with_file_in_id(seen: SeenRows, files: Sequence[Opened], settings: Settings) -> SeenRows:
    """Return rows whose proposed or recognised id has the file's name, if the first rows of another file have ids of the first."""
    if len(files) < 2:
        return seen
    if seen.mapping:
        return _with_file_in_mapping(seen, seen.mapping, files, settings)
    proposal = seen.proposal
    written = proposal.fields.get(_ID, "") if proposal else ""
    if proposal is None or not written:
        return seen
    value = value_of(written)
    template = Template(f"{{{FILE}}}/{_in_template(value)}")
    if template.paths() != (Path(FILE), *_paths_of(value), Path(template.text)):
        return seen  # a name with braces cannot be in a template
    if not _repeat(value, seen, files[1 : _FILES + 1], settings):
        return seen
    rows: list[Row] = [{FILE: files[0].name, **row} for row in seen.rows]
    return replace(_with_id(seen, proposal, template, FILE_NOTE), rows=rows)


def _with_file_in_mapping(
    seen: SeenRows, mapping: FieldMapping, files: Sequence[Opened], settings: Settings
) -> SeenRows:
    """Return rows of a known tool, such as several logs of one task; ids that the user has named are left as they are."""
    value = mapping.custom_id
    if not mapping.numbers_repeats or not _repeat(value, seen, files[1 : _FILES + 1], settings):
        return seen
    return replace(seen, mapping=replace(mapping, custom_id=WithFile(value)))


def _repeat(value: Value, seen: SeenRows, others: Iterable[Opened], settings: Settings) -> bool:
    """Return whether the first rows of another file have an id of the first file."""
    pointer = seen.layout.rows if seen.layout else ""
    added = {path.text for path in value.paths()}
    known = _ids(value, seen.rows)
    rows = (first_rows(other, settings, pointer, added).rows for other in others)
    return any(not known.isdisjoint(_ids(value, each)) for each in rows)


def _ids(value: Value, rows: Iterable[Row]) -> set[str]:
    ids = (value.of(row, number) for number, row in enumerate(rows, 1))
    return {str(found) for found in ids if found is not MISSING and found is not None}


def _in_template(value: Value) -> str:
    return value.text if isinstance(value, Template) else f"{{{value}}}"


def _paths_of(value: Value) -> list[Path]:
    return [
        path
        for path in value.paths()
        if not (isinstance(value, Template) and path.text == value.text)
    ]
