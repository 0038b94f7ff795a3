"""Whether an answer is the expected text, after the normalisation that was asked for and no other."""

from __future__ import annotations

import re
import string
import unicodedata
from typing import TYPE_CHECKING, Any, Literal

from weighbridge.graders.base import Evidence, GraderConfig, GraderResult, OutputGrader, Strings
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
        details: dict[str, object] = {
            "match_status": "match",
            "reason": "Expected and actual values match",
            "expected_original": expected_original,
            "actual_original": actual_original,
            "normalized_expected": "",
            "normalized_actual": "",
            "first_difference": None,
        }
        if expected is None or actual is None:
            return self._refused(expected, actual, details)

        folded_actual = self._fold(actual)
        wanted, got = self._normalize(self._fold(expected), folded_actual)
        if wanted != got:
            for original, folded in self._alternatives:
                pair = self._normalize(folded, folded_actual)
                if pair[0] == pair[1]:
                    wanted, got = pair
                    details["expected_original"] = expected_original = original
                    break
        shown_wanted = details["normalized_expected"] = wanted if wanted.isascii() else printable(wanted)
        shown_got = details["normalized_actual"] = got if got.isascii() else printable(got)
        evidence: Evidence = {
            "check": "string_match",
            "description": "the texts are equal",
            "passed": True,
            "limit": shown_wanted[:EXCERPT_CHARACTERS],
            "observed": shown_got[:EXCERPT_CHARACTERS],
            "step_ids": [],
        }
        start = 0
        if wanted != got:
            index = first_difference(wanted, got)
            start = max(0, index - _CONTEXT_CHARACTERS)
            details["match_status"] = "mismatch"
            details["first_difference"] = index
            details["reason"] = (
                f"Expected '{expected_original[:EXCERPT_CHARACTERS]}' but got '{actual_original[:EXCERPT_CHARACTERS]}'"
            )
            evidence["passed"] = False
            evidence["description"] = self._difference(index, len(wanted), len(got))
        if shown_got:
            evidence["excerpt"] = shown_got[start : start + EXCERPT_CHARACTERS]
        return _result("pass" if wanted == got else "fail", details, evidence)

    def _difference(self, index: int, expected_length: int, actual_length: int) -> str:
        """Describe a mismatch."""
        lengths = f"{actual_length} characters, expected {expected_length}"
        others = f"; none of {len(self._alternatives)} further answers is equal" if self._alternatives else ""
        return f"the texts differ from character {index} on ({lengths}){others}"

    def _refused(self, expected: str | None, actual: str | None, details: dict[str, object]) -> GraderResult:
        """Return the result for a side that is not text; the expected side is named first."""
        details["normalized_expected"], details["normalized_actual"] = (
            "" if text is None else printable(self._normalize(self._fold(text), "")[0]) for text in (expected, actual)
        )
        if expected is None:
            verdict, status, check, what = "ungradable", "invalid_expected", "expected_is_text", "Expected value"
            original = str(details["expected_original"])[:EXCERPT_CHARACTERS]
        else:
            verdict, status, check, what = "fail", "invalid_response", "response_is_text", "Response"
            original = str(details["actual_original"])[:EXCERPT_CHARACTERS]
        reason = f"{what} '{original}' is not text" if original else f"{what} is null"
        details["match_status"], details["reason"] = status, reason
        evidence: Evidence = {
            "check": check,
            "description": reason,
            "passed": False,
            "observed": original or None,
            "step_ids": [],
        }
        if expected is not None:
            evidence["limit"] = str(details["normalized_expected"])[:EXCERPT_CHARACTERS]
        if original:
            evidence["excerpt"] = original
        return _result(verdict, details, evidence)

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
    pair = remove(expected), remove(actual)
    return pair if any(text and not text.isspace() for text in pair) else (expected, actual)


def _result(verdict: str, details: dict[str, object], evidence: Evidence) -> GraderResult:
    passed = verdict == "pass"
    return {
        "passed": passed,
        "score": 1.0 if passed else 0.0,
        "verdict": verdict,
        "details": details,
        "evidence": [evidence],
    }
