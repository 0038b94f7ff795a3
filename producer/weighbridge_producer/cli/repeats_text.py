"""Terminal output for repeated cases: reliability, differences, and flaky cases."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weighbridge.text import pluralize
from weighbridge_producer.cli.show import out, shown, table
from weighbridge_producer.comparison.regression_gates import p_value
from weighbridge_producer.comparison.repeats_rows import limits_text, rate_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weighbridge_producer.comparison.repeats import Reliability, RepeatedLabel
    from weighbridge_producer.comparison.runs import Run

_LABELS_SHOWN = 20
_FLAKY_SHOWN = 5
_NAME_WIDTH = 30


def print_repeats(runs: Sequence[Run], labels: Sequence[RepeatedLabel]) -> None:
    """Print how reliably cases passed in each run, by label."""
    for label in labels[:_LABELS_SHOWN]:
        out.print(f"[bold]{shown(label.label or '(bad lines)', _NAME_WIDTH)}[/]")
        _print_reliability(runs, label)
        _print_differences(runs, label)
        for run, reliability in zip(runs, label.runs, strict=True):
            _print_flaky(run.name, reliability)
        out.print()
    if (more := len(labels) - _LABELS_SHOWN) > 0:
        out.print(f"... and {pluralize(more, 'more label')}")


def _print_reliability(runs: Sequence[Run], label: RepeatedLabel) -> None:
    numbers = ("cases", "pass rate", "k", "pass@k", "pass^k", "flaky")
    rows = table("run", *numbers, right=numbers)
    for row in rate_rows(runs, label):
        rows.add_row(shown(row.run, _NAME_WIDTH), *map(shown, row[1:]))
    out.print(rows)


def _print_differences(runs: Sequence[Run], label: RepeatedLabel) -> None:
    for number, run in enumerate(runs[1:], start=1):
        difference, interval = label.difference(number), label.interval(number)
        if difference is None:
            out.print(f"{shown(run.name, _NAME_WIDTH)}: no case was judged in both runs")
            continue
        worse, better = label.worse_and_better(number)
        out.print(
            f"{shown(run.name, _NAME_WIDTH)}: {difference * 100:+.1f} points{shown(limits_text(interval))},"
            f" {worse:,} worse, {better:,} better, p {p_value(label.adjusted_p[number - 1])}"
        )


def _print_flaky(name: str, reliability: Reliability) -> None:
    listed = reliability.flaky_cases[:_FLAKY_SHOWN]
    if not listed:
        return
    cases = ", ".join(
        f"{shown(case, _NAME_WIDTH)} ({passed} of {judged})" for case, (judged, passed) in listed
    )
    left = reliability.flaky - len(listed)
    more = f" and {left:,} more" if left else ""
    out.print(f"flaky in {shown(name, _NAME_WIDTH)}: {cases}{more}")
