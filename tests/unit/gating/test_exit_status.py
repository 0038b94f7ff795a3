"""The rule by which results become an exit status."""

from __future__ import annotations

import pytest

from weighbridge.jobs.batch_state import BatchState, BatchStatus
from weighbridge.jobs.outcome import Counts, GraderSummary
from weighbridge_producer.gating.exit_status import decide, decide_on
from weighbridge_producer.gating.fields import parse_field
from weighbridge_producer.gating.gates import GateKind, parse_gate
from weighbridge_producer.gating.slices import SliceTally


def summary(label="string-match", **counts):
    return GraderSummary(label, "string-match", **counts)


def decided(*labels, pass_rate=(), gradable=(), vacuous=(), incomplete=""):
    kinds = zip(GateKind, (pass_rate, gradable, vacuous), strict=True)
    gates = [
        parse_gate(kind, text)
        for kind, given in kinds
        for text in ((given,) if isinstance(given, str) else given)
    ]
    return decide(gates, labels, incomplete=incomplete)


@pytest.mark.parametrize(
    ("counts", "status"),
    [
        ({"passed": 3}, 0),
        ({"passed": 2, "failed": 1}, 100),
        ({"failed": 3}, 100),
        ({}, 1),
        ({"ungradable": 3}, 1),
        ({"errored": 3}, 1),
        ({"passed": 2, "ungradable": 1}, 1),
        ({"passed": 2, "errored": 1}, 1),
        ({"failed": 2, "errored": 1}, 1),
        ({"failed": 2, "ungradable": 1}, 100),
    ],
)
def test_all_passed_is_0_some_failed_is_100_and_what_could_not_be_judged_is_1(counts, status):
    assert decided(summary(**counts)).status == status


@pytest.mark.parametrize(
    ("counts", "rate", "status"),
    [
        ({"passed": 9, "failed": 1}, "0.9", 0),
        ({"passed": 9, "failed": 1}, "0.91", 100),
        ({"passed": 55, "failed": 45}, "0.55", 0),
        ({"passed": 55, "failed": 45}, "55%", 0),
        ({"passed": 7, "failed": 93}, "0.07", 0),
        ({"failed": 1}, "0.0", 0),
        ({"passed": 9, "failed": 1, "errored": 1}, "0.5", 1),
        ({"passed": 9, "failed": 1, "ungradable": 1}, "0.5", 1),
        ({"ungradable": 1}, "0", 1),
    ],
)
def test_a_pass_rate_forgives_failures_and_nothing_else(counts, rate, status):
    assert decided(summary(**counts), pass_rate=rate).status == status


@pytest.mark.parametrize(
    ("counts", "share", "status"),
    [
        ({"passed": 9, "errored": 1}, "0.9", 0),
        ({"passed": 9, "ungradable": 1}, "0.9", 0),
        ({"passed": 55, "errored": 45}, "0.55", 0),
        ({"passed": 8, "errored": 1, "ungradable": 1}, "0.9", 1),
        ({"passed": 8, "failed": 1, "errored": 1}, "0.9", 100),
    ],
)
def test_a_gradable_share_forgives_what_could_not_be_judged_and_no_failure(counts, share, status):
    assert decided(summary(**counts), gradable=share).status == status


@pytest.mark.parametrize("code", ["INPUT_TRUNCATED", "INPUT_TOO_LARGE"])
def test_no_gate_is_enough_for_an_input_that_was_not_read_to_its_end(code):
    rows = summary(passed=99), GraderSummary("", "", errored=1, causes=((code, 1),))
    decision = decided(*rows, pass_rate="0.5", gradable="0.5")
    assert decision.status == 1
    assert decision.reason.startswith(f"the input was not read to its end ({code})")
    assert [gate.met for gate in decision.gates] == [True, True, False]


def test_both_thresholds_forgive_both():
    row = summary(passed=8, failed=1, errored=1)
    assert decided(row, pass_rate="0.8", gradable="0.9").status == 0


def test_a_batch_that_did_not_complete_is_trouble_even_when_all_of_it_passed():
    decision = decided(summary(passed=3), incomplete="the batch is cancelled")
    assert (decision.status, decision.reason) == (1, "the batch is cancelled")


@pytest.mark.parametrize(
    ("counts", "why"),
    [
        ({"passed": 2, "ungradable": 1}, "1 job was ungradable; --min-gradable allows some"),
        ({"passed": 2, "ungradable": 2}, "2 jobs were ungradable; --min-gradable allows some"),
        ({"passed": 2, "errored": 3}, "3 jobs errored; --min-gradable allows some"),
        (
            {"errored": 3, "ungradable": 1},
            "3 jobs errored, 1 ungradable; --min-gradable allows some",
        ),
        ({}, "there was nothing to grade"),
        (
            {"passed": 1, "failed": 1},
            "1 of 2 failed, and none may fail; --min-pass-rate allows some",
        ),
        ({"passed": 1}, ""),
    ],
)
def test_the_reason_and_the_rule_of_an_exit_status_are_reported_without_a_gate(counts, why):
    decision = decided(summary(**counts))
    assert decision.reason == why
    assert [gate.status for gate in decision.gates] == [decision.status] * bool(why)


