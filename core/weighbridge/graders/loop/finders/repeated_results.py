"""Loops of consecutive calls with one result: failures, of whatever tools, requests of one tool that only grow, and prose."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from weighbridge.graders.loop.finders.findings import Finding
from weighbridge.graders.loop.finders.kinds import Kind
from weighbridge.graders.loop.finders.rules import Rule
from weighbridge.graders.loop.finders.sequences.long_rows import long_rows
from weighbridge.graders.loop.history.call_kinds import (
    is_prose,
    is_request,
    may_advance,
    runs_code,
)
from weighbridge.graders.loop.history.request_words import raises_a_limit
from weighbridge.graders.loop.history.result_kinds import (
    acknowledges,
    reports_no_effect,
    reports_success,
)
from weighbridge.graders.loop.history.results import LONG_CHARACTERS
from weighbridge.graders.loop.history.text_forms import lists_items
from weighbridge.graders.loop.history.tool_names import creates, stores

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from weighbridge.graders.loop.history.actions import Call
    from weighbridge.graders.loop.work_budget import Limits

_SPECIFIC_CHARACTERS = 20  #: shorter arguments may be the same by chance
_LISTED = 12  #: number of attempts examined for a list
_TOOLS_OF_A_LIST = 2  #: maximum tools that go through the items of a list
_REQUEST_CHARACTERS = 4_000  #: longer requests are not compared
_PAGE_CHARACTERS = 40  #: a shorter result says what was done, rather than what a page shows
_PAGE_LINES = 2  #: a single line confirms what was done
_STATE_CHARACTERS = 10_000  #: longer results are not compared without noise
_NOISE_CHARACTERS = 40  #: by which the lengths of two descriptions of one state differ at most
_STATE_LINES = 3  #: fewer lines confirm something
_NOISE = "# \t\r"  #: characters of a line of which nothing is left without noise


def repeated_results(calls: Sequence[Call | None], limits: Limits) -> Iterator[Finding]:
    """Find consecutive calls with one result: failed attempts, and a request of one tool to which more is added each time.

    A loop needs `3 * max_repeats` attempts, `2 * max_repeats` requests that only grow, or `4 * max_repeats` clicks after
    which a page is the same. Prose in place of a command, to which one state is described each time, is an attempt.
    """
    least = Rule.GROWING_REQUESTS.least(limits)

    def is_repeated(index: int) -> bool:
        return _have_same_result(calls[index], calls[index + 1])

    for pairs in long_rows(range(len(calls) - 1), is_repeated, least - 1):
        start, end = pairs.start, pairs.stop + 1
        row = [call for call in calls[start:end] if call is not None]
        if all(map(is_request, row)) or all(map(is_prose, row)):
            kind = Kind.SAME_FAILURE if row[0].result.is_unsuccessful else Kind.NOTHING_NEW
            for rule, first, last in _stuck_ranges(row, limits):
                indices = range(start + first, start + last)
                yield Finding.by(rule, indices, rule.least(limits), kind=kind)


def requests_of_several_tools(calls: Sequence[Call | None], limits: Limits) -> Iterator[Finding]:
    """Find one request that is made `max_repeats + 2` times, of several tools, while every call fails."""
    rule = Rule.ONE_REQUEST_OF_SEVERAL_TOOLS
    least = rule.least(limits)
    for row in long_rows(calls, _has_failed, least):
        made: defaultdict[bytes, list[tuple[int, Call]]] = defaultdict(list)
        for index in row:
            call = calls[index]
            if call is not None and len(call.arguments.key) >= _SPECIFIC_CHARACTERS:
                made[call.arguments.key].append((index, call))
        for alike in made.values():
            if len(alike) >= least and len({call.tool for _, call in alike}) > 1:
                yield Finding.by(rule, (index for index, _ in alike), least)


def _has_failed(call: Call | None) -> bool:
    return call is not None and call.result.has_failed


def _have_same_result(one: Call | None, other: Call | None) -> bool:
    if one is None or other is None:
        return False
    text = one.result.text
    if text is None or other.result.text is None:
        return False
    if text == other.result.text:
        return one.tool == other.tool or one.result.has_failed
    is_near = (
        one.tool == other.tool and abs(len(text) - len(other.result.text)) <= _NOISE_CHARACTERS
    )
    if not (is_near and one.result.is_long and is_prose(one) and is_prose(other)):
        return False
    state = _state(one)
    return bool(state) and state == _state(other)


def _state(call: Call) -> list[str]:
    """Return the lines of a long result without noise, and without lines that are only noise; empty for any other result."""
    result = call.result
    if not LONG_CHARACTERS <= len(result.text or "") <= _STATE_CHARACTERS:
        return []
    return [line for line in result.masked.split("\n") if line.strip(_NOISE)]


def _stuck_ranges(row: Sequence[Call], limits: Limits) -> Iterator[tuple[Rule, int, int]]:
    """Yield the ranges, as rule, start and end, of different requests with one result that grow, or that fail and list nothing."""
    if len({call.arguments_id for call in row}) == 1:
        return
    if _describes_a_state(row):
        if len(row) >= Rule.ONE_STATE.least(limits):
            yield Rule.ONE_STATE, 0, len(row)
    elif row[0].result.has_failed and len(row) >= Rule.FAILURES_IN_A_ROW.least(limits):
        first = row[:_LISTED]
        is_list = len({call.tool for call in first}) <= _TOOLS_OF_A_LIST and lists_items(
            [call.arguments.texts for call in first]
        )
        if not (is_list or raises_a_limit(first)):
            yield Rule.FAILURES_IN_A_ROW, 0, len(row)
    elif len(row) >= Rule.NO_EFFECT.least(limits) and _have_no_effect(row):
        yield Rule.NO_EFFECT, 0, len(row)
    elif not reports_success(row[0].result.text or ""):
        for start, end in _growing_ranges(row):
            is_often = end - start >= Rule.GROWING_REQUESTS.least(limits)
            if is_often and not raises_a_limit(row[start:end]):
                yield Rule.GROWING_REQUESTS, start, end


def _have_no_effect(row: Sequence[Call]) -> bool:
    """Return whether clicks, whatever on, leave a page as it was, or are said to have no effect."""
    text = row[0].result.text or ""
    is_page = len(text) >= _PAGE_CHARACTERS and len(text.split("\n", _PAGE_LINES)) >= _PAGE_LINES
    shows_the_same = is_page and not acknowledges(text)
    return (shows_the_same or reports_no_effect(text)) and all(map(may_advance, row))


def _describes_a_state(row: Sequence[Call]) -> bool:
    """Return whether prose brings the description of one state each time, rather than the confirmation of a message or note."""
    state, tool = _state(row[0]), row[0].tool
    is_stored = creates(tool) or stores(tool)
    return len(state) >= _STATE_LINES and not is_stored and all(map(is_prose, row))


def _growing_ranges(row: Sequence[Call]) -> Iterator[tuple[int, int]]:
    """Yield the ranges of requests that have all words of the one before, most of them with further words."""
    if any(len(call.arguments.key) > _REQUEST_CHARACTERS or runs_code(call) for call in row):
        return
    words = [frozenset(call.arguments.texts.split()) for call in row]
    start = 0
    for end in range(1, len(row) + 1):
        if end == len(row) or not words[end - 1] <= words[end]:
            if 2 * len(set(words[start:end])) > end - start:
                yield start, end
            start = end
