"""Patterns in linear time: search and replacement."""

from __future__ import annotations

import re

import pytest

from weighbridge.graders.loop.linear_patterns import Mask, begins, linear, occurs

FAILURE = r"""^error\b|\n[ \t]{0,4}fatal:
|\bno \w{1,9} found\b|(?-i:\bFAIL\b)|[^\n\d]{3,5}\d"""


@pytest.mark.parametrize(
    "text",
    [
        *("", "Error: x", "an error", "x\n  FATAL: y", "no FILE found", "FAIL", "fail", "é 12"),
        *(
            "ééééé7",
            "é7",
            "no fílé found",
            "n\u00f6\u00f6\u00f6\n7",
            "\ud800\ud800\ud8007",
            "\x00\x00\x007",
        ),
    ],
)
def test_a_pattern_occurs_where_a_search_finds_it(text):
    encodable = text.encode("utf-8", "replace").decode()
    assert occurs(FAILURE)(text) is (linear(FAILURE).search(encodable) is not None)


@pytest.mark.parametrize("text", ["took 5 µs", "took 17 ms", "took 5 ns", "took 5 ", "µ"])
def test_a_mask_puts_its_mark_wherever_the_pattern_is_found(text):
    span = r"\d{1,3} (?:µs|ms)"
    assert Mask(span).subn("#", text, 9) == re.subn(span, "#", text, count=9)


@pytest.mark.parametrize("text", ["", "no error", "Error: x", "x error: y", "\nError", "é error"])
def test_a_text_begins_with_a_pattern_where_a_match_finds_it(text):
    pattern = r".{0,2}\berror\b|no\b"
    found = linear(pattern).match(text) is not None
    assert begins(pattern)(text) is found
    assert occurs("fatal", pattern)(text) is found
    assert occurs("fatal", pattern)(f"{text} FATAL")
