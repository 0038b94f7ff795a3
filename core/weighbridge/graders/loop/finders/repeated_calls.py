"""Loops of calls that were made before with the same results, in any order or with anything between them."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from weighbridge.graders.loop.finders.findings import Finding
from weighbridge.graders.loop.finders.rules import Rule
from weighbridge.graders.loop.history.call_kinds import (
    is_wait,
    may_advance,
    polls,
    walks,
    writes,
)
from weighbridge.graders.loop.history.result_kinds import reports_success
from weighbridge.graders.loop.work_budget import WorkBudget

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from weighbridge.graders.loop.history.actions import Call
    from weighbridge.graders.loop.work_budget import Limits

_CHARACTERS = 20  #: minimum length of arguments that say what is asked
_KNOWN = 1 / 3  #: minimum share of repeats and failures among the calls between


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
