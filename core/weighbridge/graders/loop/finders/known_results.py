"""Loops of calls without new results: known answers to reworded questions, and known failures of repeated attempts."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from weighbridge.graders.loop.finders.findings import Finding
from weighbridge.graders.loop.finders.rules import Rule
from weighbridge.graders.loop.history.actions import calls_at
from weighbridge.graders.loop.history.call_kinds import is_read_only, is_short, is_wait, runs_code
from weighbridge.graders.loop.history.named_files import file_in
from weighbridge.graders.loop.history.request_words import raises_a_limit
from weighbridge.graders.loop.history.result_kinds import (
    is_answer,
    reports_no_effect,
    reports_no_results,
    without_suggestions,
)
from weighbridge.graders.loop.history.text_forms import lists_items
from weighbridge.graders.loop.history.words import words_in
from weighbridge.graders.loop.work_budget import WorkBudget

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from weighbridge.graders.loop.history.actions import Call
    from weighbridge.graders.loop.work_budget import Limits

_QUESTION_CHARACTERS = 4_000  #: longer arguments are not a question
_FAILURE_CHARACTERS = 600
_NEAR = 5  #: maximum distance from a range to an earlier call that is reported with it
_SHORT_CHARACTERS = 200  #: maximum length of a result that is compared without noise such as times
_SAME_ATTEMPT = 0.85  #: minimum share of common words for two attempts with the same failure
_SAME_QUESTION = 0.6  #: the same for two questions with the same answer
_WORD = re.compile(r"[^\W\d_]+|\d+")
#: The number of requested results, which is not part of the question.
_HOW_MANY = re.compile(
    r'"(?:max_results|num_results|limit|size|count|display|top_k|per_page|page_size)":"?\d{1,6}"?'
)
#: A quotation in a failure, which names the cause.
_QUOTED = re.compile(r"""['"`\u2018\u201c]([^'"`\u2019\u201d\n]{3,80})['"`\u2019\u201d]""")
#: A result that holds nothing, or only a count of nothing.
_EMPTY = re.compile(r"[\s\[\](){},]{0,20}(?:null|none|0)?[\s\[\](){},]{0,20}", re.IGNORECASE)
#: Two digits, two words, or a path or lines: an answer that different questions are unlikely to share.
_INFORMATIVE = re.compile(r"\d{2}|[^\W\d_]{2}[^\w\n]{1,3}[^\W\d_]{2}|\w[/.\n]\w")


def known_results(
    calls: Sequence[Call | None], tool_results: Sequence[ToolResult | None], limits: Limits
) -> Iterator[Finding]:
    """Find ranges of at least `2 * max_repeats` calls, including the first, with only known results.

    An exact repeat of a failed call counts twice, but at least `max_repeats + 2` calls are needed.
    """
    if repeats_in(tool_results) >= _least(limits):
        yield from _Stretches(calls, tool_results, limits).found()


def _least(limits: Limits) -> int:
    """Return the minimum number of calls with the result of an earlier call."""
    return Rule.KNOWN_RESULTS.least(limits, other=True) - 1


ToolResult = tuple[str, str]  #: name of a tool, and result of a call of it


class _Occurrences(NamedTuple):
    """Number of times that a call had one result, and the index of the last time."""

    times: int
    last: int


class _Stretches:
    """Search for ranges of calls with known results, with the results of all earlier calls."""

    def __init__(
        self,
        calls: Sequence[Call | None],
        tool_results: Sequence[ToolResult | None],
        limits: Limits,
    ) -> None:
        self._calls = calls
        self._tool_results = tool_results
        self._fails: dict[ToolResult, bool] = {}
        #: last words of the quotations in each failure
        self._quoted: dict[ToolResult, set[str]] = {}
        self._least = _least(limits)
        self._enough = Rule.KNOWN_RESULTS.least(limits) - 1
        self._reach = limits.max_period
        self._budget = WorkBudget()
        self._last_calls: dict[ToolResult, int] = {}  #: index of the last call with each result
        self._seen: dict[int, _Occurrences] = {}  #: by the number of a call and its result
        #: words of the attempts with the same failure or empty result
        self._said: dict[ToolResult, set[str]] = {}
        #: words of arguments, by the number of the arguments
        self._words_of: dict[int, frozenset[str]] = {}
        self._failed: list[int] = []  #: indices of the failed calls since the last change
        self._run: list[int] = []
        self._again = 0  #: number of failed calls in the run that are exact repeats
        self._before: set[int] = set()  #: indices of the earlier calls that the run repeats

    def found(self) -> Iterator[Finding]:
        """Yield a finding for each range that is long enough."""
        for index, (call, result) in enumerate(zip(self._calls, self._tool_results, strict=True)):
            if call is None or result is None or is_wait(call):
                yield from self._end()
                self._last_calls, self._seen, self._failed, self._said = {}, {}, [], {}
                continue
            seen, has_failed = self._seen.get(call.pair_id), self._has_failed(call, result)
            before = self._last_calls.get(result) if seen is None else seen.last
            if before is None or not self._is_known(call, result, before, index):
                yield from self._end()
                if self._failed and not has_failed:
                    self._drop_failures(call)
            elif has_failed or not self._is_first_repeat(call, before, seen):
                self._run.append(index)
                self._before.add(before)
                self._again += seen is not None and has_failed
            self._seen[call.pair_id] = _Occurrences(seen.times + 1 if seen else 1, index)
            self._last_calls[result] = index
            if has_failed:
                self._failed.append(index)
        yield from self._end()

    def _has_failed(self, call: Call, result: ToolResult) -> bool:
        if result not in self._fails:
            self._fails[result] = call.result.has_failed
        return self._fails[result]

    def _drop_failures(self, call: Call) -> None:
        """Remove the failures that a call may have fixed, unless it only reads."""
        if is_read_only(call):
            return
        for index in self._failed:
            failed, result = self._calls[index], self._tool_results[index]
            if failed is not None and result is not None:
                self._seen.pop(failed.pair_id, None)
                self._last_calls.pop(result, None)
        self._failed, self._said = [], {}

    def _is_first_repeat(self, call: Call, before: int, seen: _Occurrences | None) -> bool:
        """Return whether a call is the first exact repeat of a call with the same result."""
        earlier = self._calls[before]
        is_equal = earlier is not None and earlier.arguments_id == call.arguments_id
        return is_equal and seen is not None and seen.times == 1

    def _is_known(self, call: Call, result: ToolResult, before: int, index: int) -> bool:
        """Return whether the result of a call was known from an equal or similar earlier call."""
        earlier = self._calls[before]
        if earlier is None or call.pair_id == earlier.pair_id:
            return index - before <= self._reach
        if not self._budget.is_left:
            return False
        if self._fails[result]:
            return self._quotes_arguments(call, result) or self._is_attempt_again(
                call, earlier, result
            )
        if not is_read_only(call):
            return False
        if is_specific(result[1]):
            return not _read_different_files(call, earlier) and self._are_alike(
                call, earlier, _SAME_QUESTION
            )
        is_empty = reports_no_results(result[1]) or _EMPTY.fullmatch(result[1])
        return bool(is_empty) and (
            self._is_narrowed(call, earlier) or self._is_attempt_again(call, earlier, result)
        )

    def _is_narrowed(self, call: Call, earlier: Call) -> bool:
        """Return whether a question has all words of an earlier one, so that it finds nothing where that found nothing."""
        if max(len(call.arguments.key), len(earlier.arguments.key)) > _QUESTION_CHARACTERS:
            return False
        return self._words(call) >= self._words(earlier)

    def _quotes_arguments(self, call: Call, result: ToolResult) -> bool:
        """Return whether a failure quotes a word of the arguments, so that its cause was known."""
        if result not in self._quoted:
            self._quoted[result] = {
                words[-1] for each in _quotes(result[1]) if (words := _WORD.findall(each))
            }
        quoted = self._quoted[result]
        if not quoted or len(call.arguments.key) > _QUESTION_CHARACTERS:
            return False
        return not self._words(call).isdisjoint(quoted)

    def _is_attempt_again(self, call: Call, earlier: Call, result: ToolResult) -> bool:
        """Return whether an attempt adds no words to the earlier ones with its result, or is similar to the last one."""
        if runs_code(call) or not is_short(call):
            return False
        words = self._words(call)
        said = self._said.setdefault(result, set(self._words(earlier)))
        is_again = words <= said
        said |= words
        return is_again or self._are_alike(call, earlier, _SAME_ATTEMPT)

    def _are_alike(self, one: Call, other: Call, share: float) -> bool:
        """Return whether two calls share enough words, and the numbers of one include those of the other."""
        if max(len(one.arguments.key), len(other.arguments.key)) > _QUESTION_CHARACTERS:
            return False
        words, others = self._words(one), self._words(other)
        if len(words & others) < share * len(words | others):
            return False
        numbers, other_numbers = (set(filter(str.isdigit, each)) for each in (words, others))
        return numbers <= other_numbers or numbers >= other_numbers

    def _words(self, call: Call) -> frozenset[str]:
        words = self._words_of.get(call.arguments_id)
        if words is None:
            key = _HOW_MANY.sub("", call.arguments.key.decode("utf-8", "replace").casefold())
            words = self._words_of[call.arguments_id] = frozenset(words_in(key, _WORD))
            self._budget.count_reading(key, len(words))
        return words

    def _end(self) -> Iterator[Finding]:
        run, before, again = self._run, self._before, self._again
        self._run, self._before, self._again = [], set(), 0
        if len(run) < self._least or len(run) + again < self._enough:
            return
        indices = sorted({*run, *(at for at in before if run[0] - at <= _NEAR)})
        found = calls_at(self._calls, indices)
        is_legitimate = lists_items([call.arguments.texts for call in found]) or raises_a_limit(
            found
        )
        words = map(self._words, found)
        is_widened = all(later < earlier for earlier, later in pairwise(words))
        if not (is_legitimate or is_widened):
            # The first of the calls, which the others repeat, counts too.
            least = max(self._least, self._enough - again) + 1
            yield Finding.by(Rule.KNOWN_RESULTS, indices, least, count=len(run) + 1)


def tool_results_of(calls: Sequence[Call | None], limits: Limits) -> list[ToolResult | None]:
    """Return the tool and the result of each call, or None for an unknown result; short results are without noise.

    From `2 * max_repeats` calls on that find nothing, what each suggests instead is no news.
    """
    masked: dict[str, str] = {}
    tool_results: list[ToolResult | None] = []
    for call in calls:
        text = call.result.text if call is not None else None
        if call is None or text is None:
            tool_results.append(None)
            continue
        if len(text) <= _SHORT_CHARACTERS:
            known = masked.get(text)
            text = masked.setdefault(text, call.result.masked) if known is None else known
        tool_results.append((call.tool, text))
    suggesting = [
        (index, result[0], bare)
        for index, result in enumerate(tool_results)
        if result is not None and (bare := without_suggestions(result[1])) != result[1]
    ]
    if len(suggesting) >= 2 * limits.max_repeats:
        for index, tool, bare in suggesting:
            tool_results[index] = tool, bare
    return tool_results


def repeats_in(tool_results: Sequence[ToolResult | None]) -> int:
    """Return the number of calls with the result of an earlier call."""
    results = [result for result in tool_results if result is not None]
    return len(results) - len(set(results))


def _read_different_files(one: Call, other: Call) -> bool:
    """Return whether two calls name one file each, not the same: that files are alike was not known."""
    file, other_file = file_in(one), file_in(other)
    return bool(file and other_file) and file != other_file


def _quotes(failure: str) -> list[str]:
    return _QUOTED.findall(failure[:_FAILURE_CHARACTERS].casefold())


def is_specific(text: str) -> bool:
    """Return whether a result is an answer specific to one question."""
    return is_answer(text) and not reports_no_effect(text) and _INFORMATIVE.search(text) is not None
