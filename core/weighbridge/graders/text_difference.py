"""Differences of two texts: location, differing parts, and kind of difference."""

from __future__ import annotations

import re
import string
from typing import TYPE_CHECKING, Literal, NamedTuple

from weighbridge.graders.lookalikes import differing_characters, look_alike
from weighbridge.graders.meaningful_marks import differing_mark, is_cut
from weighbridge.graders.normal_form import normalized
from weighbridge.graders.number_notation import are_one_number
from weighbridge.text import pluralize, revealed

if TYPE_CHECKING:
    from weighbridge.graders.base import Difference
    from weighbridge.graders.meaningful_marks import Mark

CONTEXT_CHARACTERS = 40  #: of equal text shown on each side of a difference
PART_CHARACTERS = 80  #: of differing text shown on each side
COMPARED_CHARACTERS = 1_000_000  #: of differing text; longer differences are not classified
# Characters without width count as whitespace here, because both are invisible.
_WHITESPACE = dict.fromkeys(
    map(
        ord,
        "\t\n\x0b\x0c\r\x1c\x1d\x1e\x1f \x85\xa0\xad\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008"
        "\u2009\u200a\u200b\u200c\u200d\u2028\u2029\u202f\u205f\u2060\u3000\ufeff",
    )
)
_PUNCTUATION = dict.fromkeys(
    map(ord, string.punctuation + "¡«·»¿‐‑‒–—―−‖‗‘’‚‛“”„‟†‡•‣․‥…‧‰‱′″‴‵‶‷‸‹›※‼‽‾、。！，．：？")  # noqa: RUF001
)
_REMOVED = _WHITESPACE | _PUNCTUATION
_REMOVED_CHARACTERS = "".join(map(chr, _REMOVED))
_AT_ONCE = 48  #: characters compared as one integer
_PLACES = 20  #: occurrences of a text checked for being a whole word
_WORD, _WORD_END = re.compile(r"\S*"), re.compile(r"\S*\Z")
_LEAST_FOLDED = 3  #: shorter texts are searched case-sensitively


Kind = Literal[
    "case",
    "whitespace",
    "punctuation",
    "unicode",
    "formatting",
    "number",
    "symbol",
    "notation",
    "lookalike",
    "empty",
    "wrapped",
    "partial",
    "other",
]
#: Descriptions of the kinds of difference; none for texts that have little in common.
WORDS: dict[Kind, str] = {
    "case": "only the case differs",
    "whitespace": "only whitespace or invisible characters differ",
    "punctuation": "only punctuation differs",
    "unicode": "only the Unicode form differs",
    "formatting": "only the formatting differs (case, whitespace, punctuation or Unicode form)",
    "number": "a number differs by its sign, its decimal point or an operator",
    "symbol": "a symbol that carries meaning differs, such as + or #",
    "notation": "the same number in another notation",
    "lookalike": "only characters that look alike differ",
    "empty": "the answer is empty",
    "wrapped": "the expected text is inside other text",
    "partial": "the answer is only a part of the expected text",
    "other": "",
}


class UnequalTexts(NamedTuple):
    """Two unequal texts, with the lengths of their common prefix and suffix."""

    expected: str
    observed: str
    start: int  #: the index of the first difference
    tail: int  #: length of the common suffix

    @property
    def differing(self) -> tuple[int, int]:
        """Number of differing characters on each side."""
        equal = self.start + self.tail
        return len(self.expected) - equal, len(self.observed) - equal

    def kind(self) -> Kind:
        """Classify the difference in linear time."""
        wanted, got, start, tail = self
        if not got or got.isspace():
            return "empty"
        if sum(self.differing) <= COMPARED_CHARACTERS:
            end = -tail or None
            kind = _kind_of(wanted[start:end], got[start:end])
            if kind in {"punctuation", "formatting"}:
                mark = self._differing_mark()
                is_notation = mark != "symbol" and are_one_number(wanted, got)
                return "notation" if is_notation else mark or kind
            if kind == "whitespace" and wanted.strip() != got.strip():
                return "notation" if are_one_number(wanted, got) else kind
            if kind:
                return kind
            if look_alike(wanted[start:end], got[start:end]):
                return "lookalike"
        if _is_inside(wanted, got):
            return "wrapped"
        if _is_inside(got, wanted):
            return "partial"
        return "notation" if are_one_number(wanted, got) else "other"

    def _differing_mark(self) -> Mark | None:
        """Return whether marks that carry meaning differ, with the words around the difference, which say what they mean."""
        wanted, got, start, tail = self
        end = len(wanted) - tail
        before = _WORD_END.search(wanted, max(0, start - CONTEXT_CHARACTERS), start)
        after = _WORD.match(wanted, end, end + CONTEXT_CHARACTERS)
        around = tuple(found[0] if found else "" for found in (before, after))
        texts = (text[start : len(text) - tail].join(around) for text in (wanted, got))
        expected, observed = (normalized("NFKC", text).casefold() for text in texts)
        return differing_mark(expected, observed, _REMOVED)

    def lookalikes(self) -> str:
        """Return the code points and names of the characters that differ, if they look alike."""
        wanted, got, start, tail = self
        end = -tail or None
        return differing_characters(wanted[start:end], got[start:end])

    def shown(self) -> Difference:
        """Return the difference for evidence, with invisible characters made visible."""
        wanted, got, start, tail = self
        expected, observed = self.differing
        begin = start - CONTEXT_CHARACTERS
        before = wanted[begin:start] if begin > 0 else wanted[:start]
        is_whole = expected <= PART_CHARACTERS and observed <= PART_CHARACTERS
        end = start + expected
        after = wanted[end : end + CONTEXT_CHARACTERS] if is_whole else ""
        return {
            "index": start,
            "before": ("…" if begin > 0 else "") + revealed(before),
            "expected": _part(wanted, start, expected),
            "observed": _part(got, start, observed),
            "after": revealed(after) + ("…" if tail > len(after) else ""),
        }

    def where(self) -> str:
        """Return a description of the first difference and the lengths of the texts."""
        wanted, got, start, _ = self
        expected, observed = wanted[start : start + 1], got[start : start + 1]
        codes = ""
        if expected and observed and not (expected + observed).isascii():
            codes = f", U+{ord(observed):04X} instead of U+{ord(expected):04X}"
        return (
            f"the first difference is at index {start:,}{codes}"
            f" ({pluralize(len(got), 'character')}, expected {len(wanted):,})"
        )


