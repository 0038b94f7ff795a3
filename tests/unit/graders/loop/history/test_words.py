"""Words of texts in scripts with and without spaces between words."""

from __future__ import annotations

import re

import pytest

from weighbridge.graders.loop.history.words import words_in


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Open the gate_house, 2 doors", ["Open", "the", "gate", "house", "2", "doors"]),
        ("été à l'étang", ["été", "à", "l", "étang"]),
        ("打开港口, gate 2", ["打开", "开港", "港口", "gate", "2"]),
        ("港を開く", ["港を", "を開", "開く"]),
        ("水", ["水"]),
        ("부산 항구를 연다", ["부산", "항구를", "연다"]),
        ("", []),
    ],
)
def test_words_are_what_spaces_part_or_two_letters_in_sequence(text, words):
    assert words_in(text) == words


def test_words_may_be_of_another_form():
    assert words_in("a_b 12 港口岸", re.compile(r"[^\W\d]+")) == ["a_b", "港口", "口岸"]
