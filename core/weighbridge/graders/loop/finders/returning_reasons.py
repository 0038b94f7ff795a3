"""Loops of related attempts that all fail, most of them for one reason, whatever else their results say."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from weighbridge.graders.loop.finders.findings import Finding
from weighbridge.graders.loop.finders.rules import Rule
from weighbridge.graders.loop.finders.sequences.related_attempts import (
    Attempt,
    chains_of,
    is_related,
    message_count,
)
from weighbridge.graders.loop.finders.sequences.stretches import long_rows
from weighbridge.graders.loop.history.call_kinds import claims_done, is_read_only
from weighbridge.graders.loop.history.failure_lines import informative_lines, last_line
from weighbridge.graders.loop.history.progress import count_one_way
from weighbridge.graders.loop.history.request_words import (
    EXAMINED,
    fills_each,
    raises_a_limit,
    tries_each,
    words_of,
)
from weighbridge.graders.loop.history.result_kinds import reports_failure, reports_success
from weighbridge.graders.loop.history.text_forms import lists_items
from weighbridge.graders.loop.linear_patterns import occurs
from weighbridge.graders.loop.work_budget import WorkBudget

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from weighbridge.graders.loop.history.actions import Call
    from weighbridge.graders.loop.work_budget import Limits

_FIRST_CHARACTERS, _LAST_CHARACTERS = 2_000, 1_000  #: of a result, in which a reason may stand
_FIRST_LINES, _LAST_LINES = 8, 4  #: of these
_LINE_CHARACTERS = 200  #: of the end of a line that are read
_REASON_WORDS = 4
_COMPLAINT_LINES = 8  #: last lines of a result that did not fail, which may complain
_COMPLAINT_WORDS = 7  #: of a line that complains, which may end with ids and numbers
_LEAST_COMPLAINT_WORDS = 4  #: of a complaint that says why
_REASON_CHARACTERS = 18  #: a shorter end of a line may stand in any failure
_OWN = 0.25  #: maximum share of words that only one attempt has
#: Complaint within a line, such as `"msg": "Error sign, please check your signature"` in an answer with the status 200.
_complains = occurs(
    r"""\b(?:errors?|exception|invalid|denied|refused|unauthori[sz]ed|forbidden|fail(?:ed|ure|s)|incorrect|mismatch(?:ed)?
|not (?:valid|allowed|permitted|supported|recogni[sz]ed)|unable to|cannot|could ?n[o']t)\b"""
)
_denies_errors = occurs(
    r"""\b(?:no|0|without|zero) (?:\w{1,20} )?(?:errors?|failures?|exceptions?)\b|\b(?:errors?|fail(?:ed|ures?))["']?\W{1,3}(?:0|null|none|\[\]|false)(?:\W|\z)"""
)
#: Name of a field, before what it says.
_KEY = re.compile(r"""\W{0,5}\w{1,40}["'\\]{0,3}\s?:\s?""")
_WORD = re.compile(r"[^\W\d_]{2,}")
_MARKS = re.compile(r"""['"`()\[\]{}<>]""")
_OUTER = " \t\r.,;:!?"
#: Line that says that a call failed, but not why: `success: False`, `[INFO] BUILD FAILURE`.
_FLAG = re.compile(
    r"\W{0,5}(?:\w{1,20}\W{1,3}(?:false|null|0)\b|(?:(?:info|error|fatal|build|task|job|step|tests?|command|process|compilation)\W{1,5}){1,4}fail(?:ed|ure)\W{0,5}\Z)",
    re.IGNORECASE,
)
#: Line that a build tool puts below any failure: `To see the full stack trace, re-run Maven with -e`.
_ADVICE = re.compile(
    r"\b(?:re-?run|run with|to see|see the|for (?:more|further) (?:information|details|help)|try adding)\b|\[help \d{1,3}\] http",
    re.IGNORECASE,
)
#: Pointer to advice below, at the end of a line.
_POINTER = re.compile(r"\s{0,5}-> \[Help \d{1,3}\]\Z")


def returning_reasons(
    calls: Sequence[Call | None], limits: Limits, known: set[int]
) -> Iterator[Finding]:
    """Find `2 * max_repeats` related attempts in a row that fail for one reason, most of them in other words.

    They are in more than `max_repeats` messages. A reason is the end of a line that reports a failure, or the beginning of
    one that complains, near the end of a result. If two more attempts than that fail, or none of them reads or does
    anything, `max_repeats + 2` with one reason are enough. Attempts of which some are in `known` loops are not examined.
    """
    budget = WorkBudget()
    for chain in _chains(calls, limits, budget, known):
        if not known.isdisjoint([attempt.call_index for attempt in chain]):
            continue
        found = _of_one_reason(chain, budget)
        rule = Rule.RETURNING_REASON
        is_sure = len(chain) >= rule.least(limits) + 2 or all(
            attempt.call.result.has_failed
            and not (is_read_only(attempt.call) or reports_success(attempt.call.result.text or ""))
            for attempt in chain
        )
        least = rule.least(limits, other=is_sure)
        are_tried_in_turn = message_count(attempt.call for attempt in found) > limits.max_repeats
        if len(found) >= least and are_tried_in_turn and _is_stuck(found):
            yield Finding.by(rule, (attempt.call_index for attempt in found), least)


def _chains(
    calls: Sequence[Call | None], limits: Limits, budget: WorkBudget, known: set[int]
) -> Iterator[list[Attempt]]:
    """Yield related attempts in a row that fail."""
    least = Rule.RETURNING_REASON.least(limits, other=True)
    for row in long_rows(calls, _has_failed, least):
        if known.issuperset(row):
            continue
        attempts = (
            Attempt(index, call, words_of(call, budget))
            for index in row
            if (call := calls[index]) is not None and budget.is_left
        )
        yield from chains_of(attempts, lambda near, attempt: is_related(attempt.words, near))


def _has_failed(call: Call | None) -> bool:
    """Return whether a call failed, or did something and reports a failure at the end, such as that of the tests."""
    if call is None or not (text := call.result.text):
        return False
    if not call.result.has_failed:
        end = text[-_LAST_CHARACTERS:].lower()
        if not ("fail" in end or "error" in end):
            return False
        if not reports_failure(_last_telling_line(text)) and not _complaints_in(text):
            return False
    return not claims_done(call)


def _complaints_in(text: str) -> dict[str, str]:
    """Return each of the last lines of a text that complain, by its first words."""
    complaints = {}
    for line in informative_lines(text[-_LAST_CHARACTERS:])[-_COMPLAINT_LINES:]:
        said = _KEY.sub("", line[:_LINE_CHARACTERS], 1)
        if _complains(said) and not _denies_errors(line[:_LINE_CHARACTERS]):
            words = _WORD.findall(said.lower())[:_COMPLAINT_WORDS]
            if len(words) >= _LEAST_COMPLAINT_WORDS:
                complaints[" ".join(words)] = said
    return complaints


def _last_telling_line(text: str) -> str:
    """Return the last line of a text above advice such as that of a build tool."""
    lines = _without_advice(informative_lines(text[-_LAST_CHARACTERS:]))
    return lines[-1] if lines else last_line(text)


def _without_advice(lines: Sequence[str]) -> list[str]:
    return [line for line in lines if not _ADVICE.search(line[-_LINE_CHARACTERS:])]


def _of_one_reason(chain: Sequence[Attempt], budget: WorkBudget) -> list[Attempt]:
    """Return the attempts that fail for the commonest reason, each with the line that ends with it."""
    found: defaultdict[str, list[Attempt]] = defaultdict(list)
    for attempt in chain:
        if budget.is_left:
            result = attempt.call.result
            reasons = reasons_in(result.masked, budget)
            if not (reasons or result.has_failed):
                reasons = _complaints_in(result.masked)
            for reason, line in reasons.items():
                found[reason].append(attempt._replace(line=line))
    return max(found.values(), key=len, default=[])


def reasons_in(failure: str, budget: WorkBudget) -> dict[str, str]:
    """Return each line that reports a failure by its last words, where they are long enough to say why."""
    if len(failure) > _FIRST_CHARACTERS + _LAST_CHARACTERS:
        failure = f"{failure[:_FIRST_CHARACTERS]}\n{failure[-_LAST_CHARACTERS:]}"
    lines = _without_advice(informative_lines(failure))
    if len(lines) > _FIRST_LINES + _LAST_LINES:
        lines = lines[:_FIRST_LINES] + lines[-_LAST_LINES:]
    reasons = {}
    for line in lines:
        end = _POINTER.sub("", line[-_LINE_CHARACTERS:])
        says_why = not (end.endswith(":") or _FLAG.match(line))
        if says_why and reports_failure(line):
            words = _MARKS.sub("", end).strip(_OUTER).split()[-_REASON_WORDS:]
            reason = " ".join(words)
            if len(words) > 2 and len(reason) >= _REASON_CHARACTERS:
                reasons[reason] = end
    budget.count_reading(failure[: _LINE_CHARACTERS * len(lines)], len(lines))
    return reasons


def _is_stuck(found: Sequence[Attempt]) -> bool:
    """Return whether attempts fail in various words, and are no different tries, no list of items and no progress.

    Other rules find attempts that fail in the same words, unless only the end of their results says so.
    """
    tried = [attempt.call for attempt in found]
    words = [attempt.words for attempt in found[:EXAMINED]]
    counts = Counter(word for said in words for word in said)
    own = sum(sum(counts[word] == 1 for word in said) / max(1, len(said)) for said in words)
    return not (
        (
            tried[-1].result.has_failed
            and 2 * len({call.result.masked for call in tried}) <= len(tried)
        )
        or own > _OWN * len(words)
        or tries_each(tried, words[0])
        or fills_each(tried)
        or lists_items([b" ".join(sorted(each)).decode() for each in words])
        or lists_items([call.arguments.texts for call in tried[:EXAMINED]])
        or raises_a_limit(tried)
        or count_one_way([attempt.line for attempt in found])
    )
