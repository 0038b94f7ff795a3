"""Cycles in which some steps vary without effect: attempts that fail the same way, and waits of other lengths."""

from __future__ import annotations

import re
from collections import Counter
from math import inf
from typing import TYPE_CHECKING

from weighbridge.graders.loop.call_kinds import is_read_only, is_wait
from weighbridge.graders.loop.cycles import cycles
from weighbridge.graders.loop.failures import FailureNumbers
from weighbridge.graders.loop.masked_attempts import raises_a_limit
from weighbridge.graders.loop.merging import Finding
from weighbridge.graders.loop.result_kinds import reports_success
from weighbridge.graders.loop.work_budget import WorkBudget

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from weighbridge.graders.loop.actions import Call
    from weighbridge.graders.loop.known_answers import ToolResult
    from weighbridge.graders.loop.work_budget import Limits

_MORE_THAN_REPEATS = 2  #: minimum rounds above `max_repeats` if as many steps vary as stay equal
_ARGUMENTS_CHARACTERS = 4_000  #: longer arguments are compared only for equality
_NUMBER = re.compile(rb"\d+(?:\.\d+)?")


def varied_cycles(
    calls: Sequence[Call | None],
    row: Sequence[int],
    tool_results: Sequence[ToolResult | None],
    limits: Limits,
) -> Iterator[Finding]:
    """Find cycles of known results in which a failing attempt or the length of a wait varies.

    `max_repeats` rounds form a loop if twice as many steps stay equal as vary, or `max_repeats + 2` rounds if as many do.
    A wait alone, with one result, needs `2 * max_repeats` calls.
    """
    results = Counter(filter(None, tool_results)).values()
    may_wait = max(results, default=0) >= 2 * limits.max_repeats
    if not may_wait and max(Counter(row).values(), default=0) < limits.least_rounds:
        return
    kinds = _kinds(calls, row, limits)
    if len(set(kinds)) == len(set(row)):
        return
    for period, stretch in cycles(kinds, limits.max_period):
        if stretch.length < limits.least_length(period):
            continue
        found = [call for call in calls[stretch.start : stretch.end] if call is not None]
        if stretch.length >= _least(found, period, limits):
            kind = "cycle" if period > 1 else "near_identical"
            yield Finding(kind, period, tuple(range(*stretch)))


def _kinds(calls: Sequence[Call | None], row: Sequence[int], limits: Limits) -> list[int]:
    """Number the calls so that attempts with one failure are equal, and so are waits with one result."""
    first = dict(zip(reversed(row), reversed(calls), strict=True))
    varying = {number: call for number, call in first.items() if call is not None and _varies(call)}
    if len(varying) < limits.least_rounds:
        return [*row]
    failures = FailureNumbers(WorkBudget())
    numbers: dict[object, int] = {}
    kinds = {
        number: numbers.setdefault(_kind(call, failures), number)
        for number, call in varying.items()
    }
    return [kinds.get(number, number) for number in row]


def _varies(call: Call) -> bool:
    """Return whether a call may be equal to one with other arguments: it failed, or it waits."""
    is_known = call.result.text is not None and len(call.arguments.key) <= _ARGUMENTS_CHARACTERS
    return is_known and (call.result.has_failed or is_wait(call))


def _kind(call: Call, failures: FailureNumbers) -> object:
    waits = _NUMBER.sub(b"#", call.arguments.key) if is_wait(call) else None
    return call.tool, waits, failures.number(call)


def _least(found: Sequence[Call], period: int, limits: Limits) -> float:
    """Return the minimum length of a cycle, or infinity if nothing varies in it, or too much, or something may change."""
    phases = [found[start::period] for start in range(period)]
    varied = [phase for phase in phases if len({call.arguments_id for call in phase}) > 1]
    equal = period - len(varied)
    rounds = min(2 * limits.max_repeats, limits.max_repeats + _MORE_THAN_REPEATS)
    least: float = period * rounds
    if equal >= 2 * len(varied):
        least = limits.least_length(period)
    elif period == 1 and is_wait(found[0]):
        least = 2 * limits.max_repeats
    elif equal < len(varied):
        return inf
    is_idle = len(found) < least or not (
        any(map(_is_done, found[:period])) or any(map(raises_a_limit, varied))
    )
    return least if varied and is_idle else inf


def _is_done(call: Call) -> bool:
    """Return whether a result says that a call changed something."""
    is_idle = call.result.is_unsuccessful or is_read_only(call) or is_wait(call)
    return not is_idle and reports_success(call.result.text or "")