def unequal_texts(expected: str, observed: str) -> UnequalTexts:
    """Determine the common prefix and suffix of two unequal texts."""
    start = first_difference(expected, observed)
    return UnequalTexts(expected, observed, start, common_end(expected, observed, start))


def first_difference(one: str, other: str) -> int:
    """Return the first index at which two unequal texts differ; the shorter one's length if it is a prefix."""
    if not one.startswith(other[:1]):
        return 0
    low, high = 0, min(len(one), len(other))
    while high - low > _AT_ONCE:
        middle = (low + high) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle
    differing, bits = _differing(one[low:high], other[low:high])
    # The highest differing bit is in the first differing character.
    return high - (differing.bit_length() + bits - 1) // bits


def common_end(one: str, other: str, start: int) -> int:
    """Return the length of the common suffix after `start`."""
    if not one.endswith(other[-1:]):
        return 0
    end, end_of_other = len(one), len(other)
    low, high = 0, min(end, end_of_other) - start
    while high - low > _AT_ONCE:
        middle = (low + high) // 2
        if one[end - middle : end - low] == other[end_of_other - middle : end_of_other - low]:
            low = middle
        else:
            high = middle
    differing, bits = _differing(
        one[end - high : end - low], other[end_of_other - high : end_of_other - low]
    )
    lowest = differing & -differing
    return low + (lowest.bit_length() - 1) // bits if differing else high


def _differing(one: str, other: str) -> tuple[int, int]:
    """Return the XOR of two texts of equal length as an integer, and the bits per character.

    This is faster than a comparison of each character.
    """
    if one.isascii() and other.isascii():
        return int.from_bytes(one.encode()) ^ int.from_bytes(other.encode()), 8
    wide = [text.encode("utf-32-be", "surrogatepass") for text in (one, other)]
    return int.from_bytes(wide[0]) ^ int.from_bytes(wide[1]), 32


def _kind_of(expected: str, observed: str) -> Kind | None:
    """Classify a difference by the normalisation that removes it; None if there is none."""
    if expected.casefold() == observed.casefold():
        return "case"
    if _begin_alike(expected, observed):
        if expected.translate(_WHITESPACE) == observed.translate(_WHITESPACE):
            return "whitespace"
        if expected.translate(_PUNCTUATION) == observed.translate(_PUNCTUATION):
            return "punctuation"
    if not (expected + observed).isascii():
        expected, observed = normalized("NFKC", expected), normalized("NFKC", observed)
        if expected == observed:
            return "unicode"
    expected, observed = expected.casefold(), observed.casefold()
    is_equal = _begin_alike(expected, observed) and (
        expected.translate(_REMOVED) == observed.translate(_REMOVED)
    )
    return "formatting" if is_equal else None


def _begin_alike(expected: str, observed: str) -> bool:
    """Return whether two texts may be equal without whitespace and punctuation, by their beginnings."""
    return expected.lstrip(_REMOVED_CHARACTERS)[:1] == observed.lstrip(_REMOVED_CHARACTERS)[:1]


def _is_inside(part: str, whole: str) -> bool:
    """Return whether a text occurs in another one as whole words."""
    part = part.strip()
    if not part or len(part) >= len(whole):
        return False
    if _stands_in(part, whole):
        return True
    if len(part) < _LEAST_FOLDED or len(whole) > COMPARED_CHARACTERS:
        return False
    return _stands_in(part.casefold(), whole.casefold())


def _stands_in(part: str, whole: str) -> bool:
    at = -1
    for _ in range(_PLACES):
        at = whole.find(part, at + 1)
        if at < 0:
            return False
        end = at + len(part)
        before, after = whole[max(0, at - 2) : at], whole[end : end + 2]
        is_within_word = (part[0].isalnum() and before[-1:].isalnum()) or (
            part[-1].isalnum() and after[:1].isalnum()
        )
        if not (is_within_word or is_cut(before, part, after)):
            return True
    return False


def _part(text: str, start: int, length: int) -> str:
    if length > PART_CHARACTERS:
        return with_visible_ends(revealed(text[start : start + PART_CHARACTERS])) + "…"
    return with_visible_ends(revealed(text[start : start + length]))


def with_visible_ends(text: str) -> str:
    """Return a text with visible spaces at both ends."""
    if not (text.startswith(" ") or text.endswith(" ")):
        return text
    inner = text.strip(" ")
    if not inner:
        return "␠" * len(text)
    head = len(text) - len(text.lstrip(" "))
    return "␠" * head + inner + "␠" * (len(text) - head - len(inner))
