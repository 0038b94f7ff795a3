"""Repeats: which results are repeats of one case, and what their reliability is."""

from __future__ import annotations

import pytest

from support.result_lines import case, graded
from weighbridge.errors import InvalidFilterError, InvalidGateError
from weighbridge.jobs.grader_spec import GraderSpec
from weighbridge_producer.comparison.notes import notes_of_repeats
from weighbridge_producer.comparison.regression_gates import RegressionGates
from weighbridge_producer.comparison.repeat_gates import RepeatGates
from weighbridge_producer.comparison.repeat_key import RepeatKey
from weighbridge_producer.comparison.repeats import compare_repeats
from weighbridge_producer.comparison.runs import run_of_lines

BY_ID = RepeatKey.parse("custom_id:#")


def rows(passed: dict[str, str], **fields) -> list[bytes]:
    """Return results by case: `"+-?"` is a repeat that passed, one that failed and one that is ungradable."""
    return graded(
        case(
            f"{name}#{n}",
            "Lisbon" if sign == "+" else "Porto",
            None if sign == "?" else "Lisbon",
            **fields,
        )
        for name, signs in passed.items()
        for n, sign in enumerate(signs)
    )


def repeats(*runs: list[bytes], key: RepeatKey = BY_ID):
    [label] = compare_repeats([run_of_lines(f"run {n}", each) for n, each in enumerate(runs)], key)
    return label


def test_reliability_is_estimated_over_the_cases_with_as_many_repeats() -> None:
    [reliability] = repeats(rows({"a": "++--", "b": "++++", "c": "--"})).runs
    told = {at.k: (at.cases, at.pass_at_k, at.pass_hat_k) for at in reliability.at_k()}
    assert told[1] == (3, pytest.approx(0.5), pytest.approx(0.5))
    assert told[2] == (3, pytest.approx((5 / 6 + 1 + 0) / 3), pytest.approx((1 / 6 + 1 + 0) / 3))
    assert told[4] == (2, 1.0, 0.5)
    assert set(told) == {1, 2, 3, 4}


def test_cases_come_in_the_order_of_the_first_input_and_then_of_the_others() -> None:
    names = [f"q{n}" for n in range(40)]
    first, second = rows(dict.fromkeys(names[:30], "+-")), rows(dict.fromkeys(names[::-1], "++"))
    first.reverse()  # results are written as they arrive
    runs = [run_of_lines("a", first), run_of_lines("b", second)]
    seen = []
    compare_repeats(runs, BY_ID, lambda case: seen.append((case.case, case.run)))
    both = [(name, run) for name in names[:30] for run in "ab"]
    assert seen == [*both, *((name, "b") for name in names[39:29:-1])]


def test_flaky_cases_are_listed_the_least_steady_first() -> None:
    [reliability] = repeats(rows({"a": "+---", "b": "++--", "c": "++++", "d": "----"})).runs
    assert reliability.flaky == 2
    assert reliability.flaky_cases == [("b", (4, 2)), ("a", (4, 1))]


@pytest.mark.parametrize(
    ("key", "cases"), [("metadata.question", 1), ("custom_id:#", 2), ("custom_id", 4)]
)
def test_what_tells_repeats_apart_can_be_chosen(key: str, cases: int) -> None:
    results = rows({"a": "++", "b": "+-"}, metadata={"question": "one"})
    assert repeats(results, key=RepeatKey.parse(key)).runs[0].cases.total() == cases


@pytest.mark.parametrize("empty", ["", None])
def test_cases_whose_field_is_empty_are_not_repeats_of_each_other(empty) -> None:
    key = RepeatKey.parse("metadata.question")
    unnamed, named = (
        rows({"a": "++"}, metadata={"question": empty}),
        rows({"b": "+-"}, metadata={"question": "q"}),
    )
    assert repeats([*unnamed, *named], key=key).runs[0].cases == {(1, 1): 2, (2, 1): 1}
    with pytest.raises(
        InvalidFilterError, match=r"no result of run 0 has a value of metadata.question"
    ):
        repeats(unnamed, key=key)


def test_results_of_one_id_in_one_file_are_repeats() -> None:
    [reliability] = repeats(
        [*graded([case("a")]), *graded([case("a", "Porto")])], key=RepeatKey.parse("custom_id")
    ).runs
    assert reliability.cases == {(2, 1): 1}


