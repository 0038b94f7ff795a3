"""Loops of the same calls in the same order: one call in a row, or a cycle, with results that are equal, noisy or alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weighbridge.graders.loop.finders.exemptions.moving_calls import least_of_unseen
from weighbridge.graders.loop.finders.findings import Finding
from weighbridge.graders.loop.finders.rules import Rule
from weighbridge.graders.loop.finders.sequences.cycles import Span, cycles, repeats
from weighbridge.graders.loop.finders.sequences.request_lists import requests_a_list
from weighbridge.graders.loop.history.failures import same_failures, show_progress
from weighbridge.graders.loop.history.moves_and_looks import may_advance
from weighbridge.graders.loop.history.progress import only_noise

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from weighbridge.graders.loop.history.actions import Call
    from weighbridge.graders.loop.work_budget import Limits

_NOISE_PERIOD = 3  #: longest cycle whose results may differ by noise


def ordered_calls(
    calls: Sequence[Call | None], row: list[int], limits: Limits
) -> Iterator[Finding]:
    """Find the same calls in the same order; `row` numbers them by their action and result."""
    yield from _cycles(calls, row, limits)
    asked = [-index - 1 if call is None else call.arguments_id for index, call in enumerate(calls)]
    yield from _noisy_results(calls, asked, limits)
    rows = [span for _, span in cycles(asked, 1) if span.length >= limits.least_length(1)]
    yield from _failing(calls, rows, limits)


def _cycles(calls: Sequence[Call | None], row: list[int], limits: Limits) -> Iterator[Finding]:
    """Find the same steps in the same order, with the same results."""
    for period, span in cycles(row, limits.max_period):
        if span.length < limits.least_length(period):
            continue
        found = _calls_of(calls, span)
        if period > 1 and len({call.pair_id for call in found[:period]}) == 1:
            continue
        least = limits.least_length(period) * (2 if _may_advance(found) else 1)
        if span.length < least or requests_a_list(found):
            continue
        yield Finding.by(_rule(found, period), range(*span), least, period=period)


def _rule(found: list[Call], period: int) -> Rule:
    messages = {call.message for call in found}
    if len(messages) == 1 and None not in messages:
        return Rule.SAME_CALLS_IN_ONE_MESSAGE
    if period > 1:
        return Rule.SAME_CYCLE
    is_one = len({call.arguments_id for call in found}) == 1
    return Rule.SAME_CALL if is_one else Rule.SIMILAR_CALLS


def _noisy_results(
    calls: Sequence[Call | None], asked: list[int], limits: Limits
) -> Iterator[Finding]:
    """Find the same calls in the same order, with results that differ by noise alone; `asked` numbers their arguments."""
    for period, span in cycles(asked, _NOISE_PERIOD):
        if span.length < limits.least_length(period):
            continue
        found = _calls_of(calls, span)
        if len({call.pair_id for call in found}) <= len({call.arguments_id for call in found}):
            continue
        for start, end in _of_the_same_words(found, period):
            phases = [found[phase:end:period] for phase in range(start, start + period)]
            if end - start >= limits.least_length(period) and all(
                only_noise([call.result for call in phase]) for phase in phases
            ):
                indices = range(span.start + start, span.start + end)
                least = limits.least_length(period)
                yield Finding.by(Rule.NOISY_RESULTS, indices, least, period=period)


def _of_the_same_words(found: list[Call], period: int) -> Iterator[Span]:
    numbers: dict[tuple[int, object], int] = {}
    row = [
        numbers.setdefault((call.arguments_id, call.result.words), len(numbers)) for call in found
    ]
    return repeats(row, period)


def _failing(
    calls: Sequence[Call | None], rows: Sequence[Span], limits: Limits
) -> Iterator[Finding]:
    """Find one call that fails repeatedly in about the same way; `rows` are those of equal calls."""
    failed: dict[int, bool] = {}
    for span in rows:
        start = span.start
        for index, call in enumerate(_calls_of(calls, span), start):
            if call.pair_id not in failed:
                failed[call.pair_id] = call.result.has_failed
            # A result that is not recorded has the number of the one before it.
            if call.result.text is None or not failed[call.pair_id]:
                yield from _failures(calls, Span(start, index), limits)
                start = index + 1
        yield from _failures(calls, Span(start, span.end), limits)


def _failures(calls: Sequence[Call | None], failed: Span, limits: Limits) -> Iterator[Finding]:
    if failed.length < limits.least_length(1):
        return
    found = _calls_of(calls, failed)
    for start, end in same_failures(found):
        outcomes = [call.result for call in found[start:end]]
        if len(outcomes) >= limits.least_length(1) and not show_progress(outcomes):
            indices = range(failed.start + start, failed.start + end)
            yield Finding.by(Rule.FAILING_CALL, indices, limits.least_length(1), period=1)


def _may_only_advance(found: Sequence[Call], period: int, limits: Limits) -> bool:
    """Return whether calls without known results may each have had a new result, such as the next page."""
    is_long = len(found) >= 2 * limits.least_length(period)
    return not is_long and _may_advance(found)


def _may_advance(found: Sequence[Call]) -> bool:
    """Return whether two calls or more have no known results, and each of these may have had a new one."""
    unknown = [call for call in found if call.result.text is None]
    return len(unknown) > 1 and all(
        call.result.omits_image or may_advance(call) for call in unknown
    )


def least_without_results(found: Sequence[Call], period: int, limits: Limits) -> int:
    """Return from how many calls on such repeats are a loop, if they are none because results are unknown; else 0."""
    least = least_of_unseen(found, limits)
    if len(found) < least:
        return least
    if _may_only_advance(found, period, limits):
        return 2 * limits.least_length(period)
    return 0


def _calls_of(calls: Sequence[Call | None], span: Span) -> list[Call]:
    return [call for call in calls[span.start : span.end] if call is not None]
