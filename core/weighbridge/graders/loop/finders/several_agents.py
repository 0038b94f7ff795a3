"""Loops of one of several agents: it hands in the same code, finds the same fault, or reports the same failure."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, NamedTuple

from weighbridge.graders.loop.finders.findings import Finding
from weighbridge.graders.loop.finders.repeated_texts import LABEL_CHARACTERS
from weighbridge.graders.loop.finders.rules import Rule
from weighbridge.graders.loop.history.request_words import are_related
from weighbridge.graders.loop.history.result_kinds import reports_failure, reports_no_effect
from weighbridge.graders.loop.history.speakers import without_step_number
from weighbridge.graders.loop.history.words import words_in
from weighbridge.graders.loop.history.written_edits import code_in
from weighbridge.graders.loop.linear_patterns import occurs
from weighbridge.text import encodable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from weighbridge.graders.loop.history.actions import Message
    from weighbridge.graders.loop.work_budget import Limits

_CODE_CHARACTERS = 200  #: shorter code may be an example that is quoted
_CHARACTERS = 3_000  #: of a review that are read
_SENTENCE_CHARACTERS = 40  #: a shorter sentence names no fault in particular
_BETWEEN = 1  #: maximum other reviews of that agent between two
_MARK = re.compile(r"\s{0,9}(?:<[\w /-]{1,40}>\s{0,9}){0,3}")
_SENTENCE = re.compile(r"[^\n]{1,400}?(?:[.!?:](?=\s)|$)", re.MULTILINE)
_mentions_fault = occurs(
    r"\b(?:fail(?:s|ed|ing|ures?)?|errors?|cannot|unable|invalid|wrong|broken|missing|faults?|rejected)\b"
)
_REPORT_CHARACTERS = 2_000  #: first characters of an agent's report that are searched for a failure
_mentions_no_change = occurs(
    r"\b(?:unchanged|no change|still (?:the same|open|shows|here|not)|as before|did(?: not|n't) (?:change|open|load|work))\b"
)


def repeated_code(turns: Sequence[Message], limits: Limits) -> Iterator[Finding]:
    """Find `2 * max_repeats` answers in a row of one of several agents that have the same code, whatever is said of it.

    No tool is called and no new request made in between, and no program, which may have run the code, answers something new.
    """
    least = Rule.CODE_HANDED_IN_AGAIN.least(limits)
    heard: set[str] = set()
    coded = []
    for turn in turns:
        is_answered = bool(turn.reply) and turn.reply not in heard
        coded.append("" if is_answered else _code_of(turn))
        heard.add(turn.reply)
    if sum(map(bool, coded)) < least or len({turn.step.name for turn in turns}) == 1:
        return
    by_agent: defaultdict[object, list[int]] = defaultdict(list)
    for index, turn in enumerate(turns):
        by_agent[turn.step.name].append(index)
    for indices in by_agent.values():
        for same, group in groupby(indices, lambda index: _situation(turns[index], coded[index])):
            found = tuple(group)
            if same[0] and len(found) >= least and not _asks_others(turns, found):
                yield Finding.by(Rule.CODE_HANDED_IN_AGAIN, found, least, period=1)


def _asks_others(turns: Sequence[Message], found: Sequence[int]) -> bool:
    """Return whether another agent answers each time, as when several of them review the same code."""
    names: list[str] = []
    for first, last in pairwise(found):
        if last == first + 1:
            return False
        names += [without_step_number(turn.step.name or "") for turn in turns[first + 1 : last]]
    return 1 < len(names) == len(set(names))


def _code_of(turn: Message) -> str:
    """Return the code of an answer without calls; empty for short code."""
    if turn.calls or not turn.text:
        return ""
    code = code_in(turn.text)
    return code if len(code) >= _CODE_CHARACTERS else ""


def _situation(turn: Message, code: str) -> tuple[str, int, int]:
    return code, turn.calls_before, turn.requests_before


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


def repeated_reports(
    turns: Sequence[Message], row: Sequence[int], limits: Limits
) -> Iterator[Finding]:
    """Find repeated reports of failure by one of several agents, with only labels between, however the requests are worded."""
    said: defaultdict[object, list[int]] = defaultdict(list)
    for index, turn in enumerate(turns):
        if turn.text and not turn.calls:
            said[turn.step.name].append(index)
    for indices in said.values() if len(said) > 1 else ():
        again: list[int] = []
        for index in indices:
            if again and len(turns[index].text) <= LABEL_CHARACTERS < len(turns[again[0]].text):
                continue
            last = again[-1] if again else index
            same = row[last] == row[index] and turns[last].calls_before == turns[index].calls_before
            if not same:
                yield from _reports(turns, again, limits)
                again = []
            again.append(index)
        yield from _reports(turns, again, limits)


def _reports(turns: Sequence[Message], indices: list[int], limits: Limits) -> Iterator[Finding]:
    least = Rule.REPORTED_FAILURE.least(limits)
    if len(indices) >= least:
        text = encodable(turns[indices[0]].text[:_REPORT_CHARACTERS])
        is_report = len(text) > LABEL_CHARACTERS
        if is_report and (
            reports_failure(text) or reports_no_effect(text) or _mentions_no_change(text)
        ):
            yield Finding.by(Rule.REPORTED_FAILURE, indices, least, period=1)
