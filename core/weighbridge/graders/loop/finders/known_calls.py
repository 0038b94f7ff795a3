"""Loops among calls that were all made before, where the trace has no results."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weighbridge.graders.loop.finders.findings import Finding
from weighbridge.graders.loop.finders.rules import Rule
from weighbridge.graders.loop.finders.sequences.known_ranges import ranges
from weighbridge.graders.loop.history.call_kinds import (
    explores,
    goes_to_a_place,
    is_wait,
    may_advance,
    polls,
    scrolls,
    walks,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from weighbridge.graders.loop.history.actions import Call
    from weighbridge.graders.loop.work_budget import Limits

_DIFFERENT = 2  #: multiple of `max_repeats` of different calls among them: with fewer, the state decides what an action does
_PLAYERS = 3  #: agents who act in turn, each on what the others did
_AT_MOST = 3 / 4  #: maximum share of different calls: more are a second pass


def known_calls(calls: Sequence[Call | None], limits: Limits, known: set[int]) -> Iterator[Finding]:
    """Find `4 * max_repeats` calls in a row, in any order, that were all made before and have no recorded results.

    At least `2 * max_repeats` of them are different. Ranges with a call that may have another result each time, of several
    players, or all in `known` loops, are left out.
    """
    least = Rule.KNOWN_CALLS.least(limits)
    made: set[int] = set()
    flags = []
    for call in calls:
        flags.append(call is not None and call.arguments_id in made and _has_no_result(call))
        if call is not None:
            made.add(call.arguments_id)
        else:  # a new request, for which everything may be done again
            made.clear()
    for first, last in ranges(flags, len(flags), least):
        found = [call for call in calls[first:last] if call is not None]
        different = {call.arguments_id: call for call in found}
        if (
            _DIFFERENT * limits.max_repeats <= len(different) <= _AT_MOST * len(found)
            and len({call.speaker for call in found if call.speaker}) < _PLAYERS
            and not any(map(_may_show_new, different.values()))
            and not known.issuperset(range(first, last))
        ):
            yield Finding.by(Rule.KNOWN_CALLS, range(first, last), least)


def _has_no_result(call: Call) -> bool:
    return call.result.outcome is None


def _may_show_new(call: Call) -> bool:
    if walks(call) and not goes_to_a_place(call):
        return True
    return any(kind(call) for kind in (explores, is_wait, may_advance, polls, scrolls))
