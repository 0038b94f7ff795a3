"""The `string-match` grader: compares an answer with the expected text after the configured normalisation."""

from __future__ import annotations

import re
import string
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast

from pydantic import Field

from weighbridge.graders.base import (
    Evidence,
    GraderConfig,
    GraderResult,
    Judgement,
    OutputGrader,
    Strings,
    Verdict,
    graded,
    unreadable,
)
from weighbridge.graders.difference_reason import reason_for
from weighbridge.graders.normal_form import normalized
from weighbridge.graders.text_difference import (
    CONTEXT_CHARACTERS,
    WORDS,
    UnequalTexts,
    unequal_texts,
)
from weighbridge.graders.values import EXCERPT_CHARACTERS, read_text
from weighbridge.text import encodable

if TYPE_CHECKING:
    from collections.abc import Callable

#: further answers whose difference from the answer is classified
_CLASSIFIED_ANSWERS = 100
_CLASSIFIED_CHARACTERS = 1_000_000  #: of these answers, and of what is compared with each
_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLE = re.compile(r"\b(?:a|an|the)\b", re.IGNORECASE)
_RANKS = {kind: rank for rank, kind in enumerate(WORDS)}
#: No answer is nearer than one that differs in case only, and an empty answer differs from all alike.
_LOWEST_RANKS = frozenset({_RANKS["case"], _RANKS["empty"]})
_ResultT = TypeVar("_ResultT")


class StringMatchConfig(GraderConfig):
    """Normalisation steps, in the order of their application, and further accepted answers."""

    unicode_form: Literal["NFC", "NFD", "NFKC", "NFKD"] | None = Field(
        default=None, description="normalises to `NFC`, `NFD`, `NFKC` or `NFKD`"
    )
    case_sensitive: bool = Field(
        default=True,
        description="false folds case (`casefold`, so `STRASSE` equals `straße`)",
    )
    ignore_punctuation: bool = Field(
        default=False,
        description="deletes ASCII punctuation, also where it carries meaning: `-5` equals `5`, `1.5` equals `15` and `C++` equals `C`",
    )
    ignore_articles: bool = Field(
        default=False,
        description="deletes the whole words a, an and the in any case; one space stays between the words around them",
    )
    strip_whitespace: bool = Field(
        default=False, description="strips Unicode whitespace from both ends"
    )
    collapse_whitespace: bool = Field(
        default=False,
        description="replaces each run of Unicode whitespace by one space, and strips both ends",
    )
    expected_any: Strings = Field(
        default=(), description="further accepted answers, normalised in the same way"
    )


class StringMatchGrader(OutputGrader):
    """Passes when the answer equals the expected text, or one of the further ones accepted."""

    id = "string-match"
    name = "String Match"
    description = "Exact string matching with optional normalization"
    version = 7
    has_plain_results = True
    Config = StringMatchConfig
    settings: StringMatchConfig

    def prepare(self) -> None:
        """Fold the alternative answers, and determine whether any normalisation is needed."""
        settings = self.settings
        self._is_exact = settings == StringMatchConfig(expected_any=settings.expected_any)
        self._alternatives = [(text, self._fold(text)) for text in settings.expected_any]

    @classmethod
    def example(cls) -> dict[str, Any]:
        """Return an answer that differs from the expected one only in case and an article."""
        return {
            "config": {"case_sensitive": False, "ignore_articles": True},
            "inputs": {"agent_response": "the Eiffel Tower", "expected_output": "Eiffel tower"},
        }

    def grade(self, agent_response: object, expected_output: object) -> GraderResult:
        """Compare the two texts, normalised as configured."""
        expected, expected_original = read_text(expected_output)
        actual, actual_original = read_text(agent_response)
        folded = self._fold(actual or "")
        wanted, got = self._normalize(self._fold(expected or ""), folded)
        index, differing = 0, None
        if expected is None:
            judgement = _not_text(
                Verdict.UNGRADABLE, "expected", "Expected value", expected_original
            )
        elif actual is None:
            judgement = _not_text(Verdict.FAIL, "response", "Response", actual_original)
        else:
            if wanted != got:
                index, wanted, got, differing = self._closest(wanted, got, folded)
                if index:
                    expected_original = self._alternatives[index - 1][0]
            judgement = (
                self._mismatch(expected_original, actual_original, differing)
                if differing
                else _match(encodable(wanted))
            )
        verdict, match_status, reason, evidence = judgement
        details: dict[str, object] = {
            "match_status": match_status,
            "reason": reason,
            "expected_original": expected_original,
            "expected_index": index,
            "actual_original": actual_original,
            "normalized_expected": encodable(wanted),
            "normalized_actual": encodable(got),
            "first_difference": differing.start if differing else None,
        }
        return graded(verdict, details, [evidence])

    def _closest(
        self, wanted: str, got: str, folded_actual: str
    ) -> tuple[int, str, str, UnequalTexts | None]:
        """Return the index of the alternative that matches or is nearest, 0 for the primary, with both sides and their difference.

        The nearest is the first one whose kind of difference comes first. Of many or long ones, only the first are classified.
        """
        differing = unequal_texts(wanted, got)
        if not self._alternatives:
            return 0, wanted, got, differing
        nearest = 0, differing
        # Cached, because it may be long, and there may be thousands of alternatives.
        of_actual = _Once()
        for index, (_, folded) in enumerate(self._alternatives, start=1):
            wanted, got = self._normalize(folded, folded_actual, of_actual)
            if wanted == got:
                return index, wanted, got, None
        rank, left = _RANKS[differing.kind()], _CLASSIFIED_CHARACTERS
        for index, (_, folded) in enumerate(self._alternatives[:_CLASSIFIED_ANSWERS], start=1):
            left -= len(folded) + len(folded_actual)
            if rank in _LOWEST_RANKS or left < 0:
                break
            differing = unequal_texts(*self._normalize(folded, folded_actual, of_actual))
            if (found := _RANKS[differing.kind()]) < rank:
                nearest, rank = (index, differing), found
        index, differing = nearest
        return index, differing.expected, differing.observed, differing

    def _mismatch(
        self, expected_original: str, actual_original: str, differing: UnequalTexts
    ) -> Judgement:
        """Describe the difference of the two sides, with excerpts around the first difference."""
        kind, difference = differing.kind(), differing.shown()
        words = differing.words(kind)
        reason = reason_for(words, difference, expected_original, actual_original)
        what = f"{reason}; {differing.where()}"
        if self._alternatives:
            what += f"; none of {1 + len(self._alternatives):,} accepted answers is equal"
        evidence: Evidence = {
            "check": "string_match",
            "description": what,
            "passed": False,
            "cause": kind,
            "limit": _around(differing.expected, differing.start),
            "observed": _around(differing.observed, differing.start),
            "step_ids": [],
        }
        if evidence["observed"]:
            evidence["excerpt"] = str(evidence["observed"])
        evidence["difference"] = difference
        return Verdict.FAIL, "mismatch", reason, evidence

    def _fold(self, text: str) -> str:
        """Apply the steps that are independent for each side: Unicode form, then case."""
        settings = self.settings
        if settings.unicode_form is not None:
            text = normalized(settings.unicode_form, text)
        return text if settings.case_sensitive else text.casefold()

    def _normalize(
        self, expected: str, actual: str, of_actual: _Once | None = None
    ) -> tuple[str, str]:
        """Apply the steps after folding; a removal that would leave both sides blank is skipped."""
        if self._is_exact:
            return expected, actual
        settings, once = self.settings, of_actual or _Once()
        if settings.ignore_punctuation:
            expected, actual = _unless_blank(expected, actual, without_punctuation, once)
        if settings.ignore_articles:
            expected, actual = _unless_blank(expected, actual, without_articles, once)
        if settings.collapse_whitespace:
            return _collapsed(expected), once.apply(_collapsed, actual)
        if settings.strip_whitespace:
            return expected.strip(), once.apply(str.strip, actual)
        return expected, actual


