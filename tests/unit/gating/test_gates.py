"""Gates: their syntax, the jobs that they apply to, and their messages."""

from __future__ import annotations

import pytest

from support.result_lines import case, graded
from weighbridge.errors import InvalidFilterError, InvalidGateError
from weighbridge.jobs.outcome import GraderSummary
from weighbridge_producer.gating.fields import value_key
from weighbridge_producer.gating.gates import GateKind, check_gates, parse_gate
from weighbridge_producer.gating.slices import SliceTally

RATE = GateKind.MIN_PASS_RATE
LABELS = [GraderSummary("a", "x", passed=3, failed=1), GraderSummary("b=c", "x", passed=1)]


def lines(*texts: str, kind: GateKind = RATE, slices: SliceTally | None = None) -> list[str]:
    gates = [parse_gate(kind, text) for text in texts]
    return [result.line for result in check_gates(gates, LABELS, slices)]


@pytest.mark.parametrize(
    "text", ["0", "1", "0.5", "50%", "99.9 %", "a=0.5", "b=c=0.5", "*=1", "metadata.x:y=z=0.5"]
)
def test_a_gate_is_a_share_with_or_without_a_scope(text: str) -> None:
    assert parse_gate(RATE, text).text.startswith("--min-pass-rate ")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2",
        "-0.1",
        "101%",
        "nan",
        "inf",
        "a=",
        "=",
        "a",
        "0,5",
        "metadata.x=0.5",
        "metadata.x:=0.5",
        "-0",
        "0.9_5",
        "\N{ARABIC-INDIC DIGIT ZERO}",
        "\N{FULLWIDTH DIGIT ONE}",
        "1e400",
        "1e-400000",
    ],
)
def test_what_is_no_gate_is_refused_with_what_would_work(text: str) -> None:
    with pytest.raises(InvalidGateError, match="write "):
        parse_gate(RATE, text)


def test_a_percentage_is_met_by_exactly_that_share() -> None:
    for tenths in range(500, 1_001):
        least = 1_000 * tenths
        exact = [GraderSummary("a", "x", passed=tenths, failed=1_000 - tenths)]
        less = [GraderSummary("a", "x", passed=least - 1, failed=1_000_000 - least + 1)]
        gate = parse_gate(RATE, f"{tenths / 10:.1f}%")
        assert gate.share == parse_gate(RATE, f"{tenths / 1_000:.3f}").share == tenths / 1_000
        met = [result.met for found in (exact, less) for result in check_gates([gate], found, None)]
        assert met == [True, False], tenths


def test_a_field_that_cannot_be_is_refused() -> None:
    with pytest.raises(InvalidFilterError):
        parse_gate(RATE, "metadata.:y=0.5")


@pytest.mark.parametrize("named", ['["eu","b2b"]', '["eu", "b2b"]', '[ "eu","b2b" ]'])
def test_a_gate_names_a_list_as_json_however_it_is_spaced(named: str) -> None:
    slices = SliceTally([("tags",)])
    slices.add("a", "passed", {"metadata.tags": '["eu","b2b"]'}, vacuous=False)
    [line] = lines(f"metadata.tags:{named}=1", slices=slices)
    assert " met: " in line
    [line] = lines("metadata.tags:[eu]=1", slices=slices)
    assert "not met" in line


@pytest.mark.parametrize("is_shown", [False, True], ids=["whole", "as shown"])
def test_a_gate_names_a_long_value_whole_or_as_it_is_shown(is_shown: bool) -> None:
    slices = SliceTally([("url",)])
    addresses = [f"https://shop.example.com/{'orders/' * 9}{page}" for page in "ab"]
    for address, outcome in zip(addresses, ("passed", "failed"), strict=True):
        slices.add("a", outcome, {"metadata.url": value_key(address)}, vacuous=False)
    named = value_key(addresses[1]) if is_shown else addresses[1]
    [line] = lines(f"metadata.url:{named}=0.5", slices=slices)
    assert line.endswith("seen 0.0% (0 of 1 judged)")
    [line] = lines(f"metadata.url:{addresses[0][:-1]}c=0.5", slices=slices)
    assert "seen no job with that value (values: https://shop" in line


