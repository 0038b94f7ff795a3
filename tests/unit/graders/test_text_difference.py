"""How two texts differ: the kind of difference, where it is, and what of it a person sees."""

from __future__ import annotations

import time

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from weighbridge.graders import StringMatchGrader
from weighbridge.graders.text_difference import WORDS, reason_for, shorten_reason, unequal_texts

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


@pytest.mark.parametrize("most", [60, 80, 120])
@pytest.mark.parametrize(
    ("expected", "observed", "told"),
    [
        ("x" * 50 + "accepted" + "y" * 50, "x" * 50 + "rejected" + "y" * 50, ("accep", "rejec")),
        ("a" + "x" * 150, "b" + "x" * 150, ("'ax", "'bx")),
        ("x" * 150 + "1", "x" * 150 + "2", ("x1'", "x2'")),
        ("x" * 200, "x" * 200 + "!", ("…x", "x!'")),
        ("q" * 150, "r" * 150, ("'qqq", "'rrr")),
        ("yes", "r" * 150, ("'yes'", "'rrr")),
    ],
    ids=["in the middle", "at the start", "at the end", "one longer", "wholly", "one short"],
)
def test_a_shortened_reason_shows_what_differs_of_both_texts(expected, observed, told, most):
    difference = unequal_texts(expected, observed).shown()
    reason = f"q7: {reason_for('other', difference, expected, observed)}"
    shown = shorten_reason(reason, most)
    assert len(shown) <= most
    assert shown.startswith("q7: Expected '")
    one, _, other = shown.partition("' but got '")
    assert told[0] in f"{one}'"
    assert told[1] in f"'{other}"


def test_a_text_that_is_no_reason_is_cut_at_its_end():
    for text in ("x" * 90, "Expected 'a' but got '" * 9, "Expected true but got false" + "." * 80):
        assert shorten_reason(text, 40) == text[:39] + "…"
        assert shorten_reason(text, len(text)) == text


def test_a_shortened_reason_keeps_the_number_of_further_checks_that_failed():
    ending = ", and 2 more failed checks"
    reason = f"{'x' * 90}{ending}"
    assert shorten_reason(reason, 40) == f"{'x' * 13}…{ending}"
    assert shorten_reason(reason, len(reason)) == reason
    assert shorten_reason(reason, 20) == f"{'x' * 19}…"


@given(st.text(), st.text(), st.integers(1, 200))
def test_a_shortened_reason_is_never_too_long(expected, observed, most):
    for reason in (
        f"a: Expected '{expected}' but got '{observed}': words",
        expected + observed,
        f"{expected}, and 3 more failed checks",
    ):
        shown = shorten_reason(reason, most)
        assert len(shown) <= most
        assert shown == reason or "…" in shown


def test_texts_that_look_alike_are_told_apart_by_their_code_points():
    assert "U+0430 instead of U+0061" in unequal_texts("Paris", "P\u0430ris").where()


def test_the_reason_names_the_characters_that_look_alike():
    result = StringMatchGrader().grade("P\u0430ris", "Paris")
    assert result["details"]["reason"] == (
        "Expected 'Paris' but got 'P\u0430ris': only characters that look alike differ,"
        " U+0430 CYRILLIC SMALL LETTER A instead of U+0061 LATIN SMALL LETTER A"
    )
    result = StringMatchGrader().grade("\u0410\u0412\u0415\u041a \u0410", "ABEK A")
    assert result["details"]["reason"].endswith("LATIN CAPITAL LETTER E, and 1 more")


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
