"""Loops of changes after each of which one and the same failure comes back, of one check or of any runs."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from itertools import pairwise
from typing import TYPE_CHECKING

from weighbridge.graders.loop.finders.findings import Finding
from weighbridge.graders.loop.finders.returning_reasons import reasons_in
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
    is_trial,
    is_wait,
    writes,
)
from weighbridge.graders.loop.history.failure_lines import informative_lines, last_line
from weighbridge.graders.loop.history.failures import places_in, reports_delay, without_places
from weighbridge.graders.loop.history.moves_and_looks import PAUSE
from weighbridge.graders.loop.history.progress import count_one_way
from weighbridge.graders.loop.history.request_words import are_related, words_of
from weighbridge.graders.loop.history.result_kinds import reports_failure
from weighbridge.graders.loop.work_budget import WorkBudget

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from weighbridge.graders.loop.history.actions import Call
    from weighbridge.graders.loop.work_budget import Limits

_BETWEEN = 5  #: maximum other calls between two attempts, checks or runs
_CHARACTERS = 100  #: a shorter failure may be that of another attempt
#: A check's failure of this length says what is wrong, if it comes back often enough.
_SHORT_CHARACTERS = 20
_LINES = 8  #: of a result, in which a failure may be reported
_PLACES_CHARACTERS = 4_000  #: of a result, whose places are compared
#: minimum share of changes to a later place, or to an earlier one, of failures that move on
_ONE_WAY = 3 / 4
_SOON = 10  #: calls after the last of some checks, in which a check in other words shows that it is mended
_PAUSE = re.compile(rf"\A\s{{0,9}}{PAUSE}")  #: before a check
_FEW_PLACES = 2  #: maximum places of one failure that is moved by the edits above it
_SHARE = 3 / 4  #: minimum share of runs that fail for the reason
_SAME = 1 / 2  #: maximum share of different lines with the reason, apart from places in files
_CHANGED = 1 / 2  #: minimum share of runs before which something was changed


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
    """Find `max_repeats + 2` checks, few of them different but for a pause before them, that fail in one way, whatever was changed between.

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
                is_one = 2 * len({*map(_check_of, made)}) <= len(made)
                if len(chain) >= enough and is_one and not move_on(made):
                    yield Finding.by(Rule.UNCHANGED_CHECK, chain, enough)


def _check_of(call: Call) -> tuple[object, ...]:
    """Return what is equal for equal checks, however long they wait first: the command, and such texts beside it as its folder."""
    command, given = call.command, call.arguments.value
    if not command:
        return (call.arguments_id,)
    beside = given.items() if type(given) is dict else ()
    texts = [each for each in beside if type(each[1]) is str and each[1] != command]
    return _PAUSE.sub("", command), *sorted(texts)


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


def _unbroken(calls: Sequence[Call | None], indices: Sequence[int]) -> Iterator[list[int]]:
    """Split checks between which one of them had another result, or a request, a wait or many calls lie."""
    made = {call.arguments_id for index in indices if (call := calls[index])}
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


def vain_changes(
    calls: Sequence[Call | None], limits: Limits, known: set[int]
) -> Iterator[Finding]:
    """Find `3 * max_repeats` runs in a row that fail for one reason, with changes between most of them.

    At most `_BETWEEN` other calls lie between two runs, none of which waits, and no run succeeds. Runs in `known` loops are
    not examined, nor are those that fail in another place or with a smaller number each time.
    """
    least = Rule.VAIN_CHANGES.least(limits)
    if sum(call is not None and call.result.has_failed for call in calls) < least:
        return
    budget = WorkBudget()
    for chain in _failing_runs(calls):
        if len(chain) < least or not known.isdisjoint(chain):
            continue
        found: defaultdict[str, dict[int, str]] = defaultdict(dict)
        for index in chain:
            call = calls[index]
            if call and budget.is_left:
                for reason, line in reasons_in(call.result.masked, budget).items():
                    found[reason][index] = line
        most = max(found.values(), key=len, default={})
        runs = list(most)
        is_often = len(runs) >= max(least, _SHARE * len(chain))
        if is_often and _are_changed(calls, runs) and not _get_on(calls, most):
            yield Finding.by(Rule.VAIN_CHANGES, runs, least)


def _failing_runs(calls: Sequence[Call | None]) -> Iterator[list[int]]:
    """Yield the indices of runs that fail, split where one succeeds, and at requests, waits and many other calls."""
    chain: list[int] = []
    for index, call in enumerate(calls):
        is_over = call is None or is_wait(call) or (chain and index - chain[-1] > _BETWEEN + 1)
        if is_over or (call is not None and is_trial(call) and not call.result.is_unsuccessful):
            yield chain
            chain = []
        if call is not None and is_trial(call) and call.result.has_failed and not claims_done(call):
            chain.append(index)
    yield chain


def _are_changed(calls: Sequence[Call | None], runs: Sequence[int]) -> bool:
    """Return whether something was written before most runs, or by them."""
    changed = sum(
        any(call is not None and writes(call) for call in calls[one + 1 : other + 1])
        for one, other in pairwise(runs)
    )
    return changed >= _CHANGED * (len(runs) - 1)


def _get_on(calls: Sequence[Call | None], runs: Mapping[int, str]) -> bool:
    """Return whether runs, with the lines that say why they fail, fail elsewhere each time, or in fewer things."""
    made = calls_at(calls, runs)
    return (
        len(set(map(without_places, runs.values()))) > _SAME * len(runs)
        or move_on(made)
        or count_one_way([last_line(call.result.text or "") for call in made])
    )
