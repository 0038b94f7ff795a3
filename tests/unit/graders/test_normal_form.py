"""Normalisation gives what `unicodedata` gives, in linear time."""

from __future__ import annotations

import unicodedata
from functools import cache, partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.growth import assert_takes_at_most
from weighbridge.graders.normal_form import normalized

FORMS = ("NFC", "NFD", "NFKC", "NFKD")
#: Marks of several classes, some that decompose to several, and the kana marks that are letters but in compatibility forms.
MARKS = "\u0300\u0301\u0316\u0345\u05b0\u0344\u0f73\u0f75\u0f81\u1dce\U0001d165\uff9e\uff9f\u3099"
LETTERS = "aé \u1100\u1161\u11a8각\ufdfa\u212b\u1e9b\u0340\ud800か"

marked_texts = st.lists(
    st.tuples(
        st.sampled_from(LETTERS) | st.just(""),
        st.lists(st.sampled_from(MARKS), max_size=70).map("".join),
    ).map("".join),
    max_size=4,
).map("".join)


@settings(deadline=None)
@given(marked_texts | st.text(), st.sampled_from(FORMS))
def test_any_text_is_normalised_as_unicodedata_does(text, form):
    assert normalized(form, text) == unicodedata.normalize(form, text)


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_every_character_in_a_long_run_of_marks_is_normalised_as_unicodedata_does(form):
    for code in (*range(0x300, 0xD800, 7), *range(0xE000, 0x20000, 7)):
        text = "a" + "\u0300\u0316" * 16 + chr(code) + "\u0316" * 3
        assert normalized(form, text) == unicodedata.normalize(form, text), hex(code)


@cache
def assigned_beyond_the_planes_that_are_looked_at():
    beyond = map(chr, range(0x20000, 0x110000))
    return [each for each in beyond if unicodedata.category(each) not in {"Cn", "Co"}]


@pytest.mark.parametrize("form", FORMS)
def test_no_mark_is_beyond_the_planes_that_are_looked_at(form):
    others = assigned_beyond_the_planes_that_are_looked_at()
    assert not any(unicodedata.combining(unicodedata.normalize(form, c)[0]) for c in others)


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("marks", ["\u0300\u0316", "\u0344\u0316\u0f73"])
def test_sixteen_times_the_marks_take_about_sixteen_times_as_long(marks, form):
    def normalizing(count):
        return partial(normalized, form, "a" + marks * count)

    # Quadratic work would take 256 times as long.
    assert_takes_at_most(60, normalizing, size=80_000, of=5_000)
