"""The counts of a trace, and the summary line above its timeline, in the terminal and on pages."""

from __future__ import annotations

from decimal import localcontext
from typing import TYPE_CHECKING, Any

from weighbridge.graders.budget.limit_table import LIMITS
from weighbridge.graders.budget.measurements import ARITHMETIC, Measurements
from weighbridge.graders.budget.readings import Readings
from weighbridge.text import pluralize

if TYPE_CHECKING:
    from collections.abc import Mapping

    from weighbridge.graders.budget.limit_table import Measured
    from weighbridge.traces import Capability, Trace

#: The limits whose measurements are in a summary.
_SUMMED_UP = ("max_llm_calls", "max_tool_calls", "max_tokens")
#: The limits whose measurements can be known in part although the source lacks no capability.
_EXPLAINED = ("max_tokens", "max_cost_usd")
#: By capability: the measurement of which a part can be known although the source lacks it, and the noun for what it measures.
_OF_CAPABILITY: Mapping[Capability, tuple[Measured, str]] = {
    **{
        limit.capability: (limit.measured, f"{limit.noun}s")
        for limit in (LIMITS[name] for name in (*_SUMMED_UP, *_EXPLAINED))
        if limit.capability
    },
    "timing": ("duration_ms", "times"),
}
_CALLS = frozenset({"tool_calls", "llm_calls"})


def measured(trace: Trace) -> dict[str, Any]:
    """Return what the `budget` grader measures in a trace, by the names of its details; costs are those stated."""
    with localcontext(ARITHMETIC):
        return Measurements(trace, with_prices=False).details()


def reasons_for_lower_bounds(trace: Trace) -> dict[Measured, str]:
    """Return why the tokens and the cost of a trace are known in part, by the names of the details, as `budget` says it."""
    with localcontext(ARITHMETIC):
        measured_run = Measurements(trace, with_prices=False)
        readings = Readings(
            measured_run, lambda name, _: trace.missing[name], ignores_missing=False
        )
        lower_bounds: Any = measured_run.details()["at_least"]
        return {
            LIMITS[name].measured: readings.of(name).inexact_reason
            for name in _EXPLAINED
            if LIMITS[name].measured in lower_bounds
        }


def summary_facts(trace: Trace) -> tuple[str, ...]:
    """Return a trace's format and its numbers of steps, calls and, if known, tokens, as texts."""
    counts = measured(trace)
    facts = [trace.format, pluralize(len(trace.steps), "step")]
    for limit in (LIMITS[name] for name in _SUMMED_UP):
        name, noun = limit.measured, limit.noun
        is_least = name in counts["at_least"]
        if is_least and not counts[name]:
            facts.append(f"{noun}s not known")
        elif counts[name] or name != "total_tokens":
            facts.append(("at least " if is_least else "") + pluralize(counts[name], noun))
    return tuple(facts)


def lacks_in_words(trace: Trace) -> dict[Capability, str]:
    """Return for each capability that a trace lacks what that is, such as "tool calls not known"."""
    counts = measured(trace) if trace.missing else {}
    return {capability: lack(capability, counts) for capability in trace.missing}


def lack(capability: Capability, counts: Mapping[str, float | None]) -> str:
    """Return in words what a trace lacks: all of it, or a part where the counts have some."""
    measurement, things = _OF_CAPABILITY.get(capability, (None, ""))
    if measurement and counts.get(measurement):
        return f"not all {things}"
    if measurement in _CALLS:
        return f"{things} not known"
    return f"no {capability.replace('_', ' ')}"
