"""Repeats that the user ordered, which are no loop: twelve runs of a test that fails now and then, a look every ten minutes, a list."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from itertools import islice
from typing import TYPE_CHECKING, Any

from weighbridge.graders.loop.history.actions import calls_at
from weighbridge.graders.loop.history.call_kinds import (
    is_command,
    is_read_only,
    is_wait,
    polls,
    runs_code,
)
from weighbridge.graders.loop.work_budget import WorkBudget

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from weighbridge.graders.loop.finders.findings import Finding
    from weighbridge.graders.loop.history.actions import Call, History
    from weighbridge.graders.loop.history.ordered_times import Order

_FEW = 3  #: times that a call may be made between those that were ordered
_CHARACTERS = 2_000  #: of arguments that are searched for the words of an order
_LISTED_CALLS = 1_000  #: maximum calls whose arguments are compared with what a user listed
_ARGUMENTS = 20  #: of a call that may be its item
_VALUE_CHARACTERS = 1_000  #: a longer argument has no item of a list
_LARGEST_NUMBER = 10**18  #: a larger one is no item
#: Arguments that say how much is wanted, from where on, or for how long.
_AMOUNT = re.compile(
    r"(?:\w{1,40}_)?limit|max|count|offset|top_k|per_page|page_size|(?:max|num)_(?:entries|items|pages|results|rows|tokens)"
    r"|(?:\w{1,40}_)?(?:timeout|delay|wait|sleep|seconds|minutes|ms)(?:_(?:seconds|minutes|ms|s))?"
)
_CAMEL_BORDER = re.compile(r"(?<=[a-z])(?=[A-Z])")
#: Ends of what arguments with one item each have in common.
_BORDER = re.compile(r"[\s\"'/?&=:#,;()\[\]{}]")


class Orders:
    """What the user ordered to be done a number of times, to be watched, or to be done with each item of a list."""

    def __init__(self, history: History) -> None:
        self._calls = calls = history.calls
        self._ordered = history.ordered
        self._listed = history.listed
        self._requests = [index for index, call in enumerate(calls) if call is None]
        self._lookups = WorkBudget()
        #: times of each call, by the number of its request
        self._made: dict[int, Counter[int]] = {}

    def cover(self, finding: Finding) -> bool:
        """Return whether all calls of a finding were ordered, and none is made more often than ordered in its request.

        Rounds with a wait each are what was ordered if something is to be watched, and so are calls for one listed item each.
        """
        if self._goes_through_list(finding):
            return True
        calls, requests = self._calls, self._requests
        number = bisect_right(requests, finding.indices[0]) - 1
        order = self._ordered.get(requests[number]) if number >= 0 else None
        end = requests[number + 1] if number + 1 < len(requests) else len(calls)
        if not order or finding.indices[-1] >= end:
            return False
        if order.is_watch and _watches(finding, calls):
            return True
        if number not in self._made:
            within = calls[requests[number] : end]
            ids = [call.arguments_id for call in within if call is not None]
            self._made[number] = Counter(ids)
        made = self._made[number]
        repeated = {call.arguments_id: call for at in finding.indices if (call := calls[at])}
        times = {made[each] for each in repeated}
        if times <= order.things and _makes_things(finding, calls):
            return True
        return bool(order.times or order.is_watch) and all(
            made[each] <= (order.times if _is_ordered(call, order) else _FEW)
            for each, call in repeated.items()
        )

    def _goes_through_list(self, finding: Finding) -> bool:
        """Return whether each call of a finding is for another item of a list in a request before it."""
        if len(finding.indices) > _LISTED_CALLS:
            return False
        by_tool: defaultdict[str, list[Call]] = defaultdict(list)
        for index in finding.indices:
            if call := self._calls[index]:
                by_tool[call.tool].append(call)
        # One thing that many tools are tried on is no list.
        of_several = sum(len(made) for made in by_tool.values() if len(made) > 1)
        return 2 * of_several >= len(finding.indices) and all(
            self._is_listed(made, finding.indices[0]) for made in by_tool.values()
        )

    def _is_listed(self, made: Sequence[Call], start: int) -> bool:
        """Return whether a request before an index lists an item for each of some calls; the nearest ones are searched first."""
        before = bisect_left(self._requests, start)
        for items in _items_of(made):
            for number in range(before - 1, -1, -1):
                if not self._lookups.is_left:
                    return False
                if self._listed[self._requests[number]].name_all(items, self._lookups):
                    return True
        return False


def _items_of(made: Sequence[Call]) -> Iterator[list[str]]:
    """Yield what may be one item for each of some calls: arguments that all differ, whole and without what they have in common."""
    given = [value if type(value := call.arguments.value) is dict else {"": value} for call in made]
    for key in islice(given[0], _ARGUMENTS):
        texts = [text for value in given if (text := _text_of(value.get(key)))]
        if len(set(texts)) == len(given) and not _is_amount(key):
            yield texts
            yield _without_common(texts)


def _is_amount(key: Any) -> bool:
    return _AMOUNT.fullmatch(_CAMEL_BORDER.sub("_", str(key)).lower()) is not None


def _text_of(value: Any) -> str:
    """Return an argument that may be an item as text; empty for any other one."""
    if type(value) is int and abs(value) < _LARGEST_NUMBER:
        return str(value)
    return value.strip() if type(value) is str and len(value) <= _VALUE_CHARACTERS else ""


def _without_common(texts: list[str]) -> list[str]:
    """Return texts without the words that all of them begin and end with, as in a command for each item."""
    if len(texts) == 1:
        return texts
    start = _length_of_common(texts)
    end = _length_of_common([text[start:][::-1] for text in texts])
    return [text[start : len(text) - end] for text in texts]


def _length_of_common(texts: list[str]) -> int:
    """Return the length of the whole words that all texts begin with."""
    first, last = min(texts), max(texts)
    pairs = zip(first, last, strict=False)
    common = next((at for at, (one, other) in enumerate(pairs) if one != other), len(first))
    return max((found.end() for found in _BORDER.finditer(first, 0, common)), default=0)


def _watches(finding: Finding, calls: Sequence[Call | None]) -> bool:
    """Return whether a wait lies in most rounds of a finding, which are looks, or do something that does not fail."""
    within = calls[finding.indices[0] : finding.indices[-1] + 1]
    waits = sum(call is not None and is_wait(call) for call in within)
    made = calls_at(calls, finding.indices)
    return waits > len(finding.indices) / (finding.period or 1) / 2 and not any(
        call.result.is_unsuccessful and not (is_wait(call) or is_read_only(call) or polls(call))
        for call in made
    )


def _makes_things(finding: Finding, calls: Sequence[Call | None]) -> bool:
    """Return whether a finding is one call that acts and succeeds, as one that makes one of several equal things."""
    made = calls_at(calls, finding.indices)
    return len({call.arguments_id for call in made}) == 1 and not any(
        is_read_only(call) or polls(call) or call.result.is_unsuccessful for call in made
    )


def _is_ordered(call: Call, order: Order) -> bool:
    """Return whether a call runs something, or has a word of the order in its tool or arguments."""
    if (is_command(call) or runs_code(call)) and not is_read_only(call):
        return True
    told = f"{call.tool} {call.arguments.key[:_CHARACTERS].decode(errors='replace')}".lower()
    return any(word in told for word in order.words)
