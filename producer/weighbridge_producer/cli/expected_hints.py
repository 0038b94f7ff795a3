"""Hints for results with one cause in most answers: words that `true-false` does not recognise, lists, and longer text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weighbridge.text import pluralize

if TYPE_CHECKING:
    from collections.abc import Mapping

    from weighbridge.jobs.outcome import GraderSummary

_GRADER = "true-false"
_NOT_TEXT = "expected_is_text: not text"  #: of `string-match`
_OF_LIST = "Expected value '["
_OF_OBJECT = "Expected value '{"
_OF_EMPTY = f"{_OF_LIST}]'"
#: Also of words that have known ones within them, such as 1.0.
_CAUSES = tuple(f"expected_is_boolean: {kind}" for kind in ("other", "both", "wrapped"))
#: Of an answer that is within other text.
_WRAPPED = ("string_match: wrapped", "response_is_boolean: wrapped")


def wrapped_hint(row: GraderSummary) -> str:
    """Return what to do if most of a label's judged answers are within other text; empty for other results."""
    wrapped = sum(dict(row.causes).get(cause, 0) for cause in _WRAPPED)
    if 2 * wrapped <= row.judged:
        return ""
    return (
        f"{wrapped:,} of {pluralize(row.judged, 'judged answer')} {'is' if wrapped == 1 else 'are'} inside other text, as"
        " after a chain of thought; docs/how-to/grade-your-own-fields.md#answers-inside-longer-text in the repository shows"
        " how to take them out"
    )


def unknown_words_hint(row: GraderSummary) -> str:
    """Return how to name the words for true and false if a label's jobs all had other words; empty for other results."""
    causes = dict(row.causes)
    unknown = sum(causes.get(cause, 0) for cause in _CAUSES)
    if row.grader != _GRADER or not unknown or unknown < row.finished:
        return ""
    return (
        "no expected value is a known word for true or false; name yours with"
        """ --config 'aliases={"true": ["WORD"], "false": ["WORD"]}'"""
    )


def several_answers_hint(row: GraderSummary, examples: Mapping[tuple[str, str], str]) -> str:
    """Return what to do if a list or an object is an expected value; empty for other results."""
    example = examples.get((row.label, _NOT_TEXT), "")
    if _OF_EMPTY in example:
        return (
            "an expected value is an empty list, by which no answer is accepted; if it stands for an empty answer, write"
            ' "" in its place'
        )
    if _OF_OBJECT in example:
        return (
            "an expected value is an object, and text is compared; in the repository,"
            " docs/how-to/grade-your-own-fields.md#answers-in-json shows how to compare its values, and"
            " docs/how-to/write-a-grader.md how to compare objects field by field"
        )
    if _OF_LIST not in example:
        return ""
    return (
        "an expected value is a list; to accept several answers, make one of them expected_output, and the others"
        """ expected_any in the case: "graders": [{"grader": "string-match", "config": {"expected_any": [...]}}]"""
    )
