"""What a reason quotes of two texts, and what remains of it where there is less room."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weighbridge.graders import StringMatchGrader
from weighbridge.graders.difference_reason import reason_for, shorten_reason
from weighbridge.graders.text_difference import WORDS, unequal_texts


def test_the_reason_quotes_short_texts_whole_and_long_ones_where_they_differ():
    short = unequal_texts("Lisbon", "lisbon")
    assert (
        reason_for(WORDS["case"], short.shown(), "Lisbon", "lisbon")
        == "Expected 'Lisbon' but got 'lisbon': only the case differs"
    )
    text = "x" * 300 + "{}" + "y" * 300
    pair = text.format("right"), text.format("wrong")
    reason = reason_for("", unequal_texts(*pair).shown(), *pair)
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
    reason = f"q7: {reason_for('', difference, expected, observed)}"
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


def test_the_reason_names_the_characters_that_look_alike():
    result = StringMatchGrader().grade("P\u0430ris", "Paris")
    assert result["details"]["reason"] == (
        "Expected 'Paris' but got 'P\u0430ris': only characters that look alike differ,"
        " U+0430 CYRILLIC SMALL LETTER A instead of U+0061 LATIN SMALL LETTER A"
    )
    result = StringMatchGrader().grade("\u0410\u0412\u0415\u041a \u0410", "ABEK A")
    assert result["details"]["reason"].endswith("LATIN CAPITAL LETTER E, and 1 more")
