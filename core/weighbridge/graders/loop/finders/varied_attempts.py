"""Loops of attempts that differ in numbers, paths or pagers and fail the same way, without new information between."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from weighbridge.graders.loop.finders.findings import SAME_FAILURE, Finding
from weighbridge.graders.loop.finders.retried_failures import CallEffects, chains_of_attempts
from weighbridge.graders.loop.history.call_kinds import (
    COMMAND_CHARACTERS,
    claims_done,
    is_command,
    is_read_only,
    is_request,
    is_short,
    runs_code,
)
from weighbridge.graders.loop.history.failures import FailureNumbers
from weighbridge.graders.loop.history.result_kinds import reports_no_effect, reports_no_results
from weighbridge.graders.loop.history.text_forms import lists_items
from weighbridge.graders.loop.linear_patterns import linear
from weighbridge.graders.loop.work_budget import WorkBudget

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from weighbridge.graders.loop.history.actions import Call
    from weighbridge.graders.loop.work_budget import Limits

_EDGE_CHARACTERS = (
    24  #: length of the beginning and of the end of a result by which suspects are found
)
_FAILURE_CHARACTERS = 600
_LINE_CHARACTERS = 20  #: a shorter first line may be a heading
_ALIKE = 0.85  #: minimum share of common words for two attempts to be similar
_GROWTH = 1.5  #: minimum factor between the numbers of two consecutive attempts that raise a limit
_LETTERS = b"abcdefghijklmnopqrstuvwxyz_"
_LETTERS_ALONE = bytes(
    low if (low := code | 32 if 64 < code < 91 else code) in _LETTERS else 32 for code in range(256)
)
#: Parts of arguments that are ignored: paths, file names, options, and pagers.
_IGNORED = linear(
    r"""\|&?\s*(?:tail|head|less|more|cat)\b[^|&;"\\]{0,40}|[^\s"'=:,(]{0,200}/[^\s"',;|)]{0,200}