def test_long_questions_that_begin_alike_are_different_cases() -> None:
    prompt = "You are a support agent of an online shop. Answer yes or no only. Question: "
    results = rows({"a": "++"}, metadata={"question": f"{prompt}May I return shoes?"}) + rows(
        {"b": "--"}, metadata={"question": f"{prompt}May I return food?"}
    )
    [reliability] = repeats(results, key=RepeatKey.parse("metadata.question")).runs
    assert (dict(reliability.cases), reliability.flaky) == ({(2, 2): 1, (2, 0): 1}, 0)


@pytest.mark.parametrize("text", ["", "question", "metadata", "metadata.", "id:#"])
def test_what_is_no_key_is_refused(text: str) -> None:
    with pytest.raises(InvalidFilterError, match="write metadata"):
        RepeatKey.parse(text)


def test_runs_differ_by_the_rates_of_their_common_cases() -> None:
    before = rows({"a": "++++", "b": "+-", "c": "----", "gone": "++"})
    after = rows({"a": "++--", "b": "-+-+", "c": "-", "new": "+"})
    label = repeats(before, after)
    assert label.differences == [{-0.5: 1, 0.0: 2}]
    assert label.difference(1) == pytest.approx(-0.5 / 3)
    assert label.worse_and_better(1) == (1, 0)
    assert (label.lost, label.lost_repeats) == ([2], [5])
    assert label.p(1) == 1.0


def test_what_was_not_judged_is_no_repeat() -> None:
    [label] = compare_repeats(
        [
            run_of_lines(
                "run",
                graded(
                    [case("a#1", "yes", "true"), case("a#2", "yes", "maybe")],
                    [GraderSpec("true-false")],
                ),
            )
        ],
        BY_ID,
    )
    assert label.runs[0].cases == {(1, 1): 1}
    assert (label.runs[0].ungradable, label.runs[0].errored) == (1, 0)


def test_a_significant_loss_over_cases_does_not_meet_the_gate() -> None:
    before = rows({f"q{n}": "++++" for n in range(10)})
    after = rows({f"q{n}": "++--" for n in range(10)})
    gates = RegressionGates(fail_on_regression=True)
    assert [gate.status for gate in gates.check_repeats([repeats(before, after)], 1)] == [100]
    assert [gate.status for gate in gates.check_repeats([repeats(after, before)], 1)] == [0]
    assert [gate.status for gate in gates.check_repeats([repeats(before, after[:20])], 1)] == [0, 1]
    assert RegressionGates().check_repeats([repeats(before, after)], 1) == []


@pytest.mark.parametrize("left", ["++", "++??"])
def test_failing_repeats_that_are_not_judged_any_more_are_lost(left: str) -> None:
    before = rows({f"q{n}": "++--" for n in range(10)})
    label = repeats(before, rows({f"q{n}": left for n in range(10)}))
    gates = RegressionGates(fail_on_regression=True)
    met, lost = gates.check_repeats([label], 1)
    assert (met.status, lost.status) == (0, 1)
    assert lost.seen == (
        "10 cases with 20 fewer judged repeats than in the first run"
        f" (in all: 0 errored, {10 * left.count('?')} ungradable); --allow-lost accepts that"
    )
    assert label.as_dict()["differences"][0]["lost_repeats"] == 20
    assert label.as_dict()["runs"][1]["ungradable"] == 10 * left.count("?")
    allowed = RegressionGates(fail_on_regression=True, allow_lost=True)
    assert [gate.status for gate in allowed.check_repeats([label], 1)] == [0]


def gate_results(run: list[bytes], max_flaky: str = "", *least: str, **options):
    return RepeatGates.parse(max_flaky, least, **options).check([repeats(run)], 0)


@pytest.mark.parametrize(
    ("allowed", "status"), [("1", 100), ("2", 0), ("49%", 100), ("50%", 0), ("0", 100)]
)
def test_a_gate_counts_flaky_cases_among_those_judged_more_than_once(
    allowed: str, status: int
) -> None:
    run = rows({"a": "+-", "b": "++-", "c": "++", "d": "--", "e": "+"})
    [gate] = gate_results(run, allowed)
    assert (gate.status, gate.seen) == (
        status,
        "2 of 4 cases judged more than once (1 judged once)",
    )


