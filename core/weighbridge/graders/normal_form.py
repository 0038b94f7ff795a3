"""Unicode normalisation in linear time.

`unicodedata.normalize` sorts the combining marks after a character by insertion, so that a text of only marks takes
quadratic time, without the possibility of an interrupt. Here long runs of marks are sorted beforehand.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from typing import Literal, NamedTuple

Form = Literal["NFC", "NFD", "NFKC", "NFKD"]

#: marks in a row, the limit of UAX #15's Stream-Safe Text Format; no language needs more
_LONG_RUN = 30
_FIRST_MARK = 0x300
_MARKS_END = 0x20000  #: above this there are only variation selectors, of combining class 0
_DECOMPOSED: dict[Form, Literal["NFD", "NFKD"]] = {
    "NFC": "NFD",
    "NFD": "NFD",
    "NFKC": "NFKD",
    "NFKD": "NFKD",
}


def normalized(form: Form, text: str) -> str:
    """Return the result of `unicodedata.normalize`, in linear time."""
    if text.isascii():
        return text
    runs = _patterns().decomposing_to_marks.finditer(text)
    if any(len(run[0]) > _LONG_RUN for run in runs):
        text = _with_sorted_marks(_DECOMPOSED[form], text)
    return unicodedata.normalize(form, text)


def _with_sorted_marks(form: Literal["NFD", "NFKD"], text: str) -> str:
    """Decompose a text, and sort each run of marks by combining class; the sort is stable."""
    parts = {ord(character): unicodedata.normalize(form, character) for character in set(text)}
    return _patterns().marks.sub(_sorted, text.translate(parts))


def _sorted(run: re.Match[str]) -> str:
    return "".join(sorted(run[0], key=unicodedata.combining))


class _Patterns(NamedTuple):
    """Patterns of runs of characters."""

    marks: re.Pattern[str]
    decomposing_to_marks: re.Pattern[str]  #: characters that decompose to marks only


@cache
def _patterns() -> _Patterns:
    characters = [chr(code) for code in range(_FIRST_MARK, _MARKS_END)]
    marks = filter(unicodedata.combining, characters)
    decomposing = (c for c in characters if _decomposes_to_marks(c))
    return _Patterns(*(re.compile(f"[{''.join(found)}]+") for found in (marks, decomposing)))


def _decomposes_to_marks(character: str) -> bool:
    return all(map(unicodedata.combining, unicodedata.normalize("NFKD", character)))
