"""Loops of related attempts to which one outcome keeps coming back, with few other outcomes between."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from itertools import pairwise
from operator import ne
from typing import TYPE_CHECKING, NamedTuple

from weighbridge.graders.loop.call_kinds import (
    claims_done,
    is_read_only,
    is_request,
    is_wait,
    prints,
)
from weighbridge.graders.loop.failures import show_progress
from weighbridge.graders.loop.merging import NOTHING_NEW, SAME_FAILURE, Finding
from weighbridge.graders.loop.result_kinds import reports_no_results, reports_success
from weighbridge.graders.loop.text_forms import lists_items
from weighbridge.graders.loop.varied_attempts import (
    informative_lines,
    raises_a_limit,
    unshared_words,
)
from weighbridge.graders.loop.work_budget import WorkBudget

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from weighbridge.graders.loop.actions import Call
    from weighbridge.graders.loop.work_budget import Limits

_HEAD_CHARACTERS = 24  #: length of the beginning of a result by which suspects are found
_LINES_CHARACTERS = 2_000  #: the lines of a longer result are compared in order
_ANSWER_CHARACTERS = 300  #: a result of at least this length is an answer that different things do not have in common
_SHARE = 2 / 3  #: minimum share of attempts with the outcome among all calls in their range
_BETWEEN = 5  #: maximum other calls between two attempts
_RELATED = 0.5  #: minimum share of common words for two attempts to be related
_REMEMBERED = 5  #: number of attempts before an attempt, one of which it is related to
_OWN = 0.3  #: maximum share of words that only one attempt has
_COMPARED = 30  #: maximum attempts whose words are compared
_DIFFERENT = 0.8  #: minimum share of different attempts among those that go through combinations
_VALUES = 2  #: maximum values that change from one combination to the next
_WORD = re.compile(rb"[\w./:@-]+")
_LETTERS_AND_LINES = bytes(
    code if code > 127 or code == 10 or chr(code).isalpha() else 32 for code in range(256)
)

_Words = frozenset[bytes]


class _Attempt(NamedTuple):
    call_index: int
    call: Call
    words: _Words


def returning_outcomes(calls: Sequence[Call | None], limits: Limits) -> Iterator[Finding]:
    """Find `3 * max_repeats` related attempts with one outcome, which are at least two thirds of the calls in their range.

    The outcome is a failure, nothing, or a long answer. Between the attempts may lie calls that read or fail, and further
    related attempts, but none that may change something.
    """
    least = 3 * limits.max_repeats
    alike: defaultdict[object, list[int]] = defaultdict(list)
    for index, call, text in _with_frequent_heads(calls, limits.max_repeats, least):
        alike[call.tool, _outline(text)].append(index)
    budget = WorkBudget()
    for suspects in alike.values():
        if len(suspects) < least:
            continue
        tried: defaultdict[object, list[_Attempt]] = defaultdict(list)
        for index in suspects:
            call = calls[index]
            if call is not None and budget.is_left and _is_attempt(call):
                tried[_outcome(call)].append(_Attempt(index, call, _words(call, budget)))
        for attempts in tried.values():
            if len(attempts) >= least:
                for chain in _chains(calls, attempts, budget):
                    if len(chain) >= least and _is_stuck(chain):
                        yield _finding(chain)


def _with_frequent_heads(
    calls: Sequence[Call | None], often: int, least: int
) -> list[tuple[int, Call, str]]:
    """Return the calls whose results begin like those of others, if they are enough, because this is found fastest."""
    results = [
        (index, call, text)
        for index, call in enumerate(calls)
        if call is not None and (text := call.result.text) is not None
    ]
    heads = [text[:_HEAD_CHARACTERS] for _, _, text in results]
    if len(heads) - len(set(heads)) < least // 2:
        return []
    times = Counter(heads)
    found = [result for result, head in zip(results, heads, strict=True) if times[head] >= often]
    return found if len(found) >= least else []


def _outline(text: str) -> object:
    """Return the letters of a result, in any order of its lines, by which suspects are found quickly."""
    if len(text) > _LINES_CHARACTERS:
        return text
    letters = text.encode("utf-8", "replace").translate(_LETTERS_AND_LINES)
    return tuple(sorted([b" ".join(line.split()) for line in letters.split(b"\n")]))


def _outcome(call: Call) -> object:
    """Return a failure without noise, or any other result as it is, in any order of the lines of a short one."""
    text = call.result.masked if call.result.is_unsuccessful else call.result.text or ""
    is_short = len(text) <= _LINES_CHARACTERS
    return tuple(sorted(informative_lines(text))) if is_short else text


def _is_attempt(call: Call) -> bool:
    """Return whether a request failed, found or printed nothing, or had a long answer."""
    if not is_request(call) or claims_done(call) or is_wait(call):
        return False
    text = call.result.text or ""
    if call.result.is_unsuccessful or reports_no_results(text):
        return True
    if not informative_lines(text):
        return prints(call)
    return call.result.is_long and not reports_success(text)


def _chains(
    calls: Sequence[Call | None], attempts: Sequence[_Attempt], budget: WorkBudget
) -> Iterator[list[_Attempt]]:
    """Split attempts where they are not related, or where the calls between may have changed something or are too many."""
    chain: list[_Attempt] = []
    for attempt in attempts:
        near = chain[-_REMEMBERED:]
        if near and not (
            _is_related(attempt.words, near)
            and _leave_things_alone(calls, near, attempt.call_index, budget)
        ):
            yield chain
            chain = []
        chain.append(attempt)
    yield chain


def _leave_things_alone(
    calls: Sequence[Call | None], near: Sequence[_Attempt], end: int, budget: WorkBudget
) -> bool:
    start = near[-1].call_index + 1
    return end - start <= _BETWEEN and all(
        call is not None
        and not is_wait(call)
        and (
            call.result.is_unsuccessful
            or is_read_only(call)
            or (budget.is_left and _is_related(_words(call, budget), near))
        )
        for call in calls[start:end]
    )


def _is_stuck(chain: Sequence[_Attempt]) -> bool:
    """Return whether attempts are frequent in their range and neither make progress nor ask for different things."""
    if len(chain) < _SHARE * (chain[-1].call_index - chain[0].call_index + 1):
        return False
    tried = [attempt.call for attempt in chain]
    if raises_a_limit(tried) or show_progress([call.result for call in tried]):
        return False
    return len(tried[0].result.text or "") >= _ANSWER_CHARACTERS or not (
        unshared_words([attempt.words for attempt in chain[:_COMPARED]]) > _OWN
        or lists_items([call.arguments.texts for call in tried[:_COMPARED]])
        or _combines_values(tried)
    )


def _combines_values(tried: Sequence[Call]) -> bool:
    """Return whether requests go through combinations of values: nearly all differ, most in a value or two from the one before."""
    if len({call.arguments_id for call in tried}) < _DIFFERENT * len(tried):
        return False
    rows = [_WORD.findall(call.arguments.key) for call in tried]
    steps: int = sum(
        len(one) == len(other) and sum(map(ne, one, other)) <= _VALUES
        for one, other in pairwise(rows)
    )
    return steps >= _SHARE * (len(rows) - 1)


def _finding(chain: Sequence[_Attempt]) -> Finding:
    kind = SAME_FAILURE if chain[0].call.result.is_unsuccessful else NOTHING_NEW
    return Finding(kind, None, tuple(attempt.call_index for attempt in chain))


def _words(call: Call, budget: WorkBudget) -> _Words:
    key = call.arguments.key
    budget.count_attempt(len(key))
    return frozenset(_WORD.findall(key))


def _is_related(words: _Words, near: Sequence[_Attempt]) -> bool:
    return any(len(words & other.words) >= _RELATED * len(words | other.words) for other in near)
