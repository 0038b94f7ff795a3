"""Gates of a comparison: when they are met, and their messages."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

from support.result_lines import case, graded
from weighbridge.errors import InvalidGateError
from weighbridge.jobs.batch_state import BatchStatus
from weighbridge_producer import compare
from weighbridge_producer.comparison.regression_gates import RegressionGates, incomplete_runs
from weighbridge_producer.comparison.runs import run_of_batch


def regressed(count: int, of: int = 100, repaired: int = 0):
    def answers(passing):
        return [case(f"q{n}", "Lisbon" if passing(n) else "Porto") for n in range(of)]

    before = answers(lambda n: n < of - repaired)
    return compare(graded(before), graded(answers(lambda n: n >= count)))


def statuses(gates: RegressionGates, comparison) -> list[int]:
    return [result.status for result in gates.check(comparison)]


@pytest.mark.parametrize(
    ("allowed", "count", "status"),
    [("0", 0, 0), ("0", 1, 100), ("3", 3, 0), ("3", 4, 100), ("3%", 3, 0), ("2.9 %", 3, 100)],
)
def test_regressions_are_allowed_up_to_a_number_or_a_share(allowed, count, status) -> None:
    assert statuses(RegressionGates(max_regressions=allowed), regressed(count)) == [status]


@pytest.mark.parametrize(
    ("count", "repaired", "min_effect", "status"),
    [
        (5, 0, "", 0),  # p = 0.0625
        (6, 0, "", 100),  # p = 0.03125
        (6, 0, "0.06", 100),
        (6, 0, "6%", 100),
        (6, 0, "0.07", 0),
        (6, 0, "7 %", 0),
        (0, 20, "0", 0),
    ],
)
def test_a_loss_counts_when_it_is_significant_and_large_enough(
    count, repaired, min_effect, status
) -> None:
    gates = RegressionGates(fail_on_regression=True, min_effect=min_effect)
    assert statuses(gates, regressed(count, repaired=repaired)) == [status]


def test_a_gate_says_what_it_required_and_what_it_saw() -> None:
    gates = RegressionGates(max_regressions="2", fail_on_regression=True)
    few, lower = (result.line for result in gates.check(regressed(7)))
    assert few == (
        "gate --max-regressions 2 not met: required at most 2 regressed;"
        " seen 7 of 100 pairs judged in both runs"
    )
    assert lower == (
        "gate --fail-on-regression not met: required no label's pass rate significantly lower (adjusted p of 0.05 or less);"
        " seen string-match -7.0 points, adjusted p 0.016"
    )


def test_results_that_are_not_judged_any_more_are_trouble_unless_allowed() -> None:
    comparison = compare(graded([case("a"), case("b")]), graded([case("a")]))
    assert statuses(RegressionGates(max_regressions="0"), comparison) == [0, 1]
    assert statuses(RegressionGates(max_regressions="0", allow_lost=True), comparison) == [0]
    assert statuses(RegressionGates(), comparison) == []


def test_runs_without_a_common_result_meet_no_gate() -> None:
    comparison = compare(graded([case("a")]), graded([case("b")]))
    gates = RegressionGates(max_regressions="0", fail_on_regression=True, allow_lost=True)
    assert statuses(gates, comparison) == [1, 1]


@pytest.mark.parametrize("text", ["many", "-1", "1.5", "%", "1e3"])
def test_what_is_no_number_of_regressions_is_refused(text) -> None:
    with pytest.raises(InvalidGateError, match=r"write for instance 0, 12 or 0\.5%"):
        RegressionGates(max_regressions=text)


def test_an_effect_without_its_gate_is_refused() -> None:
    with pytest.raises(InvalidGateError, match="--fail-on-regression"):
        RegressionGates(min_effect="10%")


@pytest.mark.parametrize("text", ["many", "-0.1", "101%", "nan", "%", " "])
def test_what_is_no_share_is_refused_as_an_effect(text: str) -> None:
    with pytest.raises(InvalidGateError, match=r"write for instance 0\.02 or 2%"):
        RegressionGates(fail_on_regression=True, min_effect=text)


def test_an_effect_is_named_as_it_was_given() -> None:
    gates = RegressionGates(fail_on_regression=True, min_effect="2.34567%")
    assert gates.check(regressed(0))[0].line.startswith(
        "gate --fail-on-regression --min-effect 2.34567% met: required no label's pass rate significantly lower by 2.34567 points"
    )


def test_a_batch_that_lacks_results_keeps_gates_from_being_decided() -> None:
    whole, ended = run_of_batch(NoPages("wb_1")), run_of_batch(NoPages("wb_2"), BatchStatus.FAILED)
    assert incomplete_runs([whole]) == []
    [rule] = incomplete_runs([whole, ended])
    assert (rule.status, rule.is_implied) == (1, True)
    assert rule.line.endswith("required a result of each job; seen batch wb_2 is failed")


class NoPages(NamedTuple):
    """A batch without results."""

    id: str

    def pages(self, cursor: str | None = None, *, follow: bool = True) -> list[Any]:
        return []
