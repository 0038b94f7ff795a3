"""Search for loops in the calls of an agent."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from weighbridge.graders.loop.finders.ended_runs import repeated_endings
from weighbridge.graders.loop.finders.exemptions.moving_calls import (
    without_moves,
)
from weighbridge.graders.loop.finders.exemptions.spared import Reason, Spared, sorted_out
from weighbridge.graders.loop.finders.failing_rows import failing_rows, failing_stretches
from weighbridge.graders.loop.finders.findings import Finding, joined
from weighbridge.graders.loop.finders.interleaved_calls import few_calls, recurring_questions
from weighbridge.graders.loop.finders.known_observations import known_observations
from weighbridge.graders.loop.finders.known_results import (
    ToolResult,
    known_results,
    repeats_in,
    tool_results_of,
)
from weighbridge.graders.loop.finders.known_views import (
    known_lines,
    known_long_results,
    known_walks,
)
from weighbridge.graders.loop.finders.malformed_calls import malformed_calls
from weighbridge.graders.loop.finders.ordered_calls import ordered_calls
from weighbridge.graders.loop.finders.refused_edits import refused_edits
from weighbridge.graders.loop.finders.repeated_changes import repeated_changes, undone_changes
from weighbridge.graders.loop.finders.retried_failures import (
    failures_across_requests,
    retried_failures,
)
from weighbridge.graders.loop.finders.returning_outcomes import returning_outcomes
from weighbridge.graders.loop.finders.returning_reasons import returning_reasons
from weighbridge.graders.loop.finders.reworded_attempts import reworded_attempts
from weighbridge.graders.loop.finders.unanswered_searches import unanswered_searches
from weighbridge.graders.loop.finders.unchanged_failures import (
    unchanged_checks,
    unchanged_failures,
    vain_changes,
)
from weighbridge.graders.loop.finders.varied_attempts import varied_attempts
from weighbridge.graders.loop.finders.varied_cycles import failing_cycles, varied_cycles
from weighbridge.graders.loop.history.tool_names import is_thinking_tool

if TYPE_CHECKING:
    from weighbridge.graders.loop.history.actions import Call
    from weighbridge.graders.loop.work_budget import Limits


class Loops(NamedTuple):
    """The numbers of calls, equal for equal calls and results, the loops in them, and what is spared."""

    row: list[int]
    findings: list[Finding]
    spared: list[Spared]


class CallRun:
    """The calls of a run, and the loops found in them so far."""

    def __init__(self, calls: Sequence[Call | None], row: list[int], limits: Limits) -> None:
        self.calls = calls
        self.row = row
        self.limits = limits
        self.findings: list[Finding] = []
        self.moves: list[Finding] = []  #: those that are none, because they are of moves
        self.known: set[int] = set()  #: indices of the calls in what was found before

    @cached_property
    def tool_results(self) -> list[ToolResult | None]:
        """The results of the calls with their tools."""
        return tool_results_of(self.calls, self.limits)

    @cached_property
    def fails_often(self) -> bool:
        """Whether `max_repeats` calls failed or had no effect, fewer than which no rule of failures takes for a loop."""
        unsuccessful = [call for call in self.calls if call and call.result.is_unsuccessful]
        return len(unsuccessful) >= self.limits.max_repeats

    @cached_property
    def has_equal_results(self) -> bool:
        """Whether `max_repeats` calls have the result of an earlier call, letter for letter."""
        texts = [text for call in self.calls if call and (text := call.result.text) is not None]
        return len(texts) - len(set(texts)) >= self.limits.max_repeats

    def add(self, findings: Sequence[Finding]) -> None:
        """Add findings, whose calls are known from now on."""
        self.findings += findings
        self.known.update(index for finding in findings for index in finding.indices)


Finder = Callable[[CallRun], Iterable[Finding]]


def loops_in_calls(calls: Sequence[Call | None], limits: Limits) -> Loops:
    """Return the loops in calls."""
    row = row_of(calls)
    if len(calls) <= limits.max_repeats:
        return Loops(row, [], [])
    run = CallRun(calls, row, limits)
    for _ in _search(run):
        pass
    loops, spared = sorted_out(run.findings, calls, limits)
    spared += [Spared(finding, Reason.MOVES) for finding in run.moves]
    return Loops(row, joined(loops, row), spared)


def first_loops_in_calls(calls: Sequence[Call | None], limits: Limits) -> list[Finding]:
    """Return loops of the first finders that find any, not merged; empty if there is no loop."""
    if len(calls) <= limits.max_repeats:
        return []
    for found in _search(CallRun(calls, row_of(calls), limits)):
        if found and (loops := sorted_out(found, calls, limits)[0]):
            return loops
    return []


def _search(run: CallRun) -> Iterator[list[Finding]]:
    """Search in the order of the entries, and yield what those that search along with each other find, after adding it to the run."""
    found: list[Finding] = []
    for entry in _ENTRIES:
        if not entry.is_along:
            run.add(found)
            yield found
            found = []
        if entry.is_needed(run):
            found += entry.find(run)
    run.add(found)
    yield found


def row_of(calls: Sequence[Call | None]) -> list[int]:
    """Number each call by its action and result; a mark between calls gets a unique negative number."""
    return [-index - 1 if call is None else call.pair_id for index, call in enumerate(calls)]


def _by_calls(
    find: Callable[[Sequence[Call | None], Limits], Iterable[Finding]],
) -> Finder:
    return lambda run: find(run.calls, run.limits)


def _in_row(
    find: Callable[[Sequence[Call | None], list[int], Limits], Iterable[Finding]],
) -> Finder:
    return lambda run: find(run.calls, run.row, run.limits)


def _unless_known(
    find: Callable[[Sequence[Call | None], Limits, set[int]], Iterable[Finding]],
) -> Finder:
    """Return a finder that leaves out calls, or rows of calls, in the loops found before."""
    return lambda run: find(run.calls, run.limits, run.known)


def _repeats(run: CallRun) -> Iterator[Finding]:
    """Find calls that were made before with the same results, in any order, unless they mostly move."""
    repeated = [
        finding
        for find in (ordered_calls, few_calls)
        for finding in find(run.calls, run.row, run.limits)
    ]
    return without_moves(repeated, run.calls, run.limits, run.moves)


def _known_results(run: CallRun) -> Iterator[Finding]:
    found = [*known_results(run.calls, run.tool_results, run.limits)]
    return without_moves(found, run.calls, run.limits, run.moves)


def _thoughtless_repeats(run: CallRun) -> Iterator[Finding]:
    """Find calls in a fixed order with nothing but the agent's notes to itself between some of them, unless they mostly move."""
    tools = {call.tool for call in run.calls if call is not None}
    thinking = {tool for tool in tools if is_thinking_tool(tool)}
    if not thinking:
        return
    indices = [
        index for index, call in enumerate(run.calls) if call is None or call.tool not in thinking
    ]
    acting = [run.calls[index] for index in indices]
    found = [
        replace(finding, indices=tuple([indices[at] for at in finding.indices]))
        for finding in ordered_calls(acting, [run.row[index] for index in indices], run.limits)
        if _has_gaps(indices, finding.indices)
    ]
    yield from without_moves(found, run.calls, run.limits, run.moves)


