"""The tables of a comparison as rows of text, for the web UI, files and the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from weighbridge_producer.comparison.pairs import Group
from weighbridge_producer.comparison.regression_gates import p_value

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from weighbridge_producer.comparison.compare import Comparison, Slice
    from weighbridge_producer.comparison.rates import Rates
    from weighbridge_producer.statistics import Interval

_LABELS_SHOWN = 40
_STEPS_SHOWN = 6  #: per check and side
CAUSES_SHOWN = 12
#: The groups that are listed, in reading order, each with the CSS class of its card.
GROUPS = (
    (Group.REGRESSED, "fail"),
    (Group.LOST, "ungradable"),
    (Group.REPAIRED, "pass"),
    (Group.CHANGED_EVIDENCE, ""),
    (Group.GAINED, ""),
    (Group.ERRORED, "errored"),
    (Group.NEW, ""),
    (Group.GONE, ""),
)


class RateRow(NamedTuple):
    """The two pass rates of a label, or of a slice of it."""

    name: str
    is_slice: bool
    pairs: int
    before: str
    after: str
    difference: str
    p: str
    css_class: str  #: of the difference: `fail` or `pass` if it is significant


class CauseRow(NamedTuple):
    """A kind of change, and how many results it has."""

    group: str
    label: str
    before: str
    after: str
    jobs: int


class ChangedRow(NamedTuple):
    """A result that changed."""

    custom_id: str
    label: str
    href: str | None  #: of the page that shows both sides
    before: str
    after: str
    steps: str  #: the steps at which checks fail on each side; empty if no failed check names steps


def rate_rows(found: Comparison) -> Iterator[RateRow]:
    """Yield the rates of each label and of its slices."""
    for label in found.labels[:_LABELS_SHOWN]:
        yield _rate_row(label.label or "lines that are not cases", label.rates)
        for each in label.slices:
            yield _rate_row(slice_name(each, label.slices), each.rates, is_slice=True)


def p_name(found: Comparison) -> str:
    """Return the name of the p-values: they are adjusted if there are several labels or slices."""
    is_adjusted = len(found.labels) > 1 or sum(len(label.slices) for label in found.labels) > 1
    return "adjusted p" if is_adjusted else "p"


def slice_name(piece: Slice, slices: Sequence[Slice]) -> str:
    """Return a slice's value, after its field if the slices are of several fields."""
    is_one = all(other.field == piece.field for other in slices)
    return piece.value if is_one else f"{piece.field} {piece.value}"


def _rate_row(name: str, rates: Rates, *, is_slice: bool = False) -> RateRow:
    if rates.before is None or rates.after is None or rates.difference is None:
        return RateRow(name, is_slice, 0, "", "", "no result judged in both", "", "")
    clear = rates.adjusted_p <= 0.05
    return RateRow(
        name,
        is_slice,
        rates.counts.pairs,
        rate_text(rates.before, rates.before_interval),
        rate_text(rates.after, rates.after_interval),
        difference_text(rates.difference, rates.interval),
        p_value(rates.adjusted_p),
        ("fail" if rates.difference < 0 else "pass") if clear else "",
    )


def rate_text(rate: float, interval: Interval | None) -> str:
    """Return a rate and its interval in percent."""
    low, high = interval or (0.0, 1.0)
    return f"{rate:.1%} [{low * 100:.1f}, {high * 100:.1f}]"


def difference_text(difference: float, interval: Interval | None) -> str:
    """Return the difference of two rates and its interval in percentage points."""
    low, high = interval or (0.0, 0.0)
    return f"{difference * 100:+.1f} [{low * 100:+.1f}, {high * 100:+.1f}]"


def cause_rows(found: Comparison) -> list[CauseRow]:
    """Return the kinds of changes, the commonest first."""
    listed = [
        CauseRow(str(group), label.label or "", before, after, jobs)
        for label in found.labels
        for (group, before, after), jobs in label.tally.causes.items()
    ]
    return sorted(listed, key=lambda cause: (-cause.jobs, cause))


def side_text(outcome: str, reason: str, cause: str, observed: str | None = None) -> str:
    """Return one side of a changed result: its outcome, and why, or else what was observed."""
    why = reason or cause or (f"observed {observed!r}" if observed else "")
    return f"{outcome}: {why}".removesuffix(": ")


def steps_texts(checks: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return, for each changed check that names steps, the steps at which it fails on each side."""
    return [
        f"{check['check']}: {' -> '.join(_steps(check[f'steps_{side}']) for side in ('before', 'after'))}"
        for check in checks
        if check["steps_before"] or check["steps_after"]
    ]


def _steps(ids: list[str]) -> str:
    more = f" and {len(ids) - _STEPS_SHOWN} more" if len(ids) > _STEPS_SHOWN else ""
    return (", ".join(ids[:_STEPS_SHOWN]) or "none") + more
