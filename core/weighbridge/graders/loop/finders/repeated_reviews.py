"""Reviews that find the same fault again and again, as when one of several agents does not mend what another one names."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from weighbridge.graders.loop.finders.findings import Finding
from weighbridge.graders.loop.finders.repeated_answers import LABEL_CHARACTERS
from weighbridge.graders.loop.finders.rules import Rule
from weighbridge.graders.loop.history.request_words import are_related
from weighbridge.graders.loop.history.words import words_in
from weighbridge.graders.loop.linear_patterns import occurs

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from weighbridge.graders.loop.history.actions import Message
    from weighbridge.graders.loop.work_budget import Limits

_CHARACTERS = 3_000  #: of a review that are read
_SENTENCE_CHARACTERS = 40  #: a shorter sentence names no fault in particular
_BETWEEN = 1  #: maximum other reviews of that agent between two
_MARK = re.compile(r"\s{0,9}(?:<[\w /-]{1,40}>\s{0,9}){0,3}")
_SENTENCE = re.compile(r"[^\n]{1,400}?(?:[.!?:](?=\s)|$)", re.MULTILINE)
_mentions_fault = occurs(
    r"\b(?:fail(?:s|ed|ing|ures?)?|errors?|cannot|unable|invalid|wrong|broken|missing|faults?|rejected)\b"
)


def repeated_reviews(turns: Sequence[Message], limits: Limits) -> Iterator[Finding]:
    """Find more than `max_repeats` messages of one of several agents that begin with the same fault and are related, after related work of another one.

    No call and no new request lies between them, and at most one other message of that agent between two, apart from short ones.
    """
    least = Rule.REPEATED_REVIEW.least(limits)
    if len({turn.step.name for turn in turns}) == 1:
        return
    said: Counter[object] = Counter()  #: by agent
    again: dict[object, list[_Review]] = {}
    last = other = ""  #: the last message, and the last one of another agent than that
    name: str | None = None  #: of the agent of the last one
    for index, turn in enumerate(turns):
        if turn.calls or len(turn.text) <= LABEL_CHARACTERS:
            continue
        if turn.step.name != name:
            other = last
        last, name = turn.text, turn.step.name
        agent = name, turn.calls_before, turn.requests_before
        said[agent] += 1
        fault, rest = _parted(turn.text)
        if len(fault) < _SENTENCE_CHARACTERS or not _mentions_fault(fault):
            continue
        review = _Review(index, said[agent], _words(rest), _words(other[:_CHARACTERS]))
        row = again.setdefault((agent, _words(fault)), [])
        if row and not _goes_on(row[-1], review):
            yield from _found(row, least)
            row.clear()
        row.append(review)
    for row in again.values():
        yield from _found(row, least)


class _Review(NamedTuple):
    turn: int
    number: int  #: among the messages of its agent
    words: frozenset[str]  #: of what it says besides the fault
    reviewed: frozenset[str]  #: words of the message before it of another agent


def _goes_on(before: _Review, review: _Review) -> bool:
    return (
        review.number - before.number <= _BETWEEN + 1
        and are_related(review.words, before.words)
        and are_related(review.reviewed, before.reviewed)
    )


def _found(row: Sequence[_Review], least: int) -> Iterator[Finding]:
    if len(row) >= least:
        indices = (review.turn for review in row)
        yield Finding.by(Rule.REPEATED_REVIEW, indices, least, period=1)


def _words(text: str) -> frozenset[str]:
    return frozenset(words_in(text.casefold()))


def _parted(text: str) -> tuple[str, str]:
    """Return the first sentence of a message, without marks such as `<COMMENT>` before it, and the rest."""
    begin = _MARK.match(text)
    found = _SENTENCE.match(text, begin.end() if begin else 0)
    return (found[0], text[found.end() : _CHARACTERS]) if found else ("", "")
