"""Loops of differently worded texts that get the same refusal each time."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from weighbridge.graders.loop.framework_messages import (
    is_refusal,
    normalized_beginning,
    reports_missing_action,
)
from weighbridge.graders.loop.linear_patterns import occurs
from weighbridge.graders.loop.merging import REFUSED, Finding

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from weighbridge.graders.loop.actions import Message
    from weighbridge.graders.loop.work_budget import Limits

_CLAIMS_SHARE = (
    0.8  #: minimum share of texts that claim completion, unless the refusal is for a missing action
)
_MORE_THAN_REPEATS = 2  #: minimum texts above `max_repeats` if the refusal is for a missing action
_CLAIM_CHARACTERS = 2_000  #: length of the end of a text that is searched for such a claim
_claims_completion = occurs(
    r"""\b(?:done|complete[ds]?|completion|finish(?:ed)?|final(?:ly|i[sz]ed)?|sol(?:ved|ution)|ready|fixed|resolved|implemented|in place|all set|set up
|nothing (?:else|left|more|remains)|no (?:further|more|other) |concluded?s?|accomplished|achieved|success(?:ful(?:ly)?)?|terminate|goal|reached|works|passed|over)\b"""
)


def refused_answers(turns: Sequence[Message], limits: Limits) -> Iterator[Finding]:
    """Find answers without calls that get the same refusal.

    A loop needs `2 * max_repeats` of them; `max_repeats + 2` are enough if the refusals are for a missing action.
    """
    least = _least_missing_actions(limits)
    # Consecutive refused answers have no call between them.
    answers = Counter([turn.calls_before for turn in turns if turn.reply])
    if max(answers.values(), default=0) < least:
        return
    run: list[int] = []
    last = ("", 0)
    for index, turn in enumerate(turns):
        is_answer = turn.text and turn.reply and not turn.calls
        same = (normalized_beginning(turn.reply) if is_answer else "", turn.calls_before)
        if same != last:
            yield from _found(turns, run, limits)
            run, last = [], same
        if is_answer:
            run.append(index)
    yield from _found(turns, run, limits)


def _least_missing_actions(limits: Limits) -> int:
    return min(2 * limits.max_repeats, limits.max_repeats + _MORE_THAN_REPEATS)


def _found(turns: Sequence[Message], run: list[int], limits: Limits) -> Iterator[Finding]:
    if len(run) < _least_missing_actions(limits) or not is_refusal(turns[run[0]].reply):
        return
    if not reports_missing_action(turns[run[0]].reply):
        claims = sum(_claims_completion(turns[index].text[-_CLAIM_CHARACTERS:]) for index in run)
        if len(run) < 2 * limits.max_repeats or claims < _CLAIMS_SHARE * len(run):
            return
    yield Finding(REFUSED, None, tuple(run))
