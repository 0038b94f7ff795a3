"""How two texts differ: the kind of difference, where it is, and what of it a person sees."""

from __future__ import annotations

import re
import time
from decimal import Decimal

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from weighbridge.graders import StringMatchGrader
from weighbridge.graders.text_difference import WORDS, unequal_texts

ANSWERS = st.text(st.sampled_from("aA .é\u0301\u200b\n\tß"), max_size=12)

#: Marks of direction, joiners, fillers, controls, and selectors of a form or a language.
INVISIBLE = "\u200e\u200f\u061c\u202a\u202c\u2066\u2069\u200b\u200d\u2060\u2063\ufeff\u00ad\u034f\u3164\u180e\ufe0f\x00\x7f\U000e0001"


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
        *((f"Lisbon{mark}", "Lisbon", "whitespace") for mark in INVISIBLE),
        *((mark, "Lisbon", "empty") for mark in INVISIBLE if ord(mark) > 0x7F),
        ("\x00\x7f", "Lisbon", "other"),
        ("The answer is \u2068Lisbon\u2069\u200f.", "\u200eLisbon", "wrapped"),
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
        ("42.0 boxes", "42 boxes", "notation"),
        ("42 ", "42", "whitespace"),
        ("20 %", "20", "symbol"),
        ("e\u0301", "é", "unicode"),
        ("10 \u03bcm", "10 \u00b5m", "unicode"),
        ("fin", "\ufb01n", "unicode"),
        ("\u212a", "K", "unicode"),
        ("\u212a", "k", "formatting"),
        ("\uff21", "a", "formatting"),
        ("\uff21", "\uff41", "case"),
        ("strasse", "straße", "other"),
        ("\u0131", "I", "other"),
        ("STRASSE", "STRAßE", "case"),
        ("ΟΔΟΣ", "οδος", "case"),
        ("οδοσ", "οδος", "other"),
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
        ("1.000", "1000", "notation"),
        ("0,125", "125", "other"),
        ("0.500", "500", "other"),
        ("0,500", "500", "other"),
        ("1,234", "1.234", "notation"),
        ("1,234,567", "1.234.567", "notation"),
        ("1,234,567", "1234.567", "number"),
        ("3,5 kg", "3.5 kg", "notation"),
        ("Python 3.10", "Python 3.1", "notation"),
        ("20 EUR", "20", "notation"),
        ("$20", "20", "notation"),
        ("20.0 EUR", "20", "notation"),
        ("03.04.2026", "03/04/2026", "number"),
        ("10.30", "10:30", "number"),
        ("1030", "10:30", "number"),
        ("20260403", "2026-04-03", "number"),
        ("1..5", "15", "number"),
        ("3,5", "35", "number"),
        ("1/2", "12", "number"),
        ("About 1.5 KM", "about 15 km", "number"),
        ("$1,000.50", "$1000.50", "notation"),
        ("it is 1,000", "it is 1000", "notation"),
        ("1,2,3", "1 2 3", "formatting"),
        ("- 5", "5", "number"),
        ("5.", "5", "punctuation"),
        ("5-6", "56", "number"),
        ("C", "C++", "symbol"),
        ("A-", "A", "symbol"),
        ("A -", "A", "formatting"),
        ("a!=b", "a=b", "symbol"),
        ("C#", "C", "symbol"),
        ("c++", "C", "symbol"),
        ("A", "A+", "symbol"),
        ("5%", "5", "symbol"),
        (">5", "<5", "symbol"),
        ("# Lisbon", "Lisbon", "formatting"),
        ("> Lisbon", "Lisbon", "formatting"),
        ("* Lisbon", "Lisbon", "formatting"),
        ("- Lisbon", "Lisbon", "formatting"),
        ("_Lisbon_ is far", "Lisbon is far", "punctuation"),
        ("*Lisbon* is far", "Lisbon is far", "punctuation"),
        ("$x = 5$", "x = 5", "punctuation"),
        ("`x + 1`", "x + 1", "punctuation"),
        ("x = 5.", "x = 5", "punctuation"),
        ("x = 1;", "x = 1", "punctuation"),
        ("{'a': 1}", '{"a": 1}', "punctuation"),
        ("p.m.", "pm", "punctuation"),
        ("Vienna - Austria", "Vienna, Austria", "formatting"),
        ("covid19", "covid-19", "punctuation"),
        ("Paris [France]", "Paris (France)", "punctuation"),
        ("files", "file(s)", "punctuation"),
        ("Yes. It is", "Yes; It is", "punctuation"),
        ("def f(x): return x - 1", "def f(x): return x + 1", "symbol"),
        ("a - b", "a + b", "symbol"),
        ("a b", "a - b", "symbol"),
        ("a*b", "ab", "symbol"),
        ("a * b", "a b", "symbol"),
        ("a / b", "a * b", "symbol"),
        ("x == 5", "x = 5", "symbol"),
        ("a <= b", "a < b", "symbol"),
        ("a || b", "a | b", "symbol"),
        ("A & B", "A | B", "symbol"),
        ("if x", "if !x", "symbol"),
        ("!a", "~a", "symbol"),
        ("x", "-x", "symbol"),
        ("5", "5!", "symbol"),
        ("x2", "x^2", "symbol"),
        ("x2", "x\u00b2", "symbol"),
        ("52", "5\u00b2", "symbol"),
        ("10 m2", "10 m\u00b2", "unicode"),
        ("H2O", "H\u2082O", "unicode"),
        ("x1", "x_1", "symbol"),
        ("force", "--force", "symbol"),
        ("i++", "i--", "symbol"),
        ("NET", ".NET", "symbol"),
        ("examplecom", "example.com", "symbol"),
        ("user", "@user", "symbol"),
        ("HOME", "$HOME", "symbol"),
        ("C:dir", "C:\\dir", "symbol"),
        ("AT T", "AT&T", "symbol"),
        ("a + b * c", "(a + b) * c", "symbol"),
        ("f x = y", "f(x) = y", "symbol"),
        ("f(a b)", "f(a, b)", "symbol"),
        ("[0, 1)", "[0, 1]", "symbol"),
        ('{"a": 5}', '{"a": "5"}', "symbol"),
        ("5\u2032", "5", "symbol"),
        ("5'", "5", "symbol"),
        ("'5'", "5", "punctuation"),
        ("the 1990's", "the 1990s", "punctuation"),
        ("f(x)", "f'(x)", "symbol"),
        ("don't", "dont", "punctuation"),
        ("{1, 2}", "(1, 2)", "symbol"),
        ("1, 2", "[1, 2]", "punctuation"),
        ("\u221e", "-\u221e", "number"),
        ("12", "1;2", "number"),
        ("1\u20142", "1\u20132", "punctuation"),
        ("x\n- a", "x\na", "formatting"),
        ("5\u2030", "5", "symbol"),
        ("**Lisbon**", "Lisbon", "punctuation"),
        ("self-made", "selfmade", "punctuation"),
        ("The answer is -5", "5", "other"),
        ("It is 2.5", "2", "other"),
        ("I like C++", "C", "other"),
        ("It is 5.", "5", "wrapped"),
        ("between 3-5", "5", "wrapped"),
        ("Lisbon", "", "other"),
        ("\u0130stanbul", "istanbul", "case"),
        ("\u0130STANBUL", "istanbul", "case"),
        ("i\u0307stanbul", "\u0130stanbul", "case"),
        ("\u0130STANBUL", "i\u0307stanbul", "case"),
        ("istanbul!", "\u0130stanbul", "formatting"),
        ("\u0130stanbul", "Istanbul", "other"),
        ("\u0130", "\u0131", "other"),
        ("20 \u00baC", "20 \u00b0C", "lookalike"),
        ("20 \u02daC", "20 \u00b0C", "lookalike"),
        ("\u0646\u0639\u0645\u061f", "\u0646\u0639\u0645", "punctuation"),
        ("\u0928\u092e\u0938\u094d\u0924\u0947\u0964", "\u0928\u092e\u0938\u094d\u0924\u0947", "punctuation"),
        ("\u300c北京\u300d", "北京", "punctuation"),
        ("5", "\u00a75", "partial"),
        ("5", "5\u066a", "symbol"),
    ],
)  # fmt: skip
def test_each_kind_of_difference_has_its_name(observed, expected, found):
    assert kind(observed, expected) == found


