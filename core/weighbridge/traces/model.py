"""The trace: what one run of an agent did, step by step, whatever format it was written in."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from msgspec import Struct

StepType = Literal["llm", "tool", "agent", "user", "system", "other"]
Capability = Literal["llm_calls", "tool_calls", "token_usage", "timing", "cost", "tool_definitions"]
CAPABILITIES: tuple[Capability, ...] = (
    "llm_calls",
    "tool_calls",
    "token_usage",
    "timing",
    "cost",
    "tool_definitions",
)
#: Capabilities that are totals of a run, its time among them; a total is a lower bound if a part of the run is not known.
COUNTED: tuple[Capability, ...] = ("llm_calls", "tool_calls", "token_usage", "cost", "timing")


class Usage(Struct, frozen=True, gc=False):
    """Token counts; None for each count that the source does not record."""

    input_tokens: int | None = None  #: cached ones included
    output_tokens: int | None = None
    total_tokens: int | None = None  #: as recorded; see `total`
    cached_tokens: int | None = None  #: the part of the input that came from a cache
    cache_write_tokens: int | None = None  #: the part of the input that was written to a cache
    #: The part of `cache_write_tokens` kept for an hour, at another price.
    cache_write_1h_tokens: int | None = None
    is_partial: bool = False  #: True if the output was counted before it was complete

    @property
    def total(self) -> int | None:
        """The total as recorded, or else the sum of input and output if both are known."""
        if self.total_tokens is not None:
            return self.total_tokens
        if self.input_tokens is None or self.output_tokens is None:
            return None
        return self.input_tokens + self.output_tokens


# A trace has thousands of steps, and a Struct is created in a tenth of the time of a frozen dataclass. A step cannot be part
# of a reference cycle, so the garbage collector need not track it.
class Step(Struct, frozen=True, gc=False):
    """One thing that happened: a model call, a tool call, a message."""

    id: str  #: unique within the trace: the source's own, else `s1`, `s2`, ... by its number
    type: StepType
    parent_id: str | None = None  #: the step that this one is part of or was caused by
    name: str | None = None  #: name of the tool or the agent
    input: Any = None  #: JSON; the step's input
    output: Any = None  #: JSON; the step's output: an assistant's text, a tool's result
    #: A tool call's arguments: an object, or else the source's text; None if they are not recorded.
    arguments: Any = None
    error: str | None = None  #: reason for the failure, if the source records one
    model: str | None = None
    usage: Usage | None = None
    cost_usd: float | None = None
    started_at: int | None = None  #: nanoseconds since 1970-01-01 UTC
    ended_at: int | None = None  #: the same
    #: True if the source only shows `arguments` in words or with some of the fields: their JSON is then not known.
    arguments_as_shown: bool = False
    #: Of a model call, why its answer ended: `stop`, `length`, `tool_call`, `content_filter`, `error`, or the source's own word.
    finish_reason: str | None = None


class Counts(Struct, frozen=True, gc=False):
    """Counts that the source itself states for a run; None for each one that it does not state."""

    llm_calls: int | None = None
    tool_calls: int | None = None
    #: Number of steps as the trace model has them: those read, and those the source counts beyond them.
    steps: int | None = None


class ToolDefinition(Struct, frozen=True, gc=False):
    """A tool that the agent was offered."""

    name: str
    schema: Any = None  #: JSON Schema of its arguments; None where the source gives none
    description: str = ""


@dataclass(frozen=True, slots=True)
class Trace:
    """One run of an agent."""

    id: str | None
    steps: tuple[Step, ...]
    format: str  #: the id of the importer that read it
    tools: tuple[ToolDefinition, ...] = ()
    metadata: dict[str, Any] = field(default_factory=dict)
    usage: Usage | None = None  #: usage of the whole run, if the source records it
    cost_usd: float | None = None  #: cost of the whole run, if the source records it
    counts: Counts | None = None  #: counts of the whole run, if the source records them
    totals_from: str = ""  #: the source's fields with these totals, for display
    #: The run's start in nanoseconds since 1970-01-01 UTC, if the source records it.
    started_at: int | None = None
    ended_at: int | None = None
    #: How long the whole run took in milliseconds, if the source states it.
    duration_ms: int | None = None
    #: How long it took at least, if the source has records around its steps.
    least_duration_ms: int | None = None
    duration_from: str = ""  #: what states one of these, for display, unless it is `totals_from`
    #: Capabilities that the source lacks, with reasons.
    missing: dict[Capability, str] = field(default_factory=dict)
    #: Readable notes on source data that the model cannot represent.
    not_carried: tuple[str, ...] = ()

    def steps_of(self, *types: StepType) -> list[Step]:
        """Return the steps of some types, in order."""
        return [step for step in self.steps if step.type in types]
