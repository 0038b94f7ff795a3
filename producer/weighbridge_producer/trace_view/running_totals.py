"""Consumption of a run after each of its steps, for the limits of the `budget` grader."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import localcontext
from typing import TYPE_CHECKING, Any

from weighbridge.graders.budget.measurements import ARITHMETIC, Measurements, milliseconds

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from weighbridge.graders.budget.consumption import Total
    from weighbridge.traces import Step, Trace

_PER_TOOL = "max_tool_calls_per_tool."
_COST = "max_cost_usd"
_LATENCY = "max_step_latency_ms"
_CHARTS_SHOWN = 12
_MOST_POINTS = 300
_TOTALS = {
    "max_tokens": "tokens",
    "max_input_tokens": "input tokens",
    "max_output_tokens": "output tokens",
    _COST: "USD",
}
_COUNTS = {"max_tool_calls": "tool calls", "max_llm_calls": "model calls", "max_steps": "steps"}

Point = tuple[int, float]  #: a step's number, and the amount after it


@dataclass(frozen=True, slots=True)
class RunningTotal:
    """The consumption of a run towards one limit."""

    check: str
    unit: str
    limit: float
    points: tuple[Point, ...]  #: reduced to a number that can be drawn
    breach: Point | None  #: the first step over the limit
    is_sum: bool  #: True if amounts are cumulative; False for latencies


def running_totals(
    trace: Trace, evidence: Iterable[Mapping[str, Any]], numbers: Mapping[str, int]
) -> list[RunningTotal]:
    """Return the running total of each limit in a result's evidence."""
    limits = {
        str(entry.get("check")): entry
        for entry in evidence
        if type(entry.get("limit")) in {int, float}
    }
    if not limits:
        return []
    with localcontext(ARITHMETIC):
        course = _Course(Measurements(trace, with_prices=_COST in limits))
        found = [
            _held(check, entry, course.of(check), numbers)
            for check, entry in list(limits.items())[:_CHARTS_SHOWN]
        ]
    return [total for total in found if total is not None]


def _held(
    check: str,
    entry: Mapping[str, Any],
    course: tuple[str, list[Point]] | None,
    numbers: Mapping[str, int],
) -> RunningTotal | None:
    if course is None or not course[1]:
        return None
    unit, points = course
    breach = None
    if not entry.get("passed") and (ids := entry.get("step_ids")) and ids[0] in numbers:
        # If a check could not be decided, its steps are those without data.
        amount = _amount_at(points, numbers[ids[0]])
        breach = (numbers[ids[0]], amount) if amount > entry["limit"] else None
    is_sum = check != _LATENCY
    few = tuple(_thinned(points, is_sum=is_sum))
    return RunningTotal(check, unit, float(entry["limit"]), few, breach, is_sum)


def _thinned(points: Sequence[Point], *, is_sum: bool) -> list[Point]:
    """Reduce points to a number that can be drawn: the last of each group if cumulative, else the highest."""
    if len(points) <= _MOST_POINTS:
        return list(points)
    size = -(-len(points) // _MOST_POINTS)
    groups = [points[at : at + size] for at in range(0, len(points), size)]
    if is_sum:
        return [group[-1] for group in groups]
    return [max(group, key=lambda point: point[1]) for group in groups]


def _amount_at(points: list[Point], number: int) -> float:
    amount = 0.0
    for at, value in points:
        if at > number:
            break
        amount = value
    return amount


class _Course:
    """Each measurement over the steps of a run."""

    def __init__(self, measured: Measurements) -> None:
        self._measured = measured
        self._numbers = {step.id: number for number, step in enumerate(measured.trace.steps, 1)}

    def of(self, check: str) -> tuple[str, list[Point]] | None:
        """Return the unit and points for a limit; None if the check is not a limit."""
        if check in _TOTALS:
            return _TOTALS[check], self._sums(self._total(check))
        if check in _COUNTS:
            return _COUNTS[check], self._counts(self._counted(check))
        if check.startswith(_PER_TOOL):
            tool = check.removeprefix(_PER_TOOL)
            calls = [step for step in self._measured.tool_steps if step.name == tool]
            return f"calls of {tool[:80]}", self._counts(calls)
        if check == "max_duration_ms":
            return "ms", self._elapsed()
        if check == _LATENCY:
            timed = self._measured.latencies.timed
            return "ms", [
                (self._numbers[step.id], float(milliseconds(took))) for step, took in timed
            ]
        return None

    def _total(self, check: str) -> Total:
        measured = self._measured
        return {
            "max_tokens": measured.tokens,
            "max_input_tokens": measured.input,
            "max_output_tokens": measured.output,
        }.get(check, measured.cost.total)

    def _counted(self, check: str) -> Sequence[Step]:
        measured = self._measured
        return {"max_tool_calls": measured.tool_steps, "max_llm_calls": measured.llm_steps}.get(
            check, measured.trace.steps
        )

    def _sums(self, total: Total) -> list[Point]:
        points = []
        running: Any = 0
        for at, amount in total.parts.items():
            running += amount
            points.append((self._numbers[total.usage_steps[at].id], float(running)))
        return points

    def _counts(self, steps: Iterable[Step]) -> list[Point]:
        return [(self._numbers[step.id], float(count)) for count, step in enumerate(steps, 1)]

    def _elapsed(self) -> list[Point]:
        took = self._measured.duration
        points: list[Point] = []
        latest = 0.0
        for number, step in enumerate(self._measured.trace.steps, 1):
            times = [time for time in (step.started_at, step.ended_at) if time is not None]
            if times:
                latest = max(latest, float(milliseconds(max(times) - took.first)))
                points.append((number, latest))
        return points if took.is_stated else []
