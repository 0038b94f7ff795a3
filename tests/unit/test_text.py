"""Text for display: counts, suggestions, and escaping of untrusted text."""

import json

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from weighbridge.text import (
    closest,
    compact,
    cut_after,
    did_you_mean,
    duration,
    elapsed,
    encodable,
    encodable_json,
    pluralize,
    printable,
    shorten,
    visible,
)

ANY_TEXT = st.text(st.characters(exclude_categories=()))


@pytest.mark.parametrize(
    ("count", "text"), [(0, "0 jobs"), (1, "1 job"), (2, "2 jobs"), (12_345, "12,345 jobs")]
)
def test_a_count_stands_with_its_noun(count: int, text: str) -> None:
    assert pluralize(count, "job") == text


def test_a_noun_may_have_a_plural_of_its_own() -> None:
    assert pluralize(1, "line was", "lines were") == "1 line was"
    assert pluralize(2, "line was", "lines were") == "2 lines were"


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("budgt", "budget"),
        ("true-flase", "true-false"),
        ("Budget", "budget"),
        ("LOOP", "loop"),
        ("nothing of the kind", None),
        ("", None),
    ],
)
def test_a_misspelt_name_is_taken_for_the_closest_or_for_none(name: str, meant: str | None) -> None:
    assert closest(name, ["loop", "budget", "true-false"]) == meant


def test_names_are_compared_by_their_beginnings() -> None:
    known = ["x" * 1_000 + "a", "y" * 1_000]
    assert closest("x" * 1_000_000, known) == known[0]


def test_what_was_meant_is_asked_where_there_is_a_guess() -> None:
    assert did_you_mean("loop") == "; did you mean 'loop'?"
    assert did_you_mean("loop", before="", after=" ") == "did you mean 'loop'? "
    assert did_you_mean(None) == ""


@pytest.mark.parametrize(
    "hostile",
    ["\x1b[31mred", "a\rb", "\x07", "\x9b2J", "a\nb", "\u202eevil", "\udcff", "\u2028", "\x00"],
)
def test_what_would_move_a_terminal_is_shown_as_text(hostile: str) -> None:
    assert printable(hostile).isprintable()


def test_ordinary_text_of_any_script_is_shown_as_it_is() -> None:
    text = "naïve 名前 مرحبا 👍 e\u0301"
    assert printable(text) == text
    assert visible(text) == text


def test_what_reorders_or_hides_text_is_written_out() -> None:
    assert visible("a\u202egpj.exe\u200b\x1b[31m\ud800") == r"a\u202egpj.exe\u200b\x1b[31m\ud800"
    assert visible("two\nlines\tand more") == "two\nlines\tand more"


@given(text=ANY_TEXT)
def test_encodable_text_has_a_utf8_form_and_the_same_length(text: str) -> None:
    shown = encodable(text)
    shown.encode()
    assert len(shown) == len(text)
    assert all(one in (other, "\ufffd") for one, other in zip(shown, text, strict=True))


@pytest.mark.parametrize(
    ("text", "shortened", "cut"),
    [
        ("abc", "abc", "abc"),
        ("abcd", "abcd", "abcd"),
        ("abcde", "abc…", "abcd…"),
        ("a" * 1_000_000, "aaa…", "aaaa…"),
    ],
)
def test_a_mark_stands_for_what_is_cut_within_the_length_or_behind_it(
    text: str, shortened: str, cut: str
) -> None:
    assert shorten(text, 4) == shortened
    assert cut_after(text, 4) == cut


def test_a_longer_mark_takes_more_room() -> None:
    assert shorten("abcdef", 5, "...") == "ab..."


@pytest.mark.parametrize(
    ("seconds", "written"),
    [
        (0, "less than a second"),
        (59, "59 s"),
        (200, "3 min 20 s"),
        (7200, "2 h"),
        (90_061, "1 d 1 h"),
    ],
)
def test_a_length_of_time_is_written_in_two_units(seconds: float, written: str) -> None:
    assert duration(seconds) == written


@pytest.mark.parametrize(
    ("seconds", "written"),
    [
        (0.00042, "0.42 ms"),
        (0.85, "850 ms"),
        (0.9996, "1 s"),
        (33.52, "33.5 s"),
        (59.97, "1 min"),
        (446.379, "7 min 26 s"),
    ],
)
def test_what_took_long_is_written_in_larger_units(seconds: float, written: str) -> None:
    assert elapsed(seconds) == written


@pytest.mark.parametrize(
    ("count", "written"),
    [
        (0, "0"),
        (9_999, "9,999"),
        (10_000, "10.0k"),
        (99_949, "99.9k"),
        (666_041, "666k"),
        (999_499, "999k"),
        (999_500, "1.00M"),
        (9_995_000, "10.0M"),
        (1_500_000_000, "1.50G"),
    ],
)
def test_a_count_is_written_in_the_width_of_a_column(count: int, written: str) -> None:
    assert compact(count) == written


@given(ANY_TEXT)
def test_escapes_of_lone_surrogates_in_json_become_the_replacement_character(text: str) -> None:
    raw = json.dumps(text).encode()
    assert orjson.loads(encodable_json(raw)) == encodable(json.loads(raw))


@pytest.mark.parametrize("raw", [rb'"\ud83d\ude00"', rb'"\\ud83d"', b'"hi"'])
def test_json_without_lone_surrogates_is_the_same_object(raw: bytes) -> None:
    assert encodable_json(raw) is raw


@given(st.text('\\\\ud8dDeE00"n', max_size=30))
def test_json_that_can_be_parsed_is_not_changed(text: str) -> None:
    raw = f'"{text}"'.encode()
    try:
        orjson.loads(raw)
    except ValueError:
        return
    assert encodable_json(raw) is raw
