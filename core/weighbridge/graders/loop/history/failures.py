"""Comparison of the failures of one call: equal failures, and failures that show progress."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING

from weighbridge.graders.loop.history.progress import moves_one_way
from weighbridge.graders.loop.linear_patterns import linear, occurs

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from weighbridge.graders.loop.history.actions import Call
    from weighbridge.graders.loop.history.results import CallResult
    from weighbridge.graders.loop.work_budget import WorkBudget

_ALIKE = 0.9  #: minimum share of common words for two failures of one call to be the same
_SHORT_CHARACTERS = 200  #: a longer failure has details beyond a lost connection
_PAGE_CHARACTERS = 2_000
_ECHOING_CHARACTERS = 400  #: a longer failure may hold a word of the arguments by chance
_ECHOED = re.compile(r"\d+|[^\W\d]\w{2,}")  #: numbers, and words of three letters or more
_TAGS = linear(r"<(?:style|script)[^<]{0,1000}<|<[^>]{1,200}>|\s{2,}")
#: Place in a file, which moves with each edit above it.
_PLACE = r"(\bline |\.\w{1,9}[:(])(\d{1,6}(?:[:,]\d{1,6})?)\b"
_may_name_place = occurs(_PLACE)
#: Each part of it is short, so that it takes linear time, and for many places a tenth of RE2's.
_place = re.compile(_PLACE, re.ASCII | re.IGNORECASE)
_PLACES = 1_000  #: maximum places masked in one failure
#: Errors of an unreachable service, all of which count as the same failure.
_mentions_outage = occurs(
    r"""\b(?:time[ds]?[ -]?out|connection|unavailable|bad gateway|unreachable|too many requests|rate.limit\w*|overloaded
|internal server error|network|(?:target|page|tab|browser|context|session)\b[^.\n]{0,40}\b(?:closed|crashed|terminated)|(?:http|error|status)\W{0,4}(?:429|5\d\d))\b"""
)


#: Errors that pass by themselves.
_mentions_delay = occurs(
    r"""\b(?:time[ds]?[ -]?out|unavailable|too many requests|rate.limit\w*|overloaded|(?:http|error|status)\W{0,4}(?:429|503))\b"""
)


def same_failures(calls: Sequence[Call]) -> Iterator[tuple[int, int]]:
    """Yield the ranges of equal failures of one call, as start (inclusive) and end (exclusive)."""
    start = 0
    for index, (one, other) in enumerate(pairwise(calls), 1):
        if one.pair_id != other.pair_id and not are_alike(one.result, other.result):
            yield start, index
            start = index
    yield start, len(calls)


def show_progress(outcomes: Sequence[CallResult]) -> bool:
    """Return whether similar failures show progress: a number that only rises or only falls, or a varying count."""
    rows = [numbers for outcome in outcomes if (numbers := outcome.numbers) is not None]
    if len(rows) < len(outcomes):
        return True
    if len({len(row) for row in rows}) > 1:
        return not all(map(reports_outage, outcomes))
    return moves_one_way(outcomes[0].masked, rows)


def are_alike(one: CallResult, other: CallResult) -> bool:
    """Return whether two failures of one call are the same: nearly all words are, or the service was unreachable."""
    if reports_outage(one) and reports_outage(other):
        return True
    words, others = _words(one), _words(other)
    common = (words & others).total()
    return 2 * common >= _ALIKE * (words.total() + others.total())


def places_in(failure: str) -> tuple[tuple[int, ...], ...]:
    """Return the places in files that a failure names: each a line, perhaps with a column."""
    return tuple(
        tuple(map(int, place.replace(",", ":").split(":"))) for _, place in _place.findall(failure)
    )


def without_places(failure: str) -> str:
    """Return a failure without the lines and columns that it names."""
    return _place.sub(r"\1#", failure, _PLACES) if _may_name_place(failure) else failure


def reports_outage(outcome: CallResult) -> bool:
    """Return whether a failure says that the service was unreachable."""
    return _mentions_outage(_short_text(outcome))


def reports_delay(outcome: CallResult) -> bool:
    """Return whether a failure says that the service was busy or slow, which may pass by itself."""
    return _mentions_delay(_short_text(outcome))


def _short_text(outcome: CallResult) -> str:
    """Return a failure without tags, or "" if it has details beyond a lost connection."""
    text = outcome.text or ""
    text = _TAGS.sub(" ", text[:_PAGE_CHARACTERS]) if "<" in text[:_PAGE_CHARACTERS] else text
    return text if len(text) < _SHORT_CHARACTERS else ""


class FailureNumbers:
    """Numbering of results, mostly failures: equal for results of one tool with the same text, apart from noise and the call's arguments."""

    def __init__(self, budget: WorkBudget) -> None:
        self._budget = budget
        self._numbers: dict[tuple[str, str], int] = {}

    def number(self, call: Call) -> int:
        """Return the number of the failure of a call."""
        text = call.result.masked
        exact = call.tool, text
        bare = call.tool, _without_arguments(call, text, self._budget)
        number = self._numbers.get(exact, self._numbers.get(bare, len(self._numbers)))
        self._numbers.setdefault(exact, number)
        return self._numbers.setdefault(bare, number)


def _without_arguments(call: Call, text: str, budget: WorkBudget) -> str:
    """Return a short failure without the words and numbers of the call's arguments."""
    if len(text) > _ECHOING_CHARACTERS or not budget.is_left:
        return text
    key = call.arguments.key.decode("utf-8", "replace")
    budget.count_attempt(len(key) + len(text))
    given = frozenset(_ECHOED.findall(key))
    return _ECHOED.sub(lambda word: "…" if word[0] in given else word[0], text)


def _words(outcome: CallResult) -> Counter[str]:
    """Count the words of a failure, where words with a digit count as ids."""
    return Counter(word for word in outcome.words.lower().split("\n") if word.isalpha())
