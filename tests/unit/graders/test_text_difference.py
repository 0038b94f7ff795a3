"""How two texts differ: the kind of difference, where it is, and what of it a person sees."""

from __future__ import annotations

import time

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from weighbridge.graders import StringMatchGrader
from weighbridge.graders.text_difference import WORDS, unequal_texts

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
        ("1,000", "1000", "notation"),
        ("1 000", "1000", "notation"),
        ("1.234,5", "1234.5", "notation"),
        ("1'234'567.50", "1234567.5", "notation"),
        ("42.0", "42", "notation"),
        ("3,5", "3.50", "notation"),
        ("+7", "7.0", "notation"),
        ("1e3", "1000", "notation"),
        ("0.2", "20 %", "notation"),
        ("1.163,92 €", "1163.92", "notation"),
        ("EUR 1.000,00", "1000 €", "notation"),
        ("-$5.00", "-5", "notation"),
        ("5 €", "5.00 $", "other"),
        ("42.0", "43", "other"),
        ("12,34,5", "1234.5", "number"),
        ("42.0 boxes", "42 boxes", "other"),
        ("42 ", "42", "whitespace"),
        ("20 %", "20", "formatting"),
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
        ("P\u0430ris", "Paris", "lookalike"),
        ("\u0391thens", "Athens", "lookalike"),
        ("P\u0430riz", "Paris", "other"),
        ("-5", "5", "number"),
        ("\u22125", "5", "number"),
        ("5", "-5", "number"),
        ("it is -5 degrees", "it is 5 degrees", "number"),
        ("-$5", "$5", "number"),
        ("\u20135", "-5", "punctuation"),
        ("\u22125", "-5", "punctuation"),
        ("1.5", "15", "number"),
        (".5", "5", "number"),
        ("1.000", "1000", "number"),
        ("3,5", "35", "number"),
        ("1/2", "12", "number"),
        ("About 1.5 KM", "about 15 km", "number"),
        ("$1,000.50", "$1000.50", "notation"),
        ("it is 1,000", "it is 1000", "punctuation"),
        ("1,2,3", "1 2 3", "formatting"),
        ("- 5", "5", "formatting"),
        ("5.", "5", "punctuation"),
        ("5-6", "56", "punctuation"),
        ("C", "C++", "symbol"),
        ("C#", "C", "symbol"),
        ("c++", "C", "symbol"),
        ("A", "A+", "symbol"),
        ("5%", "5", "symbol"),
        (">5", "<5", "symbol"),
        ("# Lisbon", "Lisbon", "formatting"),
        ("**Lisbon**", "Lisbon", "punctuation"),
        ("self-made", "selfmade", "punctuation"),
        ("The answer is -5", "5", "other"),
        ("It is 2.5", "2", "other"),
        ("I like C++", "C", "other"),
        ("It is 5.", "5", "wrapped"),
        ("between 3-5", "5", "wrapped"),
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
    "digits": lambda: ("." + "1" * 450_000 + "\u00a0", "1" * 450_000),
    "numbers": lambda: ("1.2,3+" * 75_000, "123" * 75_000),
    "shifted": lambda: ("ab" * 450_000 + "c", "a" + "ab" * 450_000),
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("texts", "found"),
    list(
        zip(LARGE, ("other", "case", "other", "unicode", "number", "number", "other"), strict=True)
    ),
)
def test_texts_of_thirty_megabytes_take_seconds_at_most(texts, found):
    observed, expected = LARGE[texts]()
    begun = time.process_time()
    result = StringMatchGrader().grade(observed, expected)
    assert time.process_time() - begun < 4
    assert result["evidence"][0]["cause"] == found
