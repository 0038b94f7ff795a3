"""Whether an answer is the expected text, after the normalisation that was asked for and no other."""

from __future__ import annotations

import re
import string
import unicodedata
from typing import TYPE_CHECKING, Any, Literal

from weighbridge.graders.base import Evidence, GraderConfig, GraderResult, OutputGrader, Strings, Verdict, graded
from weighbridge.graders.inputs import EXCERPT_CHARACTERS, printable, read_text

if TYPE_CHECKING:
    from collections.abc import Callable

_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLE = re.compile(r"\b(?:a|an|the)\b", re.IGNORECASE)
_CONTEXT_CHARACTERS = 40  # how much of an excerpt comes before the first difference


class StringMatchConfig(GraderConfig):
    """What to disregard, in the order in which it is removed, and what else to accept."""

    unicode_form: Literal["NFC", "NFD", "NFKC", "NFKD"] | None = None
    case_sensitive: bool = True
    ignore_punctuation: bool = False
    ignore_articles: bool = False
    strip_whitespace: bool = False
    collapse_whitespace: bool = False
    expected_any: Strings = ()


class StringMatchGrader(OutputGrader):
    """Passes when the answer equals the expected text, or one of the further ones accepted."""

    id = "string-match"
    name = "String Match"
    description = "Exact string matching with optional normalization"
    version = 1
    Config = StringMatchConfig
    settings: StringMatchConfig

    def prepare(self) -> None:
        """Fold the further answers once, and note whether texts are compared as they are."""
        settings = self.settings
        self._is_exact = settings == StringMatchConfig(expected_any=settings.expected_any)
        self._alternatives = [(text, self._fold(text)) for text in settings.expected_any]

    @classmethod
    def example(cls) -> dict[str, Any]:
        """Return an answer that differs from the expected one in case and in an article only."""
        return {
            "config": {"case_sensitive": False, "ignore_articles": True},
            "inputs": {"agent_response": "the Eiffel Tower", "expected_output": "Eiffel tower"},
        }

    def grade(self, agent_response: object, expected_output: object) -> GraderResult:
        """Compare the two texts, normalised as configured."""
        expected, expected_original = read_text(expected_output)
        actual, actual_original = read_text(agent_response)
        if expected is None or actual is None:
            return self._refused(expected, expected_original, actual, actual_original)
        folded = self._fold(actual)
        wanted, got = self._normalize(self._fold(expected), folded)
        if wanted != got and self._alternatives:
            for original, alternative in self._alternatives:
                pair = self._normalize(alternative, folded)
                if pair[0] == pair[1]:
                    expected_original, (wanted, got) = original, pair
                    break
        return self._compared(expected_original, actual_original, wanted, got)

    def _compared(self, expected_original: str, actual_original: str, wanted: str, got: str) -> GraderResult:
        """Return the result for two texts."""
        is_match = wanted == got
        index = None if is_match else first_difference(wanted, got)
        shown_wanted, shown_got = printable(wanted), printable(got)
        evidence: Evidence = {
            "check": "string_match",
            "description": "The texts are equal" if index is None else self._difference(index, wanted, got),
            "passed": is_match,
            "limit": shown_wanted[:EXCERPT_CHARACTERS],
            "observed": shown_got[:EXCERPT_CHARACTERS],
            "step_ids": [],
        }
        if shown_got:
            start = max(0, (index or 0) - _CONTEXT_CHARACTERS)
            evidence["excerpt"] = shown_got[start : start + EXCERPT_CHARACTERS]
        if is_match:
            reason = "Expected and actual values match"
        else:
            wanted_quote, got_quote = expected_original[:EXCERPT_CHARACTERS], actual_original[:EXCERPT_CHARACTERS]
            reason = f"Expected '{wanted_quote}' but got '{got_quote}'"
        details: dict[str, object] = {
            "match_status": "match" if is_match else "mismatch",
            "reason": reason,
            "expected_original": expected_original,
            "actual_original": actual_original,
            "normalized_expected": shown_wanted,
            "normalized_actual": shown_got,
            "first_difference": index,
        }
        return graded(Verdict.PASS if is_match else Verdict.FAIL, details, [evidence])

    def _difference(self, index: int, wanted: str, got: str) -> str:
        """Describe a mismatch."""
        others = f"; none of {len(self._alternatives)} further answers is equal" if self._alternatives else ""
        return f"The texts differ at index {index}: {len(got)} characters, expected {len(wanted)}{others}"

    def _refused(
        self, expected: str | None, expected_original: str, actual: str | None, actual_original: str
    ) -> GraderResult:
        """Return the result when a side is not text; the expected side's fault comes first."""
        if expected is None:
            verdict, side, noun, original = Verdict.UNGRADABLE, "expected", "Expected value", expected_original
        else:
            verdict, side, noun, original = Verdict.FAIL, "response", "Response", actual_original
        shown = original[:EXCERPT_CHARACTERS]
        reason = f"{noun} '{shown}' is not text" if shown else f"{noun} is null"
        evidence: Evidence = {
            "check": f"{side}_is_text",
            "description": reason,
            "passed": False,
            "observed": shown or None,
            "step_ids": [],
        }
        if shown:
            evidence["excerpt"] = shown
        normalized_expected, normalized_actual = self._normalize(self._fold(expected or ""), self._fold(actual or ""))
        details: dict[str, object] = {
            "match_status": f"invalid_{side}",
            "reason": reason,
            "expected_original": expected_original,
            "actual_original": actual_original,
            "normalized_expected": printable(normalized_expected),
            "normalized_actual": printable(normalized_actual),
            "first_difference": None,
        }
        return graded(verdict, details, [evidence])

    def _fold(self, text: str) -> str:
        """Apply the steps that each side takes on its own: Unicode form, then case."""
        settings = self.settings
        if settings.unicode_form is not None:
            text = unicodedata.normalize(settings.unicode_form, text)
        return text if settings.case_sensitive else text.casefold()

    def _normalize(self, expected: str, actual: str) -> tuple[str, str]:
        """Apply the steps after folding; a removal that leaves both sides blank is not made."""
        if self._is_exact:
            return expected, actual
        settings = self.settings
        if settings.ignore_punctuation:
            expected, actual = _unless_blank(expected, actual, without_punctuation)
        if settings.ignore_articles:
            expected, actual = _unless_blank(expected, actual, without_articles)
        if settings.collapse_whitespace:
            return " ".join(expected.split()), " ".join(actual.split())
        if settings.strip_whitespace:
            return expected.strip(), actual.strip()
        return expected, actual


def without_punctuation(text: str) -> str:
    """Delete the ASCII punctuation."""
    return text.translate(_NO_PUNCTUATION)


def without_articles(text: str) -> str:
    """Delete the words a, an and the, leaving one space where they stood between other words."""
    first, *others = _ARTICLE.split(text)
    if not others:
        return text
    *middle, last = others
    pieces = [first.rstrip(), *(piece.strip() for piece in middle), last.lstrip()]
    return " ".join(piece for piece in pieces if piece)


def first_difference(one: str, other: str) -> int:
    """Return the first index at which two unequal texts differ: the shorter one's length when it begins the other."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _unless_blank(expected: str, actual: str, remove: Callable[[str], str]) -> tuple[str, str]:
    """Remove from both sides, unless that leaves nothing of either: then answers of brackets would all be equal."""
    wanted, got = remove(expected), remove(actual)
    return (wanted, got) if _has_content(wanted) or _has_content(got) else (expected, actual)


def _has_content(text: str) -> bool:
    return text != "" and not text.isspace()