@pytest.mark.parametrize(
    ("observed", "expected"),
    [
        ("1, 23", "12, 3"),
        ("12 3", "1 23"),
        ("[12, 3]", "[1, 23]"),
        ("12", "1 2"),
        ("12", "1, 2"),
        ("21/2", "2 1/2"),
        ("56 7", "5 6 7"),
        ("Room 101", "Room 10 1"),
        ("v1.23", "v1.2 3"),
        ("123", "1\n2\n3"),
        ("1000", "10 00"),
        ("1\u301c2", "12"),
        ("[ 1200 ]", "[1,200]"),
        ("[5,  1200]", "[5, 1,200]"),
        ("5  1200 7", "5 1 200 7"),
    ],
)
@pytest.mark.parametrize("in_text", ["{}", "Take {} of them.", "{}!"])
def test_digits_that_stand_together_elsewhere_are_other_numbers(observed, expected, in_text):
    assert kind(in_text.format(observed), in_text.format(expected)) == "number"
    assert kind(in_text.format(expected), in_text.format(observed)) == "number"


@pytest.mark.parametrize(
    ("observed", "expected", "found"),
    [
        ("A1 B2", "A 1, B 2", "formatting"),
        ("1,2,3", "1, 2, 3", "whitespace"),
        ("3.4.2026", "3. 4. 2026", "whitespace"),
        ("[100,200,300]", "[100, 200, 300]", "whitespace"),
        ('{"a":[1,200]}', '{"a": [1, 200]}', "whitespace"),
        ("(10,200)", "(10, 200)", "whitespace"),
        ("ids: 101,102,103", "ids: 101, 102, 103", "whitespace"),
        ("Alice\t3\t250 x", "Alice 3 250 x", "whitespace"),
        ("5  100", "5 100", "whitespace"),
        ("It is\n1,000  now.", "It is 1000 now.", "formatting"),
        ("1\u200b2", "12", "whitespace"),
        ("A1 000", "A1000", "whitespace"),
        ("It is 1 000.", "It is 1000.", "notation"),
        ("1'000", "1000", "notation"),
        ("1\u202f000", "1000", "notation"),
        ("1\u2009000", "1000", "whitespace"),
        ("1,234", "1 234", "notation"),
        ("covid19", "covid-19", "punctuation"),
        ("5 km", "5km", "whitespace"),
    ],
)
def test_digits_that_stand_together_as_before_are_the_same_numbers(observed, expected, found):
    assert kind(observed, expected) == found


