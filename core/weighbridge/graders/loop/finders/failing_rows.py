"""Loops of many calls in a row that all fail, in few ways, whatever they ask and of whichever tool."""

from __future__ import annotations

from collections import defaultdict
from itertools import groupby
from typing import TYPE_CHECKING

from weighbridge.graders.loop.finders.findings import SAME_FAILURE, Finding
from weighbridge.graders.loop.history.failure_lines import failure_of
from weighbridge.graders.loop.history.request_words import (
    combines_values,
    raises_a_limit,
    tries_each,
    words_of,
)
from weighbridge.graders.loop.history.text_forms import lists_items
from weighbridge.graders.loop.work_budget import WorkBudget

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from weighbridge.graders.loop.history.actions import Call
    from weighbridge.graders.loop.work_budget import Limits

_WAYS = 1 / 4  #: maximum share of different failures
_REQUEST_CHARACTERS = 4_000  #: a longer request is no item of a list
_LONGEST_CHARACTERS = 100_000  #: rows with a longer request are not examined
_EXAMINED = 30  #: calls of a tool that are examined for what they ask


def failing_rows(calls: Sequence[Call | None], limits: Limits) -> Iterator[Finding]:
    """Find `3 * max_repeats` calls in a row that fail in few ways, unless those of a tool go through a list or raise a limit."""
    least = 3 * limits.max_repeats
    budget = WorkBudget()
    for failing, group in groupby(enumerate(calls), key=_has_failed):
        row = [(index, call) for index, call in group if call is not None] if failing else []
        longest = max((len(call.arguments.key) for _, call in row), default=0)
        if len(row) < least or longest > _LONGEST_CHARACTERS:
            continue
        ways = {failure_of(call, budget)[0] for _, call in row if budget.is_left}
        if not budget.is_left:  # some ways are unknown
            return
        if len(ways) <= _WAYS * len(row) and not _lists([call for _, call in row]):
            yield Finding(SAME_FAILURE, None, tuple(index for index, _ in row))


def _has_failed(entry: tuple[int, Call | None]) -> bool:
    return entry[1] is not None and entry[1].result.has_failed


def _lists(row: Sequence[Call]) -> bool:
    """Return whether most calls are of tools that go through a list, through values of arguments, or raise a limit."""
    by_tool: defaultdict[str, list[Call]] = defaultdict(list)
    for call in row:
        if len(call.arguments.key) <= _REQUEST_CHARACTERS:
            by_tool[call.tool].append(call)
    listing = sum(
        len(tried)
        for tried in by_tool.values()
        if len(tried) > 1
        and (
            tries_each(tried, words_of(tried[0], WorkBudget()))
            or lists_items([call.arguments.texts for call in tried[:_EXAMINED]])
            or combines_values(tried[:_EXAMINED])
            or raises_a_limit(tried)
        )
    )
    return 2 * listing > len(row)
