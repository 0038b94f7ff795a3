"""Differences of two texts: location, differing parts, and kind of difference."""

from __future__ import annotations

import re
import string
import unicodedata
from typing import TYPE_CHECKING, Literal, NamedTuple

from weighbridge.graders.lookalikes import differing_characters, look_alike
from weighbridge.graders.meaningful_marks import differing_mark, is_cut
from weighbridge.graders.normal_form import normalized
from weighbridge.graders.number_notation import (
    equal_but_for_notation,
    have_other_digits_together,
    one_number,
)
from weighbridge.graders.word_ends import LOOKED_AT, is_begun_or_ended_by, is_within_word
from weighbridge.text import pluralize, revealed

if TYPE_CHECKING:
    from weighbridge.graders.base import Difference
    from weighbridge.graders.meaningful_marks import Mark

CONTEXT_CHARACTERS = 40  #: of equal text shown on each side of a difference
PART_CHARACTERS = 80  #: of differing text shown on each side
COMPARED_CHARACTERS = 1_000_000  #: of differing text; longer differences are not classified
# Invisible characters count as whitespace here: controls, marks of direction, and selectors of a form are seen as little.
_WHITESPACE = dict.fromkeys(
    (
        *range(0x21),
        *range(0x7F, 0xA1),
        *map(ord, "\xad\u034f\u061c\u115f\u1160\u1680\u17b4\u17b5\u2800\u3000\u3164\ufeff\uffa0"),
        *range(0x180B, 0x1810),
        *range(0x2000, 0x2010),
        *range(0x2028, 0x2030),
        *range(0x205F, 0x2070),
        *range(0xFE00, 0xFE10),
        *range(0xE0000, 0xE01F0),
    )
)
#: Blocks with punctuation of text: not those of mathematics, whose brackets carry meaning.
_PUNCTUATED = (
    range(0x80, 0x2070),
    range(0x2CF0, 0x3100),
    range(0xA000, 0xAC00),
    range(0xFE00, 0x10000),
)
#: Unicode has sections and ditto marks among its punctuation, which stand for words.
_WORDS_OF_MARKS = frozenset("§¶〃")
_PUNCTUATION = dict.fromkeys(
    (
        *map(ord, string.punctuation + "−"),  # noqa: RUF001
        *(
            code
            for block in _PUNCTUATED
            for code in block
            if unicodedata.category(chr(code)).startswith("P") and chr(code) not in _WORDS_OF_MARKS
        ),
    )
)
_REMOVED = _WHITESPACE | _PUNCTUATION
#: Characters without a width, which part no digits.
_WITHOUT_WIDTH = {
    code: None
    for code in _WHITESPACE
    if not chr(code).isspace() and chr(code) not in "\u115f\u1160\u2800\u3164\uffa0"
}
_INVISIBLE_CHARACTERS = "".join(map(chr, _WHITESPACE))
#: Without controls, which something has to have written.
_BLANK_CHARACTERS = "".join(c for c in _INVISIBLE_CHARACTERS if c.isspace() or c > "\x9f")
_REMOVED_CHARACTERS = "".join(map(chr, _REMOVED))
_AT_ONCE = 48  #: characters compared as one integer
_PLACES = 20  #: occurrences of a text checked for being a whole word
_CUT_START, _CUT_END = re.compile(r"\A\S*"), re.compile(r"\S*\Z")
#: Digits and signs above the line, which carry meaning after a number, a bracket, or a letter that is no unit.
_EXPONENT = re.compile(
    r"(?:(?<=[\d)\]])|(?<=(?<![^\W_])[^\W\dcdmsCDMS_]))[\u00b2\u00b3\u00b9\u2070\u2071\u2074-\u207f]"
)
#: The Turkish capital of `i`, whose lower case has two characters elsewhere.
_DOTTED = "\u0130"
#: The signs of ohm, kelvin and angstrom, whose lower case is that of letters.
_UNITS = frozenset("\u2126\u212a\u212b")
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
    "number": "a sign, a separator, an operator or a space of a number differs",
    "symbol": "a symbol that may carry meaning differs, such as + or #",
    "notation": "the same number in another notation",
    "lookalike": "only characters that look alike differ",
    "empty": "the answer is empty",
    "wrapped": "the expected text is inside other text",
    "partial": "the answer is only a part of the expected text",
    "other": "",
}