@pytest.mark.parametrize(
    ("observed", "expected", "words"),
    [
        ("٤٢", "42", "the same number in another notation"),
        ("१२३", "123", "the same number in another notation"),
        ("\u0663\u066b\u0661\u0664", "3.14", "the same number in another notation"),
        ("\u0661\u066b\u0662\u0663\u0664", "1.234", "perhaps the same number in another notation"),
        ("\u0661\u066c\u0660\u0660\u0660", "1,000", "perhaps the same number in another notation"),
        ("\u0661\u0662\u0663", "\u06f1\u06f2\u06f3", "the same number in another notation"),
        ("\u0664\u0662 كتاب", "42 كتاب", "perhaps the same number in another notation"),
        ("\u0661\u066b\u0662\u0663\u0664", "1234", ""),
        ("\u0664\u0663", "42", ""),
        ("\u0664 \u0662", "42", ""),
    ],
)
def test_digits_of_other_scripts_are_the_same_number_in_another_notation(observed, expected, words):
    found = unequal_texts(expected, observed)
    assert found.words(found.kind()) == words
    assert (found.kind() == "notation") == bool(words)


@pytest.mark.parametrize("observed", ["\u0663\u0661\u0664", "\u0663:\u0661\u0664"])
def test_marks_of_numbers_in_other_scripts_carry_meaning(observed):
    assert kind(observed, "\u0663\u066b\u0661\u0664") == "number"


@pytest.mark.parametrize(
    ("observed", "expected", "found"),
    [
        ("首都是北京。", "北京", "wrapped"),
        ("答案是东京", "东京", "wrapped"),
        ("我认为是巴黎。", "巴黎", "wrapped"),
        ("北京是首都。", "北京", "wrapped"),
        ("答案\uff1a北京", "北京", "wrapped"),
        ("答案是42。", "42", "wrapped"),
        ("答案是Paris。", "Paris", "wrapped"),
        ("首都是北京市。", "北京", "other"),
        ("北京市", "北京", "other"),
        ("東京都", "東京", "other"),
        ("東京タワーです", "東京", "other"),
        ("答案是京", "京", "other"),
        ("答えは大阪です", "大阪", "wrapped"),
        ("答えは大阪府です", "大阪", "other"),
        ("首都はパリです。", "パリ", "wrapped"),
        ("首都はパリ市です。", "パリ", "other"),
        ("それはスキーです", "スキ", "other"),
        ("答えはさくらです", "さくら", "wrapped"),
        ("それはおはなしです", "はな", "other"),
        ("気持ちです", "気持", "other"),
        ("เมืองหลวงคือกรุงเทพครับ", "กรุงเทพ", "wrapped"),
        ("เมืองหลวงคือกรุงเทพมหานคร", "กรุงเทพ", "other"),
        ("เป็นไก่ย่าง", "ไก่", "other"),
        ("답은 서울입니다.", "서울", "wrapped"),
        ("답은 서울시입니다.", "서울", "other"),
        ("답은 서울대는", "서울", "other"),
        ("caf\u0065\u0301 noir", "cafe", "other"),
        ("北京", "北京市", "partial"),
        ("北京", "中国北京", "partial"),
        ("京", "北京", "other"),
        ("这是不是", "不是", "other"),
        ("他有没有钱", "没有", "other"),
        ("我说不是。", "不是", "wrapped"),
        ("the", "theatre", "other"),
    ],
)
def test_words_of_scripts_without_blanks_end_at_particles_and_other_scripts(
    observed, expected, found
):
    assert kind(observed, expected) == found


