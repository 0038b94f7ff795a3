"""Helpers for steps that all importers use: unique IDs, and the reasons why capabilities are missing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weighbridge.traces.model import CAPABILITIES, Capability, Step, ToolDefinition, Usage

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_ID_LIMIT = 256  #: maximum length of an ID; evidence quotes IDs and must stay small


def missing_of(
    steps: Sequence[Step],
    reasons: Mapping[Capability, str],
    *,
    tools: Sequence[ToolDefinition] = (),
    usage: Usage | None = None,
    cost_usd: float | None = None,
    started_at: int | None = None,
) -> dict[Capability, str]:
    """Return the capabilities that neither a trace's steps nor its run totals have, each with the format's reason.

    Cost can be computed from tokens and the model's price, so it is missing only if the tokens are missing, too.
    """
    has_usage, has_cost, has_times = usage is not None, cost_usd is not None, started_at is not None
    for step in steps:
        has_usage = has_usage or (step.usage is not None and step.type in {"llm", "agent"})
        has_cost = has_cost or step.cost_usd is not None
        has_times = has_times or bool(step.started_at or step.ended_at)
    has = {
        "llm_calls": True,
        "tool_calls": True,
        "token_usage": has_usage,
        "timing": has_times,
        "cost": has_cost or has_usage,
        "tool_definitions": bool(tools),
    }
    return {name: reasons[name] for name in CAPABILITIES if not has[name]}


class StepIds:
    """Unique step IDs: the source's ID, with a suffix if it is repeated, or else the step's number."""

    def __init__(self) -> None:
        self._used: dict[str, int] = {}

    def take(self, wanted: Any, number: int) -> str:
        """Return the ID of a step by its number, from 1; `wanted` is the source's ID, if it has a usable one."""
        used = self._used
        if type(wanted) is str and 0 < len(wanted) <= _ID_LIMIT and wanted.isprintable():
            name = wanted
        else:
            name = f"s{number}"
        while name in used:
            used[name] += 1
            name = f"{name}#{used[name]}"
        used[name] = 1
        return name
