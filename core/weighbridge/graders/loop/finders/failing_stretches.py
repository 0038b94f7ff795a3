"""Loops of stretches in which calls fail in known ways far more often than any call brings something new."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

from weighbridge.graders.loop.finders.findings import Finding
from weighbridge.graders.loop.finders.rules import Rule
from weighbridge.graders.loop.finders.sequences.request_lists import goes_through_list
from weighbridge.graders.loop.history.actions import calls_at
from weighbridge.graders.loop.history.call_kinds import is_read_only, is_wait, writes
from weighbridge.graders.loop.history.progress import tends_one_way
from weighbridge.graders.loop.work_budget import WorkBudget

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from weighbridge.graders.loop.history.actions import Call
    from weighbridge.graders.loop.work_budget import Limits

_CHARACTERS = 600  #: first characters of a failure, whose words are compared
_ALIKE = 0.7  #: minimum share of common words, of all words of two failures, for both to be one way to fail
_REMEMBERED = 40  #: different ways to fail that are compared
_LEAST_WORDS = 3  #: of a failure that says in which way
_MAYBE_ID = re.compile(r"\d\w*|[^\W\d]+\d\w*")
_ID_CHARACTERS = 12  #: minimum length of an id
_WORD = re.compile(r"[^\W\d_]{2,}")
#: Words that say only that a command failed, as after a search without a match.
_UNTOLD = frozenset(
    (
        *("exit", "code", "exited", "with", "error", "status", "wall", "time", "seconds"),
        *("output", "command", "returncode", "stdout", "stderr"),
    )
)


def failing_stretches(
    calls: Sequence[Call | None], limits: Limits, known: set[int]
) -> Iterator[Finding]:
    """Find calls in answer to one request of which `2 * max_repeats + 2` more fail in a known way than bring something new.

    Calls of one message count once. What was seen before, what has no content, and a failure with other details after what may
    have changed something are not counted. A wait, a call that writes a file, and one that succeeds where it failed before
    start the count again, the last of these without a loop. Calls that go through a list, or whose failures have a number that
    goes up or down, are no loop, nor are those in `known` ones.
    """
    least = Rule.FAILING_STRETCH.least(limits)
    if sum(call is not None and call.result.has_failed for call in calls) <= least:
        return
    for indices, surplus in _stretches(calls, least):
        row = calls_at(calls, indices)
        if known.isdisjoint(indices) and not (_makes_progress(row) or goes_through_list(row)):
            yield Finding.by(Rule.FAILING_STRETCH, indices, least, count=surplus)


@dataclass(slots=True)
class _Stretch:
    """The calls since the surplus of known failures was last zero, or since one that may have mended what failed."""

    failed: list[int] = field(default_factory=list)
    asked: set[int] = field(default_factory=set)  #: what failed
    surplus: int = 0
    best: int = 0  #: the largest surplus
    length: int = 0  #: the number of failures up to there

    def add_failure(self, index: int, call: Call) -> None:
        """Add a known failure."""
        self.failed.append(index)
        self.asked.add(call.arguments_id)
        self.surplus += 1
        if self.surplus > self.best:
            self.best, self.length = self.surplus, len(self.failed)

    def ends_with(self, call: Call | None) -> bool:
        """Return whether this is a request, waits, or has written something."""
        if call is None or self.surplus <= 0 or is_wait(call):
            return True
        return not call.result.is_unsuccessful and writes(call)

    def is_over_with(self, call: Call | None) -> bool:
        """Return whether a call does what failed before, so that trying again was of use."""
        return (
            call is not None and call.arguments_id in self.asked and not call.result.is_unsuccessful
        )


def _stretches(calls: Sequence[Call | None], least: int) -> Iterator[tuple[list[int], int]]:
    """Yield where known failures have a surplus of `least` or more: their indices, and how large it is."""
    budget = WorkBudget()
    outcomes, stretch = _Outcomes(budget), _Stretch()
    for index, call in enumerate([*calls, None]):
        weight = 0 if call is None or call.result.text is None else outcomes.weigh(call)
        if call is not None and weight > 0:
            stretch.add_failure(index, call)
        else:
            stretch.surplus += weight
        if stretch.is_over_with(call):
            stretch = _Stretch()
        elif stretch.ends_with(call):
            if stretch.best >= least:
                yield stretch.failed[: stretch.length], stretch.best
            stretch = _Stretch()
        if not budget.is_left:  # whether later failures are known is unknown
            return


class _Outcomes:
    """The results of the calls so far, which decide whether a further one is new."""

    def __init__(self, budget: WorkBudget) -> None:
        self._ways = _Ways(budget)
        self._seen: set[tuple[str, str]] = set()
        self._counted: str | None = None  #: the message of the last failure that counted
        self._is_changed = (
            False  #: whether a call since the last failure may have changed something
        )

    def weigh(self, call: Call) -> int:
        """Return 1 for a known failure, -1 for a result or a failure that is new, and 0 for what is not counted."""
        text = _told_by(call)
        is_new = (call.tool, text) not in self._seen
        self._seen.add((call.tool, text))
        if call.result.has_failed:
            return self._weigh_failure(call, is_new=is_new)
        if call.result.is_unsuccessful:
            return 0
        self._is_changed = self._is_changed or not is_read_only(call)
        return -1 if is_new and text else 0

    def _weigh_failure(self, call: Call, *, is_new: bool) -> int:
        has_other_details = is_new and self._is_changed
        self._is_changed = False
        is_known = self._ways.add(call)
        if is_known is None:
            return 0
        if not is_known:
            return -1
        is_counted = call.message is not None and call.message == self._counted
        if has_other_details or is_counted:
            return 0
        self._counted = call.message
        return 1


def _told_by(call: Call) -> str:
    """Return a result without noise, of a failure its beginning without ids."""
    text = call.result.masked
    if not call.result.has_failed:
        return text
    return _MAYBE_ID.sub(
        lambda word: "#" if len(word[0]) >= _ID_CHARACTERS else word[0], text[:_CHARACTERS]
    )


@lru_cache(_REMEMBERED)  # as failures come again
def _words_in(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.lower()))


class _Ways:
    """The ways in which calls have failed, each by the words of a failure."""

    def __init__(self, budget: WorkBudget) -> None:
        self._budget = budget
        self._ways: dict[frozenset[str], None] = {}

    def add(self, call: Call) -> bool | None:
        """Add the failure of a call, and return whether one like it is known; None if it does not say in which way."""
        text = (call.result.text or "")[:_CHARACTERS]
        words = _words_in(text)
        self._budget.count_reading(text, len(words))
        if len(words - _UNTOLD) < _LEAST_WORDS:
            return None
        is_known = words in self._ways
        if not is_known:
            self._budget.count_lookups(6 * len(self._ways))
            is_known = any(
                len(words & others) >= _ALIKE * len(words | others) for others in self._ways
            )
        self._ways.pop(words, None)
        self._ways[words] = None
        if len(self._ways) > _REMEMBERED:
            del self._ways[next(iter(self._ways))]
        return is_known


def _makes_progress(row: Sequence[Call]) -> bool:
    """Return whether a third of the failures differ only in numbers from others, of which one goes up or down."""
    by_words: defaultdict[str, list[str]] = defaultdict(list)
    for call in row:
        by_words[call.result.words].append(call.result.masked)
    moving = [
        len(told)
        for told in by_words.values()
        if len(told) > 2 and len(set(told)) > 2 and tends_one_way(told)
    ]
    return 3 * sum(moving) > len(row)