@pytest.mark.parametrize(
    ("observed", "expected", "words"),
    [
        ("1,234.50", "1.234,5", "the same number in another notation"),
        ("3,5", "3.50", "the same number in another notation"),
        ("0,125", "0.125", "the same number in another notation"),
        ("1,000", "1000", "perhaps the same number in another notation"),
        ("1.000", "1000", "perhaps the same number in another notation"),
        ("1 000", "1000", "perhaps the same number in another notation"),
        ("1,234", "1.234", "perhaps the same number in another notation"),
        ("007", "7", "perhaps the same number in another notation"),
        ("3,5 kg", "3.5 kg", "perhaps the same number in another notation"),
        ("20 EUR", "20", "the same number, with a currency beside one of them"),
        ("$1,000", "1000", "perhaps the same number, with a currency beside one of them"),
        (
            "10 \u03bcm",
            "10 \u00b5m",
            "only the Unicode form differs, U+03BC GREEK SMALL LETTER MU instead of U+00B5 MICRO SIGN",
        ),
        (
            "\ufb01n",
            "fin",
            (
                "only the Unicode form differs, U+FB01 LATIN SMALL LIGATURE FI instead of"
                " U+0066 LATIN SMALL LETTER F, U+0069 LATIN SMALL LETTER I"
            ),
        ),
        ("e\u0301", "é", "only the Unicode form differs"),
        ("Rome", "Lisbon", ""),
    ],
)
def test_the_words_for_a_difference_claim_no_more_than_the_texts_show(observed, expected, words):
    found = unequal_texts(expected, observed)
    assert found.words(found.kind()) == words


def value_where(point, text):
    """Return the value of a number in countries with this decimal point; None if it is no number there."""
    comma = "," if point == "." else "."
    if not re.fullmatch(rf"([0-9]+|[1-9][0-9]{{0,2}}(\{comma}[0-9]{{3}})+)(\{point}[0-9]+)?", text):
        return None
    return Decimal(text.replace(comma, "").replace(point, "."))


@given(*[st.from_regex(r"[0-9]{1,4}([.,](000|[0-9]{1,3})){0,2}", fullmatch=True)] * 2)
@example("1,234", "1.234")
@example("0,500", "500")
def test_texts_that_are_different_numbers_in_some_country_are_not_called_the_same(one, other):
    assume(one != other)
    found = unequal_texts(one, other)
    readings = [[value_where(point, text) for point in ".,"] for text in (one, other)]
    may_be = [set(of_text) - {None} for of_text in readings]
    assert (found.kind() == "notation") == (not may_be[0].isdisjoint(may_be[1]))
    if any(a != b and None not in (a, b) for a, b in zip(*readings, strict=True)):
        assert not found.words(found.kind()).startswith("the same number")


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
    "commas": lambda: ("f(a" + ", b" * 150_000, "f(a" + " b" * 150_000),
    "dollars": lambda: ("$a" * 300_000 + ".", "$a" * 300_000),
    "operators": lambda: ("a - " * 100_000 + "(", "a + " * 100_000),
    "shifted": lambda: ("ab" * 450_000 + "c", "a" + "ab" * 450_000),
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("texts", "found"),
    list(
        zip(
            LARGE,
            (
                *("other", "case", "other", "unicode", "number", "number"),
                *("punctuation", "punctuation", "symbol", "other"),
            ),
            strict=True,
        )
    ),
)
def test_texts_of_thirty_megabytes_take_seconds_at_most(texts, found):
    observed, expected = LARGE[texts]()
    begun = time.process_time()
    result = StringMatchGrader().grade(observed, expected)
    assert time.process_time() - begun < 4
    assert result["evidence"][0]["cause"] == found
