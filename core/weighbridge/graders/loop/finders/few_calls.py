"""Loops of a few calls in any order, with hardly anything new between them."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from weighbridge.graders.loop.finders.findings import Finding
from weighbridge.graders.loop.finders.rules import Rule
from weighbridge.graders.loop.finders.sequences.cycles import NoveltyLimits, Span, low_novelty
from weighbridge.graders.loop.finders.sequences.request_lists import requests_a_list
from weighbridge.graders.loop.history.actions import calls_at
from weighbridge.graders.loop.history.result_kinds import tells_nothing

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from weighbridge.graders.loop.history.actions import Call
    from weighbridge.graders.loop.work_budget import Limits

#: Minimum share of calls whose results are not recorded, or only say that it was done, from which a loop needs twice as many calls.
_UNSEEN = 1 / 3


def few_calls(calls: Sequence[Call | None], row: list[int], limits: Limits) -> Iterator[Finding]:
    """Find ranges with few different calls, in any order."""
    repeat = limits.max_repeats
    often = max(2, repeat)
    held, twice_held = (Rule.FEW_CALLS.least(limits, other=other) for other in (False, True))
    window = Rule.FEW_CALLS_ALONE.least(limits)
    if max(Counter(row).values(), default=0) < often:
        return
    failing = _failing_only(calls, row, often)
    few = min(repeat + 1, limits.max_period)
    searches = (
        (Rule.FEW_CALLS, row, NoveltyLimits(window, repeat + 1, often, held)),
        (Rule.FEW_CALLS_ALONE, row, NoveltyLimits(window, few, 2, window)),
        (Rule.FEW_FAILING_CALLS, failing, NoveltyLimits(window, window, often, held)),
        (
            Rule.FEW_FAILING_CALLS,
            failing,
            NoveltyLimits(2 * window, 2 * window, often, twice_held),
        ),
    )
    spans = [
        (rule, novelty.least_repeated, span)
        for rule, numbers, novelty in searches
        for span in low_novelty(numbers, novelty)
    ]
    for rule, enough, span in spans:
        indices = _repeated_indices(calls, row, span)
        found = calls_at(calls, indices)
        unseen = sum(tells_nothing(call.result.text) for call in found)
        least = twice_held if unseen >= _UNSEEN * len(found) else held
        if len(indices) >= least and not requests_a_list(found):
            # Without calls that show progress, fewer may be left than the range had.
            if len(indices) >= enough:
                least = max(least, enough)
            yield Finding.by(rule, indices, least)


def _failing_only(calls: Sequence[Call | None], row: list[int], often: int) -> list[int]:
    """Return a row in which each call that did not fail has a unique number."""
    counts = Counter(row)
    failing: dict[int, bool] = {}
    alone = max(row, default=0) + 1
    only = []
    for index, (number, call) in enumerate(zip(row, calls, strict=True)):
        if call is not None and counts[number] >= often and number not in failing:
            failing[number] = call.result.has_failed
        only.append(number if call is None or failing.get(number) else alone + index)
    return only


def _repeated_indices(calls: Sequence[Call | None], row: list[int], span: Span) -> tuple[int, ...]:
    """Return the indices of repeated numbers in a range, without calls whose results show progress."""
    often = Counter(row[span.start : span.end])
    results: defaultdict[int, list[int]] = defaultdict(list)
    for index in range(*span):
        call = calls[index]
        if call is not None and results[call.arguments_id][-1:] != [row[index]]:
            results[call.arguments_id].append(row[index])
    moving = {
        exact
        for exact, pairs in results.items()
        if len(pairs) > 1 and len(set(pairs)) == len(pairs)
    }
    return tuple(
        index
        for index in range(*span)
        if often[row[index]] > 1
        and (call := calls[index]) is not None
        and call.arguments_id not in moving
    )
