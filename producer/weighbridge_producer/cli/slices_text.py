"""Terminal output of slices: one row per value of a field and label."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from weighbridge.text import percent
from weighbridge_producer.cli.show import out, shown, table

if TYPE_CHECKING:
    from rich.console import Console

    from weighbridge_producer.gating.slices import SliceTally

_NAME_WIDTH = 28
_NUMBERS = ("passed", "", "failed", "ungradable", "errored")


def print_slices(slices: SliceTally, console: Console = out) -> None:
    """Print the outcomes for each value of each field, in one table per field."""
    rows = slices.slices()
    labelled = len({row.summary.label for row in rows}) > 1
    for field, of_field in groupby(rows, key=lambda row: row.field):
        names = [shown(field, _NAME_WIDTH), *(["label"] if labelled else [])]
        made = table(*names, *_NUMBERS, right=_NUMBERS)
        for row in of_field:
            found = row.summary
            judged, graded = found.passed + found.failed, found.graded
            label = [shown(found.label or "(bad lines)", _NAME_WIDTH)] if labelled else []
            made.add_row(
                shown(row.value, _NAME_WIDTH),
                *label,
                f"{found.passed:,}/{judged:,}",
                percent(found.passed, judged),
                f"{found.failed:,}/{judged:,}",
                f"{found.ungradable:,}/{graded:,}",
                f"{found.errored:,}/{found.finished:,}",
            )
        console.print()
        console.print(made)
