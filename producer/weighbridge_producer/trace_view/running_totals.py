"""Consumption of a run after each of its steps, for the limits of the `budget` grader."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import localcontext
from typing import TYPE_CHECKING, Any

from weighbridge.errors import ConfigError, ConfigTypeError
from weighbridge.graders.budget import BudgetConfig, BudgetGrader
from weighbridge.graders.budget.limit_table import LIMITS, limit_of
from weighbridge.graders.budget.limits import exact
from weighbridge.graders.budget.measurements import ARITHMETIC, Measurements, as_number
from weighbridge.graders.budget.readings import Readings
from weighbridge.graders.config import parse_config

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from weighbridge.graders.budget.limits import Reading
    from weighbridge.graders.budget.prices import Rates
    from weighbridge.jobs.grader_spec import GraderSpec
    from weighbridge.traces import Trace

_CHARTS_SHOWN = 12
_MOST_POINTS = 300

Point = tuple[int, float]  #: a step's number, and the amount after it


@dataclass(frozen=True, slots=True)
class RunningTotal:
    """The consumption of a run towards one limit."""

    check: str
    unit: str
    limit: float
    points: tuple[Point, ...]  #: reduced to a number that can be drawn
    known: float  #: the amount that was judged: more than the last point if only the run states the rest
    is_exact: bool  #: False if `known` is a lower bound
    breach: Point | None  #: the first step over the limit
    is_first: bool  #: False if the limit may have been exceeded before the breach
    is_sum: bool  #: True if amounts are cumulative; False for latencies


def own_prices_of(spec: GraderSpec | None) -> Mapping[str, Rates]:
    """Return the prices in a configuration of `budget`; none for other graders and wrong configurations."""
    if spec is None or spec.grader != BudgetGrader.id:
        return {}
    try:
        return parse_config(BudgetConfig, spec.config, spec.grader).own_prices()
    except (ConfigError, ConfigTypeError):
        return {}


def running_totals(
    trace: Trace, evidence: Iterable[Mapping[str, Any]], own_prices: Mapping[str, Rates]
) -> list[RunningTotal]:
    """Return the running total of each limit in a result's evidence, as it was judged.

    A limit is left out if measuring the trace again gives another amount than the evidence has.
    """
    limits = {check: entry for entry in evidence if (check := _check_of(entry))}
    if not limits:
        return []
    with localcontext(ARITHMETIC):
        measured = Measurements(
            trace, with_prices=any(map(_is_of_cost, limits)), own_prices=own_prices
        )
        readings = Readings(measured, lambda *_: "", ignores_missing=False)
        numbers = {step.id: number for number, step in enumerate(trace.steps, 1)}
        found = [
            _total(check, entry, readings.of(check), numbers)
            for check, entry in list(limits.items())[:_CHARTS_SHOWN]
        ]
    return [total for total in found if total is not None]


def _check_of(entry: Mapping[str, Any]) -> str:
    """Return the check of an evidence entry, or "" if it is not one of a limit."""
    check = entry.get("check")
    if type(check) is not str or type(entry.get("limit")) not in {int, float}:
        return ""
    try:
        limit_of(check)
    except KeyError:
        return ""
    return check


def _is_of_cost(check: str) -> bool:
    return limit_of(check)[0].measured == "cost_usd"


def _total(
    check: str, entry: Mapping[str, Any], reading: Reading, numbers: Mapping[str, int]
) -> RunningTotal | None:
    points = [(numbers[step.id], float(amount)) for step, amount in reading.course()]
    if not points or entry.get("observed") != as_number(reading.known):
        return None
    limit = exact(entry["limit"])
    breach, is_first = None, True
    if reading.known > limit:
        found = reading.breach(limit)
        is_first = found.is_first
        if found.steps:
            number = numbers[found.steps[0].id]
            over = [point for point in points if point[1] >= float(limit)]
            own = (point for point in over if point[0] == number)
            # A step around others exceeds the limit after these.
            breach = next(own, None) or next(iter(over), None)
    is_sum = limit_of(check)[0] is not LIMITS["max_step_latency_ms"]
    return RunningTotal(
        check=check,
        unit=reading.unit,
        limit=float(limit),
        points=tuple(_thinned(points, is_sum=is_sum)),
        known=float(reading.known),
        is_exact=reading.is_exact,
        breach=breach,
        is_first=is_first,
        is_sum=is_sum,
    )


def _thinned(points: Sequence[Point], *, is_sum: bool) -> list[Point]:
    """Reduce points to a number that can be drawn: the last of each group if cumulative, else the highest."""
    if len(points) <= _MOST_POINTS:
        return list(points)
    size = -(-len(points) // _MOST_POINTS)
    groups = [points[at : at + size] for at in range(0, len(points), size)]
    if is_sum:
        return [group[-1] for group in groups]
    return [max(group, key=lambda point: point[1]) for group in groups]
