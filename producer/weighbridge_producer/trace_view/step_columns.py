"""The columns of a timeline's row: tokens, time, and the step's position on the run's time axis."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from weighbridge.text import compact, elapsed, pluralize

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weighbridge.traces import Step, Usage

AXIS_WIDTH = 100.0
_LEAST_WIDTH = 1.0  #: so that a very short step is visible
_NANOSECONDS = 1e9


class AxisBar(NamedTuple):
    """The position of a step on the time axis, in units of `AXIS_WIDTH`."""

    x: float
    width: float


class StepColumns(NamedTuple):
    """Additional information about a step; empty if the trace does not record it."""

    tokens: str
    tokens_in_full: str  #: with their parts
    took: str
    began: str
    bar: AxisBar | None
    facts: tuple[str, ...]  #: model, cost
    seconds: float | None = None  #: duration
    model_bar: AxisBar | None = None  #: of the model step in the same row


class TimeAxis(NamedTuple):
    """The time span of a run, from the start of its first step to the end of its last."""

    start: int  #: nanoseconds
    end: int

    @property
    def duration_text(self) -> str:
        """The duration as text."""
        return elapsed((self.end - self.start) / _NANOSECONDS)


def axis_of(steps: Sequence[Step]) -> TimeAxis | None:
    """Return the time axis of a run; None if it has fewer than two distinct times."""
    times = [at for step in steps for at in (step.started_at, step.ended_at) if at is not None]
    if not times or min(times) == max(times):
        return None
    return TimeAxis(min(times), max(times))


def columns_of(step: Step, axis: TimeAxis | None) -> StepColumns:
    """Return the columns of a step."""
    facts = [step.model] if step.model else []
    if step.cost_usd is not None:
        facts.append(f"{step.cost_usd:.6g} USD")
    took = began = ""
    seconds = None
    if step.started_at is not None and axis:
        began = f"at {elapsed((step.started_at - axis.start) / _NANOSECONDS)}"
    if step.started_at is not None and step.ended_at is not None:
        seconds = max(0, step.ended_at - step.started_at) / _NANOSECONDS
        took = elapsed(seconds)
    tokens, in_full = _tokens(step.usage) if step.usage else ("", "")
    return StepColumns(tokens, in_full, took, began, _bar(step, axis), tuple(facts), seconds)


def joined_columns(model: StepColumns, call: StepColumns) -> StepColumns:
    """Return the columns of a row for a model step and the call that it makes: their tokens, and their time together."""
    known = [each.seconds for each in (model, call) if each.seconds is not None]
    first = model if model.tokens else call
    return call._replace(
        tokens=first.tokens,
        tokens_in_full=first.tokens_in_full,
        took=elapsed(sum(known)) if known else "",
        began=model.began or call.began,
        model_bar=model.bar,
    )


def _bar(step: Step, axis: TimeAxis | None) -> AxisBar | None:
    if axis is None or step.started_at is None:
        return None
    scale = AXIS_WIDTH / (axis.end - axis.start)
    x = (step.started_at - axis.start) * scale
    width = max(_LEAST_WIDTH, (max(step.ended_at or 0, step.started_at) - step.started_at) * scale)
    return AxisBar(round(min(x, AXIS_WIDTH - width), 2), round(width, 2))


def _tokens(usage: Usage) -> tuple[str, str]:
    """Return the tokens of a step, in short form and in full."""
    parts = {
        "in": usage.input_tokens,
        "out": usage.output_tokens,
        "cached": usage.cached_tokens or None,
    }
    counted = [f"{count:,} {way}" for way, count in parts.items() if count is not None]
    known = [count for count in (usage.input_tokens, usage.output_tokens) if count is not None]
    total = usage.total if usage.total is not None else sum(known)
    if not counted and usage.total is None:
        return "", ""
    whole = pluralize(total, "token")
    return compact(total), f"{whole}: {', '.join(counted)}" if counted else whole
