"""Durations of a run and its steps in nanoseconds, according to its trace."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from weighbridge.traces import Step, Trace

_NANOSECONDS_LIMIT = 2**63  #: the year 2262; later times are ignored
_MILLISECOND = 10**6
_CALLS = frozenset({"llm", "tool"})


class Duration(Struct, frozen=True):
    """The time between the first and the last time in a trace."""

    nanoseconds: int  #: the exact value if `is_exact`, else a lower bound
    is_exact: bool
    is_stated: bool  #: True if there are at least two times
    is_of_run: bool  #: True if the run itself states its start and its end, or how long it took
    first: int  #: the first time
    #: the steps with the first and the last time, unless the run states them
    edges: tuple[Step, ...]


class Latencies(Struct, frozen=True):
    """Durations of single steps."""

    timed: tuple[tuple[Step, int], ...]  #: in trace order
    untimed: tuple[Step, ...]  #: calls of models and tools without both times
    slowest: tuple[Step, int] | None


class RunTimes:
    """The times of one trace."""

    def __init__(self, trace: Trace) -> None:
        self._steps = trace.steps
        self._stated = (trace.duration_ms or 0) * _MILLISECOND  #: 0 if it is not stated
        self._least = (trace.least_duration_ms or 0) * _MILLISECOND
        self._run_started, self._run_ended = valid_times((trace.started_at, trace.ended_at))
        self._started = valid_times([step.started_at for step in trace.steps])
        self._ended = valid_times([step.ended_at for step in trace.steps])
        times = self._started + self._ended
        self._has_no_times = times.count(None) == len(times)

    @property
    def are_recorded(self) -> bool:
        """Whether the trace has any time."""
        return not self._has_no_times or bool(self._run_started or self._run_ended)

    def duration(self) -> Duration:
        """Return the wall-clock time of the run, from its times.

        If the run does not state both its start and its end, but how long it took, that counts, unless its steps took longer.
        """
        by_times = self._between_times()
        stated = max(self._stated, self._least)
        if not stated or by_times.is_of_run:
            return by_times
        is_longer = by_times.nanoseconds > stated
        known = (self._run_started, self._run_ended, *self._started, *self._ended)
        return Duration(
            max(by_times.nanoseconds, stated),
            is_exact=bool(self._stated) or by_times.is_exact,
            is_stated=True,
            is_of_run=bool(self._stated),
            first=min((time for time in known if time is not None), default=0),
            edges=by_times.edges if is_longer else (),
        )

    def stated_and_timed(self) -> tuple[int, int] | None:
        """Return how long the run took as stated, and by its times, in nanoseconds; None if one of these is not known or not used."""
        stated, by_times = max(self._stated, self._least), self._between_times()
        if not stated or not by_times.is_stated or by_times.is_of_run:
            return None
        return stated, by_times.nanoseconds

    def _between_times(self) -> Duration:
        """Return the time from the first start to the last end.

        Steps in between need no times. The start is known if stated by the run, by its first call of a model or tool,
        or by an earlier step; the end if stated by the run, if its last call has any time, or if a later step has.
        """
        by_run = [time for time in (self._run_started, self._run_ended) if time is not None]
        by_steps: list[int] = []
        if not self._has_no_times:
            by_steps = [time for time in (*self._started, *self._ended) if time is not None]
        if len(by_run) + len(by_steps) < 2:
            return Duration(0, is_exact=False, is_stated=False, is_of_run=False, first=0, edges=())
        first, last = min(by_run + by_steps), max(by_run + by_steps)
        edges = {self._index_of(time) for time in (first, last) if time not in by_run}
        return Duration(
            last - first,
            is_exact=self._has_start() and self._has_end(),
            is_stated=True,
            is_of_run=len(by_run) == 2,
            first=first,
            edges=tuple(self._steps[at] for at in sorted(edges)),
        )

    def first_after(self, time: int) -> tuple[Step, int] | None:
        """Return the first step with a later time, and that time; None if only the run states one."""
        return next(((step, latest) for step, _, latest in self._moments() if latest > time), None)

    def latest(self) -> Iterator[tuple[Step, int]]:
        """Yield the latest time so far at each step with a time; the end of a step around others counts at the last of these."""
        for _, at, latest in self._moments():
            yield at, latest

    def _moments(self) -> Iterator[tuple[Step, Step, int]]:
        """Yield each step with a time, the step at which it counts, and the latest time so far; steps around others end after these."""
        closing = self._closing()
        around = {outer for outers in closing.values() for outer in outers}
        latest = 0
        for at, step in enumerate(self._steps):
            ended = None if at in around else self._ended[at]
            stated = [time for time in (self._started[at], ended) if time is not None]
            if stated:
                latest = max(latest, *stated)
                yield step, step, latest
            for outer in closing.get(at, ()):
                latest = max(latest, self._ended[outer] or 0)
                yield self._steps[outer], step, latest

    def _closing(self) -> dict[int, list[int]]:
        """Return the steps around others, by the last step in each, innermost first.

        A step is around those that were caused by it and begin before it ends.
        """
        numbers = {step.id: at for at, step in enumerate(self._steps)}
        last = list(range(len(self._steps)))  #: by step: the last one caused by it
        begins: list[int | None] = [None] * len(self._steps)  #: the first start among these
        closing: dict[int, list[int]] = {}
        for at in range(len(self._steps) - 1, -1, -1):
            begun, ended = begins[at], self._ended[at]
            if begun is not None and ended is not None and begun < ended:
                closing.setdefault(last[at], []).append(at)
            parent = self._steps[at].parent_id
            outer = numbers.get(parent) if parent is not None else None
            if outer is not None and outer < at:
                last[outer] = max(last[outer], last[at])
                known = [time for time in (self._started[at], begun, begins[outer]) if time]
                begins[outer] = min(known, default=None)
        return closing

    def latencies(self) -> Latencies:
        """Return the durations of calls of models and tools, and of other steps that contain none.

        A step around others, such as an agent's, is excluded, because it includes their durations.
        """
        if self._has_no_times:
            calls = tuple([step for step in self._steps if step.type in _CALLS])
            return Latencies((), calls, None)
        around = {step.parent_id for step in self._steps}
        timed: list[tuple[Step, int]] = []
        untimed: list[Step] = []
        for step, started, ended in zip(self._steps, self._started, self._ended, strict=True):
            is_call = step.type in _CALLS
            # Ignore the times of a step that ends before it starts.
            if started is not None and ended is not None and ended >= started:
                if is_call or step.id not in around:
                    timed.append((step, ended - started))
            elif is_call:
                untimed.append(step)
        slowest = max(timed, key=lambda found: found[1], default=None)
        return Latencies(tuple(timed), tuple(untimed), slowest)

    def _index_of(self, time: int) -> int:
        return min(times.index(time) for times in (self._started, self._ended) if time in times)

    def _has_start(self) -> bool:
        if self._run_started is not None:
            return True
        for step, started in zip(self._steps, self._started, strict=True):
            if started is not None or step.type in _CALLS:
                return started is not None
        return False

    def _has_end(self) -> bool:
        if self._run_ended is not None:
            return True
        for at in reversed(range(len(self._steps))):
            is_stated = self._started[at] is not None or self._ended[at] is not None
            if is_stated or self._steps[at].type in _CALLS:
                return is_stated
        return False


def valid_times(times: Sequence[object]) -> list[int | None]:
    """Return times in nanoseconds since 1970; None for invalid ones."""
    if times.count(None) == len(times):  # most traces have none
        return [None] * len(times)
    return [time if type(time) is int and 0 < time < _NANOSECONDS_LIMIT else None for time in times]
