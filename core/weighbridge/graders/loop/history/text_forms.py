"""Forms of texts for comparison.

Differences in case, white space, punctuation, word order and small words are ignored. Texts with different numbers, or
different names such as paths, are never similar.
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise
from typing import NamedTuple

from rapidfuzz import fuzz

from weighbridge.graders.loop.work_budget import FOLDED_CHARACTERS, WorkBudget

COMPARED_CHARACTERS = 4_000  #: longer texts are compared only for equality
#: texts of at least this length are content, such as an edit, a letter or a script
CONTENT_CHARACTERS = 200
ANY_KIND = frozenset(("phrase", "prose", "content"))
_BY_WORD = frozenset(("phrase", "prose"))
_PROSE_WORDS = 10
_ITEM_WORDS = 12  #: maximum words of an item in a list
_MOST_BACK = 0.2  #: maximum share of items in a list whose words all occurred before
_LONG_WORDS = 20  #: minimum words of a long text
#: Maximum positions that change in a list, as a multiple of the most between two consecutive texts.
_MORE_POSITIONS = 1.5
_ITEM_TEXTS = 50  #: number of texts examined for a list

_WORD = re.compile(r"\w+")
_DIGITS = re.compile(r"\d+")
_ENDING = re.compile(r"(?<=\w{4})(?:ing|ed|es|s)\b")
#: Separators of words. A word with marks inside, such as a path or an address, is a name, compared as a whole.
_SEPARATORS = re.compile(r"""[\s"'`(){}\[\],;=!?<>|*#]+|(?<![.:])[.:]++(?=\s|$)|(?<!\S)-+""")
_MARKED = re.compile(r"\w[/._:@\\~-]|[/~]\w")
#: The same in a text that was not split: most texts have none.
_HAS_MARKED = re.compile(r"\w(?:[/_@\\~-]|[.:](?=\S))|[/~]\w")
_DIGITS_ALONE = "".join(chr(code) if chr(code).isdigit() else " " for code in range(128))
_QUOTES_AND_STOPS = " \t\r\n\"'`.,;:!?"
_SMALL_WORDS = frozenset(
    [
        "a",
        "an",
        "and",
        "are",
        "as",
        "at",
        "be",
        "by",
        "can",
        "could",
        "did",
        "do",
        "does",
        "for",
        "from",
        "has",
        "have",
        "i",
        "in",
        "is",
        "it",
        "its",
        "let",
        "ll",
        "me",
        "my",
        "now",
        "of",
        "on",
        "or",
        "our",
        "please",
        "re",
        "s",
        "so",
        "still",
        "tell",
        "that",
        "the",
        "then",
        "there",
        "these",
        "this",
        "those",
        "to",
        "us",
        "ve",
        "was",
        "we",
        "well",
        "what",
        "which",
        "will",
        "with",
        "would",
        "you",
        "your",
    ]
)


class TextForms(NamedTuple):
    """Forms of a text that are compared."""

    kind: str  #: `phrase`, `prose`, `content`, or `bulk`, which is too long to compare
    #: in lower case with single spaces, without surrounding quotes and punctuation
    plain: str
    #: equal for texts of the same meaning: stems, numbers and names, or the plain text
    meaning: object
    digits: tuple[str, ...]  #: equal for similar texts
    names: tuple[str, ...]  #: equal for similar texts, unless one is `content`


class ComparedText:
    """Text with its forms for comparison."""

    __slots__ = ("forms", "text")

    def __init__(self, text: str, budget: WorkBudget) -> None:
        self.text = text
        self.forms = _forms_of(text)
        budget.count_description(text, is_by_word=self.forms.kind in _BY_WORD)


def _forms_of(text: str) -> TextForms:
    if len(text) > FOLDED_CHARACTERS:
        return TextForms("bulk", text, text, (), ())
    folded = text.casefold()
    # White space other than a space is not printable.
    is_tidy = folded.isprintable() and "  " not in folded
    plain = (folded if is_tidy else " ".join(folded.split())).strip(_QUOTES_AND_STOPS)
    if len(text) > COMPARED_CHARACTERS:
        return TextForms("bulk", plain, plain, (), ())
    digits = digits_of(folded)
    if len(plain) >= CONTENT_CHARACTERS:
        return TextForms("content", plain, plain, digits, ())
    tokens = [token for token in _SEPARATORS.split(folded) if token]
    names: list[str] = []
    if _HAS_MARKED.search(folded):
        names = [token for token in tokens if not token.isalnum() and _MARKED.search(token)]
        names.sort()
    stems = [word for word in stems_of(folded) if word not in _SMALL_WORDS]
    stems.sort()
    meaning: object = (tuple(stems), digits, tuple(names)) if len(stems) > 1 else plain
    kind = "phrase" if len(tokens) < _PROSE_WORDS else "prose"
    return TextForms(kind, plain, meaning, digits, tuple(names))


def digits_of(text: str) -> tuple[str, ...]:
    """Return the runs of digits in a text, sorted."""
    # A regular expression takes eight times as long.
    runs = text.translate(_DIGITS_ALONE).split() if text.isascii() else _DIGITS.findall(text)
    runs.sort()
    return tuple(runs)


def stems_of(folded: str) -> list[str]:
    """Return the words of a text in lower case without their endings."""
    return _WORD.findall(_ENDING.sub("", folded))


def ratio(one: str, other: str, budget: WorkBudget) -> float:
    """Return the character similarity of two texts, from 0 to 1; only the beginnings of long texts are compared."""
    if one == other:
        return 1.0
    beginning = COMPARED_CHARACTERS if budget.is_left else CONTENT_CHARACTERS
    one, other = one[:beginning], other[:beginning]
    budget.count_comparison(len(one), len(other))
    return fuzz.ratio(one, other) / 100


def lists_items(texts: list[str]) -> bool:
    """Return whether texts are one sentence with a different item each time, as in work through a list."""
    variants = list(dict.fromkeys(texts))
    if len(variants) < max(3, 0.7 * len(texts)):
        return False
    before = _stems(variants[0])
    seen = set(before)
    back = 0
    for spoken in map(_stems, variants[1:_ITEM_TEXTS]):
        gone, come = before - spoken, spoken - before
        if not (_is_item(gone) and _is_item(come)):
            return False
        back += seen.issuperset(come)
        seen.update(come)
        before = spoken
    if _changes_in_different_positions([text.split() for text in variants[:_ITEM_TEXTS]]):
        return False
    # Repeated items are repeated work, but an item such as a name may consist of words of other items.
    return back <= _MOST_BACK * len(variants)


def _changes_in_different_positions(texts: list[list[str]]) -> bool:
    """Return whether long texts of equal length change in different positions; in a list, the position is the same."""
    if len({len(words) for words in texts}) > 1 or len(texts[0]) < _LONG_WORDS:
        return False
    changes = [
        {
            index
            for index, (word, other) in enumerate(zip(one, another, strict=True))
            if word != other
        }
        for one, another in pairwise(texts)
    ]
    return len(set().union(*changes)) > _MORE_POSITIONS * max(map(len, changes))


def _stems(text: str) -> Counter[str]:
    return Counter(stems_of(text[:COMPARED_CHARACTERS].casefold()))


def _is_item(words: Counter[str]) -> bool:
    small = sum(count for word, count in words.items() if word in _SMALL_WORDS)
    return words.total() <= _ITEM_WORDS and 2 * small < words.total()
