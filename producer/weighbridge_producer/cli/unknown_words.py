"""The hint for results of `true-false` whose expected answers are words that it does not know."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from weighbridge.jobs.outcome import GraderSummary

_GRADER = "true-false"
#: Also of words that have known ones within them, such as 1.0.
_CAUSES = tuple(f"expected_is_boolean: {kind}" for kind in ("other", "both", "wrapped"))


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
