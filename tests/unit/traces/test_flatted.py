"""JSON of flatted is read as far as it is asked for, whatever its references lead to."""

from __future__ import annotations

import json
from typing import Any

import pytest

from support.flatted import flatted as written
from support.growth import assert_takes_at_most
from weighbridge.errors import TraceError
from weighbridge.traces.flatted import LazyValue, flatted

VALUE = {"a": ["x", 1, None, True, {"b": "x"}], "2": "1", "c": {}}


@pytest.mark.parametrize("held", [LazyValue(VALUE), flatted(written(VALUE))])
def test_values_are_those_that_were_written(held: LazyValue) -> None:
    assert held.whole() == VALUE
    assert [key for key, _ in held.items()] == ["a", "2", "c"]
    assert [each.whole() for each in held["a"].each()] == VALUE["a"]
    assert held["a"].first().whole() == "x"
    assert held["a"]["b"].shallow is held["c"].first().shallow is held["none"].whole() is None


def test_a_value_that_contains_itself_is_null_where_it_repeats() -> None:
    assert flatted('[{"self":"0","list":"1"},["1","0"]]').whole() == {
        "self": None,
        "list": [None, None],
    }


@pytest.mark.parametrize("reference", ["9", "-1", "", "1e0", "٣", "x", "9" * 30])
def test_a_reference_to_no_value_is_an_error_that_says_so(reference: str) -> None:
    held = flatted(json.dumps([{"a": reference, "b": 1}]))
    assert held["b"].whole() == 1
    with pytest.raises(TraceError, match="leads to no value"):
        held["a"]


@pytest.mark.parametrize("text", ["", "{}", "[]", "[{", "5"])
def test_a_text_that_is_no_list_of_values_is_an_error(text: str) -> None:
    with pytest.raises(TraceError, match="flatted"):
        flatted(text)


def nested(depth: int) -> str:
    """Return lists in one another."""
    return json.dumps([[str(at + 1)] for at in range(depth)] + [[]])


def doubled(times: int) -> str:
    """Return a list of two lists of two lists and so on, each of which is written once."""
    return json.dumps([[str(at + 1)] * 2 for at in range(times)] + ["end"])


@pytest.mark.parametrize(
    ("text", "why"), [(nested(10_000), "nested too deeply"), (doubled(90), "repeated too often")]
)
def test_hostile_references_are_an_error(text: str, why: str) -> None:
    with pytest.raises(TraceError, match=why):
        flatted(text).whole()


def test_values_that_are_looked_at_too_often_are_an_error() -> None:
    shared = flatted(json.dumps([["1"] * 2_000, [1] * 2_000]))
    with pytest.raises(TraceError, match="repeated too often"):
        [item["json"].whole() for branch in shared.each() for item in branch.each()]


def test_reading_takes_time_in_proportion_to_the_text() -> None:
    def work(size: int) -> Any:
        text = written([{"a": [str(number)]} for number in range(size)])
        return lambda: flatted(text).whole()

    assert_takes_at_most(8, work, size=20_000, of=5_000)
