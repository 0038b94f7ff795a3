"""Pass rates over time: a line chart of the batches of one source, oldest first."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from weighbridge_producer.pages.addresses import batch_at
from weighbridge_producer.pages.batch_outcome import pass_rate

if TYPE_CHECKING:
    from collections.abc import Iterable

    from weighbridge.jobs.batch_state import BatchState

WIDTH, HEIGHT = 280, 56
_MARGIN = 6
_LEAST_FOR_THREE = 5  #: points of a chart that has a tick between the first and the last one
_SOURCES_SHOWN = 3
#: Names of inputs without one of their own, whose batches have nothing in common.
_UNNAMED = frozenset({"", "upload", "pasted lines", "standard input", "cases"})


class RatePoint(NamedTuple):
    """The pass rate of one batch."""

    x: float
    y: float
    rate: float  #: in percent
    at: float  #: creation time of the batch, in seconds since the epoch
    href: str


class Tick(NamedTuple):
    """A mark on the axis of time, below the point of a batch."""

    x: float
    anchor: str  #: the end of the text that stands below the mark, as SVG calls it
    text: str


class RateHistory(NamedTuple):
    """The pass rates of the batches of one source."""

    source: str
    points: tuple[RatePoint, ...]

    @property
    def ticks(self) -> list[Tick]:
        """The days of the first and the last batch, and of one between them; for batches of one day, the times."""
        points = self.points
        texts = _dates([point.at for point in points])
        first, middle, last = 0, len(points) // 2, len(points) - 1
        chosen = [(first, "start"), (last, "end")]
        if len(points) >= _LEAST_FOR_THREE and texts[middle] not in (texts[first], texts[last]):
            chosen.append((middle, "middle"))
        return [Tick(points[place].x, anchor, texts[place]) for place, anchor in chosen]

    @property
    def line(self) -> str:
        """The points of a polyline."""
        return " ".join(f"{point.x:g},{point.y:g}" for point in self.points)


def rate_histories(batches: Iterable[tuple[BatchState, str]]) -> list[RateHistory]:
    """Return the histories of the sources with the most ended batches that have a pass rate, at least two each."""
    by_source: dict[str, list[tuple[BatchState, float]]] = {}
    for state, source in batches:
        rate = pass_rate(state.counts)
        if source not in _UNNAMED and rate is not None and state.status.final:
            by_source.setdefault(source, []).append((state, rate))
    several = [(source, found) for source, found in by_source.items() if len(found) > 1]
    several.sort(key=lambda each: -len(each[1]))
    return [_history(source, found) for source, found in several[:_SOURCES_SHOWN]]


def _dates(moments: list[float]) -> list[str]:
    """Return moments as short texts in UTC: days, with years if these differ, or times if all are on one day."""
    times = [datetime.fromtimestamp(at, UTC) for at in moments]
    days = [f"{at.day} {at:%b}" for at in times]
    if len({at.date() for at in times}) == 1:
        return [f"{days[0]}, {times[0]:%H:%M}", *(f"{at:%H:%M}" for at in times[1:])]
    if len({at.year for at in times}) > 1:
        return [f"{day} {at.year}" for day, at in zip(days, times, strict=True)]
    return days


def _history(source: str, found: list[tuple[BatchState, float]]) -> RateHistory:
    in_time = sorted(found, key=lambda each: each[0].created_at)
    # Evenly spaced, because a time scale would bunch runs and waste the gaps.
    step = (WIDTH - 2 * _MARGIN) / (len(in_time) - 1)
    return RateHistory(
        source,
        tuple(
            RatePoint(
                round(_MARGIN + step * number, 2),
                round(_MARGIN + (HEIGHT - 2 * _MARGIN) * (1 - rate / 100), 2),
                rate,
                state.created_at,
                batch_at(state.batch_id),
            )
            for number, (state, rate) in enumerate(in_time)
        ),
    )
