"""Loops of differently worded texts that get the same refusal each time, or with which the agent ends its work again and again."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from itertools import compress
from typing import TYPE_CHECKING

from weighbridge.graders.loop.finders.findings import Finding
from weighbridge.graders.loop.finders.rules import Rule
from weighbridge.graders.loop.finders.sequences.known_ranges import ranges
from weighbridge.graders.loop.history.framework_messages import (
    asks_to_continue,
    is_notification,
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
_CLAIM_CHARACTERS = 2_000  #: length of the end of a text that is searched for such a claim
claims_completion = occurs(
    r"""\b(?:done|complete[ds]?|completion|finish(?:ed)?|final(?:ly|i[sz]ed)?|sol(?:ved|ution)|ready|fixed|resolved|implemented|in place|all set|set up
|nothing (?:else|left|more|remains)|no (?:further|more|other) |concluded?s?|accomplished|achieved|success(?:ful(?:ly)?)?|terminate|goal|reached|works|passed|over)\b"""
)
claims_inability = occurs(
    r"""\b(?:sorry|apologi[sz]e|apolog(?:y|ies)|regret|unfortunately|(?:i am|i'm|we are) (?:\w+ly )?(?:unable|not able)|i (?:cannot|can't|can not|do not have|don't have|have no)|beyond (?:my|what i)|my (?:abilities|capabilities) are)\b"""
)
#: Phrases that say what is missing for the work as a whole, or that it cannot go on.
_cannot_go_on = occurs(
    r"""\b(?:impossible|(?:not|n't)(?: \w+)? possible|unable|not able|cannot|can't|can not) (?:for \w+ )?(?:to |be )?(?:\w+ ){0,2}(?:proceed|continue|progress|move|calculated?|computed?|determined?|solved?|go on)\b
|\b(?:insufficient|not enough|lack(?:s|ing)?|missing|without|need(?:s|ed)?|requires?|additional|further|more) (?:\w+ ){0,3}(?:information|data|details)\b|\b(?:not|n't) (?:provide|contain|have|include) (?:enough|sufficient)\b"""
)
#: length of the beginning of a text that is searched for a closing phrase
_CLOSING_CHARACTERS = 600
#: What a user wishes, in a message that is sent again for each of several things.
_is_wish = occurs(
    r"\bi(?:'d| would)? (?:want|need|like|wish)\b|\b(?:help|tell|show|give) me\b|\bplease help\b"
)
#: Beginning of an order, which a user may give again. `Search results` and `Update:` are of a state.
_is_order = re.compile(
    r"\W{0,5}(?:please )?(?:(?:add|analy[sz]e|calculate|compare|convert|create|describe|explain|extract|generate|give|implement|improve|prepare|propose"
    r"|provide|rewrite|show|summari[sz]e|tell|translate|write)\b|(?:build|design|draft|find|fix|help|list|make|plan|refactor|research|review|search|update|use)\b"
    r"(?! ?[:=|\]>-]| (?:of|results?|fail(?:s|ed)|is|are|was|were|has|yourself)\b))",
    re.IGNORECASE,
).match
_PER_OTHER = 4  #: minimum closing texts for each other text between them
_PER_REFUSED = 2  #: fewer others than this, for each refused answer, lie between refused ones
#: Phrases that end the work or the conversation as a whole, rather than a part of it.
_is_closing = occurs(
    r"""\b(?:natural|logical|definitive) (?:conclusion|end|ending|endpoint|close|closure|stopping point)\b
|\b(?:reached|come to|arrived at|marks?|signals?) (?:the|an?|our|its) (?:\w+ ){0,2}(?:end|conclusion|close|closure|endpoint|stopping point)\b
|\bconclu(?:des?|ded|ding) (?:the|this|our|my) (?:\w+ ){0,3}(?:session|conversation|discussion|discourse|dialogue|exchange|exploration|journey|interaction|exercise|engagement|tasks?|work|inquiry|challenge|investigation)\b
|\bno (?:further|more|additional|other|remaining) (?:\w+ ){0,2}(?:steps?|actions?|tasks?|work|instructions?|directions?|questions?|queries|changes?|attempts?)\b|\bnothing (?:else|more|further|left|remains)\b
|\bwithout (?:any )?(?:further|new|more|additional) (?:\w+ ){0,2}(?:instructions?|questions?|queries|directions?|input)\b
|\b(?:the|this|our|my|your) (?:\w+ ){0,2}(?:task|work|challenge|project|assignment|session|conversation|exercise|request) (?:is|has been|was) (?:now |fully |successfully |already )?(?:completed?|finished|done|over|closed|concluded|ended)\b
|\b(?:good ?bye|farewell|best of luck|good luck|wish(?:ing)? you)\b"""
)


def refused_answers(turns: Sequence[Message], limits: Limits) -> Iterator[Finding]:
    """Find answers without calls that get the same refusal, or end the work although a prompt asks to continue.

    A loop needs `max_repeats + 2` claims that the work is done, or cannot be done; or `max_repeats + 1` answers, whatever
    they say, if the refusals are for a missing action; or `3 * max_repeats` answers if the environment describes the same
    state each time, letter for letter.
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
        yield from _closing_answers(turns, replies, limits)
        yield from _refused_between_actions(turns, replies, limits)


def _is_answer(turn: Message) -> bool:
    """Return whether a turn says something, or is refused because it neither says nor does anything."""
    return bool(turn.text) or reports_missing_action(turn.reply)


def _closing_answers(
    turns: Sequence[Message], replies: Sequence[str], limits: Limits
) -> Iterator[Finding]:
    """Find `max_repeats + 2` answers without calls that end the work, or say that it cannot go on, although the same prompt follows each."""
    least = Rule.CLOSING_ANSWERS.least(limits)
    for run in _prompted(turns, replies):
        closing = [len(run) >= least and _closes(turns[index].text) for index in run]
        for first, last in ranges(closing, _PER_OTHER, least):
            found = compress(run[first:last], closing[first:last])
            yield Finding.by(Rule.CLOSING_ANSWERS, found, least)


def _refused_between_actions(
    turns: Sequence[Message], replies: Sequence[str], limits: Limits
) -> Iterator[Finding]:
    """Find `2 * max_repeats` answers to one request that lack an action and are refused in the same words, more than a third of all answers there."""
    least = Rule.REFUSED_BETWEEN_ACTIONS.least(limits)
    refused: defaultdict[tuple[int, str], list[int]] = defaultdict(list)
    for index, (turn, reply) in enumerate(zip(turns, replies, strict=True)):
        if reply:
            refused[turn.requests_before, reply].append(index)
    for (_, reply), indices in refused.items():
        if len(indices) >= least and reports_missing_action(reply):
            for found in _close_together(indices):
                if len(found) >= least:
                    yield Finding.by(Rule.REFUSED_BETWEEN_ACTIONS, found, least)


def _close_together(indices: Sequence[int]) -> Iterator[list[int]]:
    """Yield the stretches of some places, in each of which fewer than `_PER_REFUSED` others lie between for each place before them."""
    found: list[int] = []
    room = 0  #: for others
    for index in indices:
        room = max(0, room - (index - found[-1] - 1)) if found else 0
        if found and not room:
            yield found
            found = []
        found.append(index)
        room += _PER_REFUSED
    yield found


def _prompted(turns: Sequence[Message], replies: Sequence[str]) -> Iterator[list[int]]:
    """Yield the rows of answers without calls, each but the first of which follows the same prompt to continue."""
    run: list[int] = []
    prompt = ""
    for index, (turn, reply) in enumerate(zip(turns, replies, strict=True)):
        has_worked = bool(run) and turn.calls_before != turns[run[-1]].calls_before
        if has_worked or not prompt:
            yield run
            run = []
        if not turn.calls:
            run.append(index)
        asked = reply if asks_to_continue(reply) else ""
        if asked != prompt:
            yield run
            run = run[-1:]
        prompt = asked
    yield run


def _closes(text: str) -> bool:
    return (
        _is_closing(text[-_CLAIM_CHARACTERS:])
        or _is_closing(text[:_CLOSING_CHARACTERS])
        or _cannot_go_on(text[:_CLOSING_CHARACTERS])
    )


def _found(turns: Sequence[Message], run: list[int], limits: Limits) -> Iterator[Finding]:
    if len(run) < Rule.REFUSED_WITHOUT_ACTION.least(limits):
        return
    refusal = turns[run[0]].reply
    if _describe_one_state([turns[index].reply for index in run], limits):
        rule = Rule.REFUSED_STATE
    elif is_refusal(refusal) and reports_missing_action(refusal):
        rule = Rule.REFUSED_WITHOUT_ACTION
    elif is_refusal(refusal) and _are_claims([turns[index].text for index in run]):
        rule = Rule.REFUSED_CLAIMS
    else:
        return
    if len(run) >= rule.least(limits):
        yield Finding.by(rule, run, rule.least(limits))


def _are_claims(texts: Sequence[str]) -> bool:
    return sum(map(_is_claim, texts)) >= _CLAIMS_SHARE * len(texts)


def _describe_one_state(replies: Sequence[str], limits: Limits) -> bool:
    """Return whether replies describe the same state so often that no answer between them can have changed it."""
    first = replies[0]
    return (
        len(replies) >= Rule.REFUSED_STATE.least(limits)
        and len(first) >= LONG_CHARACTERS
        and not (
            asks_to_continue(first) or _is_wish(first) or _is_order(first) or is_notification(first)
        )
        and all(reply == first for reply in replies)
    )


def _is_claim(text: str) -> bool:
    """Return whether a text claims that the work is done or cannot be done, rather than being another attempt."""
    end = text[-_CLAIM_CHARACTERS:]
    return claims_completion(end) or claims_inability(end)
