"""Terminal output of slices: one row per value of a field and label."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from weighbridge_producer.cli.show import cell, err, out, shown, table
from weighbridge_producer.cli.summary_tables import RATE_COLUMNS, rates
from weighbridge_producer.gating.fields import plain_name

if TYPE_CHECKING:
    from rich.console import Console

    from weighbridge_producer.gating.slices import SliceTally
    from weighbridge_producer.input.mapping.field_mapping import FieldMapping

_NAME_WIDTH = 28


def print_slice_notes(slices: SliceTally, mapping: FieldMapping | None = None) -> None:
    """Print a note on standard error for each field that is a list or that no result has, and how to map it if the mapping lacks it."""
    for note in slices.notes():
        err.print(shown(note))
    if mapping is None or mapping.takes_rest or mapping.entries:
        return
    sources = {str(value): name for name, value in mapping.metadata.items()}
    unknown = [name for name in slices.absent if plain_name(name) not in slices.present]
    for column in [name.partition(".")[2] for name in unknown]:
        root = column.partition(".")[0]
        if column in sources:
            hint = f"column {column!r} is copied as {sources[column]!r}; to keep its name, map metadata.{column}={column}"
            err.print(shown(f"  {hint}"))
        elif root not in mapping.metadata:
            hint = f"to copy a column {root!r} to the results, add --map metadata={root}"
            err.print(shown(f"  {hint}"))


def print_slices(slices: SliceTally, console: Console = out) -> None:
    """Print the outcomes for each value of each field, in one table per field."""
    rows = slices.slices()
    labelled = len({row.summary.label for row in rows}) > 1
    for field, of_field in groupby(rows, key=lambda row: row.field):
        names = [cell(field, _NAME_WIDTH, console), *(["label"] if labelled else [])]
        made = table(*names, *RATE_COLUMNS, right=RATE_COLUMNS)
        for row in of_field:
            found = row.summary
            label = [cell(found.label or "(bad lines)", _NAME_WIDTH, console)] if labelled else []
            made.add_row(cell(row.value, _NAME_WIDTH, console), *label, *rates(found))
        console.print()
        console.print(made)
