"""Cycles in which some steps vary in vain: attempts and calls that fail the same way, reworded questions, and waits of other lengths."""

from __future__ import annotations

import re
from collections import Counter, defaultdict, deque
from typing import TYPE_CHECKING

from weighbridge.graders.loop.finders.findings import Finding
from weighbridge.graders.loop.finders.rules import Rule
from weighbridge.graders.loop.finders.sequences.cycles import Span, cycles
from weighbridge.graders.loop.history.call_kinds import is_read_only, is_wait
from weighbridge.graders.loop.history.failures import (
    FailureNumbers,
    are_alike,
    show_progress,
    without_places,
)
from weighbridge.graders.loop.history.request_words import EXAMINED, raises_a_limit, unshared_words
from weighbridge.graders.loop.history.result_kinds import reports_success
from weighbridge.graders.loop.history.text_forms import lists_items
from weighbridge.graders.loop.history.words import words_in
from weighbridge.graders.loop.work_budget import WorkBudget

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from weighbridge.graders.loop.finders.known_results import ToolResult
    from weighbridge.graders.loop.history.actions import Call
    from weighbridge.graders.loop.work_budget import Limits

_ARGUMENTS_CHARACTERS = 4_000  #: longer arguments are compared only for equality
#: Maximum share of words that only one question has; above it, the questions are different.
_OWN = 0.5
_WORD = re.compile(r"\w+")
_NUMBER = re.compile(rb"\d+(?:\.\d+)?")
_REMEMBERED = 3  #: last failures of a call, one of which the next may be like


def varied_cycles(
    calls: Sequence[Call | None],
    row: Sequence[int],
    tool_results: Sequence[ToolResult | None],
    limits: Limits,
) -> Iterator[Finding]:
    """Find cycles of known results in which a failing attempt, the wording of a question or the length of a wait varies.

    `max_repeats` rounds form a loop if twice as many steps stay equal as vary, or `max_repeats + 2` rounds if as many do.
    A wait alone, with one result, needs `2 * max_repeats` calls.
    """
    results = Counter(tool_results)
    del results[None]
    is_cyclic = max(Counter(row).values(), default=0) >= limits.least_rounds
    if not is_cyclic and not _may_wait(calls, tool_results, results, limits):
        return
    often = {
        result[1] for result, times in results.items() if result and times >= limits.least_rounds
    }
    kinds = _kinds(calls, row, often, limits)
    if len(set(kinds)) == len(set(row)):
        return
    for period, stretch in cycles(kinds, limits.max_period):
        if stretch.length < limits.least_length(period):
            continue
        found = [call for call in calls[stretch.start : stretch.end] if call is not None]
        least = _least(found, period, limits)
        if least and stretch.length >= least:
            rule = Rule.VARIED_CYCLE if period > 1 else Rule.VARIED_WAITS
            yield Finding.by(rule, range(*stretch), least, period=period)


def _may_wait(
    calls: Sequence[Call | None],
    tool_results: Sequence[ToolResult | None],
    results: Counter[ToolResult | None],
    limits: Limits,
) -> bool:
    """Return whether one of `2 * max_repeats` calls with one result waits."""
    most = max(results.values(), default=0)
    least = Rule.VARIED_WAITS.least(limits)
    return most >= least and any(
        call is not None and results[result] >= least and is_wait(call)
        for call, result in zip(calls, tool_results, strict=True)
    )


def _kinds(
    calls: Sequence[Call | None], row: Sequence[int], often: set[str], limits: Limits
) -> list[int]:
    """Number the calls so that attempts with one failure, questions with one answer, and waits with one result are equal."""
    first = dict(zip(reversed(row), reversed(calls), strict=True))
    varying = {
        number: call for number, call in first.items() if call is not None and _varies(call, often)
    }
    if len(varying) < limits.least_rounds:
        return [*row]
    failures = FailureNumbers(WorkBudget())
    numbers: dict[object, int] = {}
    kinds = {
        number: numbers.setdefault(_kind(call, failures), number)
        for number, call in varying.items()
    }
    return [kinds.get(number, number) for number in row]


def _varies(call: Call, often: set[str]) -> bool:
    """Return whether a call may be equal to one with other arguments: it failed, waits, or has a frequent long answer."""
    text = call.result.text
    if text is None or len(call.arguments.key) > _ARGUMENTS_CHARACTERS:
        return False
    is_answered = call.result.is_long and text in often and is_read_only(call)
    return is_answered or call.result.has_failed or is_wait(call)


def _kind(call: Call, failures: FailureNumbers) -> object:
    waits = _NUMBER.sub(b"#", call.arguments.key) if is_wait(call) else None
    return call.tool, waits, failures.number(call)


def _least(found: Sequence[Call], period: int, limits: Limits) -> int:
    """Return the minimum length of a cycle, or 0 if nothing varies in it, or too much, or something may change."""
    phases = [found[start::period] for start in range(period)]
    varied = [phase for phase in phases if len({call.arguments_id for call in phase}) > 1]
    equal = period - len(varied)
    least = period * Rule.VARIED_CYCLE.least(limits, other=True)
    if equal >= 2 * len(varied):
        least = limits.least_length(period)
    elif period == 1 and is_wait(found[0]):
        least = Rule.VARIED_WAITS.least(limits)
    elif equal < len(varied):
        return 0
    is_idle = len(found) < least or not (
        any(map(_is_done, found[:period])) or any(map(_moves_on, varied))
    )
    return least if varied and is_idle else 0


def _moves_on(phase: Sequence[Call]) -> bool:
    """Return whether calls raise a limit, or ask different questions."""
    if phase[0].result.has_failed or is_wait(phase[0]):
        return raises_a_limit(phase)
    texts = [call.arguments.texts for call in phase]
    words = [frozenset(words_in(text.casefold(), _WORD)) for text in texts[:EXAMINED]]
    return lists_items(texts) or unshared_words(words) > _OWN


def _is_done(call: Call) -> bool:
    """Return whether a result says that a call changed something."""
    is_idle = call.result.is_unsuccessful or is_read_only(call) or is_wait(call)
    return not is_idle and reports_success(call.result.text or "")


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
    kinds = _kinds_of_failures(failed)
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


def _kinds_of_failures(failed: Sequence[Call]) -> dict[int, int]:
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
