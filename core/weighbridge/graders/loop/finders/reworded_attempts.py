"""Loops of reworded attempts that fail the same way or find nothing, without new information between."""

from __future__ import annotations

import re
from collections import Counter, deque
from itertools import pairwise
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from weighbridge.graders.loop.finders.findings import Finding
from weighbridge.graders.loop.finders.kinds import Kind
from weighbridge.graders.loop.finders.rules import Rule
from weighbridge.graders.loop.history.arguments import canonical
from weighbridge.graders.loop.history.call_kinds import (
    claims_done,
    has_question,
    is_abridged,
    is_natural_language,
    is_read_only,
    is_request,
    is_wait,
    runs_code,
)
from weighbridge.graders.loop.history.failures import reports_outage
from weighbridge.graders.loop.history.request_words import EXAMINED, raises_a_limit, unshared_words
from weighbridge.graders.loop.history.result_kinds import reports_no_results, reports_success
from weighbridge.graders.loop.history.text_forms import lists_items
from weighbridge.graders.loop.work_budget import WorkBudget

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from weighbridge.graders.loop.finders.known_results import ToolResult
    from weighbridge.graders.loop.history.actions import Call
    from weighbridge.graders.loop.work_budget import Limits

_RELATED = 0.5  #: minimum share of common words for two questions to be related
#: maximum share of words that only one attempt has; above it, the requests are different
_OWN = 0.5
#: first and last attempts of a group, so many of each, that a new attempt is compared with
_REMEMBERED = 5
_HEAD_CHARACTERS = 8  #: length of the beginning of a result by which suspects are found
_OUTLINED_CHARACTERS = 400  #: a longer failure is compared unchanged
_ANSWER_CHARACTERS = 300  #: a result of at least this length is an answer
_QUESTION_CHARACTERS = 4_000
_GROUPS = 10  #: maximum groups that new attempts are compared with
#: Lists, quotations and numbers in a failure.
_LISTED = re.compile(r"\[[^\[\]]*\]|\"[^\"\n]*\"|'[^'\n]*'|\d+")
FITS_ANY = re.compile(r"\W{0,5}(?:true|false|yes|no)\W{0,5}", re.IGNORECASE)
_TOKEN = re.compile(r"[^\s\"'`,;:()\[\]{}|=<>]+")
#: Arguments for the number, order and language of results, which are not part of the question.
_PRESENTATION_KEYS = frozenset(
    (
        *("max_results", "num_results", "limit", "size", "count", "display", "top_k", "per_page"),
        *("page_size", "sort", "sort_by", "order", "language", "lang", "locale"),
    )
)
_Words = frozenset[str]


def reworded_attempts(
    calls: Sequence[Call | None],
    tool_results: Sequence[ToolResult | None],
    limits: Limits,
    known: set[int],
) -> Iterator[Finding]:
    """Find reworded attempts of one request that have the same result each time.

    The more similar they are, the fewer form a loop: at least `max_repeats + 1`. Attempts that are all in `known` loops
    are not examined.
    """
    least = limits.max_repeats + 1
    suspects = _suspects(calls, tool_results, limits)
    budget = WorkBudget()
    for chain in _chains(calls, tool_results, suspects) if suspects else ():
        if len(chain) < least or not budget.is_left or known.issuperset(chain):
            continue
        tried = [(index, call) for index in chain if (call := calls[index]) is not None]
        attempts = [_Attempt(index, call, _words(call, budget)) for index, call in tried]
        for group in _groups(attempts, budget):
            results = len({_distinct(attempt, tool_results, suspects) for attempt in group})
            if results <= (len(group) + 1) // 2:
                yield from _found(group, results, limits)


def _distinct(
    attempt: _Attempt,
    tool_results: Sequence[ToolResult | None],
    suspects: dict[ToolResult, ToolResult],
) -> ToolResult | None:
    """Return what tells an attempt's result from others: of one that found nothing only the outline."""
    result = tool_results[attempt.call_index]
    found_nothing = reports_no_results(attempt.call.result.text or "")
    return suspects[result] if result is not None and found_nothing else result


