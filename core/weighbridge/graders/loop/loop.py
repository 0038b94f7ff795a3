"""A loop as it is reported: its steps, how alike they are, and what they cost in vain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from weighbridge.graders.loop.actions import Call, Message
from weighbridge.graders.loop.merging import Finding, rounds
from weighbridge.graders.loop.text_forms import ratio
from weighbridge.graders.loop.work_budget import WorkBudget
from weighbridge.graders.values import as_json
from weighbridge.text import encodable

if TYPE_CHECKING:
    from weighbridge.traces import Step

_COMPARED_STEPS = 200  #: of one loop, for its smallest similarity
_NANOSECONDS_IN_MS = 1_000_000


@dataclass(frozen=True, slots=True)
class Loop:
    """Steps that repeat each other."""

    kind: str
    period: int | None  #: steps in one round; None where they come in no order
    repeats: int  #: full rounds, or how often the most frequent step came
    step_ids: tuple[str, ...]  #: in trace order
    min_similarity: float  #: between a step and the one that it repeats, noise in results aside
    has_noise: bool  #: whether results differ by noise
    wasted_tokens: int | None  #: of all steps but the first of each kind
    wasted_ms: int | None
    shown: str  #: the first step, for a person


def loops_of(
    findings: Sequence[Finding],
    row: Sequence[int],
    steps: Sequence[Call | Message | None],
    trace_steps: Sequence[Step],
) -> list[Loop]:
    """Return findings as loops of the steps that a row stands for."""
    if not findings:
        return []
    budget = WorkBudget()
    answers = {step.id: step for step in trace_steps if step.type == "llm"}
    return [_loop_of(finding, row, steps, answers, budget) for finding in findings]


def _loop_of(
    finding: Finding,
    row: Sequence[int],
    steps: Sequence[Call | Message | None],
    answers: Mapping[str, Step],
    budget: WorkBudget,
) -> Loop:
    found = [(row[index], step) for index in finding.indices if (step := steps[index]) is not None]
    again = _again(found)
    return Loop(
        kind=finding.kind,
        period=finding.period,
        repeats=rounds(finding, row),
        step_ids=tuple(id_of(each.step) for _, each in found),
        min_similarity=_least_similarity(found, budget),
        has_noise=_has_noise(found),
        wasted_tokens=_tokens(again, answers),
        wasted_ms=_milliseconds(again),
        shown=_shown(found[0][1]),
    )


def id_of(step: Step) -> str:
    """Return a step's id as text that has a UTF-8 form."""
    return encodable(step.id) if type(step.id) is str else as_json(step.id)


def _again(found: list[tuple[int, Call | Message]]) -> list[Call | Message]:
    seen: set[int] = set()
    again = []
    for number, step in found:
        if number in seen:
            again.append(step)
        seen.add(number)
    return again


def _least_similarity(found: list[tuple[int, Call | Message]], budget: WorkBudget) -> float:
    last: dict[int, Call | Message] = {}
    least = 1.0
    for number, step in islice(found, _COMPARED_STEPS):
        if number in last:
            least = min(least, _similarity(last[number], step, budget))
        last[number] = step
    return round(least, 4)


def _similarity(one: Call | Message, other: Call | Message, budget: WorkBudget) -> float:
    """Compare two steps by what was done and by what came of it; the smaller of the two counts."""
    if isinstance(one, Message) or isinstance(other, Message):
        return ratio(getattr(one, "text", ""), getattr(other, "text", ""), budget)
    done = 1.0
    if one.exact != other.exact:
        done = ratio(one.arguments.texts, other.arguments.texts, budget)
    if one.outcome.text == other.outcome.text:
        return done
    return min(done, ratio(one.outcome.steady, other.outcome.steady, budget))


def _has_noise(found: list[tuple[int, Call | Message]]) -> bool:
    """Whether calls of one number have results that are not equal as they stand."""
    first: dict[int, str | None] = {}
    return any(
        first.setdefault(number, step.outcome.text) != step.outcome.text
        for number, step in islice(found, _COMPARED_STEPS)
        if isinstance(step, Call)
    )


def _tokens(again: list[Call | Message], answers: Mapping[str, Step]) -> int | None:
    """Return the tokens of the answers that the steps came in; None unless all of them are known."""
    total = 0
    for step_id in dict.fromkeys(each.step.parent_id or each.step.id for each in again):
        answer = answers.get(step_id)
        tokens = answer.usage.total if answer and answer.usage else None
        if tokens is None:
            return None
        total += tokens
    return total


def _milliseconds(again: list[Call | Message]) -> int | None:
    """Return how long the steps took; None unless all of their times are known."""
    total = 0
    for each in again:
        started, ended = each.step.started_at, each.step.ended_at
        if started is None or ended is None or ended < started:
            return None
        total += ended - started
    return total // _NANOSECONDS_IN_MS if again else None


def _shown(step: Call | Message) -> str:
    if isinstance(step, Message):
        return step.text
    return f"{step.tool[:400]} {step.arguments.key[:400].decode('utf-8', 'replace')}".strip()
