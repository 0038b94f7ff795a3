"""Loops of calls in any order: a few with hardly anything new between them, and one question that is asked again and again."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from weighbridge.graders.loop.finders.findings import Finding
from weighbridge.graders.loop.finders.rules import Rule
from weighbridge.graders.loop.finders.sequences.cycles import NoveltyLimits, Span, low_novelty
from weighbridge.graders.loop.finders.sequences.request_lists import requests_a_list
from weighbridge.graders.loop.history.actions import calls_at
from weighbridge.graders.loop.history.call_kinds import is_wait, writes
from weighbridge.graders.loop.history.moves_and_looks import may_advance, polls, walks
from weighbridge.graders.loop.history.result_kinds import reports_success, tells_nothing
from weighbridge.graders.loop.work_budget import WorkBudget

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from weighbridge.graders.loop.history.actions import Call
    from weighbridge.graders.loop.work_budget import Limits

#: Minimum share of calls whose results are not recorded, or only say that it was done, from which a loop needs twice as many calls.
_UNSEEN = 1 / 3
_CHARACTERS = 20  #: minimum length of arguments that say what is asked
_KNOWN = 1 / 3  #: minimum share of repeats and failures among the calls between


def few_calls(calls: Sequence[Call | None], row: list[int], limits: Limits) -> Iterator[Finding]:
    """Find ranges with few different calls, in any order."""
    repeat = limits.max_repeats
    often = max(2, repeat)
    held, twice_held = (Rule.FEW_CALLS.least(limits, other=other) for other in (False, True))
    window = held + repeat
    if max(Counter(row).values(), default=0) < often:
        return
    failing = _failing_only(calls, row, often)
    searches = (
        (Rule.FEW_CALLS, row, NoveltyLimits(window, repeat + 1, often, held)),
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


def recurring_questions(
    calls: Sequence[Call | None], row: Sequence[int], limits: Limits
) -> Iterator[Finding]:
    """Find a call that is made `max_repeats + 2` times within one request and has one long answer each time.

    At least a third of the other calls between have to be repeats or failures as well, and none may write something.
    Walks, waits, polls, scrolls, clicks, confirmations, failures and calls with short arguments are no questions.
    """
    least = Rule.RECURRING_QUESTION.least(limits)
    if max(Counter(row).values(), default=0) < least:
        return
    budget = WorkBudget()
    asked: defaultdict[tuple[int, int], list[int]] = defaultdict(list)
    for index, call in enumerate((*calls, None)):
        if call is not None:
            asked[call.arguments_id, row[index]].append(index)
            continue
        for indices in asked.values():
            first = calls[indices[0]]
            if len(indices) < least or first is None or not budget.is_left:
                continue
            if _has_long_answer(first):
                budget.count_lookups(indices[-1] - indices[0])
                between = [each for each in calls[indices[0] : indices[-1]] if each is not None]
                if _go_nowhere(between, first):
                    yield Finding.by(Rule.RECURRING_QUESTION, indices, least)
        asked.clear()


def _go_nowhere(between: Sequence[Call], question: Call) -> bool:
    """Return whether calls write nothing, and a third of those that are not the question are repeats or failures."""
    others = [call for call in between if call.arguments_id != question.arguments_id]
    seen: set[tuple[int, int]] = set()
    known = 0
    for call in others:
        exact = call.arguments_id, call.pair_id
        known += exact in seen or call.result.is_unsuccessful
        seen.add(exact)
    return known >= _KNOWN * len(others) and not any(map(writes, others))


def _has_long_answer(call: Call) -> bool:
    is_question = len(call.arguments.key) >= _CHARACTERS and not (
        is_wait(call) or polls(call) or walks(call) or may_advance(call) or call.result.has_failed
    )
    text = call.result.text or ""
    return is_question and call.result.is_long and not reports_success(text)
