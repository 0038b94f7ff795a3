"""Loops of differently worded texts that get the same refusal, or the same reply, each time."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from weighbridge.graders.loop.finders.findings import Finding
from weighbridge.graders.loop.finders.rules import Rule
from weighbridge.graders.loop.history.message_kinds import (
    is_refusal,
    normalized_beginning,
    reports_missing_action,
)
from weighbridge.graders.loop.history.progress import count_one_way
from weighbridge.graders.loop.history.result_kinds import reports_failure, reports_no_effect
from weighbridge.graders.loop.history.results import CallResult
from weighbridge.graders.loop.linear_patterns import occurs

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from weighbridge.graders.loop.history.actions import Message
    from weighbridge.graders.loop.work_budget import Limits

#: Minimum share of texts that claim completion or inability, unless the refusal is for a missing action.
_CLAIMS_SHARE = 0.8
_CLAIM_CHARACTERS = 2_000  #: length of the end of a text that is searched for such a claim
claims_completion = occurs(
    r"""\b(?:done|complete[ds]?|completion|finish(?:ed)?|final(?:ly|i[sz]ed)?|sol(?:ved|ution)|ready|fixed|resolved|implemented|in place|all set|set up
|nothing (?:else|left|more|remains)|no (?:further|more|other) |concluded?s?|accomplished|achieved|success(?:ful(?:ly)?)?|terminate|goal|reached|works|passed|over)\b"""
)
claims_inability = occurs(
    r"""\b(?:sorry|apologi[sz]e|apolog(?:y|ies)|regret|unfortunately|(?:i am|i'm|we are) (?:\w+ly )?(?:unable|not able)|i (?:cannot|can't|can not|do not have|don't have|have no)|beyond (?:my|what i)|my (?:abilities|capabilities) are)\b"""
)
_MOVE_CHARACTERS = 200  #: maximum length of a text that is a move
#: Fewer others than this lie between, for each answer that lacks an action, and for each after which a program fails.
_PER_REFUSED, _PER_REPORT = 2, 4


def refused_answers(turns: Sequence[Message], limits: Limits) -> Iterator[Finding]:
    """Find answers without calls that get the same refusal, or the same reply to moves in vain.

    A loop needs `max_repeats + 2` claims that the work is done, or cannot be done; or `max_repeats + 1` answers, whatever
    they say, if the refusals are for a missing action; or `4 * max_repeats` short texts that fail with one reply, letter for
    letter.
    """
    least = limits.least_length(1)
    if sum(bool(turn.reply) for turn in turns) < least:
        return
    replies = [
        normalized_beginning(turn.reply)
        if turn.reply and not turn.calls and _is_answer(turn)
        else ""
        for turn in turns
    ]
    run: list[int] = []
    last = ("", 0)
    for index, (turn, reply) in enumerate(zip(turns, replies, strict=True)):
        same = reply, turn.calls_before
        if same != last:
            yield from _found(turns, run, limits)
            run, last = [], same
        if reply:
            run.append(index)
    yield from _found(turns, run, limits)
    times = Counter(replies)
    del times[""]
    if max(times.values(), default=0) >= least:
        yield from _refused_between_others(turns, replies, limits)


def _is_answer(turn: Message) -> bool:
    """Return whether a turn says something, or is refused because it neither says nor does anything."""
    return bool(turn.text) or reports_missing_action(turn.reply)


def _refused_between_others(
    turns: Sequence[Message], replies: Sequence[str], limits: Limits
) -> Iterator[Finding]:
    """Find answers to one request that get the same reply, with others between.

    A loop needs `2 * max_repeats` that lack an action, more than a third of all answers there; or `max_repeats + 2` after which
    a program fails in the same words, more than a fifth, unless a number in them only rises or only falls.
    """
    least = Rule.REPORTED_AGAIN.least(limits)
    answered: defaultdict[tuple[int, str], list[int]] = defaultdict(list)
    for index, (turn, reply) in enumerate(zip(turns, replies, strict=True)):
        if reply:
            answered[turn.requests_before, reply].append(index)
    for (_, reply), indices in answered.items():
        if len(indices) < least:
            continue
        if reports_missing_action(reply):
            rule, others = Rule.REFUSED_BETWEEN_ACTIONS, _PER_REFUSED
        elif turns[indices[0]].is_reported and reports_failure(reply):
            rule, others = Rule.REPORTED_AGAIN, _PER_REPORT
        else:
            continue
        for found in _close_together(indices, others):
            is_loop = len(found) >= rule.least(limits)
            if is_loop and not (rule is Rule.REPORTED_AGAIN and _gets_on(turns, found)):
                yield Finding.by(rule, found, rule.least(limits))


def _gets_on(turns: Sequence[Message], found: Sequence[int]) -> bool:
    """Return whether a number in the replies to some answers, apart from times and the like, only rises or only falls."""
    return count_one_way([CallResult(turns[index].reply).masked for index in found])


def _close_together(indices: Sequence[int], others: int) -> Iterator[list[int]]:
    """Yield the stretches of some places, in each of which fewer than so many others lie between for each place before them."""
    found: list[int] = []
    room = 0  #: for others
    for index in indices:
        room = max(0, room - (index - found[-1] - 1)) if found else 0
        if found and not room:
            yield found
            found = []
        found.append(index)
        room += others
    yield found


def _found(turns: Sequence[Message], run: list[int], limits: Limits) -> Iterator[Finding]:
    if len(run) < Rule.REFUSED_WITHOUT_ACTION.least(limits):
        return
    texts, replies = ([getattr(turns[index], name) for index in run] for name in ("text", "reply"))
    is_refused = is_refusal(replies[0])
    if is_refused and reports_missing_action(replies[0]):
        rule = Rule.REFUSED_WITHOUT_ACTION
    elif is_refused and _are_claims(texts):
        rule = Rule.REFUSED_CLAIMS
    elif _are_moves_in_vain(texts, replies) and not _is_asked(
        turns[run[0]], normalized_beginning(replies[0])
    ):
        rule = Rule.SAME_REPLY
    else:
        return
    if len(run) >= rule.least(limits):
        yield Finding.by(rule, run, rule.least(limits))


def _are_moves_in_vain(texts: Sequence[str], replies: Sequence[str]) -> bool:
    """Return whether short texts, as of moves in a game, get one reply, which says that they failed or had no effect."""
    reply = replies[0]
    return (
        all(each == reply for each in replies)
        and all(len(text) <= _MOVE_CHARACTERS for text in texts)
        and (reports_failure(reply) or reports_no_effect(reply))
    )


def _is_asked(first: Message, reply: str) -> bool:
    """Return whether the reply to some answers came before the first of them, too: a person asks for one after the other."""
    return normalized_beginning(first.asked) == reply


def _are_claims(texts: Sequence[str]) -> bool:
    return sum(map(_is_claim, texts)) >= _CLAIMS_SHARE * len(texts)


def _is_claim(text: str) -> bool:
    """Return whether a text claims that the work is done or cannot be done, rather than being another attempt."""
    end = text[-_CLAIM_CHARACTERS:]
    return claims_completion(end) or claims_inability(end)