def _suspects(
    calls: Sequence[Call | None], tool_results: Sequence[ToolResult | None], limits: Limits
) -> dict[ToolResult, ToolResult]:
    """Return the failures and answers whose outline more than `max_repeats` calls share, each with its outline."""
    least = limits.max_repeats + 1
    heads = Counter(
        [result and (result[0], result[1][:_HEAD_CHARACTERS]) for result in tool_results]
    )
    del heads[None]
    often = {head for head, count in heads.items() if count >= least}
    if not often:
        return {}
    times = Counter(tool_results)
    outlines: dict[ToolResult, ToolResult | None] = {}
    for call, result in zip(calls, tool_results, strict=True):
        if call is None or result is None or (result[0], result[1][:_HEAD_CHARACTERS]) not in often:
            continue
        if result not in outlines:
            outlines[result] = _outline(call, result, times[result], limits)
    counts = Counter([outlines.get(result) for result in tool_results if result is not None])
    return {
        result: outline
        for result, outline in outlines.items()
        if outline is not None and counts[outline] >= least
    }


def _outline(call: Call, result: ToolResult, times: int, limits: Limits) -> ToolResult | None:
    """Return a failure without lists, quotations and numbers, a frequent answer unchanged, or None for any other result."""
    text = result[1]
    if _is_unsuccessful(call):
        is_short_one = len(text) <= _OUTLINED_CHARACTERS
        return (result[0], _LISTED.sub("…", text) if is_short_one else text)
    if times <= limits.max_repeats or not (is_read_only(call) or has_question(call)):
        return None
    fits_any = times < 2 * limits.max_repeats or reports_success(text) or FITS_ANY.fullmatch(text)
    return None if fits_any and not _has_long_answer(call) else result


def _has_long_answer(call: Call) -> bool:
    """Return whether a call has an answer that few different questions have."""
    is_long = len(call.result.text or "") >= _ANSWER_CHARACTERS or call.result.is_informative
    return is_long and is_read_only(call)


def _is_unsuccessful(call: Call) -> bool:
    text = call.result.text or ""
    return (
        call.result.is_unsuccessful
        or reports_no_results(text)
        or (not text.strip() and is_read_only(call))
    )


def _chains(
    calls: Sequence[Call | None],
    tool_results: Sequence[ToolResult | None],
    suspects: dict[ToolResult, ToolResult],
) -> Iterator[list[int]]:
    """Yield the indices of attempts with one outline, split at new results and at calls that may fix a failure."""
    chains: dict[ToolResult, list[int]] = {}
    known: set[ToolResult] = set()
    for index, (call, result) in enumerate(zip(calls, tool_results, strict=True)):
        if call is not None and result in suspects and _is_attempt(call):
            chains.setdefault(suspects[result], []).append(index)
        elif call is None or result not in known or _may_fix(call):
            yield from chains.values()
            chains = {}
        if result is not None:
            known.add(result)
    yield from chains.values()


def _is_attempt(call: Call) -> bool:
    is_question = is_request(call) and len(call.arguments.key) <= _QUESTION_CHARACTERS
    return is_question and not (runs_code(call) or claims_done(call) or is_wait(call))


def _may_fix(call: Call) -> bool:
    """Return whether a call that failed before this call may succeed after it."""
    return is_wait(call) or not (call.result.has_failed or is_read_only(call))


class _Attempt(NamedTuple):
    call_index: int
    call: Call
    words: _Words


_by_index = attrgetter("call_index")


def _found(attempts: Sequence[_Attempt], results: int, limits: Limits) -> Iterator[Finding]:
    """Yield a finding if the attempts of one group are numerous enough to be a loop."""
    calls = [attempt.call for attempt in attempts]
    is_equal = len({call.arguments_id for call in calls}) == 1
    if is_equal or len(attempts) <= limits.max_repeats:
        return
    words = [attempt.words for attempt in attempts[:EXAMINED]]
    rule = _rule(calls, words, results)
    least = rule.least(limits) if rule else 0
    if rule and len(attempts) >= least and not _is_legitimate(calls, words, limits):
        kind = Kind.SAME_FAILURE if _is_unsuccessful(calls[0]) else Kind.NOTHING_NEW
        found = (attempt.call_index for attempt in attempts)
        yield Finding.by(rule, found, max(least, limits.max_repeats + 1), kind=kind)


