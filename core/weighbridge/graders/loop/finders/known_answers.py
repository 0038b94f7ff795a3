"""Loops of commands that are reworded again and again, to which the same few answers come."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from weighbridge.graders.loop.finders.findings import Finding
from weighbridge.graders.loop.finders.known_results import is_specific, repeats_in
from weighbridge.graders.loop.finders.rules import Rule
from weighbridge.graders.loop.history.call_kinds import (
    is_command,
    is_read_only,
    is_request,
    is_wait,
    polls,
)
from weighbridge.graders.loop.history.request_words import (
    EXAMINED,
    combines_values,
    raises_a_limit,
    unshared_words,
    values_of,
)
from weighbridge.graders.loop.history.result_kinds import reports_success
from weighbridge.graders.loop.history.text_forms import lists_items

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from collections.abc import Set as AbstractSet

    from weighbridge.graders.loop.finders.known_results import ToolResult
    from weighbridge.graders.loop.history.actions import Call
    from weighbridge.graders.loop.work_budget import Limits

_ANSWERS = 2  #: maximum different answers to commands that read
_LONG_ANSWERS = 3  #: maximum different answers to commands of any kind
_WORDS = 2  #: minimum words of a question
#: Maximum share of words that only one command has; above it, the questions are different.
_OWN = 0.35
_OWN_OF_QUESTIONS = 0.5  #: the same for questions in words, all of which get one answer


def known_answers(
    calls: Sequence[Call | None],
    tool_results: Sequence[ToolResult | None],
    limits: Limits,
    known: set[int],
) -> Iterator[Finding]:
    """Find consecutive commands that have a few specific answers between them.

    `3 * max_repeats` that only read with one or two answers are a loop, or `4 * max_repeats` of any kind with
    three long ones, of which none is in a `known` loop. So are `4 * max_repeats` questions in words to another tool, all
    with one answer.
    """
    if repeats_in(tool_results) < Rule.KNOWN_ANSWERS.least(limits) - _ANSWERS:
        return
    findings = list(_of_commands_that_read(calls, tool_results, limits))
    for find in (_of_questions, _of_commands):
        found = known.union(*(each.indices for each in findings))
        findings += find(calls, tool_results, limits, found)
    yield from findings


def _of_commands_that_read(
    calls: Sequence[Call | None], tool_results: Sequence[ToolResult | None], limits: Limits
) -> Iterator[Finding]:
    """Find commands that only read, with one or two answers."""
    least = Rule.KNOWN_ANSWERS.least(limits)
    for start, end in _ranges(tool_results, _ANSWERS, least):
        tried = [call for call in calls[start:end] if call is not None]
        answers = {result for result in tool_results[start:end] if result is not None}
        if (
            all(is_specific(text) for _, text in answers)
            and all(map(_only_reads, tried))
            and _ask_one_question(tried)
        ):
            yield Finding.by(Rule.KNOWN_ANSWERS, range(start, end), least)


def _of_questions(
    calls: Sequence[Call | None],
    tool_results: Sequence[ToolResult | None],
    limits: Limits,
    found: AbstractSet[int],
) -> Iterator[Finding]:
    """Find questions in words with one answer, of which none is in a loop that was `found`."""
    least = Rule.KNOWN_ANSWERS.least(limits, other=True)
    for start, end in _ranges(tool_results, 1, least):
        tried = [call for call in calls[start:end] if call is not None]
        text = tried[0].result.text or ""
        if (
            found.isdisjoint(range(start, end))
            and is_specific(text)
            and not reports_success(text)
            and all(map(_only_reads, tried))
            and _ask_in_words(tried)
        ):
            yield Finding.by(Rule.KNOWN_ANSWERS, range(start, end), least)


def _of_commands(
    calls: Sequence[Call | None],
    tool_results: Sequence[ToolResult | None],
    limits: Limits,
    found: AbstractSet[int],
) -> Iterator[Finding]:
    """Find commands of any kind with a few long answers, of which none is in a loop that was `found`."""
    least = Rule.FEW_LONG_ANSWERS.least(limits)
    for start, end in _ranges(tool_results, _LONG_ANSWERS, least):
        tried = [call for call in calls[start:end] if call is not None]
        is_new = found.isdisjoint(range(start, end))
        if is_new and all(map(_has_long_answer, tried)) and _ask_one_question(tried):
            yield Finding.by(Rule.FEW_LONG_ANSWERS, range(start, end), least)


def _ranges(
    tool_results: Sequence[ToolResult | None], answers: int, least: int
) -> Iterator[tuple[int, int]]:
    """Yield the longest ranges, as start and end, of at least so many calls of one tool with so few different results."""
    index = 0
    for tool, group in groupby(tool_results, key=lambda result: result and result[0]):
        row = list(group)
        for start, end in _few_different(row, answers) if tool is not None else ():
            if end - start >= least:
                yield index + start, index + end
        index += len(row)


def _few_different(row: Sequence[ToolResult | None], answers: int) -> Iterator[tuple[int, int]]:
    last: dict[ToolResult | None, int] = {}  #: index of the last call with each result of the range
    start = 0
    for index, result in enumerate(row):
        if result not in last and len(last) == answers:
            yield start, index
            oldest = min(last, key=lambda each: last[each])
            start = last.pop(oldest) + 1
        last[result] = index
    yield start, len(row)


def _only_reads(call: Call) -> bool:
    return is_read_only(call) and not call.result.has_failed


def _has_long_answer(call: Call) -> bool:
    """Return whether a call neither waits nor polls, and has an answer that is no confirmation."""
    is_answered = call.result.is_long and not reports_success(call.result.text or "")
    return is_answered and not (is_wait(call) or polls(call))


def _ask_in_words(tried: Sequence[Call]) -> bool:
    """Return whether one question is worded in many ways: most words are in several requests, and few of them in all.

    Questions for the items of a list have most words in common.
    """
    first = tried[:EXAMINED]
    if not all(map(is_request, tried)) or any(map(is_command, first)):
        return False
    words = [frozenset(call.arguments.texts.split()) for call in first]
    common = len(frozenset.intersection(*words))
    return not (
        any(len(said) < _WORDS or 2 * common >= len(said) for said in words)
        or unshared_words(words) > _OWN_OF_QUESTIONS
        or lists_items([call.arguments.texts for call in first])
        or combines_values(first)
        or raises_a_limit(first)
    )


def _ask_one_question(tried: Sequence[Call]) -> bool:
    if not all(is_command(call) and is_request(call) for call in tried):
        return False
    first = tried[:EXAMINED]
    return not (
        unshared_words([values_of(call) for call in first]) > _OWN
        or lists_items([call.arguments.texts for call in first])
        or combines_values(first)
        or raises_a_limit(first)
    )
