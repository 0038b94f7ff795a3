"""Geometry of charts: all lengths are computed here, and the templates only draw them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from weighbridge.jobs.outcome import Outcome

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weighbridge.jobs.outcome import Counts, GraderSummary
    from weighbridge_producer.trace_view.loop_marks import ShownLoop
    from weighbridge_producer.trace_view.running_totals import RunningTotal

BAR_WIDTH = 1_000
_LEAST_WIDTH = 4  #: of a segment that is not empty, so that it is visible

WIDTH, HEIGHT = 640, 200
_LEFT, _RIGHT, _TOP, _BOTTOM = 70, 12, 16, 28
_HEADROOM = 1.08

_HISTOGRAM_BAR, _HISTOGRAM_GAP, _HISTOGRAM_HEIGHT = 44, 6, 90

BOX = 26
ROW_HEIGHT = 44
_BOXES_SHOWN = 240
_BOXES_IN_ROW = 12  #: number of boxes that fit on a phone


class Segment(NamedTuple):
    """A part of a bar."""

    outcome: str
    jobs: int
    x: float
    width: float


def bar(counts: Counts | GraderSummary) -> list[Segment]:
    """Return a bar of jobs by outcome, with a minimum width for outcomes that occur."""
    numbers = {name: int(getattr(counts, name, 0)) for name in map(str, (*Outcome, "pending"))}
    there = {name: count for name, count in numbers.items() if count > 0}
    total = sum(there.values())
    spread = BAR_WIDTH - _LEAST_WIDTH * len(there)
    segments = []
    x = 0.0
    for name, count in there.items():
        width = _LEAST_WIDTH + spread * count / total
        segments.append(Segment(name, count, round(x, 2), round(width, 2)))
        x += width
    return segments


class Column(NamedTuple):
    """One bucket of a histogram."""

    label: str
    jobs: int
    x: int
    y: float
    width: int
    height: float


@dataclass(frozen=True, slots=True)
class Histogram:
    """A histogram of scores."""

    columns: tuple[Column, ...]
    width: int
    height: int
    total: int


def histogram(scores: Sequence[int]) -> Histogram | None:
    """Return a histogram of scores in ten buckets; None if there are no scores."""
    most = max(scores, default=0)
    if not most:
        return None
    step = _HISTOGRAM_BAR + _HISTOGRAM_GAP
    columns = []
    for index, count in enumerate(scores):
        height = max(2.0, _HISTOGRAM_HEIGHT * count / most) if count else 0.0
        label = f"{index / len(scores):.1f} to {(index + 1) / len(scores):.1f}"
        y = round(_HISTOGRAM_HEIGHT - height, 2)
        columns.append(Column(label, count, index * step, y, _HISTOGRAM_BAR, round(height, 2)))
    width = step * len(scores) - _HISTOGRAM_GAP
    return Histogram(tuple(columns), width, _HISTOGRAM_HEIGHT, sum(scores))


class Spot(NamedTuple):
    """A point of a chart, with its label."""

    x: float
    y: float
    number: int
    amount: float


@dataclass(frozen=True, slots=True)
class TotalsChart:
    """A running total with its limit."""

    total: RunningTotal
    line: str  #: the points of a polyline; empty if amounts do not add up
    stems: tuple[Spot, ...]  #: amounts that do not add up, drawn separately
    limit_y: float
    base_y: float
    left: int
    right: int
    breach: Spot | None
    rest: Spot | None  #: the amount at the end, if it is more than the steps add up to
    last_step: int


def totals_chart(total: RunningTotal, steps: int) -> TotalsChart:
    """Return the chart of a running total over a trace with `steps` steps."""
    by_steps = max(amount for _, amount in total.points)
    most = max(total.limit, total.known, by_steps) * _HEADROOM or 1.0
    width, height = WIDTH - _LEFT - _RIGHT, HEIGHT - _TOP - _BOTTOM

    def spot(number: int, amount: float) -> Spot:
        x = _LEFT + width * (number - 1) / max(1, steps - 1)
        y = _TOP + height * (1 - amount / most)
        return Spot(round(x, 1), round(y, 1), number, amount)

    spots = [spot(*point) for point in total.points]
    return TotalsChart(
        total=total,
        line=_stairs(spots, spot(1, 0.0), spot(max(1, steps), 0.0).x) if total.is_sum else "",
        stems=() if total.is_sum else tuple(spots),
        limit_y=spot(1, total.limit).y,
        base_y=spot(1, 0.0).y,
        left=_LEFT,
        right=WIDTH - _RIGHT,
        breach=spot(*total.breach) if total.breach else None,
        rest=spot(max(1, steps), total.known) if total.known > by_steps else None,
        last_step=steps,
    )


def _stairs(spots: Sequence[Spot], start: Spot, end: float) -> str:
    """Return a step line, in which each amount stays until the next change."""
    points = [(start.x, start.y)]
    for spot in spots:
        points += [(spot.x, points[-1][1]), (spot.x, spot.y)]
    points.append((end, points[-1][1]))
    return " ".join(f"{x:g},{y:g}" for x, y in points)


class Box(NamedTuple):
    """A step of a loop."""

    x: int
    y: int
    number: int
    letter: str
    hue: int  #: colour number of the letter, 0 to 5


class Bracket(NamedTuple):
    """One round of a loop, or its part in a row."""

    x: int
    y: int
    width: int
    round: int


@dataclass(frozen=True, slots=True)
class LoopStrip:
    """The steps of a loop in rows, one box each, with a bracket around each round."""

    boxes: tuple[Box, ...]
    brackets: tuple[Bracket, ...]
    width: int
    height: int
    hidden: int  #: number of steps without a box


def loop_strip(loop: ShownLoop) -> LoopStrip:
    """Return the first 240 steps of a loop as boxes; rows consist of complete rounds if these are short enough."""
    shown = loop.members[:_BOXES_SHOWN]
    period = loop.period or 1
    in_row = period * (_BOXES_IN_ROW // period) or _BOXES_IN_ROW
    height = ROW_HEIGHT if period > 1 else BOX + 4

    boxes = tuple(
        Box(at % in_row * BOX, at // in_row * height, step.number, step.letter, hue_of(step.letter))
        for at, step in enumerate(shown)
    )
    brackets = []
    if period > 1:
        for at in range(0, len(shown), period):
            brackets += _brackets(at, min(at + period, len(shown)), at // period + 1, in_row)
    hidden = max(loop.steps, len(loop.members)) - len(shown)
    rows = -(-len(shown) // in_row)
    width = min(len(shown), in_row) * BOX
    return LoopStrip(boxes, tuple(brackets), width, rows * height, hidden)


def _brackets(start: int, end: int, number: int, in_row: int) -> list[Bracket]:
    """Return the brackets around a round, one for each row that it spans."""
    found = []
    while start < end:
        stop = min(end, (start // in_row + 1) * in_row)
        y = start // in_row * ROW_HEIGHT
        found.append(Bracket(start % in_row * BOX, y, (stop - start) * BOX, number))
        start = stop
    return found


def hue_of(letter: str) -> int:
    """Return the number of a letter's colour, one of six."""
    return ord(letter[:1] or "A") % 6
