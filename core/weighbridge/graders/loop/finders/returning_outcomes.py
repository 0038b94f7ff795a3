"""Loops of related attempts to which one outcome keeps coming back, with few other outcomes between."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from weighbridge.graders.loop.finders.findings import Finding
from weighbridge.graders.loop.finders.kinds import Kind
from weighbridge.graders.loop.finders.reworded_attempts import FITS_ANY
from weighbridge.graders.loop.finders.rules import Rule
from weighbridge.graders.loop.finders.sequences.related_attempts import (
    Attempt,
    chains_of,
    is_related,
)
from weighbridge.graders.loop.history.call_kinds import (
    claims_done,
    is_guess,
    is_read_only,
    is_request,
    is_wait,
    prints,
)
from weighbridge.graders.loop.history.failure_lines import informative_lines
from weighbridge.graders.loop.history.failures import show_progress
from weighbridge.graders.loop.history.request_words import (
    EXAMINED,
    combines_values,
    raises_a_limit,
    tries_each,
    unshared_words,
    values_of,
)
from weighbridge.graders.loop.history.result_kinds import reports_no_results, reports_success
from weighbridge.graders.loop.history.results import LONG_CHARACTERS
from weighbridge.graders.loop.history.text_forms import lists_items
from weighbridge.graders.loop.history.tool_names import reads_files
from weighbridge.graders.loop.work_budget import WorkBudget

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from weighbridge.graders.loop.history.actions import Call
    from weighbridge.graders.loop.work_budget import Limits

_LINES_CHARACTERS = 2_000  #: the lines of a longer result are compared in order
#: questions about different things do not have so long an answer in common
_ANSWER_CHARACTERS = 300
_SHARE = 2 / 3  #: minimum share of attempts with the outcome among all calls in their range
_BETWEEN = 5  #: maximum other calls between two attempts
_OWN = 0.3  #: maximum share of words that only one attempt has


def returning_outcomes(
    calls: Sequence[Call | None], limits: Limits, known: set[int]
) -> Iterator[Finding]:
    """Find `3 * max_repeats` related attempts with one outcome, which are at least two thirds of the calls in their range.

    The outcome is a failure, nothing, or an answer. Between the attempts may lie calls that read or fail, and further
    related attempts, but none that may change something. Attempts that are all in `known` loops are not examined.
    """
    least = Rule.RETURNING_OUTCOME.least(limits)
    results = [
        (index, call, text)
        for index, call in enumerate(calls)
        if call is not None and (text := call.result.text) is not None
    ]
    if len(results) < least:
        return
    times = Counter([text for _, _, text in results])
    repeated = [(index, call) for index, call, text in results if times[text] > 1]
    if len(repeated) < least or known.issuperset([index for index, _ in repeated]):
        return
    budget = WorkBudget()
    tried: defaultdict[object, list[tuple[int, Call]]] = defaultdict(list)
    for index, call in repeated:
        if _may_be_outcome(call):
            tried[call.tool, _outcome(call)].append((index, call))
    for alike in tried.values():
        if len(alike) < least or known.issuperset([index for index, _ in alike]):
            continue
        attempts = [
            Attempt(index, call, _words(call, budget))
            for index, call in alike
            if budget.is_left and _is_attempt(call)
        ]
        for chain in _chains(calls, attempts, budget) if len(attempts) >= least else ():
            if len(chain) >= least and _is_frequent(chain) and _asks_for_one_thing(chain):
                yield _finding(chain, least)


def _outcome(call: Call) -> object:
    """Return a failure without noise, or any other result as it is: without headings, or in any order of its lines."""
    text = call.result.masked if call.result.is_unsuccessful else call.result.text or ""
    if len(text) <= LONG_CHARACTERS:
        return tuple(informative_lines(text))
    return tuple(sorted(text.split("\n"))) if len(text) <= _LINES_CHARACTERS else text


def _may_be_outcome(call: Call) -> bool:
    """Return whether a result is neither a confirmation nor an answer that fits any question, such as a yes."""
    text = call.result.text or ""
    return (
        call.result.is_unsuccessful
        or reports_no_results(text)
        or not informative_lines(text)
        or not (reports_success(text) or FITS_ANY.fullmatch(text))
    )


def _is_attempt(call: Call) -> bool:
    """Return whether a call is a request whose outcome says something, rather than a wait, a report or a silent command."""
    if not is_request(call) or claims_done(call) or is_wait(call):
        return False
    return bool(informative_lines(call.result.text or "")) or prints(call)


def _chains(
    calls: Sequence[Call | None], attempts: Sequence[Attempt], budget: WorkBudget
) -> Iterator[list[Attempt]]:
    """Split attempts where they are not related, or where the calls between may have changed something or are too many."""

    def goes_on(near: Sequence[Attempt], attempt: Attempt) -> bool:
        is_of_them = is_related(attempt.words, near) or is_guess(attempt.call)
        return is_of_them and _leave_things_alone(calls, near, attempt.call_index, budget)

    return chains_of(attempts, goes_on)


def _leave_things_alone(
    calls: Sequence[Call | None], near: Sequence[Attempt], end: int, budget: WorkBudget
) -> bool:
    start = near[-1].call_index + 1
    return end - start <= _BETWEEN and all(
        call is not None
        and not is_wait(call)
        and (
            call.result.is_unsuccessful
            or is_read_only(call)
            or (budget.is_left and is_related(_words(call, budget), near))
        )
        for call in calls[start:end]
    )


def _is_frequent(chain: Sequence[Attempt]) -> bool:
    return len(chain) >= _SHARE * (chain[-1].call_index - chain[0].call_index + 1)


def _asks_for_one_thing(chain: Sequence[Attempt]) -> bool:
    """Return whether attempts neither ask for different things nor make progress; guesses ask for one thing."""
    tried = [attempt.call for attempt in chain]
    first = tried[:EXAMINED]
    if all(map(is_guess, first)):
        return not show_progress([call.result for call in tried])
    if _reads_each_file(tried):
        return False
    is_answered = len(tried[0].result.text or "") >= _ANSWER_CHARACTERS
    if _has_short_answer(tried[0]) and _has_few_forms(tried):
        return False
    if not is_answered and (
        unshared_words([attempt.words for attempt in chain[:EXAMINED]]) > _OWN
        or lists_items([call.arguments.texts for call in first])
        or combines_values(first)
    ):
        return False
    return not (raises_a_limit(first) or show_progress([call.result for call in tried]))


def _has_short_answer(call: Call) -> bool:
    text = call.result.text or ""
    says_nothing = reports_no_results(text) or not informative_lines(text)
    return not (call.result.is_long or call.result.is_unsuccessful or says_nothing)


def _reads_each_file(tried: Sequence[Call]) -> bool:
    """Return whether calls read files, each another one: several may hold the same, as those of a template."""
    return (
        reads_files(tried[0].tool)
        and not tried[0].result.is_unsuccessful
        and len({call.arguments_id for call in tried}) == len(tried)
        and tries_each(tried, values_of(tried[0]))
        and "://" not in tried[0].arguments.texts
    )


def _has_few_forms(tried: Sequence[Call]) -> bool:
    """Return whether most calls equal others, as steps through a maze do, which may look alike and lead elsewhere."""
    return 2 * len({call.arguments_id for call in tried}) < len(tried)


def _finding(chain: Sequence[Attempt], least: int) -> Finding:
    kind = Kind.SAME_FAILURE if chain[0].call.result.is_unsuccessful else Kind.NOTHING_NEW
    found = (attempt.call_index for attempt in chain)
    return Finding.by(Rule.RETURNING_OUTCOME, found, least, kind=kind)


def _words(call: Call, budget: WorkBudget) -> frozenset[bytes]:
    budget.count_attempt(len(call.arguments.key))
    return values_of(call)
