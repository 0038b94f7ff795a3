"""The tables of repeats as rows of text, for files and the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from weighbridge.text import pluralize
from weighbridge_producer.comparison.regression_gates import p_value

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from weighbridge_producer.comparison.reliability import Reliability, RepeatedLabel
    from weighbridge_producer.comparison.runs import Run
    from weighbridge_producer.statistics import Interval


#: Titles of columns, in lower case in texts.
RATE_COLUMNS = (
    "Run",
    "Cases",
    "Pass rate",
    "k",
    "pass@k",
    "pass^k",
    "Flaky",
    "Ungradable",
    "Errored",
)


def difference_columns(labels: int) -> tuple[str, ...]:
    """Return the columns of the differences of runs, for a number of labels."""
    name = p_name(labels)
    p = name if labels == 1 else name.capitalize()
    return ("Run", "Difference", "Worse", "Better", p, "Lost repeats")


def p_name(labels: int) -> str:
    """Return the name of the p-values of a number of labels: those of several are adjusted."""
    return "adjusted p" if labels > 1 else "p"


class RateRow(NamedTuple):
    """The reliability of a run's cases for one `k`; what does not depend on it is in the first row only."""

    run: str
    cases: str
    rate: str
    k: str
    pass_at_k: str
    pass_hat_k: str
    flaky: str
    ungradable: str  #: repeats
    errored: str  #: repeats


class DifferenceRow(NamedTuple):
    """The difference of a further run from the first."""

    run: str
    difference: str
    worse: str
    better: str
    p: str
    lost: str  #: repeats that were judged in the first run only, and in how many cases


class FlakyRow(NamedTuple):
    """A flaky case."""

    run: str
    case: str
    passed: str


def label_name(label: RepeatedLabel) -> str:
    """Return the name of a label, or of lines that are not cases."""
    return label.label or "(invalid lines)"


def rate_rows(runs: Sequence[Run], label: RepeatedLabel) -> Iterator[RateRow]:
    """Yield the reliability of the cases in each run, for each `k`."""
    for run, found in zip(runs, label.runs, strict=True):
        unjudged = (f"{found.ungradable:,}", f"{found.errored:,}")
        first = (run.name, rate_text(found), f"{found.flaky:,}", *unjudged)
        for at in found.at_k():
            name, rate, *counts = first
            estimates = (f"{at.k}", f"{at.pass_at_k:.1%}", f"{at.pass_hat_k:.1%}")
            yield RateRow(name, f"{at.cases:,}", rate, *estimates, *counts)
            first = ("", "", "", "", "")
        if not found.cases:
            yield RateRow(run.name, "0", "", "", "", "", "", *unjudged)


def difference_rows(runs: Sequence[Run], label: RepeatedLabel) -> Iterator[DifferenceRow]:
    """Yield the difference of each further run from the first."""
    for number, run in enumerate(runs[1:], start=1):
        difference, interval = label.difference(number), label.interval(number)
        lost = lost_text(label.lost_repeats[number - 1], label.lost[number - 1])
        if difference is None:
            yield DifferenceRow(run.name, "no case was judged in both runs", "", "", "", lost)
            continue
        worse, better = label.worse_and_better(number)
        text = f"{difference * 100:+.1f}{limits_text(interval)}"
        p = p_value(label.adjusted_p[number - 1])
        yield DifferenceRow(run.name, text, f"{worse:,}", f"{better:,}", p, lost)


def lost_text(repeats: int, cases: int) -> str:
    """Return how many repeats were lost, and in how many cases."""
    return f"{repeats:,} in {pluralize(cases, 'case')}" if repeats else "0"


def flaky_rows(runs: Sequence[Run], label: RepeatedLabel) -> Iterator[FlakyRow]:
    """Yield the flakiest cases of each run."""
    for run, found in zip(runs, label.runs, strict=True):
        for case, (judged, passed) in found.flaky_cases:
            yield FlakyRow(run.name, case, f"{passed} of {judged}")


def rate_text(reliability: Reliability) -> str:
    """Return the mean pass rate with its interval."""
    return f"{reliability.rate or 0.0:.1%}{limits_text(reliability.interval, signed=False)}"


def limits_text(interval: Interval | None, *, signed: bool = True) -> str:
    """Return the limits of an interval in percent, with a space before; empty without an interval."""
    if interval is None:
        return ""
    form = "+.1f" if signed else ".1f"
    return f" [{interval.low * 100:{form}}, {interval.high * 100:{form}}]"
