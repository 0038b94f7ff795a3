"""Conversion of a finding (indices in a row) to a loop as reported: step ids, similarity, differences, severity."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from weighbridge.graders.loop.finders.findings import Finding, Measure, rounds
from weighbridge.graders.loop.finders.kinds import KINDS_OF_SIMILAR_STEPS, Kind
from weighbridge.graders.loop.history.actions import Call, Message
from weighbridge.graders.loop.history.text_forms import ratio
from weighbridge.graders.loop.reporting.common_outcome import CommonOutcome, common_outcome
from weighbridge.graders.loop.reporting.differences import Differences, differences_of
from weighbridge.graders.loop.reporting.severity import Run, Severity
from weighbridge.graders.loop.work_budget import WorkBudget
from weighbridge.graders.values import as_json
from weighbridge.text import encodable

if TYPE_CHECKING:
    from weighbridge.graders.loop.history.actions import History
    from weighbridge.traces import Step

_COMPARED_STEPS = 200  #: of one loop, for its minimum similarity
_COMPARED_WORDS = 10  #: the same, for kinds of loops whose steps may be worded differently


@dataclass(frozen=True, slots=True)
class Loop:
    """Group of steps that repeat each other."""

    kind: Kind
    measure: Measure  #: the rule that made it, with its numbers
    period: int | None  #: steps in one round; None if they repeat in no fixed order
    repeats: int  #: full rounds, or the count of the most frequent step
    repeating: int  #: number of steps that repeat another one of the loop, or are repeated by one
    step_ids: tuple[str, ...]  #: in trace order
    #: minimum between a step and the step it repeats, ignoring noise in results
    min_similarity: float
    has_noise: bool  #: whether results differ by noise
    severity: Severity
    first_text: str  #: the first step, as readable text
    differences: Differences  #: between its repeats
    outcome: CommonOutcome | None  #: of its calls


@dataclass(frozen=True, slots=True)
class FindingsInRow:
    """Findings in a row of numbers, and the steps that correspond to the numbers."""

    findings: Sequence[Finding]
    row: Sequence[int]
    steps: Sequence[Call | Message | None]

    def steps_of(self, finding: Finding) -> list[tuple[int, Call | Message]]:
        """Return the steps of a finding with their numbers; all get number 0 in kinds that treat them as similar."""
        is_one = finding.kind in KINDS_OF_SIMILAR_STEPS
        steps = ((0 if is_one else self.row[index], self.steps[index]) for index in finding.indices)
        return [(number, step) for number, step in steps if step is not None]


def ids_of(found: Sequence[FindingsInRow]) -> set[Any]:
    """Return the ids of the steps in findings."""
    each = [(part, finding) for part in found for finding in part.findings]
    return {step.step.id for part, finding in each for _, step in part.steps_of(finding)}


def loops_of(
    found: Sequence[FindingsInRow], history: History, trace_steps: Sequence[Step]
) -> list[Loop]:
    """Convert findings to loops."""
    each = [(part, finding) for part in found for finding in part.findings]
    if not each:
        return []
    run, budget = Run(trace_steps, history, ids_of(found)), WorkBudget()
    return [_loop_of(part, finding, run, budget) for part, finding in each]


def _loop_of(part: FindingsInRow, finding: Finding, run: Run, budget: WorkBudget) -> Loop:
    found = part.steps_of(finding)
    steps = [each.step for _, each in found]
    repeats = _by_place(finding, found)
    times = Counter([number for number, _ in repeats])
    return Loop(
        kind=finding.kind,
        measure=finding.measure,
        period=finding.period,
        repeats=rounds(finding, part.row),
        repeating=sum(count for count in times.values() if count > 1),
        step_ids=tuple(map(id_of, steps)),
        min_similarity=_least_similarity(repeats, finding.kind, budget),
        has_noise=_has_noise(repeats),
        severity=run.severity_of(steps, [each.step for each in _again(finding, found)]),
        first_text=_text_of(found[0][1]),
        differences=differences_of(_by_action(finding, repeats)),
        outcome=common_outcome(step for _, step in found),
    )


def _by_place(
    finding: Finding, found: list[tuple[int, Call | Message]]
) -> list[tuple[int, Call | Message]]:
    """Return the steps of a loop, numbered by their place in the round if one of them varies in each."""
    times = Counter([number for number, _ in found])
    if not finding.period or len(times) <= finding.period or 1 not in times.values():
        return found
    return [(place % finding.period, step) for place, (_, step) in enumerate(found)]


def _by_action(
    finding: Finding, found: list[tuple[int, Call | Message]]
) -> list[tuple[int, Call | Message]]:
    """Return the steps of a loop, numbered by what they do, whatever their results, if they are in no fixed order."""
    if finding.period or finding.kind in KINDS_OF_SIMILAR_STEPS:
        return found
    return [(step.action_id if isinstance(step, Call) else at, step) for at, step in found]


def id_of(step: Step) -> str:
    """Return a step's id as text that has a UTF-8 form."""
    return encodable(step.id) if type(step.id) is str else as_json(step.id)


def _again(finding: Finding, found: list[tuple[int, Call | Message]]) -> list[Call | Message]:
    """Return the steps of a loop but for the first round, or the first of each kind."""
    if finding.period:
        return [step for _, step in found[finding.period :]]
    seen: set[int] = set()
    again = []
    for number, step in found:
        if number in seen:
            again.append(step)
        seen.add(number)
    return again


def _least_similarity(
    found: list[tuple[int, Call | Message]], kind: Kind, budget: WorkBudget
) -> float:
    compared = _COMPARED_WORDS if kind in KINDS_OF_SIMILAR_STEPS else _COMPARED_STEPS
    last: dict[int, Call | Message] = {}
    least = 1.0
    for number, step in islice(found, compared):
        if number in last:
            least = min(least, _similarity(last[number], step, budget))
        last[number] = step
    return round(least, 4)


def _similarity(one: Call | Message, other: Call | Message, budget: WorkBudget) -> float:
    """Return the smaller of the similarity of two steps' actions and that of their results."""
    if isinstance(one, Message) or isinstance(other, Message):
        return ratio(getattr(one, "text", ""), getattr(other, "text", ""), budget)
    done = 1.0
    if one.arguments_id != other.arguments_id:
        done = ratio(one.arguments.texts, other.arguments.texts, budget)
    if one.result.text == other.result.text:
        return done
    return min(done, ratio(one.result.masked, other.result.masked, budget))


def _has_noise(found: list[tuple[int, Call | Message]]) -> bool:
    """Return whether calls with the same number have results that are not exactly equal."""
    first: dict[int, str | None] = {}
    return any(
        first.setdefault(number, step.result.text) != step.result.text
        for number, step in islice(found, _COMPARED_STEPS)
        if isinstance(step, Call)
    )


def _text_of(step: Call | Message) -> str:
    if isinstance(step, Message):
        return step.text
    return f"{step.tool[:400]} {step.arguments.key[:400].decode('utf-8', 'replace')}".strip()
