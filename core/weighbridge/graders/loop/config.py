"""The loop grader's configuration."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from weighbridge.graders.base import GraderConfig
from weighbridge.graders.config import as_tuple
from weighbridge.graders.loop.work_budget import DEFAULT_THRESHOLD
from weighbridge.traces import StepType

CALL_TYPES = frozenset(("tool", "agent"))
MAX_REPEATS_LIMIT = 1_000  #: the largest `max_repeats`
_DEFAULT_TYPES: tuple[StepType, ...] = ("tool", "llm")
_StepTypes = Annotated[tuple[StepType, ...], Field(min_length=1), BeforeValidator(as_tuple)]


class LoopConfig(GraderConfig):
    """Thresholds of a loop, and the step types examined."""

    max_repeats: int = Field(
        default=3,
        ge=1,
        le=MAX_REPEATS_LIMIT,
        description="a step that occurs more often than this in a row is a loop, and so are this many full rounds (at least 2) of two or "
        "more steps; for four steps or more, half of the last round is enough if it is the third or a later one",
    )
    similarity_threshold: float = Field(
        default=DEFAULT_THRESHOLD,
        ge=0.0,
        le=1.0,
        description="how similar two steps must be to count as the same, 0 to 1; at 1, only case, white space, punctuation, "
        "word order and small words are ignored; below the default, short questions with the same short result count too",
    )
    max_period: int = Field(
        default=10, ge=1, le=50, description="the most steps in one round of a cycle"
    )
    step_types: _StepTypes = Field(
        default=_DEFAULT_TYPES,
        description="the steps examined: `tool` and `agent` as calls, the others as texts",
    )
    compare_results: bool = Field(
        default=True,
        description="if false, calls with the same arguments are the same, whatever their results",
    )
    fail_on: Literal["any", "unrecovered"] = Field(
        default="any",
        description="`unrecovered` accepts loops that the agent left: it did something else afterwards, and not only said that it gives up",
    )
