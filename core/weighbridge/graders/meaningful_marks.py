"""Punctuation that carries meaning: signs and decimal points of numbers, and symbols such as the `+` in `C++`."""

from __future__ import annotations

import re
from typing import Literal

_DASHES = "-\u2010\u2011\u2012\u2013\u2212"  #: all of which are written for a minus
_DASH = f"[{re.escape(_DASHES)}]"
_SIGN = rf"(?<![\w)\]]){_DASH}(?=[$€£¥]?\.?\d)"
#: A number, with separators of thousands or as a list as well.
_NUMBER = re.compile(r"(?<!\d)\d++(?:[.,]\d++)+")
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_OF_NUMBERS = re.compile(rf"{_SIGN}|(?<=\d)[.,/^*](?=\d)|(?<![\w.])\.(?=\d)")
_SYMBOLS = re.compile(r"(?<=[^\W_])[+#]+|(?<=\d)%|\$(?=\d)|[<>](?=\s?\d)")
_KEPT = 0xF0000  #: added to the code of a mark that is kept, which is then no punctuation

Mark = Literal["number", "symbol"]


def differing_mark(expected: str, observed: str, mere: dict[int, None]) -> Mark | None:
    """Return which marks differ in two texts that are equal without `mere` punctuation; None if none that carry meaning do."""
    one, other = (_with_kept(_OF_NUMBERS, _plain_numbers(text)) for text in (expected, observed))
    if one.translate(mere) != other.translate(mere):
        return "number"
    one, other = (_with_kept(_SYMBOLS, text) for text in (one, other))
    return "symbol" if one.translate(mere) != other.translate(mere) else None


def is_cut(before: str, part: str, after: str) -> bool:
    """Return whether a part of a text would be cut out of a number or a name, as `5` out of `-5` and `C` out of `C++`.

    `before` and `after` are the two characters around the part.
    """
    if part[:1].isdigit() and (
        re.search(rf"(?:^|[^\w)\]]){_DASH}$", before) or re.search(r"\d[.,]$", before)
    ):
        return True
    is_number = part[-1:].isdigit() and re.match(r"[.,]\d", after)
    return bool(is_number or (part[-1:].isalnum() and after[:1] in {"+", "#"}))


def _plain_numbers(text: str) -> str:
    """Return a text with numbers without separators of thousands, and without the commas of lists of numbers."""
    return _NUMBER.sub(lambda found: _plain_number(found[0]), text)


def _plain_number(text: str) -> str:
    if _THOUSANDS.fullmatch(text) or text.count(",") > 1:
        return text.replace(",", "")
    return text


def _with_kept(marks: re.Pattern[str], text: str) -> str:
    return marks.sub(lambda found: "".join(map(_kept, found[0])), text)


def _kept(mark: str) -> str:
    return chr(_KEPT + ord("-" if mark in _DASHES else mark))
