"""Loops of plans of one tool that keep failing, although each answers in other words: every part of the answers is known."""

from __future__ import annotations

import re
from collections import Counter
from itertools import groupby
from typing import TYPE_CHECKING

from weighbridge.graders.loop.finders.findings import Finding
from weighbridge.graders.loop.finders.rules import Rule
from weighbridge.graders.loop.finders.sequences.known_ranges import ranges
from weighbridge.graders.loop.history.call_kinds import is_request
from weighbridge.graders.loop.history.request_words import raises_a_limit
from weighbridge.graders.loop.work_budget import WorkBudget

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from weighbridge.graders.loop.history.actions import Call
    from weighbridge.graders.loop.work_budget import Limits

_END_CHARACTERS = 24  #: length of the end of a result by which a known result is suspected
_RESULT_CHARACTERS = 2_000  #: a longer result is taken as new
_FAILED = 2 / 3  #: minimum share of calls that failed
_ANSWERS = 3  #: minimum different results; a row with one result is judged by that
_PER_NEW = 1  #: minimum known results for each new one between them
_SEPARATOR = re.compile(r'[\n"]+')  #: between the lines of a result, or the texts in a list
_WORD = re.compile(rb"[\w./:@-]+")


def known_parts(calls: Sequence[Call | None], limits: Limits) -> Iterator[Finding]:
    """Find consecutive calls of one tool most of which failed, with results that have only known parts.

    A loop needs `3 * max_repeats` of them, or twice as many if some, at most half of the calls, bring something new. The
    requests have to be variations of a few, and to have several answers.
    """
    least = Rule.KNOWN_PARTS.least(limits)
    more = Rule.KNOWN_PARTS.least(limits, other=True)
    budget = WorkBudget()
    for start, row in _rows(calls):
        if len(row) <= least or not _may_be_known(row, least):
            continue
        known = [*_are_known(row, budget)]
        for enough, (first, last) in (
            *((least, each) for each in ranges(known, len(row), least)),
            *((more, each) for each in ranges(known, _PER_NEW, more)),
        ):
            if _is_loop(row[first:last]):
                indices = range(start + first, start + last)
                count = sum(known[first:last])
                yield Finding.by(Rule.KNOWN_PARTS, indices, enough, count=count)


def _rows(calls: Sequence[Call | None]) -> Iterator[tuple[int, list[Call]]]:
    """Yield the rows of consecutive calls of one tool, each with the index of its first call."""
    start = 0
    for _, group in groupby(calls, key=lambda call: call and call.tool):
        row = list(group)
        yield start, [call for call in row if call is not None]
        start += len(row)


def _may_be_known(row: Sequence[Call], least: int) -> bool:
    """Return whether enough results end as another one does, and enough calls failed."""
    ends = {(call.result.text or "")[-_END_CHARACTERS:] for call in row}
    return (
        len(row) - len(ends) >= least
        and sum(call.result.has_failed for call in row) >= _FAILED * least
    )


def _are_known(row: Sequence[Call], budget: WorkBudget) -> Iterator[bool]:
    """Yield for each call whether its result has only parts of earlier results."""
    seen: set[str] = set()
    for call in row:
        text = call.result.text
        if text is None or len(text) > _RESULT_CHARACTERS or not budget.is_left:
            yield False
            continue
        parts = _SEPARATOR.split(call.result.masked)
        budget.count_reading(text, len(parts))
        yield seen.issuperset(parts)
        seen.update(parts)


def _is_loop(run: Sequence[Call]) -> bool:
    failed = sum(call.result.has_failed for call in run)
    return (
        failed >= _FAILED * len(run)
        and len({call.result.masked for call in run}) >= _ANSWERS
        and all(map(is_request, run))
        and _varies_few_requests(run)
        and not raises_a_limit(run)
    )


def _varies_few_requests(run: Sequence[Call]) -> bool:
    """Return whether most requests come again, apart from words that only one call has, and say more than all of them say.

    In a list, each request is what all have in common and a word of its own.
    """
    said = [frozenset(_WORD.findall(call.arguments.key)) for call in run]
    counts = Counter(word for words in said for word in words)
    asked = Counter(frozenset(word for word in words if counts[word] > 1) for words in said)
    del asked[frozenset.intersection(*said)]
    return sum(times for times in asked.values() if times > 1) > len(run) / 2
