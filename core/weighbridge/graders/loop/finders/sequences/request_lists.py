"""Calls that request the items of a list one by one, which are no repeats."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from weighbridge.graders.loop.history.request_words import (
    EXAMINED,
    combines_values,
    raises_a_limit,
    tries_each,
    words_of,
)
from weighbridge.graders.loop.history.text_forms import lists_items
from weighbridge.graders.loop.work_budget import WorkBudget

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weighbridge.graders.loop.history.actions import Call

_REQUEST_CHARACTERS = 4_000  #: a longer request is no item of a list


def goes_through_list(row: Sequence[Call]) -> bool:
    """Return whether most of a row of calls are of tools that go through a list, through values of arguments, or raise a limit."""
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
            or lists_items([call.arguments.texts for call in tried[:EXAMINED]])
            or combines_values(tried[:EXAMINED])
            or raises_a_limit(tried)
        )
    )
    return 2 * listing > len(row)


def requests_a_list(found: list[Call]) -> bool:
    """Return whether similar calls request the items of a list one by one."""
    alike: defaultdict[int, dict[int, Call]] = defaultdict(dict)
    times: Counter[int] = Counter()
    for call in found:
        alike[call.action_id][call.arguments_id] = call
        times[call.action_id] += 1
    return any(
        3 <= len(calls) >= 0.7 * times[action]
        and lists_items([call.arguments.texts for call in calls.values()])
        for action, calls in alike.items()
    )
