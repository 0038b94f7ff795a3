"""The limits of `budget`: what each one limits, its unit, and what it needs of a trace."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Mapping

    from weighbridge.traces import Capability, StepType

PER_TOOL = "max_tool_calls_per_tool"

Measured = Literal[
    "input_tokens",
    "output_tokens",
    "total_tokens",
    "llm_calls",
    "tool_calls",
    "tool_calls_by_tool",
    "steps",
    "duration_ms",
    "max_step_latency_ms",
    "cost_usd",
]
"""A measurement that has a limit, by its name in the details of a result."""


class Limit(Struct, frozen=True):
    """A limit that a configuration can set."""

    measured: Measured
    unit: str  #: the unit after an amount, in the plural: "tokens", "ms"
    noun: str  #: the name of one of what is limited: "token", "tool call"
    capability: Capability | None = None  #: the capability that the trace needs
    step_types: tuple[StepType, ...] = ()  #: types of the steps that are counted or added up


#: By name in the configuration. Only `PER_TOOL` has several limits, one for each tool.
LIMITS: Mapping[str, Limit] = MappingProxyType(
    {
        "max_tokens": Limit("total_tokens", "tokens", "token", "token_usage", ("llm",)),
        "max_input_tokens": Limit(
            "input_tokens", "input tokens", "input token", "token_usage", ("llm",)
        ),
        "max_output_tokens": Limit(
            "output_tokens", "output tokens", "output token", "token_usage", ("llm",)
        ),
        "max_tool_calls": Limit("tool_calls", "tool calls", "tool call", "tool_calls", ("tool",)),
        PER_TOOL: Limit("tool_calls_by_tool", "calls", "call", "tool_calls", ("tool",)),
        "max_llm_calls": Limit("llm_calls", "model calls", "model call", "llm_calls", ("llm",)),
        "max_steps": Limit("steps", "steps", "step"),
        "max_duration_ms": Limit("duration_ms", "ms", "duration", "timing"),
        "max_step_latency_ms": Limit(
            "max_step_latency_ms", "ms", "latency", "timing", ("llm", "tool")
        ),
        "max_cost_usd": Limit("cost_usd", "USD", "cost", "cost", ("llm",)),
    }
)
#: The limits by what they limit.
BY_MEASUREMENT: Mapping[Measured, Limit] = MappingProxyType(
    {limit.measured: limit for limit in LIMITS.values()}
)


def limit_of(check: str) -> tuple[Limit, str]:
    """Return the limit of an evidence entry's check, and the tool if it is for a single one, else "".

    Raises KeyError if the check is not a limit.
    """
    if check in LIMITS and check != PER_TOOL:
        return LIMITS[check], ""
    name, dot, tool = check.partition(".")
    if name != PER_TOOL or not dot:
        raise KeyError(check)
    return LIMITS[name], tool


def check_of_tool(tool: str) -> str:
    """Return the name of the check of the limit for a single tool."""
    return f"{PER_TOOL}.{tool}"
