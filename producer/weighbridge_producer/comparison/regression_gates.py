"""Gates of a comparison: the number of results that may regress, and the significance of a lower pass rate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from weighbridge.errors import InvalidGateError
from weighbridge.text import pluralize
from weighbridge_producer.comparison.allowance import Allowance
from weighbridge_producer.comparison.pairs import Group
from weighbridge_producer.gating.gates import ERROR, FAILED, PASSED, GateResult, parse_share

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from weighbridge_producer.comparison.compare import Comparison
    from weighbridge_producer.comparison.reliability import RepeatedLabel
    from weighbridge_producer.comparison.runs import Run

SIGNIFICANCE = 0.05  #: differences with at most this adjusted p-value are significant
_MAX_REGRESSIONS = "--max-regressions"
_LABELS_NAMED = 5
_NOTHING_LOST = "a verdict for each result judged before"
_REPEATS_KEPT = "as many judged repeats of each case as before"


@dataclass(frozen=True, slots=True)
class RegressionGates:
    """The gates of a comparison."""

    #: a number, or a percentage of the pairs judged in both runs; empty: no gate
    max_regressions: str = ""
    fail_on_regression: bool = False  #: True if no label's pass rate may be significantly lower
    #: a share such as `0.02` or `2%`: smaller losses of a pass rate are ignored
    min_effect: str = ""
    allow_lost: bool = False  #: True to accept results that only the first run judged

    def __post_init__(self) -> None:
        if self.max_regressions:
            Allowance.parse(_MAX_REGRESSIONS, self.max_regressions)
        if self.min_effect and parse_share(self.min_effect) is None:
            raise InvalidGateError(
                f"--min-effect {self.min_effect[:40]!r} has no share from 0 to 1",
                "write for instance 0.02 or 2%",
            )
        if self.least_effect and not self.fail_on_regression:
            raise InvalidGateError(
                "--min-effect says which losses --fail-on-regression counts", "give both"
            )

    @property
    def least_effect(self) -> float:
        """The smallest loss of a pass rate that counts, as a fraction of 1."""
        return parse_share(self.min_effect) or 0.0

    def check(self, comparison: Comparison) -> list[GateResult]:
        """Return the result of each gate."""
        results = []
        if self.max_regressions:
            results.append(self._count_of_regressions(comparison))
        if self.fail_on_regression:
            results.append(self._losses(comparison))
        if results and not self.allow_lost and comparison.lost_verdicts:
            results.append(_lost(comparison))
        return results

    def _count_of_regressions(self, comparison: Comparison) -> GateResult:
        regressed, judged = comparison.groups[Group.REGRESSED], comparison.judged_pairs
        allowed = Allowance(self.max_regressions)
        gate = f"{_MAX_REGRESSIONS} {allowed.text}"
        required = f"at most {allowed.text}{' of results' if allowed.is_share else ''} regressed"
        seen = f"{regressed:,} of {judged:,} pairs judged in both runs"
        if not judged:
            return GateResult(gate, "", required, seen, ERROR)
        status = FAILED if allowed.is_exceeded(regressed, judged) else PASSED
        return GateResult(gate, "", required, seen, status)

    def check_repeats(self, labels: Sequence[RepeatedLabel], run: int) -> list[GateResult]:
        """Return the result of each gate for a run of repeated cases; `run` is its number, from 1."""
        if not self.fail_on_regression:
            return []
        losses = [
            _Loss(label.label, label.difference(run), label.adjusted_p[run - 1]) for label in labels
        ]
        results = [self._of_losses(losses)]
        lost = sum(label.lost_repeats[run - 1] for label in labels)
        if lost and not self.allow_lost:
            results.append(_lost_repeats(labels, run, lost))
        return results

    def _losses(self, comparison: Comparison) -> GateResult:
        return self._of_losses(
            [
                _Loss(label.label or "", label.rates.difference, label.rates.adjusted_p)
                for label in comparison.labels
            ]
        )

    def _of_losses(self, differences: list[_Loss]) -> GateResult:
        gate = "--fail-on-regression"
        least = ""
        if self.least_effect:
            gate += f" --min-effect {self.min_effect.strip()}"
            least = f" by {points(self.least_effect)} or more"
        required = f"no label's pass rate significantly lower{least} (adjusted p of {SIGNIFICANCE} or less)"
        measured = [each for each in differences if each.difference is not None]
        if not measured:
            return GateResult(gate, "", required, "nothing judged in both runs", ERROR)
        lost = [each for each in measured if self._is_loss(each)]
        # For a gate that is met, show the label closest to a loss.
        nearest = min(measured, key=lambda each: (each.difference or 0.0, each.adjusted_p))
        seen = "; ".join(map(_loss_text, lost[:_LABELS_NAMED] or [nearest]))
        if (more := len(lost) - _LABELS_NAMED) > 0:
            seen += f"; and {more:,} more labels"
        return GateResult(gate, "", required, seen, FAILED if lost else PASSED)

    def _is_loss(self, loss: _Loss) -> bool:
        difference = loss.difference or 0.0
        large_enough = difference < 0 and -difference >= self.least_effect
        return large_enough and loss.adjusted_p <= SIGNIFICANCE


class _Loss(NamedTuple):
    """The difference between the pass rates of a label."""

    label: str
    difference: float | None
    adjusted_p: float


def _loss_text(loss: _Loss) -> str:
    difference = points(loss.difference or 0.0, signed=True)
    return f"{loss.label} {difference}, adjusted p {p_value(loss.adjusted_p)}"


def incomplete_runs(runs: Iterable[Run]) -> list[GateResult]:
    """Return an unmet rule for each batch that lacks results: what it lacks might decide a gate otherwise."""
    return [
        GateResult(
            *("complete results", "", "a result of each job"),
            *(f"batch {run.name} is {run.incomplete}", ERROR),
            is_implied=True,
        )
        for run in runs
        if run.incomplete
    ]


def _lost(comparison: Comparison) -> GateResult:
    groups = comparison.groups
    lost = groups[Group.LOST]
    seen = (
        f"{comparison.lost_verdicts:,} that the first run judged and the second did not"
        f" ({lost:,} lost, {comparison.lost_verdicts - lost:,} gone); --allow-lost accepts that"
    )
    return GateResult("no lost results", "", _NOTHING_LOST, seen, ERROR)


def _lost_repeats(labels: Sequence[RepeatedLabel], run: int, lost: int) -> GateResult:
    then = [label.runs[run] for label in labels]
    seen = (
        f"{pluralize(sum(label.lost[run - 1] for label in labels), 'case')} with {lost:,} fewer judged repeats than in the"
        f" first run (in all: {sum(each.errored for each in then):,} errored,"
        f" {sum(each.ungradable for each in then):,} ungradable); --allow-lost accepts that"
    )
    return GateResult("no lost results", "", _REPEATS_KEPT, seen, ERROR)


def points(difference: float, *, signed: bool = False) -> str:
    """Return a difference of rates in percentage points."""
    return f"{difference * 100:+.1f} points" if signed else f"{difference * 100:.12g} points"


def p_value(p: float) -> str:
    """Return a p-value with three digits, or what it is below."""
    return "< 0.0001" if p < 0.0001 else f"{p:.4f}" if p < 0.01 else f"{p:.3f}"
