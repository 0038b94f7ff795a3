"""The hint for results of `true-false` whose expected answers are words that it does not know."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from weighbridge.jobs.outcome import GraderSummary

_GRADER = "true-false"
_CAUSE = "expected_is_boolean: other"


def unknown_words_hint(row: GraderSummary) -> str:
    """Return how to name the words for true and false if a label's jobs all had other words; empty for other results."""
    unknown = dict(row.causes).get(_CAUSE, 0)
    if row.grader != _GRADER or not unknown or unknown < row.finished:
        return ""
    return (
        "no expected value is a known word for true or false; name yours with"
        """ --config 'aliases={"true": ["WORD"], "false": ["WORD"]}'"""
    )