def _rule(calls: Sequence[Call], words: Sequence[_Words], results: int) -> Rule | None:
    """Return the rule by which attempts are a loop, from fewer on for more similar ones, or None if too few are similar."""
    is_answered = not _is_unsuccessful(calls[0])
    if is_answered and not _has_long_answer(calls[0]):
        is_list = lists_items([call.arguments.texts for call in calls])
        return None if is_list else Rule.ONE_OUTCOME
    parts = sum(_is_part_of_another(said, words) for said in words)
    is_nested = parts == len(words)
    is_narrowed = all(later > earlier for earlier, later in pairwise(words))
    are_questions = parts > 0 and all(map(_is_question, calls[:EXAMINED]))
    if is_nested and are_questions and not (is_answered or is_narrowed):
        return Rule.REWORDED_QUESTION
    if is_nested or is_answered or are_questions:
        return Rule.REWORDED_ATTEMPTS
    is_one = results == 1 or reports_outage(calls[0].result)
    return Rule.ONE_OUTCOME if is_one else None


def _is_question(call: Call) -> bool:
    return is_natural_language(call) and not is_abridged(
        call
    )  # labels share the words around what was asked


def _groups(attempts: Sequence[_Attempt], budget: WorkBudget) -> Iterator[list[_Attempt]]:
    """Group attempts with related words; if the service was unreachable, all attempts are one group."""
    groups: deque[list[_Attempt]] = deque()
    is_any = reports_outage(attempts[0].call.result)
    for attempt in attempts:
        if not budget.is_left:
            break
        budget.count_lookups(2 * _REMEMBERED * len(groups))
        own = [group for group in groups if is_any or _belongs(attempt, group)]
        if len(own) == 1:
            own[0].append(attempt)
            continue
        joined = [other for group in own for other in group]
        groups = deque(group for group in groups if not any(group is other for other in own))
        groups.append([*sorted(joined, key=_by_index), attempt])
        if len(groups) > _GROUPS:
            yield groups.popleft()
    yield from groups


def _belongs(attempt: _Attempt, group: Sequence[_Attempt]) -> bool:
    near = (*group[:_REMEMBERED], *group[-_REMEMBERED:])
    return any(_are_related(attempt.words, other.words) for other in near)


def _words(call: Call, budget: WorkBudget) -> _Words:
    """Return the words of the values of a call's arguments, where a path or an address is one word."""
    given = call.arguments.value
    asked = given.items() if type(given) is dict else [("", given)]
    text = "\n".join([_text_of(each) for key, each in asked if not _is_presentation(key)])
    budget.count_attempt(len(text))
    return frozenset([word.strip(".?!") for word in _TOKEN.findall(text.casefold())]) - {""}


def _is_presentation(key: object) -> bool:
    return type(key) is str and key in _PRESENTATION_KEYS


def _text_of(value: Any) -> str:
    return value if type(value) is str else canonical(value).decode("utf-8", "replace")


def _are_related(one: _Words, other: _Words) -> bool:
    if one == other:
        return True
    common = one & other
    if not common or len(common) < min(len(one), len(other), _RELATED * len(one | other)):
        return False
    numbers, others = _numbers(one), _numbers(other)
    return numbers <= others or numbers >= others


def _numbers(words: _Words) -> _Words:
    # Most words have only letters, and isalpha() takes a tenth of the time.
    return frozenset(word for word in words if not word.isalpha() and any(map(str.isdigit, word)))


def _is_part_of_another(said: _Words, all_said: Sequence[_Words]) -> bool:
    """Return whether the words of an attempt are a subset or a superset of those of another attempt."""
    return sum(said <= other or said >= other for other in all_said) > 1


def _is_legitimate(attempts: Sequence[Call], words: Sequence[_Words], limits: Limits) -> bool:
    """Return whether attempts request different things, use fewer words up to `2 * max_repeats` times, or raise a limit."""
    is_widened = all(later < earlier for earlier, later in pairwise(words))
    is_widened = is_widened and not (
        len(attempts) > 2 * limits.max_repeats and all(map(is_natural_language, attempts))
    )
    return is_widened or unshared_words(words) > _OWN or raises_a_limit(attempts)
