"""Results in which a model transcribes a screenshot, in different words each time even if the screen is unchanged."""

from __future__ import annotations

import re
from typing import NamedTuple

_MARK = re.compile(
    r"(?:automatic )?ocr of the (?:page )?screenshot|text (?:transcribed|extracted|detected) (?:from|in|on) the (?:page|screenshot|image)",
    re.IGNORECASE,
)
_BEFORE_CHARACTERS = 4_000  #: the mark is searched for in these first characters
_CHARACTERS = 20_000  #: maximum characters of a transcript that are compared
_WORD = re.compile(r"[^\W\d]\w*")
_NUMBER = re.compile(r"\d+")
_SHARED = 0.8  #: minimum share of the words of the shorter transcript


class Transcript(NamedTuple):
    """Transcript of a screenshot."""

    page: str  #: the header: the page's title, its address and the part that is visible
    words: frozenset[str]
    numbers: frozenset[str]


def transcript_of(text: str) -> Transcript | None:
    """Return the transcript of a screenshot in a result, or None if there is none."""
    found = _MARK.search(text, 0, _BEFORE_CHARACTERS)
    if found is None:
        return None
    shown = text[found.end() : found.end() + _CHARACTERS].casefold()
    words, numbers = _WORD.findall(shown), _NUMBER.findall(shown)
    return Transcript(text[: found.start()], frozenset(words), frozenset(numbers))


def show_the_same(one: Transcript | None, other: Transcript | None) -> bool:
    """Return whether two transcripts show one screen: most words are equal, and the numbers of one include those of the other."""
    if one is None or other is None or one.page != other.page:
        return False
    fewer = min(len(one.words), len(other.words))
    is_of_one = one.numbers <= other.numbers or one.numbers >= other.numbers
    return is_of_one and len(one.words & other.words) >= _SHARED * fewer
