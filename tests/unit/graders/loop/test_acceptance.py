"""A run that fails says which larger `max_repeats` would accept it, as grading it again shows."""

from __future__ import annotations

import pytest

from weighbridge.graders.loop import LoopGrader, judgement, work_budget
from weighbridge.traces import Step, Trace

RUNS = {
    "equal calls": ("a" * 7, 7),
    "a cycle": ("ab" * 6, 7),
    "a cycle, then another rule": ("aab" * 6 + "c", 8),
    "two calls in any order, then another rule": ("aabbaabab" * 2, 8),
    "three calls in any order": ("abcabacbcab", 4),
    "two loops": ("aaaabcdefghijk" + "ab" * 5, 6),
    "calls that fail": ("1" * 5, 5),
    "calls that fail, with others between": ("1a1b1c1d1e1f1g1", 8),
}


def calls(letters):
    return Trace(
        id="r",
        format="weighbridge",
        steps=tuple(
            Step(
                id=f"s{at}",
                type="tool",
                name="get",
                arguments={"at": letter},
                output="Error: no such thing" if letter.isdigit() else f"it is {letter}",
            )
            for at, letter in enumerate(letters)
        ),
    )


def graded(trace, **config):
    return LoopGrader(config=config).grade(trace)


@pytest.mark.parametrize("run", RUNS)
def test_a_failing_run_names_the_smallest_max_repeats_that_accepts_it(run):
    letters, accepting = RUNS[run]
    result = graded(calls(letters))
    assert result["details"]["max_repeats_without_loop"] == accepting
    would = f"; with max_repeats {accepting} no loop would fail the run"
    smaller = f", with {accepting - 1} one would" if accepting > 4 else ""
    assert result["evidence"][0]["description"].endswith(f"{would}{smaller}")
    for other in range(4, accepting + 1):
        expected = "pass" if other == accepting else "fail"
        assert graded(calls(letters), max_repeats=other)["verdict"] == expected


def test_texts_are_searched_again_as_well():
    steps = tuple(
        Step(id=f"s{at}", type="llm", output="It is in Graz, I think.") for at in range(6)
    )
    assert (
        graded(Trace(id="r", format="weighbridge", steps=steps))["details"][
            "max_repeats_without_loop"
        ]
        == 6
    )


def test_only_the_first_failing_loop_says_so_and_a_recovered_one_does_not():
    letters = "aaaa" + "bcdefghijk" + "ab" * 5
    first, second = graded(calls(letters))["evidence"]
    assert "max_repeats" in first["description"]
    assert "max_repeats" not in second["description"]
    result = graded(calls(letters), fail_on="unrecovered", max_repeats=2)
    left, lasting = result["evidence"]
    assert (left["passed"], "max_repeats" in left["description"]) == (True, False)
    assert lasting["description"].endswith(
        "with max_repeats 6 no loop would fail the run, with 5 one would"
    )


def test_a_run_that_passes_is_not_searched_again(monkeypatch):
    monkeypatch.setattr(judgement, "accepting_repeats", None)
    for run in (calls("abc"), calls("aaa"), Trace(id="r", format="weighbridge", steps=())):
        result = graded(run)
        assert (result["verdict"], result["details"]["max_repeats_without_loop"]) == ("pass", None)


def test_it_says_why_no_max_repeats_is_named():
    def said(count, **config):
        result = graded(calls("a" * count), **config)
        assert result["details"]["max_repeats_without_loop"] is None
        return result["evidence"][0]["description"].rpartition("; ")[2]

    assert (
        said(1_001)
        == "with each larger max_repeats that was tried, up to 1,000, a loop would fail the run"
    )
    assert said(2_100) == "no larger max_repeats was tried, because the run is too large"
    assert said(1_001, max_repeats=1_000).startswith("cost from the first repeat")


def test_a_run_that_is_not_compared_in_full_is_not_searched_again(monkeypatch):
    monkeypatch.setattr(work_budget, "WORK_LIMIT", 0)
    result = graded(calls("a" * 7))
    assert result["verdict"] == "fail"
    assert result["details"]["max_repeats_without_loop"] is None
    assert "; no larger max_repeats was tried, because" in result["evidence"][0]["description"]


@pytest.mark.parametrize(("steps", "most"), [(100, 8), (250, 8), (500, 4), (2_000, 1), (2_001, 0)])
def test_the_longer_a_run_the_fewer_searches(steps, most):
    assert judgement.searches_for(steps, 1_000) == most
    assert judgement.searches_for(10, 4_000 * steps) == most
