"""Cycles in which a call fails each time in about the same way, however the failure is worded."""

from __future__ import annotations

from collections import defaultdict, deque
from typing import TYPE_CHECKING

from weighbridge.graders.loop.finders.findings import Finding
from weighbridge.graders.loop.finders.rules import Rule
from weighbridge.graders.loop.finders.sequences.cycles import Span, cycles
from weighbridge.graders.loop.history.failures import (
    are_alike,
    show_progress,
    without_places,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from weighbridge.graders.loop.history.actions import Call
    from weighbridge.graders.loop.work_budget import Limits

_REMEMBERED = 3  #: last failures of a call, one of which the next may be like


def failing_cycles(
    calls: Sequence[Call | None], row: list[int], limits: Limits
) -> Iterator[Finding]:
    """Find the same calls in the same order, with equal results or failures that are alike."""
    in_cycles = _in_cycles(calls, limits)
    if not in_cycles:
        return
    failed = [
        call
        for call in calls
        if call is not None and call.arguments_id in in_cycles and call.result.has_failed
    ]
    if len({call.pair_id for call in failed}) == len({call.arguments_id for call in failed}):
        return
    kinds = _kinds(failed)
    merged = [kinds.get(number, number) for number in row]
    for period, span in cycles(merged, limits.max_period):
        if span.length >= limits.least_length(period):
            phases = [_calls_of(calls, span, start, period) for start in range(period)]
            several = len({phase[0].arguments_id for phase in phases}) > 1
            if several and not any(map(_shows_progress, phases)):
                least = limits.least_length(period)
                yield Finding.by(Rule.CYCLE_WITH_FAILURES, range(*span), least, period=period)


def _asked(calls: Sequence[Call | None]) -> list[int]:
    return [-index - 1 if call is None else call.arguments_id for index, call in enumerate(calls)]


def _in_cycles(calls: Sequence[Call | None], limits: Limits) -> set[int]:
    """Return the calls that come in cycles of several calls, whatever their results, by their arguments."""
    row = _asked(calls)
    found: set[int] = set()
    for period, span in cycles(row, limits.max_period):
        if span.length >= limits.least_length(period):
            calls_of_round = set(row[span.start : span.start + period])
            if len(calls_of_round) > 1:
                found |= calls_of_round
    return found


def _kinds(failed: Sequence[Call]) -> dict[int, int]:
    """Return by its number the kind of each failure: that of one of the last failures of the same call, if they are alike."""
    last: defaultdict[int, deque[Call]] = defaultdict(lambda: deque(maxlen=_REMEMBERED))
    kinds: dict[int, int] = {}
    for call in failed:
        if call.pair_id in kinds:
            continue
        earlier = last[call.arguments_id]
        before = next((each for each in reversed(earlier) if _are_one(each, call)), None)
        kinds[call.pair_id] = call.pair_id if before is None else kinds[before.pair_id]
        earlier.append(call)
    return kinds


def _are_one(one: Call, other: Call) -> bool:
    return are_alike(one.result, other.result) or _differ_in_places(one, other)


def _differ_in_places(one: Call, other: Call) -> bool:
    """Return whether failures are equal except for the places in files that they name."""
    return without_places(one.result.masked) == without_places(other.result.masked)


def _calls_of(calls: Sequence[Call | None], span: Span, start: int, period: int) -> list[Call]:
    """Return the calls of every round at one place of a cycle."""
    return [call for call in calls[span.start + start : span.end : period] if call is not None]


def _shows_progress(phase: Sequence[Call]) -> bool:
    known = [call.result for call in phase if call.result.text is not None]
    return len({call.pair_id for call in phase}) > 1 and show_progress(known)
