"""Loops of changes after each of which one and the same failure comes back."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import pairwise
from typing import TYPE_CHECKING

from weighbridge.graders.loop.finders.findings import Finding
from weighbridge.graders.loop.finders.rules import Rule
from weighbridge.graders.loop.finders.sequences.related_attempts import (
    Attempt,
    chains_of,
    is_related,
)
from weighbridge.graders.loop.history.actions import calls_at
from weighbridge.graders.loop.history.call_kinds import (
    claims_done,
    is_command,
    is_read_only,
    is_wait,
)
from weighbridge.graders.loop.history.failure_lines import informative_lines
from weighbridge.graders.loop.history.failures import places_in, reports_delay, without_places
from weighbridge.graders.loop.history.request_words import are_related, words_of
from weighbridge.graders.loop.history.result_kinds import reports_failure
from weighbridge.graders.loop.work_budget import WorkBudget

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from weighbridge.graders.loop.history.actions import Call
    from weighbridge.graders.loop.work_budget import Limits

_BETWEEN = 5  #: maximum other calls between two attempts
_CHARACTERS = 100  #: a shorter failure may be that of another attempt
#: A check's failure of this length says what is wrong, if it comes back often enough.
_SHORT_CHARACTERS = 20
_WAYS = 3  #: maximum ways in which checks fail that a few changes break in turns
_LINES = 8  #: of a result, in which a failure may be reported
_PLACES_CHARACTERS = 4_000  #: of a result, whose places are compared
#: minimum share of changes to a later place, or to an earlier one, of failures that move on
_ONE_WAY = 3 / 4
_SOON = 10  #: calls after the last of some checks, in which a check in other words shows that it is mended
_FEW_PLACES = 2  #: maximum places of one failure that is moved by the edits above it


def unchanged_failures(
    calls: Sequence[Call | None], limits: Limits, known: set[int]
) -> Iterator[Finding]:
    """Find `max_repeats + 2` related submissions to one tool with one text that reports a failure, whatever was changed between.

    Most of them differ, and none is a command. At most `_BETWEEN` other calls lie between two of them, none of which waits.
    Attempts of which some are in `known` loops are not examined.
    """
    least = Rule.UNCHANGED_FAILURE.least(limits)
    texts = [
        (index, call, text)
        for index, call in enumerate(calls)
        if call is not None and (text := call.result.text) and len(text) >= _CHARACTERS
        if not is_command(call)
    ]
    times = Counter([(call.tool, text) for _, call, text in texts])
    if max(times.values(), default=0) < least:
        return
    budget = WorkBudget()
    tried: defaultdict[tuple[str, str], list[tuple[int, Call]]] = defaultdict(list)
    for index, call, text in texts:
        if times[call.tool, text] >= least:
            tried[call.tool, text].append((index, call))
    for (_, text), attempts in tried.items():
        first = attempts[0][1]
        is_examined = known.isdisjoint([index for index, _ in attempts])
        if is_examined and _reports_failure(first, text) and not reports_delay(first.result):
            for chain in _chains(calls, attempts, budget):
                different = len({each.call.arguments_id for each in chain})
                if len(chain) >= least and 2 * different > len(chain):
                    found = (each.call_index for each in chain)
                    yield Finding.by(Rule.UNCHANGED_FAILURE, found, least)


def unchanged_checks(
    calls: Sequence[Call | None], limits: Limits, known: set[int]
) -> Iterator[Finding]:
    """Find `max_repeats + 2` checks, few of them different, that fail in one way, whatever was changed between.

    If the failure is short, or a check succeeds in the end, also in other words, `3 * max_repeats` are needed. None of them
    has another result between, and at most `_BETWEEN` other calls lie between two, none of which waits. The lines that
    failures name may differ, if there are two at most or the failures come back to them.
    """
    least = Rule.UNCHANGED_CHECK.least(limits)
    failed = [
        (index, call)
        for index, call in enumerate(calls)
        if call is not None and call.result.is_unsuccessful
    ]
    tools = Counter([call.tool for _, call in failed])
    checks: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
    for index, call in failed:
        if tools[call.tool] >= least and len(call.result.text or "") >= _SHORT_CHARACTERS:
            checks[call.tool, without_places(call.result.masked)].append(index)
    succeeds_later = _later_successes(calls)
    for indices in checks.values():
        first = calls[indices[0]]
        if first is None or len(indices) < least or not known.isdisjoint(indices):
            continue
        is_doubted = len(first.result.text or "") < _CHARACTERS or succeeds_later(indices)
        enough = max(least, Rule.UNCHANGED_CHECK.least(limits, other=is_doubted))
        if not claims_done(first) and not reports_delay(first.result):
            for chain in _unbroken(calls, indices):
                made = [each for at in chain if (each := calls[at])]
                is_one = 2 * len({each.arguments_id for each in made}) <= len(made)
                if len(chain) >= enough and is_one and not move_on(made):
                    yield Finding.by(Rule.UNCHANGED_CHECK, chain, enough)


def returning_checks(
    calls: Sequence[Call | None], limits: Limits, known: set[int]
) -> Iterator[Finding]:
    """Find `3 * max_repeats` equal checks in a row that fail in two or three ways, all known, whatever was changed between.

    So one change undoes another. At most `_BETWEEN` other calls lie between two checks, none of which waits.
    """
    least = Rule.RETURNING_CHECK.least(limits)
    made: defaultdict[int, list[int]] = defaultdict(list)
    for index, call in enumerate(calls):
        if call is not None:
            made[call.arguments_id].append(index)
    for indices in made.values():
        if len(indices) <= least or not known.isdisjoint(indices):
            continue
        for chain in _unbroken(calls, indices, by_index=True):
            yield from _returning(calls, chain, least)


def _returning(calls: Sequence[Call | None], chain: Sequence[int], least: int) -> Iterator[Finding]:
    """Yield a finding for the failures of a chain of checks after the first of each kind."""
    seen: set[str] = set()
    run: list[int] = []
    for index in (*chain, -1):
        call = calls[index] if index >= 0 else None
        failure = ""
        if call is not None and call.result.is_unsuccessful:
            failure = without_places(call.result.masked)
        if failure and failure in seen:
            run.append(index)
            continue
        found = [each for at in run if (each := calls[at])]
        kinds = {without_places(each.result.masked) for each in found}
        if len(run) >= least and 1 < len(kinds) <= _WAYS and not move_on(found):
            yield Finding.by(Rule.RETURNING_CHECK, run, least)
        run = []
        if failure:
            seen.add(failure)
        else:
            seen.clear()


def move_on(made: Sequence[Call]) -> bool:
    """Return whether failures name a new place each time, as when one line after the other is corrected.

    They do not if there are two places at most, or if they come back to places that they had left, or go up and down.
    """
    places = [places_in(call.result.masked[:_PLACES_CHARACTERS]) for call in made]
    seen: set[tuple[object, ...]] = set()
    returns = 0
    for before, place in pairwise([(), *places]):
        returns += place in seen and place != before
        seen.add(place)
    changes = [(one, other) for one, other in pairwise(places) if one != other]
    up = sum(one < other for one, other in changes)
    is_one_way = max(up, len(changes) - up) >= _ONE_WAY * len(changes)
    return len(seen) > _FEW_PLACES and returns < len(places) // _FEW_PLACES and is_one_way


def _unbroken(
    calls: Sequence[Call | None], indices: Sequence[int], *, by_index: bool = False
) -> Iterator[list[int]]:
    """Split checks between which one of them had another result, or a request, a wait or many calls lie."""
    made = {call.arguments_id for index in indices if (call := calls[index]) and not by_index}
    chain = [*indices[:1]]
    for earlier, later in pairwise(indices):
        between = calls[earlier + 1 : min(later, earlier + _BETWEEN + 2)]
        if not _are_near(between) or any(
            other is not None and other.arguments_id in made for other in between
        ):
            yield chain
            chain = []
        chain.append(later)
    yield chain


def _later_successes(calls: Sequence[Call | None]) -> Callable[[Sequence[int]], bool]:
    """Return a function that tells whether one of some checks is made again after them, and succeeds.

    So is a check that is worded in another way, soon after them.
    """
    success = {
        call.arguments_id: index
        for index, call in enumerate(calls)
        if call is not None and not call.result.is_unsuccessful
    }
    budget = WorkBudget()

    def succeeds_later(indices: Sequence[int]) -> bool:
        made = calls_at(calls, indices)
        last = indices[-1]
        if any(success.get(call.arguments_id, -1) > last for call in made):
            return True
        words = words_of(made[-1], budget)
        return any(
            call is not None
            and call.tool == made[-1].tool
            and not (call.result.is_unsuccessful or is_read_only(call))
            and are_related(words, words_of(call, budget))
            for call in calls[last + 1 : last + 1 + _SOON]
        )

    return succeeds_later


def _reports_failure(call: Call, text: str) -> bool:
    """Return whether a result reports a failure, at its beginning or after what was done."""
    return not claims_done(call) and (
        call.result.has_failed or any(map(reports_failure, informative_lines(text)[:_LINES]))
    )


def _chains(
    calls: Sequence[Call | None], attempts: Sequence[tuple[int, Call]], budget: WorkBudget
) -> Iterator[list[Attempt]]:
    """Split attempts where they are not related, or where a request, a wait or many calls lie between."""
    described = (
        Attempt(index, call, words_of(call, budget)) for index, call in attempts if budget.is_left
    )

    def goes_on(near: Sequence[Attempt], attempt: Attempt) -> bool:
        between = calls[near[-1].call_index + 1 : attempt.call_index]
        return _are_near(between) and is_related(attempt.words, near)

    return chains_of(described, goes_on)


def _are_near(between: Sequence[Call | None]) -> bool:
    return len(between) <= _BETWEEN and not any(call is None or is_wait(call) for call in between)
