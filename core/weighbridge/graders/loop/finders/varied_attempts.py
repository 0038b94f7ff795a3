"""Loops of attempts that differ in numbers, paths or pagers and fail the same way, without new information between."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from weighbridge.graders.loop.finders.findings import Finding
from weighbridge.graders.loop.finders.rules import Rule
from weighbridge.graders.loop.finders.sequences.related_attempts import REMEMBERED, is_related
from weighbridge.graders.loop.history.call_kinds import (
    COMMAND_CHARACTERS,
    claims_done,
    is_command,
    is_read_only,
    is_request,
    is_short,
    runs_code,
)
from weighbridge.graders.loop.history.failure_lines import failure_of, last_line
from weighbridge.graders.loop.history.progress import count_one_way
from weighbridge.graders.loop.history.request_words import (
    EXAMINED,
    are_alike,
    fills_each,
    raises_a_limit,
    tries_each,
    unshared_words,
    words_of,
)
from weighbridge.graders.loop.history.result_kinds import reports_no_effect, reports_no_results
from weighbridge.graders.loop.history.text_forms import lists_items
from weighbridge.graders.loop.work_budget import WorkBudget

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from weighbridge.graders.loop.history.actions import Call
    from weighbridge.graders.loop.work_budget import Limits

#: Length of the beginning and of the end of a result by which suspects are found.
_EDGE_CHARACTERS = 24
_DIGITS = b"0123456789"
#: Maximum share of words that only one attempt has; above it, the requests are different.
_OWN = 0.5
_COME_BACK = 2  #: minimum exact repeats of attempts that go through no list
#: And one of so many attempts, because a long list may have the same item twice.
_SHARE_OF_REPEATS = 5
#: Quotations and lists in a failure.
_QUOTED = re.compile(
    r"""\[[^\[\]\n]{1,200}\]|(?<!\w)'[^'\n]{1,200}'|"[^"\n]{1,200}"|`[^`'\n]{1,200}[`']|[\u2018\u201c][^\n\u2019\u201d]{1,200}[\u2019\u201d]"""
)
_counts_tests = re.compile(r"\d (?:tests? )?(?:passed|failed|failures?|errors?)\b").search
_NUMBER = re.compile(r"\d{1,15}(?:\.\d{1,15})?")


class _Attempt(NamedTuple):
    call_index: int
    call: Call
    words: frozenset[bytes]
    failure: str  #: without the numbers and paths of the arguments
    cause: str  #: the failure without any numbers, but with paths and quotations


def varied_attempts(calls: Sequence[Call | None], limits: Limits) -> Iterator[Finding]:
    """Find attempts that failed the same way, without new information between them.

    A loop needs `2 * max_repeats` of them, of which an exact repeat counts twice. Attempts whose failures quote
    something else each time, and attempts in turns of a few known failures, need `3 * max_repeats`.
    """
    suspects = _suspects(calls, _least(limits))
    if suspects:
        budget = WorkBudget()
        for described in _Chains(suspects, _least(limits), budget).of(calls):
            # None of a kind of failures is described once the budget is spent.
            chains = [chain for chain in described if chain]
            if not chains:
                continue
            alike = [run for chain in chains for run in _alike(chain) if _is_loop(run, limits)]
            related = [chain for chain in chains if _is_related_loop(chain, limits)]
            for run in alike:
                yield _finding(Rule.VARIED_ATTEMPTS, run, _enough_alike(run, limits))
            for chain in related:
                yield _finding(Rule.RELATED_ATTEMPTS, chain, _enough_related(chain, limits))
            if not alike and not related:
                tried = sorted(attempt for chain in chains for attempt in chain)
                enough = _enough_known_failures(tried, chains, limits)
                if enough:
                    yield _finding(Rule.KNOWN_FAILURES, tried, enough)


def _finding(rule: Rule, attempts: Sequence[_Attempt], least: int) -> Finding:
    return Finding.by(rule, (attempt.call_index for attempt in attempts), least)


def _least(limits: Limits) -> int:
    return Rule.RELATED_ATTEMPTS.least(limits)


def _described(attempt: _Attempt, budget: WorkBudget) -> _Attempt:
    return attempt._replace(words=words_of(attempt.call, budget))


def _alike(chain: Sequence[_Attempt]) -> Iterator[list[_Attempt]]:
    """Yield the runs of attempts of one tool that differ at most in a word, in numbers and in paths."""
    runs: dict[tuple[str, str], list[_Attempt]] = {}
    for attempt in chain:
        key = attempt.call.tool, _NUMBER.sub("#", attempt.failure)
        run = runs.setdefault(key, [])
        if run and not are_alike(run[-1].words, attempt.words):
            yield run
            runs[key] = run = []
        run.append(attempt)
    yield from runs.values()


def _is_loop(run: Sequence[_Attempt], limits: Limits) -> bool:
    again = len(run) - len({attempt.call.arguments_id for attempt in run})
    is_often = len(run) >= _least(limits) and len(run) + again >= 2 * limits.max_repeats
    is_often = is_often and (_failed(run) or len(run) >= 3 * limits.max_repeats)
    return is_often and _is_stuck(run, limits, is_list=_lists(run))


def _enough_alike(run: Sequence[_Attempt], limits: Limits) -> int:
    """Return how many such attempts are a loop, which are fewer if some are exact repeats."""
    rule = Rule.VARIED_ATTEMPTS
    if not _failed(run) or tries_each([attempt.call for attempt in run], run[0].words):
        return rule.least(limits, other=True)
    again = len(run) - len({attempt.call.arguments_id for attempt in run})
    return max(_least(limits), rule.least(limits) - again)


def _is_related_loop(chain: Sequence[_Attempt], limits: Limits) -> bool:
    """Return whether attempts share words, and at least half of their failures are known from an earlier one."""
    causes = len({attempt.cause for attempt in chain})
    return (
        _failed(chain)
        and len(chain) >= Rule.RELATED_ATTEMPTS.least(limits, other=not _is_one_question(chain))
        and 2 * causes <= len(chain)
        and all(
            is_related(attempt.words, chain[max(0, index - REMEMBERED) : index])
            for index, attempt in enumerate(chain)
            if index
        )
        and unshared_words([attempt.words for attempt in chain[:EXAMINED]]) <= _OWN
        and _is_stuck(chain, limits, is_list=causes == 1 and _lists(chain))
    )


def _is_one_question(chain: Sequence[_Attempt]) -> bool:
    """Return whether attempts, of which most are worded differently, fail for one cause, and none is a command."""
    is_reworded = 2 * len({attempt.words for attempt in chain}) > len(chain)
    return (
        is_reworded
        and len({attempt.cause for attempt in chain}) == 1
        and not any(is_command(attempt.call) for attempt in chain)
    )


def _enough_related(chain: Sequence[_Attempt], limits: Limits) -> int:
    """Return how many such attempts are a loop."""
    if tries_each([attempt.call for attempt in chain], chain[0].words):
        return 3 * limits.max_repeats
    return Rule.RELATED_ATTEMPTS.least(limits, other=not _is_one_question(chain))


def _failed(chain: Sequence[_Attempt]) -> bool:
    """Return whether attempts failed or claimed that the work is done, rather than had no effect."""
    first = chain[0].call
    return first.result.has_failed or claims_done(first)


def _enough_known_failures(
    tried: Sequence[_Attempt], chains: Sequence[Sequence[_Attempt]], limits: Limits
) -> int:
    """Return how many attempts are a loop, of which each kind of failure has at least three on average; 0 if these are none."""
    causes = len({attempt.cause for attempt in tried})
    is_known = (
        causes == len(chains)
        and not tries_each([attempt.call for attempt in tried], tried[0].words)
        and not any(runs_code(attempt.call) for attempt in tried)
        and unshared_words([attempt.words for attempt in tried[:EXAMINED]]) <= _OWN
    )
    enough = max(Rule.KNOWN_FAILURES.least(limits, other=is_known), 3 * len(chains))
    is_loop = (
        len(tried) >= enough
        and all(map(_failed, chains))
        and all(is_request(attempt.call) for attempt in tried)
        and not any(map(_shows_progress, chains))
        and not (_lists(tried) and not _come_back(tried))
        and not fills_each([attempt.call for attempt in tried])
        and not raises_a_limit([attempt.call for attempt in tried])
    )
    return enough if is_loop else 0


def _is_stuck(chain: Sequence[_Attempt], limits: Limits, *, is_list: bool) -> bool:
    """Return whether attempts are not a list of items, a raised limit, progress or a few different tries."""
    tried = [attempt.call for attempt in chain]
    is_short = tries_each(tried, chain[0].words) and len(chain) < 3 * limits.max_repeats
    is_list = is_list or fills_each(tried)
    return not (is_short or is_list or raises_a_limit(tried) or _shows_progress(chain))


def _suspects(calls: Sequence[Call | None], least: int) -> set[int]:
    """Return the indices of calls with possible failures, `least` or more of which begin or end the same."""
    results = [
        (index, text)
        for index, call in enumerate(calls)
        if call is not None and len(call.arguments.key) <= COMMAND_CHARACTERS
        if (text := call.result.text)
    ]
    if len(results) < least:
        return set()
    indices = [index for index, _ in results]
    # Removing digits takes a quarter of the time with bytes.
    heads = [text[:_EDGE_CHARACTERS].encode().translate(None, _DIGITS) for _, text in results]
    tails = [text[-_EDGE_CHARACTERS:].encode().translate(None, _DIGITS) for _, text in results]
    suspects: set[int] = set()
    for edges in (heads, tails):
        if len(set(edges)) > len(edges) - least + 1:
            continue
        # Only the last call with an edge is checked for a failure.
        last = dict(zip(edges, indices, strict=True))
        counts = Counter(edges).items()
        often = {
            edge
            for edge, count in counts
            if count >= least and _is_failed_attempt(calls[last[edge]])
        }
        if often:
            each = zip(indices, edges, strict=True)
            suspects.update(index for index, edge in each if edge in often)
    return suspects


def _is_failed_attempt(call: Call | None) -> bool:
    if call is None or not (claims_done(call) or is_short(call)):
        return False
    if call.result.has_failed:
        return True
    text = call.result.text or ""
    return reports_no_effect(text) and (
        claims_done(call) or not (is_read_only(call) or reports_no_results(text))
    )


class _Chains:
    """Chains of similar attempts without new information between them."""

    def __init__(self, suspects: set[int], least: int, budget: WorkBudget) -> None:
        self._suspects = suspects
        self._least = least
        self._budget = budget
        self._chains: dict[str, list[_Attempt]] = {}
        self._kinds: set[str] = set()
        self._results: set[str] = set()
        self._pairs: set[tuple[int, str]] = set()

    def of(self, calls: Sequence[Call | None]) -> Iterator[list[list[_Attempt]]]:
        """Yield the chains between two pieces of new information, one for each kind of failure."""
        for index, call in enumerate(calls):
            is_attempt = (
                index in self._suspects and _is_failed_attempt(call) and self._budget.is_left
            )
            if call is not None and is_attempt:
                yield from self._attempt(call, index)
            elif call is None or self._may_be_progress(call):
                yield from self._end()
        yield from self._end()

    def _end(self) -> Iterator[list[list[_Attempt]]]:
        chains, self._chains = [*self._chains.values()], {}
        if sum(map(len, chains)) >= self._least:
            # Most attempts are too few for a loop, so that their words are not needed.
            yield [*map(self._with_words, chains)]

    def _with_words(self, chain: Sequence[_Attempt]) -> list[_Attempt]:
        """Return attempts with their words, as many as the budget allows."""
        spelled = []
        for attempt in chain:
            if not self._budget.is_left:
                break
            spelled.append(_described(attempt, self._budget))
        return spelled

    def _attempt(self, call: Call, index: int) -> Iterator[list[list[_Attempt]]]:
        failure, cause = failure_of(call, self._budget)
        kind = _NUMBER.sub("#", _QUOTED.sub("@", failure))
        if kind not in self._kinds:
            self._kinds.add(kind)
            yield from self._end()
        self._chains.setdefault(kind, []).append(_Attempt(index, call, frozenset(), failure, cause))

    def _may_be_progress(self, call: Call) -> bool:
        """Return whether a call has a new result or may have changed something; a search that finds nothing does neither."""
        text = call.result.text
        if text is None:
            return True
        if not text.strip() and is_read_only(call):
            return False
        pair = call.arguments_id, text
        is_known = text in self._results
        self._results.add(text)
        if pair in self._pairs:
            return False
        self._pairs.add(pair)
        return not (is_known and (call.result.has_failed or is_read_only(call)))


def _lists(chain: Sequence[_Attempt]) -> bool:
    """Return whether attempts request the items of a list in one sentence."""
    return lists_items([b" ".join(sorted(attempt.words)).decode() for attempt in chain])


def _come_back(chain: Sequence[_Attempt]) -> bool:
    """Return whether several attempts repeat earlier ones exactly, so that they do not go through a list."""
    repeats = len(chain) - len({attempt.call.arguments_id for attempt in chain})
    return repeats >= max(_COME_BACK, len(chain) / _SHARE_OF_REPEATS)


def _shows_progress(chain: Sequence[_Attempt]) -> bool:
    """Return whether a number in the failures, and not in the arguments, only rises or falls, or their count varies.

    So does one in the summaries of tests at the end of the results.
    """
    ends = [last_line(attempt.call.result.text or "") for attempt in chain]
    if all(map(_counts_tests, ends)) and count_one_way(ends):
        return True
    rows = [_NUMBER.findall(attempt.failure) for attempt in chain]
    if len({len(row) for row in rows}) > 1:
        return True
    given = [set(attempt.call.arguments.digits.decode().split()) for attempt in chain]
    for found in zip(*rows, strict=True):
        if all(number in numbers for number, numbers in zip(found, given, strict=True)):
            continue
        column = list(map(float, found))
        if len(set(column)) > 1 and column in (sorted(column), sorted(column, reverse=True)):
            return True
    return False
