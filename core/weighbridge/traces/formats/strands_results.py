"""Results of several Strands agents in a graph or a swarm: their last answers, their times and the tokens of each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weighbridge.traces.fields import (
    Notes,
    StepIds,
    content_of,
    count_of,
    counted,
    missing_of,
    object_of,
    read_usage,
    scalars,
    string_of,
)
from weighbridge.traces.model import Step, Trace

if TYPE_CHECKING:
    from weighbridge.traces.model import Capability

_KIND = "multiagent_result"
_NO_CALLS = "results of several agents have their last answers, not the calls of models and tools"
_REASONS: dict[Capability, str] = {
    "token_usage": "these results have no accumulated_usage",
    "timing": "these results have no execution_time",
    "cost": "Strands records no cost, and these results have no tokens",
    "tool_definitions": "Strands does not record the tools that were offered",
}


def is_result(value: dict[str, Any]) -> bool:
    """Return whether an object is the result of several agents."""
    results = value.get("results")
    return (
        value.get("type") == _KIND
        and type(results) is dict
        and all(type(each) is dict and "result" in each for each in results.values())
    )


def read_result(value: dict[str, Any]) -> Trace:
    """Return the result of several agents as a trace with a step for each, below that of the agents that held it."""
    notes = Notes()
    steps: list[Step] = []
    _add_agents(value, None, steps, StepIds(), notes)
    usage, took = counted(read_usage(value.get("accumulated_usage"))), value.get("execution_time")
    missing = missing_of(steps, _REASONS, usage=usage)
    if count_of(took) is not None:
        missing.pop("timing", None)
    return Trace(
        id=None,
        steps=tuple(steps),
        format="strands",
        usage=usage,
        totals_from="accumulated_usage" if usage else "",
        duration_ms=count_of(took),
        metadata=scalars(status=value.get("status")),
        missing={"llm_calls": _NO_CALLS, "tool_calls": _NO_CALLS, **missing},
        not_carried=notes.summaries(),
    )


def _add_agents(
    value: dict[str, Any], parent: str | None, steps: list[Step], ids: StepIds, notes: Notes
) -> None:
    for name, node in value["results"].items():
        result = object_of(node["result"])
        inner = result if is_result(result) else None
        message = object_of(result.get("message"))
        step = Step(
            id=ids.take(name, len(steps) + 1),
            type="agent",
            parent_id=parent,
            name=name,
            output=content_of(message.get("content"), notes),
            error=_error(node, result),
            usage=None if inner else counted(read_usage(node.get("accumulated_usage"))),
        )
        steps.append(step)
        if inner:
            _add_agents(inner, step.id, steps, ids, notes)


def _error(node: dict[str, Any], result: dict[str, Any]) -> str | None:
    if result.get("type") == "exception":
        return string_of(result.get("message")) or "error"
    return "failed" if node.get("status") == "failed" else None
