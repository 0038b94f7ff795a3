"""Answers that go back and forth: the environment describes states to which they have led before, word for word."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weighbridge.graders.loop.finders.findings import Finding
from weighbridge.graders.loop.finders.rules import Rule
from weighbridge.graders.loop.finders.sequences.stretches import ranges

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from weighbridge.graders.loop.history.actions import Message
    from weighbridge.graders.loop.work_budget import Limits

_CHARACTERS = 60  #: of a description; a shorter reply may fit many states
_PER_NEW = 3  #: minimum number of known states for each reply between them that is none
_VISITS = 3  #: minimum number of answers that lead to a state, on average
_OTHERS = 2  #: minimum number of other replies before
_ENDING = 30  #: last characters of an answer, in which it says where to go, as two words


def known_states(turns: Sequence[Message], limits: Limits) -> Iterator[Finding]:
    """Find `4 * max_repeats` answers without calls whose replies describe a few states of before, no one twice in a row.

    Half of the answers end like others, as in a direction: what fills in a form ends in something new each time.
    Each state comes three times on average, and two other replies stand before: what a harness says by turns is no state,
    and comes from the beginning.
    """
    least = Rule.KNOWN_STATES.least(limits)
    if sum(1 for turn in turns if len(turn.reply) >= _CHARACTERS) < least:
        return
    replies = [turn.reply.strip() for turn in turns]
    are_known = [*_are_known(turns, replies)]
    for start, end in ranges(are_known, _PER_NEW, least):
        found = [index for index in range(start, end) if are_known[index]]
        states = {replies[index] for index in found}
        others = set(replies[:start]) - states
        endings = {_ending(turns[index].text) for index in found}
        if (
            _VISITS * len(states) <= len(found)
            and len(states) > 1
            and 2 * len(endings) <= len(found)
            and len(others) >= _OTHERS
        ):
            yield Finding.by(Rule.KNOWN_STATES, found, least)


def _are_known(turns: Sequence[Message], replies: Sequence[str]) -> Iterator[bool]:
    """Yield whether each answer led to a state of before, other than the one before it."""
    seen: set[str] = set()
    before = ""
    for turn, reply in zip(turns, replies, strict=True):
        is_state = len(reply) >= _CHARACTERS and not turn.calls
        yield is_state and reply in seen and reply != before
        seen.add(reply)
        before = reply


def _ending(text: str) -> tuple[str, ...]:
    return tuple(text[-_ENDING:].casefold().split()[-2:])
