"""Conversion of values to text, for comparison and for display."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weighbridge.graders.values import as_json, read_text

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(), inner, max_size=5),
    max_leaves=30,
)


@given(value=json_values)
def test_any_json_value_is_shown_as_json(value):
    assert as_json(value) == json.dumps(value, ensure_ascii=False)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ({1, 2}, "<set>"),
        (b"x", "<bytes>"),
        ({"a": object()}, '{"a": <object>}'),
        ({1: None}, "{1: null}"),
        ((1, ()), "[1, []]"),
        (float("nan"), "NaN"),
        pytest.param(1 << 200_000, "<integer of 200001 bits>", id="huge integer"),
        ("\ud800", '"\ufffd"'),
    ],
)
def test_what_json_lacks_is_shown_all_the_same(value, shown):
    assert as_json(value) == shown


@pytest.mark.parametrize(
    "value",
    [["x" * 100] * 1_000, "x" * 10_000, {str(n): n for n in range(10_000)}],
    ids=["list", "text", "object"],
)
def test_a_long_value_is_cut(value):
    assert 4_000 <= len(as_json(value)) <= 8_010


def test_a_value_is_cut_after_its_first_4000_characters():
    assert as_json(["x" * 3_997]) == f'["{"x" * 3_997}"]'
    assert as_json(["x" * 3_998]) == f'["{"x" * 3_998}"…'


def test_a_value_that_contains_itself_is_cut():
    value = []
    value.append(value)
    assert as_json(value).startswith("[[[[")
    assert as_json(value).endswith("…")


@pytest.mark.parametrize(
    ("value", "text", "shown"),
    [
        ("x", "x", "x"),
        ("", "", ""),
        (None, None, ""),
        (True, "true", "true"),
        (0, "0", "0"),
        (-12, "-12", "-12"),
        (1.0, None, "1.0"),
        ("\udfff", "\udfff", "\ufffd"),
    ],
)
def test_text_to_compare_and_text_to_show(value, text, shown):
    assert read_text(value) == (text, shown)


@pytest.mark.parametrize("digits", [639, 640, 4_300, 4_301, 30_000])
def test_an_integer_is_read_digit_for_digit_past_the_limit_of_str(digits):
    text = "1" + "7" * (digits - 1)
    number = (10 ** (digits - 1) - 1) // 9 * 7 + 10 ** (digits - 1)
    assert read_text(number) == (text, text)
    assert read_text(-number)[0] == "-" + text
