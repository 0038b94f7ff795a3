"""Loops of one question of the agent, which the user answers each time: answers that begin alike, to a request that comes again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weighbridge.graders.loop.finders.findings import Finding
from weighbridge.graders.loop.finders.rules import Rule
from weighbridge.graders.loop.history.text_forms import SMALL_WORDS
from weighbridge.graders.loop.history.words import words_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from weighbridge.graders.loop.history.actions import Message
    from weighbridge.graders.loop.work_budget import Limits

_BEGINNING_CHARACTERS = 80  #: that the agent's messages have in common
_CHARACTERS = 600  #: of a message that are read
_SHARED = 2 / 3  #: minimum share of words that a request has in common with one before
_AGAIN = 1 / 2  #: minimum share of requests that had come before
_REMEMBERED = 12  #: requests


def unheard_answers(turns: Sequence[Message], limits: Limits) -> Iterator[Finding]:
    """Find `2 * max_repeats` messages in a row that begin alike and ask, where half of the user's answers repeat an earlier one.

    An answer repeats one that has two thirds of its words, and the same numbers.
    """
    least = Rule.UNHEARD_ANSWERS.least(limits)
    if sum(bool(turn.reply) for turn in turns) < least - 1:
        return
    start = 0
    for end in range(1, len(turns) + 1):
        if end == len(turns) or not _asks_again(turns[end - 1], turns[end]):
            if end - start >= least and _are_repeated(turns[max(0, start - 1) : end - 1]):
                yield Finding.by(Rule.UNHEARD_ANSWERS, range(start, end), least)
            start = end


def _asks_again(one: Message, other: Message) -> bool:
    if not one.reply or one.calls or other.calls:
        return False
    beginning = one.text[:_BEGINNING_CHARACTERS]
    return (
        len(beginning) == _BEGINNING_CHARACTERS
        and other.text.startswith(beginning)
        and one.calls_before == other.calls_before
        and "?" in one.text[:_CHARACTERS]
        and "?" in other.text[:_CHARACTERS]
    )


def _are_repeated(asked: Sequence[Message]) -> bool:
    """Return whether half of the replies to these messages repeat an earlier one."""
    before: list[set[str]] = []
    again = 0
    for turn in asked:
        said = set(words_in(turn.reply[:_CHARACTERS].casefold())) - SMALL_WORDS
        again += any(_repeats(said, other) for other in before[-_REMEMBERED:])
        before.append(said)
    return again >= _AGAIN * len(asked)


def _repeats(said: set[str], other: set[str]) -> bool:
    is_alike = len(said & other) >= _SHARED * len(said | other)
    return is_alike and not any(word.isdecimal() for word in said ^ other)
