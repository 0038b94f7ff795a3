"""Loops of differently worded texts that get the same refusal each time."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from weighbridge.graders.loop.finders.findings import REFUSED, Finding
from weighbridge.graders.loop.history.framework_messages import (
    asks_to_continue,
    is_refusal,
    normalized_beginning,
    reports_missing_action,
)
from weighbridge.graders.loop.history.results import LONG_CHARACTERS
from weighbridge.graders.loop.linear_patterns import occurs

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from weighbridge.graders.loop.history.actions import Message
    from weighbridge.graders.loop.work_budget import Limits

#: Minimum share of texts that claim completion or inability, unless the refusal is for a missing action.
_CLAIMS_SHARE = 0.8
_STATES = 3  #: multiple of `max_repeats` from which equal descriptions of the state are a loop
_MORE_THAN_REPEATS = 2  #: minimum texts above `max_repeats` if they are claims
_CLAIM_CHARACTERS = 2_000  #: length of the end of a text that is searched for such a claim
claims_completion = occurs(
    r"""\b(?:done|complete[ds]?|completion|finish(?:ed)?|final(?:ly|i[sz]ed)?|sol(?:ved|ution)|ready|fixed|resolved|implemented|in place|all set|set up
|nothing (?:else|left|more|remains)|no (?:further|more|other) |concluded?s?|accomplished|achieved|success(?:ful(?:ly)?)?|terminate|goal|reached|works|passed|over)\b"""
)
_claims_inability = occurs(
    r"""\b(?:sorry|apologi[sz]e|apolog(?:y|ies)|regret|unfortunately|(?:i am|i'm|we are) (?:unable|not able)|i (?:cannot|can't|can not|do not have|don't have|have no)|beyond (?:my|what i)|my (?:abilities|capabilities) are)\b"""
)


def refused_answers(turns: Sequence[Message], limits: Limits) -> Iterator[Finding]:
    """Find answers without calls that get the same refusal.

    A loop needs `max_repeats + 2` claims that the work is done, or cannot be done; or `max_repeats + 1` answers, whatever
    they say, if the refusals are for a missing action; or `3 * max_repeats` answers if the environment describes the same
    state each time, letter for letter.
    """
    least = limits.least_length(1)
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


def _found(turns: Sequence[Message], run: list[int], limits: Limits) -> Iterator[Finding]:
    if len(run) < limits.least_length(1):
        return
    if _describe_one_state([turns[index].reply for index in run], limits):
        yield Finding(REFUSED, None, tuple(run))
        return
    if not is_refusal(turns[run[0]].reply):
        return
    if not reports_missing_action(turns[run[0]].reply):
        claims = sum(map(_is_claim, (turns[index].text for index in run)))
        least = min(2 * limits.max_repeats, limits.max_repeats + _MORE_THAN_REPEATS)
        if len(run) < least or claims < _CLAIMS_SHARE * len(run):
            return
    yield Finding(REFUSED, None, tuple(run))


def _describe_one_state(replies: Sequence[str], limits: Limits) -> bool:
    """Return whether replies describe the same state so often that no answer between them can have changed it."""
    first = replies[0]
    return (
        len(replies) >= _STATES * limits.max_repeats
        and len(first) >= LONG_CHARACTERS
        and not asks_to_continue(first)
        and all(reply == first for reply in replies)
    )


def _is_claim(text: str) -> bool:
    """Return whether a text claims that the work is done or cannot be done, rather than being another attempt."""
    end = text[-_CLAIM_CHARACTERS:]
    return claims_completion(end) or _claims_inability(end)
