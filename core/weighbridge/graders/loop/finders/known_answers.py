"""Loops of commands that only read, reworded again and again, to which the same one or two answers come."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from weighbridge.graders.loop.finders.findings import NOTHING_NEW, Finding
from weighbridge.graders.loop.finders.known_results import is_specific, repeats_in
from weighbridge.graders.loop.history.call_kinds import is_command, is_read_only, is_request
from weighbridge.graders.loop.history.request_words import (
    combines_values,
    raises_a_limit,
    unshared_words,
    values_of,
)
from weighbridge.graders.loop.history.text_forms import lists_items

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from weighbridge.graders.loop.finders.known_results import ToolResult
    from weighbridge.graders.loop.history.actions import Call
    from weighbridge.graders.loop.work_budget import Limits

_OFTEN = 3  #: multiple of `max_repeats` from which such commands are a loop
_ANSWERS = 2  #: maximum different answers
_COMPARED = 30  #: maximum commands whose words are compared
#: Maximum share of words that only one command has; above it, the questions are different.
_OWN = 0.3


def known_answers(
    calls: Sequence[Call | None], tool_results: Sequence[ToolResult | None], limits: Limits
) -> Iterator[Finding]:
    """Find `3 * max_repeats` consecutive commands that only read and that have one or two specific answers between them."""
    least = _OFTEN * limits.max_repeats
    if repeats_in(tool_results) < least - _ANSWERS:
        return
    for start, end in _ranges(tool_results):
        if end - start >= least:
            tried = [call for call in calls[start:end] if call is not None]
            answers = {result for result in tool_results[start:end] if result is not None}
            if all(is_specific(text) for _, text in answers) and _ask_one_question(tried):
                yield Finding(NOTHING_NEW, None, tuple(range(start, end)))


def _ranges(tool_results: Sequence[ToolResult | None]) -> Iterator[tuple[int, int]]:
    """Yield the longest ranges, as start and end, of calls of one tool that have at most two different results."""
    index = 0
    for tool, group in groupby(tool_results, key=lambda result: result and result[0]):
        row = list(group)
        if tool is not None:
            for start, end in _few_different(row):
                yield index + start, index + end
        index += len(row)


def _few_different(row: Sequence[ToolResult | None]) -> Iterator[tuple[int, int]]:
    last: dict[ToolResult | None, int] = {}  #: index of the last call with each result of the range
    start = 0
    for index, result in enumerate(row):
        if result not in last and len(last) == _ANSWERS:
            yield start, index
            oldest = min(last, key=lambda each: last[each])
            start = last.pop(oldest) + 1
        last[result] = index
    yield start, len(row)


def _ask_one_question(tried: Sequence[Call]) -> bool:
    if not all(
        is_command(call) and is_read_only(call) and is_request(call) and not call.result.has_failed
        for call in tried
    ):
        return False
    first = tried[:_COMPARED]
    return not (
        unshared_words([values_of(call) for call in first]) > _OWN
        or lists_items([call.arguments.texts for call in first])
        or combines_values(first)
        or raises_a_limit(first)
    )
