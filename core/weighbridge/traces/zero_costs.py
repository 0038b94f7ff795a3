"""Costs of zero that many programs write where they have no price for the model."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from msgspec import structs

from weighbridge.traces.fields import counted

if TYPE_CHECKING:
    from weighbridge.traces.model import Trace


_FREE = ":free"  #: how OpenRouter's names of models end that cost nothing


def without_zero_costs(trace: Trace) -> Trace:
    """Return a trace without its costs if all of them are zero although tokens were used: they are not known.

    The native form is unchanged: its author wrote the zero for this program. So are calls of models that are free by name.
    """
    stated = [step.cost_usd for step in trace.steps if step.cost_usd is not None]
    stated += [] if trace.cost_usd is None else [trace.cost_usd]
    if not stated or any(stated) or trace.format == "native":
        return trace
    if not (counted(trace.usage) or any(counted(step.usage) for step in trace.steps)):
        return trace
    models = {step.model or "" for step in trace.steps_of("llm")}
    if models and all(model.endswith(_FREE) for model in models):
        return trace
    note = f"costs of zero although tokens were used ({len(stated):,})"
    return replace(
        trace,
        steps=tuple(
            step if step.cost_usd is None else structs.replace(step, cost_usd=None)
            for step in trace.steps
        ),
        cost_usd=None,
        not_carried=(*trace.not_carried, note),
    )
