"""Lists of gate results for people: how many of each gate they show."""

from __future__ import annotations

from weighbridge_producer.gating.gates import FAILED, PASSED, GateResult
from weighbridge_producer.gating.listed_gates import listed_gates

EACH = "--min-pass-rate metadata.user:*=0.9"


def results(count: int, unmet: set[int], gate: str = EACH) -> list[GateResult]:
    return [
        GateResult(gate, f"u{n}", "90%", "50%", FAILED if n in unmet else PASSED)
        for n in range(count)
    ]


def lines(given: list[GateResult]) -> list[str]:
    return [
        line.partition(": required")[0] for gate in listed_gates(given) for line in gate.lines()
    ]


def test_a_gate_of_few_values_is_listed_in_their_order() -> None:
    assert lines(results(3, {1})) == [
        f"gate {EACH} (u0) met",
        f"gate {EACH} (u1) not met",
        f"gate {EACH} (u2) met",
    ]


def test_of_many_values_those_that_are_not_met_come_first_and_the_rest_is_one_line() -> None:
    told = lines(results(1_520, {7, 1_510}))
    assert len(told) == 21
    assert told[:3] == [
        f"gate {EACH} (u7) not met",
        f"gate {EACH} (u1510) not met",
        f"gate {EACH} (u0) met",
    ]
    assert told[-1] == f"gate {EACH}: and 1,500 more, all met"


def test_more_that_are_not_met_than_are_listed_are_counted() -> None:
    assert lines(results(50, set(range(45))))[-1] == (
        f"gate {EACH}: and 30 more, 25 of them not met"
    )


def test_every_gate_that_was_asked_for_is_listed() -> None:
    given = [each for n in range(60) for each in results(1, set(), f"--min-pass-rate l{n}=0.9")]
    assert len(lines(given)) == 60
