"""Loops of calls that were made before with the same results, in any order or with anything between them."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from weighbridge.graders.loop.finders.findings import Finding
from weighbridge.graders.loop.finders.rules import Rule
from weighbridge.graders.loop.history.actions import calls_at
from weighbridge.graders.loop.history.call_kinds import (
    is_command,
    is_read_only,
    is_wait,
    may_advance,
    polls,
    walks,
    writes,
)
from weighbridge.graders.loop.history.result_kinds import reports_success
from weighbridge.graders.loop.work_budget import WorkBudget

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from weighbridge.graders.loop.history.actions import Call
    from weighbridge.graders.loop.work_budget import Limits

_CHARACTERS = 20  #: minimum length of arguments that say what is asked
_GUESS_CHARACTERS = 40  #: maximum length of arguments that are a guess
_KNOWN = 1 / 3  #: minimum share of repeats and failures among the calls between


def repeated_calls(
    calls: Sequence[Call | None], row: Sequence[int], limits: Limits
) -> Iterator[Finding]:
    """Find at least `2 * max_repeats` consecutive calls that were made before with the same results.

    One of them has to have been made more than `max_repeats` times, because reading several things again is legitimate.
    If no call occurs twice in the row, as when an agent has lost its memory, the mean number of times has to be above
    `max_repeats`. Of guesses, it is enough that half have been made `max_repeats` times.
    """
    if len(row) - len(set(row)) < Rule.CALLS_MADE_BEFORE.least(limits):
        return
    times: Counter[tuple[int, int]] = Counter()
    run: dict[int, tuple[int, int]] = {}
    for index, call in enumerate((*calls, None)):
        if call is not None and call.result.text is not None:
            # A similar call may be the next item of a list, so that only equal ones count.
            exact = call.arguments_id, call.pair_id
            times[exact] += 1
            if times[exact] > 1 and not is_wait(call):
                run[index] = exact
                continue
        least = _least(calls, run, limits)
        if len(run) >= least:
            made = sorted(times[exact] for exact in set(run.values()))
            often = made[-1] if len(made) < len(run) else sum(made) / len(made)
            if often > limits.max_repeats or (
                made[len(made) // 2] >= limits.max_repeats and _are_guesses(calls, run)
            ):
                yield Finding.by(Rule.CALLS_MADE_BEFORE, run, least)
        run = {}
        if call is None:
            times.clear()


def _least(calls: Sequence[Call | None], run: Iterable[int], limits: Limits) -> int:
    """Return the minimum number of calls, which is higher if most are changes that succeed: work may have to be done again."""
    made = calls_at(calls, run)
    changes = sum(
        not is_read_only(call) and reports_success(call.result.text or "") for call in made
    )
    return Rule.CALLS_MADE_BEFORE.least(limits, other=2 * changes > len(made))


def _are_guesses(calls: Sequence[Call | None], run: Iterable[int]) -> bool:
    """Return whether calls give one tool a number or a word each, and neither read nor do anything."""
    made = calls_at(calls, run)
    return len({call.tool for call in made}) == 1 and not any(
        len(call.arguments.key) > _GUESS_CHARACTERS
        or is_command(call)
        or is_read_only(call)
        or reports_success(call.result.text or "")
        for call in made
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