def test_a_run_that_failed_fast_has_a_rule_that_is_not_met_and_says_whether_all_was_read():
    counts = Counts(total=40, passed=3, failed=9, cancelled=28)
    for sealed, unread in ((True, ""), (False, "; the rest of the input was not read")):
        state = BatchState(
            *("wb_1", BatchStatus.CANCELLED, counts, 0.0, 1.0, 1.0, sealed),
            *(2, 40, 900, 0, 0, 0.1, 0, None),
        )
        decision = decide_on(state, [], fail_fast=5)
        assert (decision.status, decision.reason) == (
            100,
            f"9 jobs failed, and --fail-fast cancelled 28 of 40 submitted until then{unread}",
        )
        [gate] = decision.gates
        assert gate.line == (
            "gate --fail-fast 5 not met: required fewer than 5 failed jobs;"
            f" seen 9 failed, 28 of 40 jobs cancelled{unread}"
        )


def test_failures_without_a_gate_are_counted_among_the_jobs_of_all_labels():
    decision = decided(summary("a", passed=7, failed=1), summary("b", passed=8))
    assert decision.reason.startswith("1 of 16 failed")


def test_a_gate_of_a_label_forgives_failures_of_that_label_only():
    rows = (summary("a", passed=9, failed=1), summary("b", passed=9, failed=1))
    decision = decided(*rows, pass_rate="a=0.9")
    assert decision.status == 100
    assert decision.reason == (
        "1 of 10 failed that no --min-pass-rate covers (b), and none may fail;"
        " add a --min-pass-rate for all jobs, or for the label"
    )
    assert decided(*rows, pass_rate=["a=0.9", "b=90%"]).status == 0
    assert decided(*rows, pass_rate="*=0.9").status == 0
    assert decided(*rows, pass_rate="*=0.91").status == 100
    assert decided(*rows, pass_rate=["a=0.95", "0.9"]).status == 100


def test_gates_for_a_field_that_are_met_are_said_to_allow_no_failure_by_themselves():
    slices = SliceTally([parse_field("metadata.topic")])
    for outcome in ("passed", "failed"):
        slices.add("a", outcome, {"metadata.topic": "x"}, vacuous=False)
    gates = [parse_gate(GateKind.MIN_PASS_RATE, "metadata.topic:*=0.5")]
    decision = decide(gates, [summary("a", passed=1, failed=1)], slices)
    assert [gate.met for gate in decision.gates] == [True, False]
    assert decision.status == 100
    assert decision.reason == (
        "1 of 2 failed (a), and none may fail; a --min-pass-rate for a field is an additional requirement:"
        " add one for all jobs, or for the label, to allow some"
    )


@pytest.mark.parametrize("gates", [{"gradable": "0.9"}, {"vacuous": "0.5"}])
def test_failures_without_a_pass_rate_are_a_gate_that_is_not_met(gates):
    decision = decided(summary("a", passed=684, failed=116), **gates)
    assert (decision.status, [gate.met for gate in decision.gates]) == (100, [True, False])
    told = "116 of 800 failed, and none may fail; --min-pass-rate allows some"
    assert decision.reason == decision.as_dict()["exit_reason"] == told
    assert decision.gates[-1].line == (
        "gate no failed job not met: required none (--min-pass-rate allows some); seen 116 of 800 failed"
    )


@pytest.mark.parametrize("outcome", ["errored", "ungradable"])
def test_what_could_not_be_judged_without_a_gradable_share_is_a_gate_that_is_not_met(outcome):
    decision = decided(summary("a", passed=9, **{outcome: 1}), pass_rate="0.9")
    assert [(gate.gate, gate.met) for gate in decision.gates] == [
        ("--min-pass-rate 0.9", True),
        (f"no {outcome} job", False),
    ]
    assert decision.gates[-1].seen == f"1 of 10 {outcome}"


def test_bad_lines_have_no_label_and_only_a_gate_for_all_jobs_forgives_them():
    rows = (summary("a", passed=9), GraderSummary("", "", errored=1))
    assert decided(*rows, gradable="*=1").status == 1
    assert decided(*rows, gradable="0.9").status == 0


def test_a_pass_rate_of_nothing_but_vacuous_passes_is_not_met_unless_they_are_accepted():
    row = summary(passed=5, vacuous=5)
    decision = decided(row, pass_rate="0.9")
    assert decision.status == 100
    assert "all of them vacuous" in decision.gates[0].line
    assert decided(row, pass_rate="0.9", vacuous="1").status == 0
    assert decided(summary(passed=5, vacuous=4), pass_rate="0.9").status == 0


@pytest.mark.parametrize(("share", "status"), [("0.4", 0), ("39%", 100), ("0", 100), ("1", 0)])
def test_vacuous_passes_are_allowed_up_to_a_share(share, status):
    assert decided(summary(passed=5, vacuous=2), vacuous=share).status == status


def test_the_decision_has_a_json_form():
    told = decided(summary(passed=1, failed=1), pass_rate="0.6").as_dict()
    assert told == {
        "exit_status": 100,
        "exit_reason": "",
        "gates": [
            {
                "gate": "--min-pass-rate 0.6",
                "scope": "",
                "met": False,
                "required": "at least 60% of judged jobs passed",
                "seen": "50.0% (1 of 2 judged)",
            }
        ],
    }
