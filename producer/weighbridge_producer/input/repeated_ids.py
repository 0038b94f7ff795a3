"""Ids that repeat in several files of an input, which the file's name makes different."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from weighbridge_producer.input.first_rows import first_rows
from weighbridge_producer.input.mapping.mapping_text import value_of
from weighbridge_producer.input.mapping.row_values import FILE, MISSING, Path, Template, Value

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from weighbridge.settings import Settings
    from weighbridge_producer.input.first_rows import Opened, Recognised
    from weighbridge_producer.input.mapping.row_values import Row

_FILES = 20  #: whose first rows are compared with those of the first file
_ID = "custom_id"
_NOTE = f"{_ID}: ids repeat in several files, so the file's name is part of them"


def with_file_in_id(seen: Recognised, files: Sequence[Opened], settings: Settings) -> Recognised:
    """Return rows whose proposed id has the file's name, if the first rows of another file have ids of the first."""
    proposal = seen.proposal
    written = proposal.fields.get(_ID, "") if proposal else ""
    if proposal is None or not written or len(files) < 2:
        return seen
    value = value_of(written)
    template = Template(f"{{{FILE}}}/{_in_template(value)}")
    if template.paths() != (Path(FILE), *_paths_of(value), Path(template.text)):
        return seen  # a name with braces cannot be in a template
    if not _repeat(value, seen, files[1 : _FILES + 1], settings):
        return seen
    mapping = proposal.mapping and replace(proposal.mapping, custom_id=template)
    fields = {**proposal.fields, _ID: template.text}
    notes = (*proposal.notes, _NOTE)
    changed = replace(proposal, mapping=mapping, fields=fields, notes=notes)
    rows: list[Row] = [{FILE: files[0].name, **row} for row in seen.rows]
    return replace(seen, rows=rows, proposal=changed)


def _repeat(value: Value, seen: Recognised, others: Iterable[Opened], settings: Settings) -> bool:
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