|\b[\w-]{1,60}\.(?:py|[jt]sx?|c|h|cpp|rs|go|java|txt|md|json|ya?ml|toml|cfg|ini|csv|tsv|log|xml|html?|css|sh|sql|lock|pdf|png|jpg|ipynb|tar|gz|zip)\b
|(?:^|[\s"'\[])--?[a-z][\w-]{0,30}"""
)
#: Arguments that a failure may repeat: numbers, paths and file names.
_ECHOED = linear(r"\w*[\d/.][\w./:@-]*")
_NAMES = 2  #: maximum words of an attempt that only names a command and its target: `cat FILE`
_MORE_THAN_REPEATS = (
    2  #: minimum attempts above `max_repeats` if some are exact repeats, which count twice
)
_COMPARED = 30  #: maximum attempts whose words are compared
_REMEMBERED = 5  #: number of attempts before an attempt, one of which it is related to
_RELATED = 0.5  #: minimum share of common words for two attempts to be related
_OWN = (
    0.5  #: maximum share of words that only one attempt has; above it, the requests are different
)
_HEADING_CHARACTERS = 60
#: Line that says that a call failed, but not why.
_HEADING = linear(
    r"""\W*(?:(?:return ?code|exit[ _]?(?:code|status)|rc|status|code|output|stdout|stderr|result|observation|error|failed|failure)
\W*(?:\d{1,5})?\W*)+|[\W\d]+"""
)
#: Quotations and lists in a failure.
_QUOTED = re.compile(
    r"""\[[^\[\]\n]{1,200}\]|(?<!\w)'[^'\n]{1,200}'|"[^"\n]{1,200}"|`[^`'\n]{1,200}[`']|[\u2018\u201c][^\n\u2019\u201d]{1,200}[\u2019\u201d]"""
)
#: Name that a shell puts before its own errors: it may be the script's, or the first word of a garbled command.
_SHELL = re.compile(r"\A\S{1,40}: (?:-c: )?line \d{1,5}: ")
_WORD = re.compile(r"[^\W\d]+")
_NUMBER = re.compile(r"\d{1,15}(?:\.\d{1,15})?")
_NUMBER_IN_BYTES = re.compile(rb"\d{1,15}(?:\.\d{1,15})?")
_MARKED = re.compile(rb"[/|.]|[\s\"]-")


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
        for chains in _Chains(suspects, _least(limits), budget).of(calls):
            alike = [run for chain in chains for run in _alike(chain) if _is_loop(run, limits)]
            related = [chain for chain in chains if chain and _is_related_loop(chain, limits)]
            tried = sorted(attempt for chain in chains for attempt in chain)
            found = alike + related
            if not found and _is_loop_of_known_failures(tried, chains, limits):
                found = [tried]
            for chain in found:
                yield Finding(SAME_FAILURE, None, tuple(attempt.call_index for attempt in chain))
        if len(suspects) >= 3 * limits.max_repeats:
            yield from _retries(calls, suspects, limits, budget)


def _least(limits: Limits) -> int:
    return min(2 * limits.max_repeats, limits.max_repeats + _MORE_THAN_REPEATS)


def _retries(
    calls: Sequence[Call | None], suspects: set[int], limits: Limits, budget: WorkBudget
) -> Iterator[Finding]:
    """Find `3 * max_repeats` retries that differ in trifles and fail with one text, with something new read between them."""
    least = 3 * limits.max_repeats
    failures, effects = FailureNumbers(budget), CallEffects()
    tried: defaultdict[int, list[int]] = defaultdict(list)
    for index in sorted(suspects):
        call = calls[index]
        if call is not None and budget.is_left and _is_failed_attempt(call):
            tried[failures.number(call)].append(index)
    for indices in tried.values():
        for chain in chains_of_attempts(calls, indices, effects, changes=0):
            attempts = [
                _described(_Attempt(index, call, frozenset(), "", ""), budget)
                for index in chain
                if len(chain) >= least and budget.is_left and (call := calls[index]) is not None
            ]
            for run in _alike(attempts):
                if len(run) >= least and _is_loop(run, limits):
                    yield Finding(SAME_FAILURE, None, tuple(each.call_index for each in run))


def _described(attempt: _Attempt, budget: WorkBudget) -> _Attempt:
    return attempt._replace(words=_words(attempt.call, budget))


def _alike(chain: Sequence[_Attempt]) -> Iterator[list[_Attempt]]:
    """Yield the runs of attempts of one tool that differ at most in a word, in numbers and in paths."""
    runs: dict[tuple[str, str], list[_Attempt]] = {}
    for attempt in chain:
        key = attempt.call.tool, _NUMBER.sub("#", attempt.failure)
        run = runs.setdefault(key, [])
        if run and not _are_alike(run[-1].words, attempt.words):
            yield run
            runs[key] = run = []
        run.append(attempt)
    yield from runs.values()


def _is_loop(run: Sequence[_Attempt], limits: Limits) -> bool:
    again = len(run) - len({attempt.call.arguments_id for attempt in run})
    is_often = len(run) >= _least(limits) and len(run) + again >= 2 * limits.max_repeats
    is_often = is_often and (_failed(run) or len(run) >= 3 * limits.max_repeats)
    return is_often and _is_stuck(run, limits, is_list=_lists(run))


def _is_related_loop(chain: Sequence[_Attempt], limits: Limits) -> bool:
    """Return whether attempts share words, and at least half of their failures are known from an earlier one."""
    causes = len({attempt.cause for attempt in chain})
    is_reworded = 2 * len({attempt.words for attempt in chain}) > len(chain)
    is_one_question = (
        causes == 1 and is_reworded and not any(is_command(attempt.call) for attempt in chain)
    )
    return (
        _failed(chain)
        and len(chain) >= (_least(limits) if is_one_question else 2 * limits.max_repeats)
        and 2 * causes <= len(chain)
        and all(map(_is_related, chain[1:], _before(chain)))
        and unshared_words([attempt.words for attempt in chain[:_COMPARED]]) <= _OWN
        and _is_stuck(chain, limits, is_list=causes == 1 and _lists(chain))
    )


def _failed(chain: Sequence[_Attempt]) -> bool:
    """Return whether attempts failed or claimed that the work is done, rather than had no effect."""
    first = chain[0].call
    return first.result.has_failed or claims_done(first)


def _before(chain: Sequence[_Attempt]) -> Iterator[Sequence[_Attempt]]:
    """Yield the last attempts before each attempt but the first."""
    return (chain[max(0, index - _REMEMBERED) : index] for index in range(1, len(chain)))


def _is_related(attempt: _Attempt, before: Sequence[_Attempt]) -> bool:
    return any(are_related(attempt.words, other.words) for other in before)


def are_related(one: frozenset[Any], other: frozenset[Any]) -> bool:
    """Return whether attempts with these words have at least half of them in common."""
    return len(one & other) >= _RELATED * len(one | other)


def _is_loop_of_known_failures(
    tried: Sequence[_Attempt], chains: Sequence[Sequence[_Attempt]], limits: Limits
) -> bool:
    """Return whether any attempts, of which each kind of failure has at least three on average, are numerous enough."""
    causes = len({attempt.cause for attempt in tried})
    is_known = (
        causes == len(chains)
        and not _tries_each(tried)
        and not any(runs_code(attempt.call) for attempt in tried)
        and unshared_words([attempt.words for attempt in tried[:_COMPARED]]) <= _OWN
    )
    least = (2 if is_known else 3) * limits.max_repeats
    is_often = len(tried) >= max(least, 3 * len(chains))
    return (
        is_often
        and all(map(_failed, chains))
        and all(is_request(attempt.call) for attempt in tried)
        and not any(map(_shows_progress, chains))
        and not _lists(tried)
        and not raises_a_limit([attempt.call for attempt in tried])
    )


def unshared_words(words: Sequence[frozenset[Any]]) -> float:
    """Return the mean share of words that only one attempt has, out of its words that are not common to all."""
    common = frozenset.intersection(*words)
    counts = Counter(word for said in words for word in said)
    rests = [said - common for said in words]
    shares = [sum(counts[word] == 1 for word in rest) / len(rest) for rest in rests if rest]
    return sum(shares) / len(words)


def _is_stuck(chain: Sequence[_Attempt], limits: Limits, *, is_list: bool) -> bool:
    """Return whether attempts are not a list of items, a raised limit, progress or a few different tries."""
    is_short = _tries_each(chain) and len(chain) < 3 * limits.max_repeats
    tried = [attempt.call for attempt in chain]
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
    heads = [text[:_EDGE_CHARACTERS] for _, text in results]
    tails = [text[-_EDGE_CHARACTERS:] for _, text in results]
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
        failure, cause = self._failure(call)
        kind = _NUMBER.sub("#", _QUOTED.sub("@", failure))
        if kind not in self._kinds:
            self._kinds.add(kind)
            yield from self._end()
        self._chains.setdefault(kind, []).append(_Attempt(index, call, frozenset(), failure, cause))

    def _may_be_progress(self, call: Call) -> bool:
        """Return whether a call has a new result or may have changed something."""
        text = call.result.text
        if text is None:
            return True
        pair = call.arguments_id, text
        is_known = text in self._results
        self._results.add(text)
        if pair in self._pairs:
            return False
        self._pairs.add(pair)
        return not (is_known and (call.result.has_failed or is_read_only(call)))

    def _failure(self, call: Call) -> tuple[str, str]:
        """Return the line that says what failed, without the numbers and paths in the call's arguments, and with them."""
        text = _SHELL.sub("", _gist_of(call.result.masked))
        if claims_done(call):
            return text, text
        given = set(_ECHOED.findall(call.arguments.key.decode("utf-8", "replace")))
        masked, marks = _ECHOED.subn(lambda word: "@" if word[0] in given else word[0], text)
        self._budget.count_masking(text, len(given) + marks)
        return masked, _NUMBER.sub("#", text)


def _words(call: Call, budget: WorkBudget) -> frozenset[bytes]:
    """Return the words of a call's arguments without ignored parts, or none if the call reports completion."""
    if claims_done(call):
        return frozenset()
    key = call.arguments.key
    budget.count_attempt(len(key))
    if _MARKED.search(key):
        text = key.decode("utf-8", "replace")
        bare, marks = _IGNORED.subn(" ", text)
        budget.count_masking(text, marks)
        key = bare.encode()
    if not key.isascii():
        return frozenset(map(str.encode, _WORD.findall(key.decode("utf-8", "replace").lower())))
    return frozenset(key.translate(_LETTERS_ALONE).split())


def _gist_of(failure: str) -> str:
    """Return the line that says what failed: the last of a traceback, or else the first that is no heading."""
    beginning = failure[:_FAILURE_CHARACTERS].strip()
    lines = informative_lines(beginning) or [beginning]
    if lines[0].startswith("Traceback"):
        return (informative_lines(failure[-_FAILURE_CHARACTERS:]) or lines)[-1]
    return lines[0] if len(lines[0]) >= _LINE_CHARACTERS else "\n".join(lines)


def informative_lines(text: str) -> list[str]:
    """Return the lines of a text without blank ones and headings such as `<returncode>1</returncode>`."""
    return [
        line
        for line in map(str.strip, text.split("\n"))
        if line and not (len(line) <= _HEADING_CHARACTERS and _HEADING.fullmatch(line))
    ]


def _are_alike(one: frozenset[bytes], other: frozenset[bytes]) -> bool:
    common = len(one & other)
    is_added_to = common >= max(len(one), len(other)) - 1 and common == min(len(one), len(other))
    return is_added_to or common >= _ALIKE * len(one | other)


def _lists(chain: Sequence[_Attempt]) -> bool:
    """Return whether attempts request the items of a list in one sentence."""
    return lists_items([b" ".join(sorted(attempt.words)).decode() for attempt in chain])


def _shows_progress(chain: Sequence[_Attempt]) -> bool:
    """Return whether a number in the failures, and not in the arguments, only rises or falls, or their count varies."""
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


def _tries_each(chain: Sequence[_Attempt]) -> bool:
    """Return whether each attempt has a different value of a single argument, such as a file or a number."""
    tried = [attempt.call for attempt in chain]
    given = [call.arguments.value for call in tried]
    return (
        all(type(value) is dict and len(value) == 1 for value in given)
        and len({call.arguments.key for call in tried}) == len(tried)
        and len(chain[0].words) <= _NAMES
        and not any(map(claims_done, tried))
    )


def raises_a_limit(calls: Sequence[Call]) -> bool:
    """Return whether a number grows by half or more from each call to the next, as a raised time limit does."""
    rows = [_NUMBER_IN_BYTES.findall(call.arguments.key) for call in calls]
    return len({len(row) for row in rows}) == 1 and any(
        all(_GROWTH * float(one) <= float(other) for one, other in pairwise(column))
        and float(column[0]) > 0
        for column in zip(*rows, strict=True)
    )
