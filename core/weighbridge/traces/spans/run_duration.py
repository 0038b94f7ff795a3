"""The duration of a run according to the spans around its steps, which need not be steps themselves."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypedDict

from weighbridge.text import encodable
from weighbridge.traces.spans.spans import parents_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from weighbridge.traces.model import Trace
    from weighbridge.traces.spans.spans import Parents, Span

_NAME_CHARACTERS = 60
_MILLISECOND = 10**6  #: in nanoseconds


class RunDuration(TypedDict, total=False):
    """Fields of a trace; empty if the spans do not tell its duration."""

    least_duration_ms: int
    duration_from: str


def run_duration(
    spans: Sequence[Span], steps: Iterable[Span], longer: frozenset[str]
) -> RunDuration:
    """Return how long the outermost spans around steps took, from the first start to the last end of these.

    Of one outermost span that is the duration that viewers of traces show. It is a lower bound, because the spans around it
    may not be recorded. Spans that end before they start do not count, nor do those of the IDs `longer`, in which other
    things than the run happened, and the spans around these.
    """
    parents = parents_of(spans)
    too_long = _with_ancestors((at for at, span in enumerate(spans) if span.id in longer), parents)
    within: Parents = [None if parent in too_long else parent for parent in parents]
    of_steps = {id(span) for span in steps}
    at_steps = (at for at, span in enumerate(spans) if id(span) in of_steps)
    around = _with_ancestors(at_steps, within) - too_long
    outermost = [spans[at] for at in sorted(around) if within[at] is None]
    times = [
        (span.started_at, span.ended_at)
        for span in outermost
        if span.started_at and span.ended_at and span.started_at <= span.ended_at
    ]
    if not times:
        return {}
    took = max(end for _, end in times) - min(start for start, _ in times)
    where = f"the span {outermost[0].name[:_NAME_CHARACTERS]!r}"
    return {
        "least_duration_ms": took // _MILLISECOND,
        "duration_from": encodable(where) if len(outermost) == 1 else "the outermost spans",
    }


def with_duration(trace: Trace, took_ms: int | None, where: str) -> Trace:
    """Return a trace of which the source states the duration, in the fields `where`."""
    if not took_ms:
        return trace
    is_longest = took_ms >= (trace.least_duration_ms or 0)
    return replace(
        trace, duration_ms=took_ms, duration_from=where if is_longest else trace.duration_from
    )


def spans_but(own: Iterable[Span], spans: Iterable[Span]) -> list[Span]:
    """Return the spans that are not among the agent's own."""
    known = {id(span) for span in own}
    return [span for span in spans if id(span) not in known]


def _with_ancestors(indices: Iterable[int], parents: Parents) -> set[int]:
    """Return spans and all of their ancestors, each of them visited once."""
    found: set[int] = set()
    for start in indices:
        index: int | None = start
        while index is not None and index not in found:
            found.add(index)
            index = parents[index]
    return found