@pytest.mark.parametrize(
    ("least", "status", "seen"),
    [
        ("1=0.375", 0, "37.5% over 4 cases"),
        ("2=1/2", None, ""),
        ("2=33%", 0, "33.3% over 3 cases (1 more judged less often)"),
        ("2=0.34", 100, "33.3% over 3 cases (1 more judged less often)"),
        ("4=0", 1, "no case has 4 judged repeats"),
        ("0=1", None, ""),
        ("0.9", None, ""),
    ],
)
def test_a_gate_requires_a_probability_that_all_of_k_repeats_pass(
    least: str, status: int | None, seen: str
) -> None:
    run = rows({"a": "++", "b": "---", "c": "-+", "d": "-"})
    if status is None:
        with pytest.raises(InvalidGateError, match="3=90%"):
            gate_results(run, "", least)
        return
    [gate] = gate_results(run, "", least)
    assert (gate.status, gate.seen) == (status, seen)


def test_the_rounding_of_an_estimate_does_not_miss_a_gate() -> None:
    run = rows({f"q{n}": signs for n, signs in enumerate(["++-"] * 3 + ["+++"] * 7)})
    [gate] = gate_results(run, "", "2=0.8")
    assert gate.status == 0


def test_a_gate_for_repeats_cannot_be_decided_without_them_or_with_unjudged_ones() -> None:
    [alone] = gate_results(rows({"a": "+", "b": "-"}), "0")
    assert (alone.status, alone.seen) == (1, "no case was judged more than once")
    run = rows({"a": "+?", "b": "++"})
    met, unjudged = gate_results(run, "0")
    assert (met.status, unjudged.status) == (0, 1)
    assert unjudged.seen == "0 errored, 1 ungradable; --allow-lost accepts that"
    assert [gate.status for gate in gate_results(run, "0", allow_unjudged=True)] == [0]
    assert gate_results(run) == []
    assert [gate.status for gate in RepeatGates.parse("0", ["2=1"]).check([], 0)] == [1, 1]


IGNORING_CASE = [GraderSpec("string-match", {"case_sensitive": False})]


def notes(*runs: list[bytes], key: RepeatKey = BY_ID) -> list[str]:
    read = [run_of_lines(f"run {n}", each) for n, each in enumerate(runs)]
    return notes_of_repeats(compare_repeats(read, key), read)


def answers(*custom_ids: str, expected: str = "Lisbon", **fields) -> list[bytes]:
    return [case(custom_id, "Lisbon", expected, **fields) for custom_id in custom_ids]


@pytest.mark.parametrize(
    ("key", "before", "after"),
    [
        ("custom_id:#", ("q#1", "q#2"), ("q#2", "q#1")),
        ("custom_id", ("q", "q"), ("q", "q")),
        ("metadata.question", ("a", "b"), ("c", "d")),
    ],
)
def test_repeats_graded_under_another_configuration_are_noted(key, before, after) -> None:
    first, second = (answers(*ids, metadata={"question": "q"}) for ids in (before, after))
    graded_alike = (graded(first), graded(second))
    changed = (graded(first), graded(second, IGNORING_CASE))
    assert notes(*graded_alike, key=RepeatKey.parse(key)) == []
    [note] = notes(*changed, key=RepeatKey.parse(key))
    assert note.startswith("string-match: 2 pairs graded by configuration ")
    assert note.endswith(f"({', '.join(before)})")


def test_repeats_of_a_changed_case_are_noted_with_their_run() -> None:
    first = graded(answers("q#1", "q#2"))
    other = graded(answers("q#1", "q#2", expected="Porto"))
    assert notes(first, first, other) == [
        "run 2: string-match: 2 pairs with other expected values: the cases changed (q#1, q#2)"
    ]


def test_the_json_form_has_everything() -> None:
    told = repeats(rows({"a": "+-"}), rows({"a": "--"})).as_dict()
    assert told["runs"][0]["flaky_cases"] == [{"case": "a", "judged": 2, "passed": 1}]
    assert told["differences"][0]["difference"] == -0.5
    assert told["differences"][0]["difference_interval"] is None
