"""How two texts differ: the kind of difference, where it is, and what of it a person sees."""

from __future__ import annotations

import time

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from weighbridge.graders import StringMatchGrader
from weighbridge.graders.text_difference import WORDS, reason_for, unequal_texts

ANSWERS = st.text(st.sampled_from("aA .é\u0301\u200b\n\tß"), max_size=12)


def kind(observed, expected):
    return unequal_texts(expected, observed).kind()


def shown(observed, expected):
    return unequal_texts(expected, observed).shown()


@pytest.mark.parametrize(
    ("observed", "expected", "found"),
    [
        ("lisbon", "Lisbon", "case"),
        ("STRASSE", "straße", "case"),
        ("Lisbon ", "Lisbon", "whitespace"),
        ("Lis\u200bbon", "Lisbon", "whitespace"),
        ("New\u00a0York", "New York", "whitespace"),
        ("a\r\nb", "a\nb", "whitespace"),
        ("Lisbon.", "Lisbon", "punctuation"),
        ("“yes”", '"yes"', "punctuation"),
        ("1,000", "1000", "punctuation"),
        ("e\u0301", "é", "unicode"),
        ("\uff15", "5", "unicode"),
        ("the eiffel tower!", "The Eiffel  Tower", "formatting"),
        ("", "Lisbon", "empty"),
        (" \n", "Lisbon", "empty"),
        ("The answer is Lisbon.", "Lisbon", "wrapped"),
        ("The answer is LISBON.", "Lisbon", "wrapped"),
        ("theatre in the park", "the", "wrapped"),
        ("Lisbon", "Lisbon, Portugal", "partial"),
        ("theatre", "the", "other"),
        ("A bad idea", "b", "other"),
        ("Rome", "Lisbon", "other"),
        ("P\u0430ris", "Paris", "other"),
        ("Lisbon", "", "other"),
    ],
)
def test_each_kind_of_difference_has_its_name(observed, expected, found):
    assert kind(observed, expected) == found


@pytest.mark.parametrize(
    ("observed", "expected", "difference"),
    [
        ("Lisbon ", "Lisbon", ("Lisbon", "", "␠", "")),
        ("a\nb", "a\tb", ("a", "␉", "␊", "b")),
        (r"a\nb", "a\nb", ("a", "␊", r"\n", "b")),
        ("L\u200bisbon", "Lisbon", ("L", "", "<U+200B>", "isbon")),
        ("e\u0301", "é", ("", "é", "e<U+0301>", "")),
        ("x\u202ey", "xy", ("x", "", "<U+202E>", "y")),
        ("\ud800", "\udfff", ("", "\ufffd", "\ufffd", "")),
    ],
)
def test_what_shows_nothing_is_made_visible(observed, expected, difference):
    assert tuple(shown(observed, expected).values())[1:] == difference


def test_a_long_text_is_shown_around_its_first_difference():
    expected = "x" * 209_985 + "Fox" + "y" * 1_000
    found = shown(expected.replace("F", "f"), expected)
    assert found["index"] == 209_985
    assert found["before"] == "…" + "x" * 40
    assert (found["expected"], found["observed"]) == ("F", "f")
    assert found["after"] == "ox" + "y" * 38 + "…"


def test_of_much_that_differs_the_beginning_is_shown():
    found = shown("b" * 500, "a" * 90)
    assert found["expected"] == "a" * 80 + "…"
    assert found["observed"] == "b" * 80 + "…"
    assert found["after"] == ""


def test_the_reason_quotes_short_texts_whole_and_long_ones_where_they_differ():
    short = unequal_texts("Lisbon", "lisbon")
    assert (
        reason_for("case", short.shown(), "Lisbon", "lisbon")
        == "Expected 'Lisbon' but got 'lisbon': only the case differs"
    )
    text = "x" * 300 + "{}" + "y" * 300
    pair = text.format("right"), text.format("wrong")
    reason = reason_for("other", unequal_texts(*pair).shown(), *pair)
    assert "right" in reason.partition("but got")[0]
    assert "wrong" in reason.partition("but got")[2]
    assert len(reason) < 400


def test_texts_that_look_alike_are_told_apart_by_their_code_points():
    assert "U+0430 instead of U+0061" in unequal_texts("Paris", "P\u0430ris").where()


@given(expected=ANSWERS, observed=ANSWERS)
def test_the_parts_put_together_are_the_texts(expected, observed):
    assume(expected != observed)
    found = unequal_texts(expected, observed)
    left, right = found.differing
    assert expected[: found.start] == observed[: found.start]
    assert not found.tail or expected[-found.tail :] == observed[-found.tail :]
    assert left >= 0
    assert right >= 0
    assert max(left, right) > 0
    assert found.kind() in WORDS
    assert all(part.isprintable() for part in found.shown().values() if isinstance(part, str))


#: Calls that make the observed and the expected text, so that they exist only while they are compared.
LARGE = {
    "all": lambda: ("x" * 30_000_000, "y" * 30_000_000),
    "one character": lambda: tuple("x" * 15_000_000 + c + "y" * 15_000_000 for c in "aA"),
    "ends": lambda: ("x" * 30_000_000, "x" * 29_000_001),
    "marks": lambda: ("\u0301\u0316" * 200_000, "\u0316\u0301" * 200_000),
    "shifted": lambda: ("ab" * 450_000 + "c", "a" + "ab" * 450_000),
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("texts", "found"),
    list(zip(LARGE, ("other", "case", "other", "unicode", "other"), strict=True)),
)
def test_texts_of_thirty_megabytes_take_seconds_at_most(texts, found):
    observed, expected = LARGE[texts]()
    begun = time.process_time()
    result = StringMatchGrader().grade(observed, expected)
    assert time.process_time() - begun < 4
    assert result["evidence"][0]["cause"] == found