def test_a_gate_names_the_share_as_it_was_given() -> None:
    [line] = lines("*=0.854271298", kind=GateKind.MIN_GRADABLE)[:1]
    assert line.startswith(
        "gate --min-gradable *=0.854271298 (a) met: required at least 85.4271298% "
    )


def test_a_gate_says_what_was_required_and_what_was_seen() -> None:
    assert lines("0.9", "a=75%") == [
        "gate --min-pass-rate 0.9 not met: required at least 90% of judged jobs passed; seen 80.0% (4 of 5 judged)",
        "gate --min-pass-rate a=75% met: required at least 75% of judged jobs passed; seen 75.0% (3 of 4 judged)",
    ]


def test_a_gate_for_each_label_leaves_out_causes_that_a_full_summary_counts_under_none() -> None:
    causes = GraderSummary("(other labels)", "", causes=(("(other causes)", 2),))
    results = check_gates([parse_gate(RATE, "*=0.5")], [causes, *LABELS])
    assert [(result.scope, result.met) for result in results] == [("a", True), ("b=c", True)]


def test_a_gate_for_each_label_has_a_line_for_each() -> None:
    first, second = lines("*=0.8")
    assert first.startswith("gate --min-pass-rate *=0.8 (a) not met")
    assert second.startswith("gate --min-pass-rate *=0.8 (b=c) met")


def test_a_label_that_no_job_has_is_said_with_those_there_are() -> None:
    [line] = lines("c=0.5")
    assert "not met" in line
    assert line.endswith("seen no job with that label (labels: a, b=c)")


def test_a_share_is_all_only_when_it_is_all() -> None:
    nearly = [GraderSummary("a", "x", passed=999_999, failed=1)]
    [result] = check_gates([parse_gate(RATE, "1")], nearly)
    assert "seen 99.9%" in result.line
    assert not result.met


def sliced() -> SliceTally:
    tally = SliceTally([("topic",)])
    for value, outcome in (("x", "passed"), ("x", "failed"), ("y", "passed"), (None, "failed")):
        tally.add("a", outcome, {"metadata.topic": value}, vacuous=False)
    return tally


def test_a_gate_of_a_slice_is_about_its_jobs() -> None:
    gates = ("metadata.topic:x=0.5", "metadata.topic:*=1")
    one, every_none, every_x, every_y = lines(*gates, slices=sliced())
    assert "metadata.topic:x=0.5 met" in one
    assert "metadata.topic:*=1 (none) not met" in every_none
    assert "metadata.topic:*=1 (x) not met" in every_x
    assert "metadata.topic:*=1 (y) met" in every_y


def test_a_gate_for_each_value_is_about_lines_that_are_cases() -> None:
    tally = sliced()
    tally.add(None, "errored", {}, vacuous=False)
    assert len(lines("metadata.topic:*=0", slices=tally)) == 3
    [every] = [line for line in lines("metadata.topic:*=1", slices=tally) if "none" in line]
    assert every.endswith("seen 0.0% (0 of 1 judged)")


def test_a_gate_for_each_value_of_a_field_without_any_is_not_met() -> None:
    tally = SliceTally([("topic",)])
    tally.add("a", "passed", {}, vacuous=False)
    [line] = lines("metadata.topic:*=0.5", slices=tally)
    assert line.endswith("no job with that value: no result has metadata.topic")


def test_a_value_named_like_the_cases_without_one_is_a_value_of_its_own() -> None:
    tally = SliceTally([("topic",)])
    rows = [case("q1", "Porto", metadata={"topic": "(none)"}), case("q2", "Lisbon")]
    tally.add_lines(b"".join(graded(rows)))
    built_in, value = lines("metadata.topic:(none)=1", 'metadata.topic:"(none)"=1', slices=tally)
    assert built_in.endswith("seen 100.0% (1 of 1 judged)")
    assert value.endswith("seen 0.0% (0 of 1 judged)")


def test_a_slice_that_no_job_is_in_is_not_met() -> None:
    [line] = lines("metadata.topic:z=0.5", slices=sliced())
    assert line.endswith("seen no job with that value (values: x, y)")
