"""The summary line above a trace's timeline, in the terminal and on pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weighbridge.text import pluralize

if TYPE_CHECKING:
    from weighbridge.traces import Trace


def summary_facts(trace: Trace) -> tuple[str, ...]:
    """Return a trace's format and its numbers of steps, calls and, if known, tokens, as texts."""
    calls = trace.steps_of("llm")
    stated = trace.usage.total if trace.usage else None
    tokens = stated or sum((step.usage.total or 0) for step in calls if step.usage)
    facts = (
        trace.format,
        pluralize(len(trace.steps), "step"),
        pluralize(len(calls), "model call"),
        pluralize(len(trace.steps_of("tool")), "tool call"),
    )
    return (*facts, pluralize(tokens, "token")) if tokens else facts
