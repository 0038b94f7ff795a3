"""Loops of many calls in a row that fail, in few ways, whatever they ask and of whichever tool, or show what is known."""

from __future__ import annotations

from itertools import accumulate, groupby
from typing import TYPE_CHECKING

from weighbridge.graders.loop.finders.findings import Finding
from weighbridge.graders.loop.finders.rules import Rule
from weighbridge.graders.loop.finders.sequences.request_lists import goes_through_list
from weighbridge.graders.loop.history.call_kinds import is_read_only, is_wait, writes
from weighbridge.graders.loop.history.failure_lines import failure_of
from weighbridge.graders.loop.history.result_kinds import reports_success
from weighbridge.graders.loop.work_budget import WorkBudget

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from weighbridge.graders.loop.history.actions import Call
    from weighbridge.graders.loop.work_budget import Limits

_WINDOW = 2  #: multiple of the minimum number of failures, of calls among which most of them lie
_DENSE = 3 / 4  #: minimum share of these failures there
_WAYS = 1 / 4  #: maximum share of different failures
_LONGEST_CHARACTERS = 100_000  #: rows with a longer request are not examined


def failing_rows(calls: Sequence[Call | None], limits: Limits) -> Iterator[Finding]:
    """Find `3 * max_repeats` calls in a row that fail in few ways, unless those of a tool go through a list or raise a limit.

    Calls with a result that their tool gave before may lie between, at most as many as those that fail. `6 * max_repeats`
    that do not only read are a loop across requests of the user too, if two or more of them are for each.
    """
    failed = [call is not None and call.result.has_failed for call in calls]
    yield from _found(calls, failed, Rule.FAILING_ROW, limits)
    yield from _found(calls, failed, Rule.FAILING_ROW_ACROSS_REQUESTS, limits, across=True)


def _found(
    calls: Sequence[Call | None],
    failed: Sequence[bool],
    rule: Rule,
    limits: Limits,
    *,
    across: bool = False,
) -> Iterator[Finding]:
    least = rule.least(limits)
    if sum(failed) < _DENSE * least:
        return
    sums = [0, *accumulate(failed)]
    dense = [later - earlier for earlier, later in zip(sums, sums[_WINDOW * least :], strict=False)]
    if max(dense, default=sums[-1]) < _DENSE * least:
        return
    budget = WorkBudget()
    known = _known(calls, failed, across=across)
    for goes_on, group in groupby(range(len(calls)), key=known.__getitem__):
        indices = [*group] if goes_on else []
        row = [call for at in indices if failed[at] and (call := calls[at])]
        longest = max((len(call.arguments.key) for call in row), default=0)
        if len(row) < least or 2 * len(row) < len(indices) or longest > _LONGEST_CHARACTERS:
            continue
        requests = sum(calls[at] is None for at in indices)
        is_asked_again = 0 < 2 * requests <= len(row)
        if across and (not is_asked_again or any(map(is_read_only, row))):
            continue
        is_of_few_ways = _fail_in_few_ways(row, budget)
        if not budget.is_left:  # some ways are unknown
            return
        if is_of_few_ways and not goes_through_list(row):
            yield Finding.by(rule, (at for at in indices if failed[at]), least)


def _fail_in_few_ways(calls: Sequence[Call], budget: WorkBudget) -> bool:
    ways: set[str] = set()
    for call in calls:
        if len(ways) > _WAYS * len(calls) or not budget.is_left:
            return False
        ways.add(failure_of(call, budget)[0])
    return len(ways) <= _WAYS * len(calls)


def _known(calls: Sequence[Call | None], failed: Sequence[bool], *, across: bool) -> list[bool]:
    """Return for each call whether it failed, or neither waited nor changed anything and showed what its tool showed before.

    A request of the user is known if the row goes on `across` requests.
    """
    seen: set[tuple[str, str]] = set()
    known = []
    for call, has_failed in zip(calls, failed, strict=True):
        if call is None or has_failed:
            known.append(across if call is None else has_failed)
            continue
        told = call.tool, call.result.text or ""
        is_told = told in seen and not (writes(call) or is_wait(call) or reports_success(told[1]))
        known.append(is_told)
        if told[1]:
            seen.add(told)
    return known
