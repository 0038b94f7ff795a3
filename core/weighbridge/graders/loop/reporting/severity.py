"""Severity of a loop: its position in the run, whether the agent recovered, and its cost."""

from __future__ import annotations

from bisect import bisect_left
from itertools import accumulate, groupby
from typing import TYPE_CHECKING, NamedTuple

from weighbridge.graders.loop.history.call_kinds import ends_work
from weighbridge.graders.loop.reporting.giving_up import gives_up

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from collections.abc import Set as AbstractSet

    from weighbridge.graders.loop.history.actions import Call, History, Message
    from weighbridge.traces import Step

_NANOSECONDS_IN_MS = 1_000_000


class Severity(NamedTuple):
    """Position of a loop in its run, whether the agent recovered, and the cost from the first repeat until recovery.

    An unrecovered loop costs until the run ends.
    """

    began_at: int  #: the number of its first step in the run, from 1
    last_at: int  #: of its last step
    run_steps: int
    recovered: bool  #: whether the agent did something else afterwards
    wasted_steps: int
    wasted_tokens: int | None  #: None unless all model calls report theirs
    wasted_ms: int | None  #: None if the trace has no times
    wasted_usd: float | None  #: None unless all model calls report theirs


class Run:
    """Steps of a run with loops; computing the severity of a loop takes time bounded by the loop's length."""

    def __init__(self, steps: Sequence[Step], history: History, looped: AbstractSet[str]) -> None:
        self._steps = steps
        self._at = {step.id: index for index, step in enumerate(steps)}
        said = _answers(history.turns)
        done = (
            call
            for call in reversed(history.calls)
            if call is not None and call.step.id not in looped and _is_gain(call)
        )
        self._last_gain = max(self._first_outside(said, looped), self._first_outside(done, looped))
        used = [step.usage.total if step.usage else None for step in steps]
        self._tokens = _Sums(steps, used)
        self._usd = _Sums(steps, [step.cost_usd for step in steps])
        self._starts = [index for index, step in enumerate(steps) if step.started_at is not None]
        times = (max(step.started_at or 0, step.ended_at or 0) for step in steps)
        self._latest = list(accumulate(times, max))

    def _first_outside(self, items: Iterable[Call | Message], looped: AbstractSet[str]) -> int:
        return next((self._at[item.step.id] for item in items if item.step.id not in looped), -1)

    def severity_of(self, found: Sequence[Step], repeats: Sequence[Step]) -> Severity:
        """Return the severity of a loop, given its steps and its repeats (all steps but the first of each kind)."""
        indices = [self._at[step.id] for step in found]
        first, last = min(indices), max(indices)
        recovered = self._last_gain > last
        # Equal calls within one message were all requested before the first of them.
        start = max(first + 1, min(map(self._requested_at, repeats), default=last))
        end = last + 1 if recovered else len(self._steps)
        tokens, usd = self._tokens.between(start, end), self._usd.between(start, end)
        return Severity(
            began_at=first + 1,
            last_at=last + 1,
            run_steps=len(self._steps),
            recovered=recovered,
            wasted_steps=end - start,
            wasted_tokens=None if tokens is None else int(tokens),
            wasted_ms=self._milliseconds(start, end),
            wasted_usd=None if usd is None else round(usd, 9),
        )

    def _requested_at(self, step: Step) -> int:
        """Return the index from which a step incurs cost: the model answer that requests it, if known."""
        index = self._at[step.id]
        requested = index if step.parent_id is None else self._at.get(step.parent_id, index)
        return requested if requested < index and self._steps[requested].type == "llm" else index

    def _milliseconds(self, start: int, end: int) -> int | None:
        """Return the time from the first known start to the last known time, in milliseconds."""
        at = bisect_left(self._starts, start)
        if at == len(self._starts) or self._starts[at] >= end:
            return None
        began = self._steps[self._starts[at]].started_at or 0
        return max(0, self._latest[end - 1] - began) // _NANOSECONDS_IN_MS


def _answers(turns: Sequence[Message]) -> Iterator[Message]:
    """Yield the answers without calls, the last ones first, but none to a request to which the last one only says that the agent gives up."""
    said = (turn for turn in reversed(turns) if turn.text and not turn.calls)
    for _, to_request in groupby(said, key=lambda turn: turn.requests_before):
        answers = list(to_request)
        if not gives_up(answers[0].text):
            yield from answers


def _is_gain(call: Call) -> bool:
    """Return whether a call succeeded, and does not end the run by saying that the agent gives up."""
    return not call.result.is_unsuccessful and not (
        ends_work(call) and gives_up(call.arguments.texts)
    )


class _Sums:
    """Prefix sums of a figure that model calls report, for any range of a run."""

    def __init__(self, steps: Sequence[Step], stated: Sequence[float | None]) -> None:
        model_calls = [step.type == "llm" for step in steps]
        known = [
            is_model and value is not None
            for is_model, value in zip(model_calls, stated, strict=True)
        ]
        values = (
            value or 0 if is_known else 0 for is_known, value in zip(known, stated, strict=True)
        )
        self._sums = list(accumulate(values, initial=0))
        self._known = list(accumulate(known, initial=0))
        self._model_calls = list(accumulate(model_calls, initial=0))

    def between(self, start: int, end: int) -> float | None:
        """Return the sum over a range of steps, or None if it has no model call or one that does not report the figure."""
        known = self._known[end] - self._known[start]
        if not known or known < self._model_calls[end] - self._model_calls[start]:
            return None
        return self._sums[end] - self._sums[start]
