"""Terminal output for repeated cases: reliability, differences, and flaky cases."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weighbridge.text import pluralize
from weighbridge_producer.cli.show import cell, out, shown, table
from weighbridge_producer.comparison.notes import notes_of_repeats
from weighbridge_producer.comparison.repeats_rows import (
    RATE_COLUMNS,
    difference_rows,
    label_name,
    p_name,
    rate_rows,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weighbridge_producer.comparison.reliability import Reliability, RepeatedLabel
    from weighbridge_producer.comparison.runs import Run

_LABELS_SHOWN = 20
_FLAKY_SHOWN = 5
_NAME_WIDTH = 30


def print_repeats(runs: Sequence[Run], labels: Sequence[RepeatedLabel]) -> None:
    """Print how reliably cases passed in each run, by label."""
    for label in labels[:_LABELS_SHOWN]:
        out.print(f"[bold]{cell(label_name(label), _NAME_WIDTH)}[/]")
        _print_reliability(runs, label)
        _print_differences(runs, label, p_name(len(labels)))
        for run, reliability in zip(runs, label.runs, strict=True):
            _print_flaky(run.name, reliability)
        out.print()
    if (more := len(labels) - _LABELS_SHOWN) > 0:
        out.print(f"... and {pluralize(more, 'more label')}")
    for note in notes_of_repeats(labels, runs):
        out.print(shown(note))


def _print_reliability(runs: Sequence[Run], label: RepeatedLabel) -> None:
    names = [name.lower() for name in RATE_COLUMNS]
    rows = table(*names, right=names[1:])
    for row in rate_rows(runs, label):
        rows.add_row(cell(row.run, _NAME_WIDTH), *map(shown, row[1:]))
    out.print(rows)


def _print_differences(runs: Sequence[Run], label: RepeatedLabel, p: str) -> None:
    for row in difference_rows(runs, label):
        more = f" points, {row.worse} worse, {row.better} better, {p} {row.p}" if row.p else ""
        lost = f"; lost repeats: {row.lost}" if row.lost != "0" else ""
        out.print(f"{cell(row.run, _NAME_WIDTH)}: {shown(row.difference)}{more}{lost}")


def _print_flaky(name: str, reliability: Reliability) -> None:
    listed = reliability.flaky_cases[:_FLAKY_SHOWN]
    if not listed:
        return
    cases = ", ".join(
        f"{cell(case, _NAME_WIDTH)} ({passed} of {judged})" for case, (judged, passed) in listed
    )
    left = reliability.flaky - len(listed)
    more = f" and {left:,} more" if left else ""
    out.print(f"flaky in {cell(name, _NAME_WIDTH)}: {cases}{more}")
