"""Repeats that the user ordered, which are no loop: twelve runs of a test that fails now and then, a look every ten minutes."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from typing import TYPE_CHECKING

from weighbridge.graders.loop.history.call_kinds import (
    is_command,
    is_read_only,
    is_wait,
    polls,
    runs_code,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from weighbridge.graders.loop.finders.findings import Finding
    from weighbridge.graders.loop.history.actions import Call
    from weighbridge.graders.loop.history.ordered_times import Order

_FEW = 3  #: times that a call may be made between those that were ordered
_CHARACTERS = 2_000  #: of arguments that are searched for the words of an order


class Orders:
    """What the user ordered to be done a number of times, or to be watched, by the index of the request."""

    def __init__(self, calls: Sequence[Call | None], ordered: Mapping[int, Order]) -> None:
        self._calls = calls
        self._ordered = ordered
        self._requests = [index for index, call in enumerate(calls) if call is None]
        #: times of each call, by the number of its request
        self._made: dict[int, Counter[int]] = {}

    def cover(self, finding: Finding) -> bool:
        """Return whether all calls of a finding were ordered, and none is made more often than ordered in its request.

        Rounds with a wait each are what was ordered if something is to be watched.
        """
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
        if finding.period == 1 and times <= order.things and _makes_things(finding, calls):
            return True
        return bool(order.times or order.is_watch) and all(
            made[each] <= (order.times if _is_ordered(call, order) else _FEW)
            for each, call in repeated.items()
        )


def _watches(finding: Finding, calls: Sequence[Call | None]) -> bool:
    """Return whether a wait lies in most rounds of a finding, which are looks, or do something that does not fail."""
    within = calls[finding.indices[0] : finding.indices[-1] + 1]
    waits = sum(call is not None and is_wait(call) for call in within)
    made = [call for index in finding.indices if (call := calls[index]) is not None]
    return waits > len(finding.indices) / (finding.period or 1) / 2 and not any(
        call.result.is_unsuccessful and not (is_wait(call) or is_read_only(call) or polls(call))
        for call in made
    )


def _makes_things(finding: Finding, calls: Sequence[Call | None]) -> bool:
    """Return whether a finding is one call that acts and succeeds, as one that makes one of several equal things."""
    made = [call for index in finding.indices if (call := calls[index]) is not None]
    return len({call.arguments_id for call in made}) == 1 and not any(
        is_read_only(call) or polls(call) or call.result.is_unsuccessful for call in made
    )


def _is_ordered(call: Call, order: Order) -> bool:
    """Return whether a call runs something, or has a word of the order in its tool or arguments."""
    if (is_command(call) or runs_code(call)) and not is_read_only(call):
        return True
    told = f"{call.tool} {call.arguments.key[:_CHARACTERS].decode(errors='replace')}".lower()
    return any(word in told for word in order.words)
