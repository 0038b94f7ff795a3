"""Costs of zero that many programs write where they have no price for the model, or no tokens."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from msgspec import structs

from weighbridge.traces.fields import counted

if TYPE_CHECKING:
    from collections.abc import Callable

    from weighbridge.traces.model import Step, Trace


_FREE = ":free"  #: suffix of the names of OpenRouter's free models
_UNRECORDED = "costs of zero stand beside answers whose tokens are not recorded"


def without_zero_costs(trace: Trace) -> Trace:
    """Return a trace without costs of zero that stand for an unknown cost.

    If all costs are zero although tokens were used or a model answered, all are removed. If some are not zero and steps
    have tokens, those of answers without tokens are removed. Costs of models that are free by name stay. So do those of the
    native form, whose author wrote the zero for this program.
    """
    stated = [step.cost_usd for step in trace.steps if step.cost_usd is not None]
    stated += [] if trace.cost_usd is None else [trace.cost_usd]
    if not stated or all(stated) or trace.format == "native":
        return trace
    of_steps = any(counted(step.usage) for step in trace.steps)
    if any(stated):
        return _without_costs_of(trace, _is_unrecorded, _UNRECORDED) if of_steps else trace
    models = {step.model or "" for step in trace.steps_of("llm")}
    if models and all(model.endswith(_FREE) for model in models):
        return trace
    if of_steps or counted(trace.usage):
        return _without_costs(trace, "costs of zero although tokens were used")
    if not _has_answer(trace):
        return trace
    trace = _without_costs(trace, _UNRECORDED)
    return replace(trace, missing={"cost": _UNRECORDED, **trace.missing})


def _without_costs(trace: Trace, note: str) -> Trace:
    """Return a trace without any cost, with a note of how many there were."""
    of_run = trace.cost_usd is not None
    trace = _without_costs_of(trace, lambda _: True, note, others=of_run)
    return replace(trace, cost_usd=None)


def _without_costs_of(
    trace: Trace, is_unknown: Callable[[Step], bool], note: str, *, others: int = 0
) -> Trace:
    """Return a trace without the costs of some steps, with a note of their number, to which `others` is added."""
    left = [step.cost_usd is not None and is_unknown(step) for step in trace.steps]
    count = sum(left) + others
    if not count:
        return trace
    steps = tuple(
        structs.replace(step, cost_usd=None) if is_left else step
        for step, is_left in zip(trace.steps, left, strict=True)
    )
    return replace(trace, steps=steps, not_carried=(*trace.not_carried, f"{note} ({count:,})"))


def _is_unrecorded(step: Step) -> bool:
    """Return whether a step is an answer without tokens, and its cost is 0."""
    return (
        step.type == "llm"
        and step.cost_usd == 0
        and not counted(step.usage)
        and bool(step.output)
        and step.error is None
        and not (step.model or "").endswith(_FREE)
    )


def _has_answer(trace: Trace) -> bool:
    """Return whether a model answered: said something, or asked for a call."""
    kinds = {step.type for step in trace.steps}
    return {"llm", "tool"} <= kinds or any(
        bool(step.output) and step.error is None for step in trace.steps_of("llm")
    )