def _has_gaps(indices: Sequence[int], at: Sequence[int]) -> bool:
    """Return whether numbers are left out of ascending ones between the first and the last of some places."""
    return indices[at[-1]] - indices[at[0]] > at[-1] - at[0]


def _have_known_results(run: CallRun) -> bool:
    return repeats_in(run.tool_results) >= run.limits.least_known


def _are_repeated(run: CallRun) -> bool:
    made = [call for call in run.calls if call is not None]
    return len(made) - len({call.arguments_id for call in made}) > run.limits.max_repeats


class _Entry(NamedTuple):
    """A finder, and the runs that need it; one that searches along with those before it does not know what they find."""

    find: Finder
    is_needed: Callable[[CallRun], bool] = lambda _run: True
    is_along: bool = False


def _has_failures(run: CallRun) -> bool:
    return run.fails_often


def _has_equal_results(run: CallRun) -> bool:
    return run.has_equal_results


#: The order decides what is known to a finder, and which of two kinds a loop gets that has as many calls of each.
_ENTRIES = (
    # What does not depend on other loops: repeats of calls, and failures of calls that differ.
    _Entry(_repeats),
    _Entry(_in_row(retried_failures), is_along=True),
    _Entry(_in_row(failures_across_requests), _has_failures, is_along=True),
    _Entry(_in_row(recurring_questions), is_along=True),
    _Entry(_by_calls(varied_attempts), _has_failures, is_along=True),
    _Entry(_in_row(failing_cycles), is_along=True),
    # What depends on results that came before, if there are enough of them. These may find the same calls, and each tells
    # something else of them.
    _Entry(_known_results, _have_known_results),
    _Entry(
        lambda run: reworded_attempts(run.calls, run.tool_results, run.limits, run.known),
        _have_known_results,
        is_along=True,
    ),
    _Entry(
        lambda run: varied_cycles(run.calls, run.row, run.tool_results, run.limits),
        _have_known_results,
        is_along=True,
    ),
    # What goes on although other calls lie between. Rules that say less of the same calls leave out what is known, so that a
    # loop gets the kind of the rule that says more; the looser a rule, the later it stands.
    _Entry(_unless_known(refused_edits), _has_failures),
    _Entry(_unless_known(returning_outcomes), _has_equal_results),
    _Entry(_unless_known(returning_reasons)),
    _Entry(_unless_known(unchanged_failures), _has_equal_results),
    _Entry(_unless_known(unchanged_checks), _has_failures),
    _Entry(_unless_known(vain_changes), _has_failures),
    _Entry(_unless_known(undone_changes)),
    _Entry(_by_calls(malformed_calls)),
    _Entry(_by_calls(failing_rows), _has_failures),
    _Entry(_unless_known(unanswered_searches)),
    _Entry(_unless_known(known_long_results), _has_equal_results),
    _Entry(_unless_known(known_lines)),
    _Entry(_unless_known(repeated_endings)),
    _Entry(_by_calls(repeated_changes)),
    _Entry(_unless_known(failing_stretches), _has_failures),
    _Entry(_unless_known(known_walks), _are_repeated),
    _Entry(_unless_known(known_observations), _have_known_results),
    # Repeats in a fixed order once more, with the agent's notes to itself left out. No finder depends on what these are.
    _Entry(_thoughtless_repeats),
)
