"""Talk in circles: messages and replies that were said before word for word, with no call between that brings anything new."""

from __future__ import annotations

from collections import deque
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple

from weighbridge.graders.loop.finders.findings import Finding
from weighbridge.graders.loop.finders.rules import Rule
from weighbridge.graders.loop.history.call_kinds import is_read_only
from weighbridge.graders.loop.history.result_kinds import holds_nothing
from weighbridge.graders.loop.history.words import words_in

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Sequence

    from weighbridge.graders.loop.history.actions import Call, Message
    from weighbridge.graders.loop.work_budget import Limits, WorkBudget

_SHARE = 3 / 4  #: minimum share of the messages that were said before
_AGENTS = 0.4  #: minimum share of the agents' messages
#: Words of an agent's message; a shorter one may be a label, a vote or a move, of which the combination is the news.
_LEAST_WORDS = 10
_REPLY_WORDS = 3  #: the same of a reply, of which a shorter one may be a request of its own, such as a greeting
_REMEMBERED = 50  #: messages; what was said long before may be said again
_CHARACTERS = 3_000  #: of a message that are read


def repeated_talk(
    turns: Sequence[Message], limits: Limits, budget: WorkBudget, looped_ids: Container[Any]
) -> Iterator[Finding]:
    """Find more than `4 * max_repeats` messages, of agents and those who reply to them, of which three quarters were said before.

    Only white space, case and punctuation may differ. Between the messages lies no call but those that find nothing, or
    that read and have the result of an earlier one. Calls in loops (`looped_ids`) tell it already.
    """
    least = Rule.REPEATED_TALK.least(limits)
    if sum(1 for turn in turns if turn.text or turn.reply) < least / 2:
        return
    for start, end in _stretches(turns, least):
        if not budget.is_left:
            return
        talk = [*_talk(turns, range(start, end))]
        for count, said in _stale(talk, least, budget) if len(talk) >= least else ():
            made = (call.step.id for index in said for call in turns[index].calls)
            if not (any(each in looped_ids for each in made) or report_calls(turns, said)):
                yield Finding.by(Rule.REPEATED_TALK, said, least, count=count)


def report_calls(turns: Sequence[Message], indices: Sequence[int]) -> bool:
    """Return whether each text tells of a call of its own, made for a request of its own, as for that of a scheduler."""
    said = [turns[index] for index in indices if not turns[index].calls]
    requests = {turn.requests_before for turn in said}
    calls = {turn.calls_before for turn in said}
    return bool(said) and len(requests) == len(calls) == len(said)


def _stretches(turns: Sequence[Message], least: int) -> Iterator[tuple[int, int]]:
    """Yield the ranges of turns between which no call has a new result and nothing else lies, with half so many at least."""
    known: set[tuple[str, object]] = set()
    start = 0
    following = 0  #: the number of the step after the last turn and what belongs to it
    for index, turn in enumerate(turns):
        if turn.number != following:
            if 2 * (index - start) >= least:
                yield start, index
            start = index
        following = turn.number + 1 + bool(turn.reply)
        if turn.calls:
            following += len(turn.calls) - turn.is_action
            if not _are_known(turn.calls, known):
                if 2 * (index + 1 - start) >= least:
                    yield start, index + 1
                start = index + 1
    if 2 * (len(turns) - start) >= least:
        yield start, len(turns)


class _Said(NamedTuple):
    turn: int  #: the index of the agent's message, or of the one that is replied to
    text: str
    is_agents: bool


def _talk(turns: Sequence[Message], indices: range) -> Iterator[_Said]:
    """Yield the messages of turns and the replies to them."""
    for index in indices:
        turn = turns[index]
        if turn.is_action:
            continue
        if turn.text:
            yield _Said(index, turn.text, is_agents=True)
        if turn.reply:
            yield _Said(index, turn.reply, is_agents=False)


def _are_known(calls: Sequence[Call], known: set[tuple[str, object]]) -> bool:
    """Return whether each call found nothing, or read what an earlier call did; the results are known afterwards."""
    is_known = True
    for call in calls:
        text = call.result.text
        outcome = call.tool, call.arguments_id if text is None else text
        if outcome not in known and not holds_nothing(text):
            known.add(outcome)
            is_known = False
    return is_known and all(map(is_read_only, calls))


def _stale(
    talk: Sequence[_Said], least: int, budget: WorkBudget
) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Yield the number of messages in each stretch that says hardly anything new, and those of the agents."""
    said_before = [0, *accumulate(_repeats(talk, budget))]
    own = [0, *accumulate(said.is_agents for said in talk)]
    spans: list[tuple[int, int]] = []
    for at in range(len(talk) - least + 1):
        is_stale = said_before[at + least] - said_before[at] >= _SHARE * least
        if is_stale and own[at + least] - own[at] >= _AGENTS * least:
            begins = spans.pop()[0] if spans and at < spans[-1][1] else at
            spans.append((begins, at + least))
    for begin, end in spans:
        yield end - begin, tuple([said.turn for said in talk[begin:end] if said.is_agents])


def _repeats(talk: Sequence[_Said], budget: WorkBudget) -> Iterator[bool]:
    """Yield whether each message was said before by the same side; a message of few words never was."""
    last: deque[tuple[bool, str]] = deque(maxlen=_REMEMBERED)
    for said in talk:
        words = words_in(said.text[:_CHARACTERS].casefold())
        budget.count_reading(said.text[:_CHARACTERS], len(words))
        is_label = len(set(words)) < (_LEAST_WORDS if said.is_agents else _REPLY_WORDS)
        message = said.is_agents, " ".join(words)
        yield message in last and not is_label
        last.append(message)
