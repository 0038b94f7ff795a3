"""Text for people: what is counted, what was meant."""

import pytest

from weighbridge.text import closest, did_you_mean, pluralize


@pytest.mark.parametrize(
    ("count", "text"), [(0, "0 jobs"), (1, "1 job"), (2, "2 jobs"), (12_345, "12,345 jobs")]
)
def test_a_count_stands_with_its_noun(count: int, text: str) -> None:
    assert pluralize(count, "job") == text


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("budgt", "budget"),
        ("true-flase", "true-false"),
        ("Budget", "budget"),
        ("nothing of the kind", None),
        ("", None),
    ],
)
def test_a_misspelt_name_is_taken_for_the_closest_or_for_none(name: str, meant: str | None) -> None:
    assert closest(name, ["loop", "budget", "true-false"]) == meant


def test_names_that_differ_only_far_behind_are_compared_by_their_beginnings() -> None:
    known = ["x" * 1_000 + "a", "y" * 1_000]
    assert closest("x" * 1_000_000, known) == known[0]


def test_what_was_meant_is_asked_where_there_is_a_guess() -> None:
    assert did_you_mean("loop") == "; did you mean 'loop'?"
    assert did_you_mean("loop", before="", after=" ") == "did you mean 'loop'? "
    assert did_you_mean(None) == ""
