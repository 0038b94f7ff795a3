"""Loops among screens that were seen before: each line of their results is known, and few actions come again."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from weighbridge.graders.loop.finders.findings import Finding
from weighbridge.graders.loop.finders.rules import Rule
from weighbridge.graders.loop.finders.sequences.known_ranges import ranges
from weighbridge.graders.loop.history.actions import calls_at
from weighbridge.graders.loop.history.call_kinds import walks
from weighbridge.graders.loop.history.masking import ResultOrigin, without_noise
from weighbridge.graders.loop.history.result_kinds import reports_failure, reports_no_effect
from weighbridge.graders.loop.work_budget import WorkBudget

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from weighbridge.graders.loop.history.actions import Call
    from weighbridge.graders.loop.work_budget import Limits

#: minimum results with only known lines for each one with a new line, if half of them fail
_PER_NEW = 2
_OFTEN = 2  #: minimum mean number of times of each state and of each action
_SCREEN_LINES = 4  #: fewer lines are an answer or a confirmation
_SCREEN_CHARACTERS = 20_000  #: a longer result is taken as new
_NOISE_LINES = 3  #: maximum new lines that may be noise, such as a clock
_HEAD_CHARACTERS = 12  #: length of the beginning of a result by which screens of one kind are found
#: Turn of a game in its status line. Elsewhere, `T` may be anything.
_TURN = re.compile(r"\bT:\d{1,7}\b")


def known_screens(
    calls: Sequence[Call | None], limits: Limits, known: set[int]
) -> Iterator[Finding]:
    """Find ranges of calls whose results have only lines that were seen before, and whose actions are few.

    A loop needs `3 * max_repeats` of them in a row that show few states, each of them twice on average, and of which most
    are no steps of a walk, because places may look alike; or `8 * max_repeats` of which half fail, at least two for each
    result with a new line. Ranges that are all in `known` loops are left out.
    """
    least, most = Rule.KNOWN_SCREENS.least(limits), Rule.FAILING_SCREENS.least(limits)
    if not _may_return(calls, least):
        return
    budget = WorkBudget()
    screens = _Screens(budget)
    flags = [budget.is_left and screens.is_known(call) for call in calls]
    returning = ((*each, _return, Rule.KNOWN_SCREENS) for each in ranges(flags, len(flags), least))
    failing = ((*each, _fail, Rule.FAILING_SCREENS) for each in ranges(flags, _PER_NEW, most))
    for first, last, is_stuck, rule in (*returning, *failing):
        indices = [index for index in range(first, last) if flags[index]]
        found = calls_at(calls, indices)
        if (
            not known.issuperset(indices)
            and _are_few([call.arguments_id for call in found])
            and is_stuck(found, screens)
        ):
            yield Finding.by(rule, indices, rule.least(limits))


def _may_return(calls: Sequence[Call | None], least: int) -> bool:
    """Return whether enough screens begin alike."""
    texts = [text for call in calls if call is not None and (text := _screen_text(call))]
    return len(texts) - len({text[:_HEAD_CHARACTERS] for text in texts}) >= least


def _screen_text(call: Call) -> str:
    """Return a result of several lines, or "" if it is none."""
    text = call.result.text
    if text is None or len(text) > _SCREEN_CHARACTERS:
        return ""
    return text if text.count("\n") >= _SCREEN_LINES - 1 else ""


class _Screens:
    """The lines of results that were seen so far."""

    def __init__(self, budget: WorkBudget) -> None:
        self._budget = budget
        self._seen: set[str] = set()
        self._without_noise: dict[str, str] = {}  #: by line, of lines that may be noise

    def is_known(self, call: Call | None) -> bool:
        """Return whether a call's result is a screen whose lines were all seen before, and remember them."""
        if call is None:  # a new request, for which everything may be looked at again
            self._seen.clear()
            return False
        text = _screen_text(call)
        if not text:
            return False
        lines = set(text.split("\n"))
        self._budget.count_reading(text, len(lines))
        new = lines - self._seen
        bare = {line: self._bare(line) for line in new} if len(new) <= _NOISE_LINES else {}
        is_known = len(bare) == len(new) and self._seen.issuperset(bare.values())
        self._without_noise |= bare
        self._seen.update(new, bare.values())
        return is_known and len(lines) >= _SCREEN_LINES

    def _bare(self, line: str) -> str:
        bare = without_noise(line, ResultOrigin(False, False), self._budget)
        return _TURN.sub("#", bare)

    def state(self, call: Call) -> str:
        """Return what a screen shows, without lines of noise such as a clock."""
        lines = (call.result.text or "").split("\n")
        return "\n".join([self._without_noise.get(line, line) for line in lines])


def _return(found: Sequence[Call], screens: _Screens) -> bool:
    """Return whether screens show few states, which were not reached by a walk."""
    return _are_few(list(map(screens.state, found))) and 2 * sum(map(walks, found)) <= len(found)


def _fail(found: Sequence[Call], _screens: _Screens) -> bool:
    """Return whether at least half of the screens begin with a failure, or say that nothing happened."""
    return 2 * sum(map(_begins_with_failure, found)) >= len(found)


def _begins_with_failure(call: Call) -> bool:
    first = (call.result.text or "").lstrip().partition("\n")[0]
    return reports_failure(first) or reports_no_effect(first)


def _are_few(items: Sequence[object]) -> bool:
    return _OFTEN * len(set(items)) <= len(items)