#: Kinds of a difference of characters that may carry meaning.
_MAY_CARRY_MEANING: frozenset[Kind] = frozenset({"punctuation", "formatting", "unicode"})


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
        if not got.strip(_BLANK_CHARACTERS):
            return "empty"
        if sum(self.differing) <= COMPARED_CHARACTERS:
            end = -tail or None
            kind = _kind_of(wanted[start:end], got[start:end])
            if kind:
                return self._meant_by(kind)
            if look_alike(wanted[start:end], got[start:end]):
                return "lookalike"
        if one_number(wanted, got):
            return "notation"
        if _is_inside(wanted, got):
            return "wrapped"
        if _is_inside(got, wanted) or is_begun_or_ended_by(wanted, got):
            return "partial"
        return "notation" if equal_but_for_notation(*self._in_context()) else "other"

    def _meant_by(self, kind: Kind) -> Kind:
        """Return the kind of a difference of characters, or what they mean in numbers, names and formulas."""
        is_inner_space = kind == "whitespace" and self.expected.strip() != self.observed.strip()
        may_carry_meaning = kind in _MAY_CARRY_MEANING
        if (may_carry_meaning or is_inner_space) and self._sameness():
            return "notation"
        if kind != "unicode" and self._has_other_groups_of_digits():
            return "number"
        return (may_carry_meaning and self._differing_mark()) or kind

    def _has_other_groups_of_digits(self) -> bool:
        """Return whether blanks and punctuation part digits at other places, which makes them other numbers."""
        expected, observed = (
            normalized("NFKC", text).translate(_WITHOUT_WIDTH) for text in self._in_context()
        )
        return have_other_digits_together(expected, observed)

    def words(self, kind: Kind) -> str:
        """Return a description of the difference, of a kind that was found; empty if the texts have little in common."""
        if kind == "notation":
            return self._sameness()
        characters = ""
        if kind in {"lookalike", "unicode"}:
            end = -self.tail or None
            parts = self.expected[self.start : end], self.observed[self.start : end]
            # What is shown by its code point needs no name.
            if all(part == revealed(part) for part in parts):
                characters = differing_characters(*parts)
        return f"{WORDS[kind]}, {characters}" if characters else WORDS[kind]

    def _sameness(self) -> str:
        """Return in words that numbers of the texts, which are equal otherwise, may be the same; empty if they are not."""
        found = one_number(self.expected, self.observed)
        return found or equal_but_for_notation(*self._in_context())

    def _differing_mark(self) -> Mark | None:
        """Return whether marks that carry meaning differ, with the text around the difference, which says what they mean."""
        expected, observed = self._in_context()
        if _EXPONENT.findall(expected) != _EXPONENT.findall(observed):
            return "symbol"
        return differing_mark(normalized("NFKC", expected), normalized("NFKC", observed), _REMOVED)

    def _in_context(self) -> tuple[str, str]:
        """Return what differs with the whole words around it."""
        wanted, got, start, tail = self
        begin, end = max(0, start - CONTEXT_CHARACTERS), len(wanted) - tail
        before, after = wanted[begin:start], wanted[end : end + CONTEXT_CHARACTERS]
        if begin > 0:
            before = _CUT_START.sub("", before)
        if tail > CONTEXT_CHARACTERS:
            after = _CUT_END.sub("", after)
        expected, observed = (text[start : len(text) - tail] for text in (wanted, got))
        return before + expected + after, before + observed + after

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
    is_ascii = (expected + observed).isascii()
    forms = (expected, observed)
    if not is_ascii:
        forms = normalized("NFKC", expected), normalized("NFKC", observed)
    is_form = forms[0] == forms[1]
    if not is_form and _differ_in_case(expected, observed):
        return "case"
    if _begin_alike(expected, observed):
        if expected.translate(_WHITESPACE) == observed.translate(_WHITESPACE):
            return "whitespace"
        if expected.translate(_PUNCTUATION) == observed.translate(_PUNCTUATION):
            return "punctuation"
    if is_form:
        return "unicode"
    is_equal = _begin_alike(*(form.casefold() for form in forms)) and _equal_but_for_case(
        *(form.translate(_REMOVED) for form in forms)
    )
    return "formatting" if is_equal else None


def _equal_but_for_case(one: str, other: str) -> bool:
    return one == other or _differ_in_case(one, other)


def _differ_in_case(one: str, other: str) -> bool:
    """Return whether letters are upper case in one text and lower case in the other, which are otherwise equal.

    `casefold` alone also makes `ß` and `ss`, or `µ` and `μ`, equal, which are lower case both; `upper` alone the Turkish letters of i.
    """
    if _DOTTED in one + other:
        if any({_DOTTED, "I"} == {*pair} for pair in zip(one, other, strict=False)):
            return False
        if one.lower() == other.lower():
            return True
        one, other = (text.replace(_DOTTED, "i") for text in (one, other))
        if one == other:
            return True
    if one.lower() == other.lower():
        return _UNITS.isdisjoint(one + other)
    upper = one.upper()
    if upper != other.upper() or upper not in {one, other} or one.casefold() != other.casefold():
        return False
    return all(normalized("NFKC", text) == text for text in (one, other))


def _begin_alike(expected: str, observed: str) -> bool:
    """Return whether two texts may be equal without whitespace and punctuation, by their beginnings."""
    return expected.lstrip(_REMOVED_CHARACTERS)[:1] == observed.lstrip(_REMOVED_CHARACTERS)[:1]


def _is_inside(part: str, whole: str) -> bool:
    """Return whether a text occurs in another one as whole words."""
    part = part.strip(_INVISIBLE_CHARACTERS)
    if not part or len(part) >= len(whole):
        return False
    if _stands_in(part, whole):
        return True
    if len(part) < _LEAST_FOLDED or len(whole) > COMPARED_CHARACTERS:
        return False
    part, whole = part.casefold(), whole.casefold()
    return part != whole and _stands_in(part, whole)


def _stands_in(part: str, whole: str) -> bool:
    at = -1
    for _ in range(_PLACES):
        at = whole.find(part, at + 1)
        if at < 0:
            return False
        end = at + len(part)
        before, after = whole[max(0, at - LOOKED_AT) : at], whole[end : end + LOOKED_AT]
        if not (is_within_word(before, part, after) or is_cut(before[-2:], part, after[:2])):
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