class _Once:
    """Caches the results of functions applied to a text."""

    def __init__(self) -> None:
        self._known: dict[tuple[Callable[[str], object], str], object] = {}

    def apply(self, function: Callable[[str], _ResultT], text: str) -> _ResultT:
        """Return the function's result."""
        key = function, text
        if key not in self._known:
            self._known[key] = function(text)
        return cast("_ResultT", self._known[key])


def _match(text: str) -> Judgement:
    shown = text[:EXCERPT_CHARACTERS]
    evidence: Evidence = {
        "check": "string_match",
        "description": "The texts are equal",
        "passed": True,
        "limit": shown,
        "observed": shown,
        "step_ids": [],
    }
    if shown:
        evidence["excerpt"] = shown
    return Verdict.PASS, "match", "Expected and actual values match", evidence


def _not_text(verdict: Verdict, side: str, noun: str, original: str) -> Judgement:
    shown = original[:EXCERPT_CHARACTERS]
    reason = f"{noun} '{shown}' is not text" if shown else f"{noun} is null"
    cause = "not text" if shown else "null"
    return verdict, f"invalid_{side}", reason, unreadable(f"{side}_is_text", reason, shown, cause)


def _around(text: str, index: int) -> str:
    """Return an excerpt of a text: its beginning if that contains the index, else the text around the index."""
    start = 0 if index + CONTEXT_CHARACTERS < EXCERPT_CHARACTERS else index - CONTEXT_CHARACTERS
    return encodable(text[start : start + EXCERPT_CHARACTERS])


def without_punctuation(text: str) -> str:
    """Return a text without ASCII punctuation."""
    return text.translate(_NO_PUNCTUATION)


def without_articles(text: str) -> str:
    """Return a text without the words a, an and the; between other words, one space remains."""
    first, *others = _ARTICLE.split(text)
    if not others:
        return text
    *middle, last = others
    pieces = [first.rstrip(), *(piece.strip() for piece in middle), last.lstrip()]
    return " ".join(piece for piece in pieces if piece)


def _unless_blank(
    expected: str, actual: str, remove: Callable[[str], str], once: _Once
) -> tuple[str, str]:
    """Apply a removal to both sides, unless both would be blank: otherwise all answers of brackets would be equal."""
    wanted, got = remove(expected), once.apply(remove, actual)
    has_content = _has_content(wanted) or once.apply(_has_content, got)
    return (wanted, got) if has_content else (expected, actual)


def _has_content(text: str) -> bool:
    return text != "" and not text.isspace()


def _collapsed(text: str) -> str:
    return " ".join(text.split())
