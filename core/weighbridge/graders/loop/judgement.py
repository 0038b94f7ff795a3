"""Judgement of an agent's run by the loops in its calls and texts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weighbridge.graders.base import Evidence, GraderResult, Verdict, graded
from weighbridge.graders.loop.acceptance import accepting_repeats, searches_for
from weighbridge.graders.loop.config import CALL_TYPES, LoopConfig
from weighbridge.graders.loop.finders.exemptions.spared import Spared, summed_up, without_ordered
from weighbridge.graders.loop.finders.loops_in_calls import (
    first_loops_in_calls,
    loops_in_calls,
)
from weighbridge.graders.loop.finders.loops_in_texts import loops_in_texts
from weighbridge.graders.loop.history.actions import History
from weighbridge.graders.loop.history.history_reader import history_of
from weighbridge.graders.loop.history.identity import CallNumbering
from weighbridge.graders.loop.reporting import report
from weighbridge.graders.loop.reporting.evidence import (
    evidence_beyond_limits,
    evidence_of_loops,
    evidence_of_none,
    evidence_of_others,
    remark_on,
)
from weighbridge.graders.loop.reporting.reported_loop import FindingsInRow, ids_of, loops_of
from weighbridge.graders.loop.work_budget import STEPS_LIMIT, Limits, WorkBudget
from weighbridge.traces.text_actions import ACTIONS_IN_TEXT
from weighbridge.traces.unread_counts import MADE_BY_OTHERS

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Sequence

    from weighbridge.graders.loop.acceptance import Acceptance
    from weighbridge.graders.loop.finders.findings import Finding
    from weighbridge.graders.loop.reporting.reported_loop import Loop
    from weighbridge.traces import Step, Trace


class RunJudge:
    """Judges runs with one configuration."""

    def __init__(self, settings: LoopConfig) -> None:
        """Split the configured step types into calls and texts."""
        chosen = frozenset(settings.step_types)
        self._settings = settings
        self._call_types = chosen & CALL_TYPES or frozenset(("tool",))
        self._text_types = chosen - CALL_TYPES or frozenset(("llm",))
        self._examines_calls = bool(chosen & CALL_TYPES)
        self._examines_texts = bool(chosen - CALL_TYPES)
        self._limits = Limits(
            settings.max_repeats, settings.similarity_threshold, settings.max_period
        )

    def judge(self, trace: Trace, lacking: list[Evidence]) -> GraderResult:
        """Return the result for a run, given the evidence that its trace lacks tool calls."""
        given = self._settings
        steps = trace.steps[:STEPS_LIMIT]
        calls_budget, texts_budget = WorkBudget(), WorkBudget()
        history = history_of(steps, self._call_types, self._text_types, calls_budget)
        CallNumbering(
            given.similarity_threshold, calls_budget, compare_results=given.compare_results
        ).apply(history)
        coverage = report.Coverage()
        found, spared = self._loops_in_calls(history, coverage)
        found += self._loops_in_texts(history, coverage, texts_budget, ids_of(found))
        loops = loops_of(found, history, steps)
        failing = self._failing(found, lambda: loops)
        beyond = evidence_beyond_limits(
            trace, is_compared=calls_budget.is_left and texts_budget.is_left
        )
        acceptance = self._acceptance(failing, history, steps, calls_budget) if failing else None
        details = report.details(given, loops, coverage, spared, history.calls, acceptance)
        remark = remark_on(acceptance, given.max_repeats) if acceptance else ""
        shown = evidence_of_loops(loops, fail_on=given.fail_on, remark=remark)
        if acceptance:
            return graded(Verdict.FAIL, details, shown + beyond, report.score(loops, coverage))
        # Actions written in the agent's texts were already compared as part of these texts.
        is_covered_by_texts = (
            "llm" in given.step_types and trace.missing.get("tool_calls") == ACTIONS_IN_TEXT
        )
        requires_calls = "tool" in given.step_types and not is_covered_by_texts
        reason = trace.missing.get("tool_calls")
        if requires_calls and reason in MADE_BY_OTHERS:
            beyond.append(evidence_of_others(reason))
            requires_calls = False
        lacking = lacking if requires_calls else []
        if lacking or len(steps) < len(trace.steps):
            return graded(Verdict.UNGRADABLE, details, lacking + beyond)
        evidence = (shown or evidence_of_none(coverage, self._limits, spared)) + beyond
        return graded(Verdict.PASS, details, evidence, report.score(loops, coverage))

    def blank_details(self) -> dict[str, object]:
        """Return the details of a trace that cannot be read."""
        return report.details(self._settings, [], report.Coverage())

    def _failing(
        self, found: Sequence[FindingsInRow], loops: Callable[[], Sequence[Loop]]
    ) -> list[Finding]:
        """Return the findings of the loops that fail the run."""
        findings = [finding for part in found for finding in part.findings]
        if self._settings.fail_on == "any" or not findings:
            return findings
        each = zip(findings, loops(), strict=True)
        return [finding for finding, loop in each if not loop.severity.recovered]

    def _acceptance(
        self,
        failing: Sequence[Finding],
        history: History,
        steps: Sequence[Step],
        budget: WorkBudget,
    ) -> Acceptance:
        """Return which larger `max_repeats` accepts a run that fails, given the budget of its calls.

        Searches end with the budget, because one without any might find something else than grading the run again.
        """

        def search(max_repeats: int) -> Sequence[Finding] | None:
            other = RunJudge(self._settings.model_copy(update={"max_repeats": max_repeats}))
            found = other._failing_in(history, steps) if budget.is_left else None
            return found if budget.is_left else None

        own = self._settings.max_repeats
        searches = searches_for(len(steps), history.characters())
        return accepting_repeats(own, failing, search, searches)

    def _failing_in(self, history: History, steps: Sequence[Step]) -> Sequence[Finding]:
        """Return findings that fail a run, of calls only the first; empty if no loop does."""
        is_any_enough = self._settings.fail_on == "any" and not history.ordered
        found: list[FindingsInRow] = []
        if is_any_enough and self._examines_calls:
            first = first_loops_in_calls(history.calls, self._limits)
            if loops := without_ordered(first, history)[0]:
                return loops
            if first:  # the user listed what they do, and later ones may be loops
                found, _ = self._loops_in_calls(history, report.Coverage())
        else:
            found, _ = self._loops_in_calls(history, report.Coverage())
        found += self._loops_in_texts(history, report.Coverage(), WorkBudget(), ids_of(found))
        return self._failing(found, lambda: loops_of(found, history, steps))

    def _loops_in_calls(
        self, history: History, coverage: report.Coverage
    ) -> tuple[list[FindingsInRow], list[Spared]]:
        if not self._examines_calls:
            return [], []
        row, found, spared = loops_in_calls(history.calls, self._limits)
        loops, ordered = without_ordered(found, history)
        coverage.add(row, history.calls, self._limits.max_period)
        spared = summed_up(spared + ordered)
        return [FindingsInRow(loops, row, history.calls)], spared

    def _loops_in_texts(
        self,
        history: History,
        coverage: report.Coverage,
        budget: WorkBudget,
        looped_ids: Container[Any],
    ) -> list[FindingsInRow]:
        if not self._examines_texts:
            return []
        with_calls = not self._examines_calls
        row, found = loops_in_texts(
            *(history.turns, self._limits, budget), with_calls=with_calls, looped_ids=looped_ids
        )
        spoken = [
            number if with_calls or not turn.calls else -1
            for number, turn in zip(row, history.turns, strict=True)
        ]
        coverage.add(spoken, history.turns, self._limits.max_period)
        return [FindingsInRow(found, row, history.turns)]
