"""Loops in the calls of an agent."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

from weighbridge.graders.loop.cycles import Crowding, Stretch, crowded, repeats
from weighbridge.graders.loop.findings import Finding, joined
from weighbridge.graders.loop.outcomes import only_noise
from weighbridge.graders.loop.wording import lists_items

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from weighbridge.graders.loop.calls import Call
    from weighbridge.graders.loop.limits import Limits

NOISE_PERIOD = 3  #: the longest cycle in which results may be noisy
LOOKS_BETWEEN = 5  #: the most calls between two attempts that count as one after the other
#: Calls that look and change nothing: what failed before them fails after them.
_LOOK = re.compile(
    r"(?:^|[_\W])(?:get|read|view|list|search|find|fetch|show|cat|open|grep|ls|head|tail|think|stat|look|lookup|browse"
    r"|describe|check|verify|query|inspect|calculate|count|retrieve|scan|explore|help|info)(?:[_\W]|$)",
    re.IGNORECASE,
)
#: Calls that try something out: what was changed before them may let them pass.
_TRIAL = re.compile(
    r"(?:^|[_\W])(?:run|test|tests|exec|execute|build|compile|lint|check|validate|verify|evaluate|eval|submit|deploy|start"
    r"|launch|simulate|status|poll|wait|try|play|solve|apply|install|python\w*|pytest|make|npm|node|code|answer)(?:[_\W]|$)",
    re.IGNORECASE,
)
_WAIT = re.compile(r"wait|sleep|delay|pause|back_?off", re.IGNORECASE)
_SHELL = re.compile(r"bash|shell|terminal|exec|run|command|console|cmd", re.IGNORECASE)
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_LOOKING_COMMAND = re.compile(
    r"\s*(?:ls|cat|grep|rg|find|head|tail|pwd|which|wc|tree|git (?:log|status|diff|show)"
    r"|(?:get|read|view|list|search|fetch|show|open|describe)_\w{1,40})\b[^>|;&]*$"
)
#: Calls that move on with the same arguments.
_MOVE = re.compile(
    r"scroll|click|next|prev|page|press|key|wait|sleep|swipe|move|step|poll|status", re.IGNORECASE
)


def loops_in_calls(calls: Sequence[Call | None], limits: Limits) -> tuple[list[int], list[Finding]]:
    """Return the row of numbers that calls are compared by, and the loops in it."""
    row = row_of(calls)
    findings = [*_in_order(calls, row, limits)]
    findings += [*_crowded(calls, row, limits), *_failing_again(calls, row, limits)]
    places = [place for place, call in enumerate(calls) if call is None or not _is_thought(call)]
    if len(places) < len(calls):
        acting = [calls[place] for place in places]
        findings += [
            replace(finding, places=tuple([places[place] for place in finding.places]))
            for finding in _in_order(acting, [row[place] for place in places], limits)
        ]
    return row, joined(findings, row)


def _in_order(
    calls: Sequence[Call | None], row: list[int], limits: Limits
) -> Iterator[Finding]:
    yield from _cycles(calls, row, limits)
    yield from _noisy(calls, limits)
    yield from _failing(calls, limits)


def _is_thought(call: Call) -> bool:
    """Whether a call does nothing but let the agent think, as a text does."""
    return "think" in call.tool.lower()


def row_of(calls: Sequence[Call | None]) -> list[int]:
    """Number each call by what it was and came to; a mark between calls gets a negative number of its own."""
    return [-place - 1 if call is None else call.pair for place, call in enumerate(calls)]


def _cycles(calls: Sequence[Call | None], row: list[int], limits: Limits) -> Iterator[Finding]:
    """Find the same steps in the same order, with the same results."""
    for period in range(1, limits.max_period + 1):
        for stretch in repeats(row, period):
            if stretch.length < limits.least_length(period):
                continue
            found = _calls_of(calls, stretch)
            if period > 1 and len({call.pair for call in found[:period]}) == 1:
                continue
            if _only_moves_on(found, period, limits) or _works_through_a_list(found):
                continue
            yield Finding(_kind(found, period), period, tuple(range(*stretch)))


def _kind(found: list[Call], period: int) -> str:
    messages = {call.message for call in found}
    if len(messages) == 1 and None not in messages:
        return "parallel"
    if period > 1:
        return "cycle"
    return "identical" if len({call.exact for call in found}) == 1 else "near_identical"


def _noisy(calls: Sequence[Call | None], limits: Limits) -> Iterator[Finding]:
    """Find the same calls in the same order, with results that differ by noise alone."""
    row = [-place - 1 if call is None else call.exact for place, call in enumerate(calls)]
    for period in range(1, NOISE_PERIOD + 1):
        for stretch in repeats(row, period):
            if stretch.length < limits.least_length(period):
                continue
            found = _calls_of(calls, stretch)
            if len({call.pair for call in found}) <= len({call.exact for call in found}):
                continue
            for start, end in _of_the_same_words(found, period):
                part = found[start:end]
                if len(part) < limits.least_length(period):
                    continue
                phases = [part[phase::period] for phase in range(period)]
                if all(only_noise([call.outcome for call in phase]) for phase in phases):
                    first = stretch.start + start
                    yield Finding("noisy_results", period, tuple(range(first, first + len(part))))


def _of_the_same_words(found: list[Call], period: int) -> Iterator[Stretch]:
    numbers: dict[tuple[int, object], int] = {}
    row = [numbers.setdefault((call.exact, call.outcome.words), len(numbers)) for call in found]
    return repeats(row, period)


def _failing(calls: Sequence[Call | None], limits: Limits) -> Iterator[Finding]:
    """Find one call that fails again and again, whatever it fails of."""
    row = [-place - 1 if call is None else call.exact for place, call in enumerate(calls)]
    failed: dict[int, bool] = {}
    for stretch in repeats(row, 1):
        if stretch.length < limits.least_length(1):
            continue
        start = stretch.start
        for place, call in enumerate(_calls_of(calls, stretch), start):
            if call.pair not in failed:
                failed[call.pair] = call.outcome.has_failed
            if not failed[call.pair]:
                yield from _failures(start, place, limits)
                start = place + 1
        yield from _failures(start, stretch.end, limits)


def _failures(start: int, end: int, limits: Limits) -> Iterator[Finding]:
    if end - start >= limits.least_length(1):
        yield Finding("identical", 1, tuple(range(start, end)))


def _crowded(calls: Sequence[Call | None], row: list[int], limits: Limits) -> Iterator[Finding]:
    """Find stretches with hardly anything new, in whatever order."""
    repeat = limits.max_repeats
    often, window, held = max(2, repeat), 3 * repeat + 1, 2 * repeat + 1
    failing = _failing_only(calls, row, often)
    stretches = [
        *crowded(row, Crowding(window, repeat + 1, often, held)),
        *crowded(failing, Crowding(window, window, often, held)),
        *crowded(failing, Crowding(2 * window, 2 * window, often, 2 * held)),
    ]
    for stretch in stretches:
        places = _places_that_come_back(calls, row, stretch)
        found = [call for place in places if (call := calls[place]) is not None]
        if len(places) >= held and not _works_through_a_list(found):
            yield Finding("interleaved", None, places)


def _failing_only(calls: Sequence[Call | None], row: list[int], often: int) -> list[int]:
    """Return a row in which all that did not fail is new each time."""
    counts = Counter(row)
    failing: dict[int, bool] = {}
    alone = max(row, default=0) + 1
    only = []
    for place, (number, call) in enumerate(zip(row, calls, strict=True)):
        if call is not None and counts[number] >= often and number not in failing:
            failing[number] = call.outcome.has_failed
        only.append(number if call is None or failing.get(number) else alone + place)
    return only


def _places_that_come_back(
    calls: Sequence[Call | None], row: list[int], stretch: Stretch
) -> tuple[int, ...]:
    """Return the places of a stretch whose number is not alone, without calls whose results only ever move on."""
    often = Counter(row[stretch.start : stretch.end])
    results: defaultdict[int, list[int]] = defaultdict(list)
    for place in range(*stretch):
        call = calls[place]
        if call is not None and results[call.exact][-1:] != [row[place]]:
            results[call.exact].append(row[place])
    moving = {
        exact
        for exact, pairs in results.items()
        if len(pairs) > 1 and len(set(pairs)) == len(pairs)
    }
    return tuple(
        place
        for place in range(*stretch)
        if often[row[place]] > 1 and (call := calls[place]) is not None and call.exact not in moving
    )


def _failing_again(
    calls: Sequence[Call | None], row: list[int], limits: Limits
) -> Iterator[Finding]:
    """Find one call that fails the same way again and again, with nothing between that could have helped."""
    attempts: defaultdict[tuple[int, int], list[int]] = defaultdict(list)
    for place, call in enumerate(calls):
        if call is not None:
            attempts[call.exact, row[place]].append(place)
    for places in attempts.values():
        call = calls[places[0]]
        if len(places) > limits.max_repeats and call is not None and call.outcome.has_failed:
            for chain in _chains(calls, places, call):
                if len(chain) > limits.max_repeats:
                    yield Finding("interleaved", None, tuple(chain))


def _chains(calls: Sequence[Call | None], places: list[int], attempt: Call) -> Iterator[list[int]]:
    """Part attempts where too much, or something that may have helped, came between them.

    What is tried out, such as a program, may be tried again after any change: that is honest work. Anything else is not
    helped by the odd call between.
    """
    is_trial = _is_trial(attempt)
    chain = places[:1]
    for earlier, later in pairwise(places):
        between = calls[earlier + 1 : later]
        reach = LOOKS_BETWEEN if all(map(_changes_nothing, between)) else 0 if is_trial else 2
        if len(between) > reach or any(call is None or _lets_time_pass(call) for call in between):
            yield chain
            chain = []
        chain.append(later)
    yield chain


def _changes_nothing(call: Call | None) -> bool:
    return call is not None and (_only_looks(call) or call.outcome.has_failed)


def _lets_time_pass(call: Call) -> bool:
    return _WAIT.search(_command_of(call) or call.tool) is not None


def _is_trial(call: Call) -> bool:
    if _command_of(call) is not None:
        return not _only_looks(call)
    return _TRIAL.search(_CAMEL.sub("_", call.tool)) is not None


def _only_looks(call: Call) -> bool:
    command = _command_of(call)
    if command is not None:
        return _LOOKING_COMMAND.match(command) is not None
    return _LOOK.search(_CAMEL.sub("_", call.tool)) is not None


def _command_of(call: Call) -> str | None:
    """Return the command line that a call runs, if it runs one."""
    value = call.arguments.value
    command = value.get("command") or value.get("cmd") if type(value) is dict else value
    if type(command) is not str or not command:
        return None
    return command if not call.tool or _SHELL.search(call.tool) else None


def _only_moves_on(found: list[Call], period: int, limits: Limits) -> bool:
    """Whether calls whose results are not told may each have come to something new: a page further, a button again."""
    untold = [call for call in found if call.outcome.text is None]
    if len(untold) < 2 or len(found) >= 2 * limits.least_length(period):
        return False
    return all(_moves_on(call) for call in untold)


def _moves_on(call: Call) -> bool:
    value = call.arguments.value
    kind = value.get("action") if type(value) is dict else None
    moves = kind if type(kind) is str else ""
    return not value or _MOVE.search(f"{call.tool} {moves}") is not None


def _works_through_a_list(found: list[Call]) -> bool:
    """Whether calls that are alike ask for one thing after the other."""
    alike: defaultdict[int, dict[int, Call]] = defaultdict(dict)
    times: Counter[int] = Counter()
    for call in found:
        alike[call.action][call.exact] = call
        times[call.action] += 1
    return any(
        3 <= len(calls) >= 0.7 * times[action]
        and lists_items([call.arguments.texts for call in calls.values()])
        for action, calls in alike.items()
    )


def _calls_of(calls: Sequence[Call | None], stretch: Stretch) -> list[Call]:
    return [call for call in calls[stretch.start : stretch.end] if call is not None]
