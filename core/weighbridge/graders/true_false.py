"""The `true-false` grader: compares the booleans that an answer and the expected value mean."""

from __future__ import annotations

import re
import string
from typing import Annotated, Any

from pydantic import Field, model_validator

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
from weighbridge.graders.values import EXCERPT_CHARACTERS, read_text
from weighbridge.text import encodable

_EXAMINED_CHARACTERS = 1_000  #: of a value that is not a boolean, to determine its kind
_WORD = re.compile(r"\w+")
_AliasList = Annotated[Strings, Field(min_length=1)]


class Aliases(GraderConfig):
    """The words for each boolean, beside `true` and `false` themselves."""

    true: _AliasList
    false: _AliasList


DEFAULT_ALIASES = Aliases.model_validate(
    {
        "true": ["true", "True", "TRUE", "yes", "Yes", "YES", "1"],
        "false": ["false", "False", "FALSE", "no", "No", "NO", "0"],
    }
)


class TrueFalseConfig(GraderConfig):
    """Words that mean each boolean, and whether their case matters."""

    aliases: Aliases = Field(
        default=DEFAULT_ALIASES,
        description="the words for each boolean; both lists are needed, and replace the default ones",
    )
    case_sensitive: bool = Field(
        default=False,
        description="whether `YES` differs from `yes`; without it, case is folded on both sides and on the aliases",
    )

    @model_validator(mode="after")
    def _refuse_ambiguity(self) -> TrueFalseConfig:
        meanings(self)
        return self


def meanings(config: TrueFalseConfig) -> dict[str, str]:
    """Map each normalised alias to `true` or `false`; raise ValueError for an empty or ambiguous one."""
    table = {"true": "true", "false": "false"}
    for meaning, aliases in (("true", config.aliases.true), ("false", config.aliases.false)):
        for alias in aliases:
            word = normalize(alias, config.case_sensitive)
            if not word:
                raise ValueError(
                    f"aliases.{meaning} has an empty alias; an empty answer is never a boolean"
                )
            if table.setdefault(word, meaning) != meaning:
                raise ValueError(f"alias {alias!r} would mean both true and false")
    return table


def normalize(text: str, case_sensitive: bool) -> str:
    """Strip Unicode whitespace, and fold case unless it matters."""
    stripped = text.strip()
    return stripped if case_sensitive else stripped.casefold()


class TrueFalseGrader(OutputGrader):
    """Passes when answer and expected value stand for the same boolean."""

    id = "true-false"
    name = "True/False"
    description = "Boolean value matching with support for multiple formats"
    version = 3
    has_plain_results = True
    Config = TrueFalseConfig
    settings: TrueFalseConfig

    def prepare(self) -> None:
        """Build the table of all aliases."""
        self._case_sensitive = self.settings.case_sensitive
        self._meanings = meanings(self.settings)

    @property
    def case_sensitive(self) -> bool:
        """True if `YES` differs from `yes`."""
        return self.settings.case_sensitive

    @property
    def true_aliases(self) -> list[str]:
        """The words for true, as configured or by default."""
        return list(self.settings.aliases.true)

    @property
    def false_aliases(self) -> list[str]:
        """The words for false, as configured or by default."""
        return list(self.settings.aliases.false)

    @classmethod
    def example(cls) -> dict[str, Any]:
        """Return an answer that means `true` by a configured alias."""
        return {
            "config": {"aliases": {"true": ["yep"], "false": ["nope"]}},
            "inputs": {"agent_response": "Yep", "expected_output": "true"},
        }

    def grade(self, agent_response: object, expected_output: object) -> GraderResult:
        """Compare the booleans that the two values mean."""
        expected_text, expected_original = read_text(expected_output)
        actual_text, actual_original = read_text(agent_response)
        normalized_expected, expected_bool = self._interpret(expected_text)
        normalized_actual, actual_bool = self._interpret(actual_text)
        if expected_bool is None:
            cause = self._why_none(expected_text)
            judgement = _invalid_expected(expected_original, expected_text, cause)
        elif actual_bool is None:
            cause = self._why_none(actual_text)
            judgement = _invalid_response(actual_original, expected_bool, cause)
        else:
            judgement = _compared(actual_original, actual_bool, expected_bool)
        verdict, match_status, reason, evidence = judgement
        details: dict[str, object] = {
            "expected_bool": expected_bool,
            "actual_bool": actual_bool,
            "match_status": match_status,
            "reason": reason,
            "expected_original": expected_original,
            "actual_original": actual_original,
            "normalized_expected": normalized_expected,
            "normalized_actual": normalized_actual,
        }
        return graded(verdict, details, [evidence])

    def _interpret(self, text: str | None) -> tuple[str, str | None]:
        """Return a text's normalised form, and the boolean that it means, or None."""
        if text is None:
            return "", None
        word = normalize(text, self._case_sensitive)
        return word if word.isascii() else encodable(word), self._meanings.get(word)

    def _why_none(self, text: str | None) -> str:
        """Return the kind of a value that is not a boolean; for a long text, only its beginning is examined."""
        if text is None:
            return "not text"
        word = normalize(text[:_EXAMINED_CHARACTERS], self._case_sensitive)
        if not word:
            return "empty"
        if word.strip(string.punctuation) in self._meanings:
            return "punctuation"
        meant = {self._meanings[part] for part in _WORD.findall(word) if part in self._meanings}
        return {0: "other", 1: "wrapped"}.get(len(meant), "both")


def _compared(original: str, actual_bool: str, expected_bool: str) -> Judgement:
    shown = original[:EXCERPT_CHARACTERS]
    is_match = actual_bool == expected_bool
    evidence: Evidence = {
        "check": "boolean_match",
        "description": f"Response '{shown}' means {actual_bool}, expected {expected_bool}",
        "passed": is_match,
        "limit": expected_bool,
        "observed": actual_bool,
        "step_ids": [],
        "excerpt": shown,
    }
    if is_match:
        return Verdict.PASS, "match", "Expected and actual values match", evidence
    evidence["cause"] = "false positive" if actual_bool == "true" else "false negative"
    return Verdict.FAIL, "mismatch", f"Expected {expected_bool} but got {actual_bool}", evidence


def _invalid_response(original: str, expected_bool: str, cause: str) -> Judgement:
    shown = original[:EXCERPT_CHARACTERS]
    is_blank = not original or original.isspace()
    what = f"Response '{shown}' does not represent a boolean value"
    reason = "Empty or null response" if is_blank else what
    evidence = unreadable("response_is_boolean", reason, shown, "empty" if is_blank else cause)
    evidence["limit"] = expected_bool
    return Verdict.FAIL, "invalid_response", reason, evidence


def _invalid_expected(original: str, text: str | None, cause: str) -> Judgement:
    shown = original[:EXCERPT_CHARACTERS]
    if text is None and not original:
        cause = "null"
    is_named = cause in {"null", "empty"}
    reason = (
        f"Expected value is {cause}"
        if is_named
        else f"Expected value '{shown}' is not a valid boolean"
    )
    evidence = unreadable("expected_is_boolean", reason, shown, cause)
    return Verdict.UNGRADABLE, "invalid_expected", reason, evidence
