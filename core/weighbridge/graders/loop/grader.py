"""Passes when no step of a run repeats itself to no use."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from weighbridge.graders.base import (
    GraderConfig,
    GraderRequirements,
    GraderResult,
    Verdict,
    graded,
)
from weighbridge.graders.config import as_tuple, parse_config
from weighbridge.graders.loop import ticket
from weighbridge.graders.loop.calls import History, history_of
from weighbridge.graders.loop.identity import Identities
from weighbridge.graders.loop.limits import DEFAULT_THRESHOLD, STEPS_LIMIT, Effort, Limits
from weighbridge.graders.loop.loops import Loop, loops_of
from weighbridge.graders.loop.repeated_calls import loops_in_calls
from weighbridge.graders.loop.repeated_texts import loops_in_texts
from weighbridge.graders.trace_grader import TraceGrader
from weighbridge.traces import Step, StepType, Trace
from weighbridge.traces.hidden_calls import ACTIONS_IN_TEXT

CALL_TYPES = frozenset(("tool", "agent"))
_DEFAULT_TYPES: tuple[StepType, ...] = ("tool", "llm")


_StepTypes = Annotated[tuple[StepType, ...], Field(min_length=1), BeforeValidator(as_tuple)]


class LoopConfig(GraderConfig):
    """When repetition is a loop, and which steps are examined."""

    max_repeats: int = Field(
        default=3,
        ge=1,
        le=1_000,
        description="one step more often than that in a row is a loop; so are as many full rounds of two or more "
        "steps (at least 2)",
    )
    similarity_threshold: float = Field(
        default=DEFAULT_THRESHOLD,
        ge=0.0,
        le=1.0,
        description="how alike two steps are that count as one, 0 to 1; at 1 only case, white space, punctuation, "
        "word order and small words make no difference; below the default, short questions with the same short result count too",
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
        description="false takes calls with the same arguments for the same, whatever they came to",
    )


class LoopGrader(TraceGrader):
    """Passes when the agent does not do or say the same things again and again."""

    id = "loop"
    name = "Loop"
    description = "Repeated similar steps"
    version = 1
    Config = LoopConfig
    settings: LoopConfig

    def prepare(self) -> None:
        """Sort the step types into calls and texts."""
        given = self.settings
        chosen = frozenset(given.step_types)
        self._call_types = chosen & CALL_TYPES or frozenset(("tool",))
        self._text_types = chosen - CALL_TYPES or frozenset(("llm",))
        self._examines_calls = bool(chosen & CALL_TYPES)
        self._examines_texts = bool(chosen - CALL_TYPES)
        self._limits = Limits(given.max_repeats, given.similarity_threshold, given.max_period)

    @classmethod
    def requirements(cls, config: dict[str, Any] | None = None) -> GraderRequirements:
        """Return the step types examined; calls of tools are needed to examine these.

        Raises ConfigError or ConfigTypeError.
        """
        types = parse_config(cls.Config, config, cls.id).step_types
        return GraderRequirements(types, ("tool_calls",) if "tool" in types else ())

    @classmethod
    def example(cls) -> dict[str, Any]:
        """Return a run that polls until its job is done."""
        polls = [
            {
                "type": "tool",
                "name": "get_status",
                "arguments": {"job": "j1"},
                "output": f"{percent} %",
            }
            for percent in (20, 60, 100)
        ]
        return {
            "config": {"max_repeats": 3},
            "inputs": {"trace": {"format": "weighbridge", "steps": polls}},
        }

    def judge(self, trace: Trace) -> GraderResult:
        """Look for steps that repeat each other."""
        given = self.settings
        steps = trace.steps[:STEPS_LIMIT]
        on_calls, on_texts = Effort(), Effort()
        history = history_of(steps, self._call_types, self._text_types, on_calls)
        Identities(
            given.similarity_threshold, on_calls, compare_results=given.compare_results
        ).number(history)
        sight = ticket.Sight()
        loops = [
            *self._loops_in_calls(history, steps, sight),
            *self._loops_in_texts(history, steps, sight, on_texts),
        ]
        details = ticket.details(given, loops, sight)
        beyond = ticket.evidence_beyond_limits(
            trace, is_compared=on_calls.is_left and on_texts.is_left
        )
        if loops:
            evidence = ticket.evidence_of_loops(loops, self._limits) + beyond
            return graded(Verdict.FAIL, details, evidence, ticket.score(loops, sight))
        # Actions that stand in what the agent says were compared with the rest of it.
        is_told = "llm" in given.step_types and trace.missing.get("tool_calls") == ACTIONS_IN_TEXT
        needs_calls = "tool" in given.step_types and not is_told
        lacking = self.lacking(trace, "tool_calls") if needs_calls else []
        if lacking or len(steps) < len(trace.steps):
            return graded(Verdict.UNGRADABLE, details, lacking + beyond)
        evidence = ticket.evidence_of_none(sight, self._limits) + beyond
        return graded(Verdict.PASS, details, evidence)

    def blank_details(self) -> dict[str, object]:
        """Return the details of a trace that cannot be read."""
        return ticket.details(self.settings, [], ticket.Sight())

    def _loops_in_calls(
        self, history: History, steps: Sequence[Step], sight: ticket.Sight
    ) -> list[Loop]:
        if not self._examines_calls:
            return []
        row, found = loops_in_calls(history.calls, self._limits)
        sight.see(row, history.calls, self._limits.max_period)
        return loops_of(found, row, history.calls, steps)

    def _loops_in_texts(
        self, history: History, steps: Sequence[Step], sight: ticket.Sight, effort: Effort
    ) -> list[Loop]:
        if not self._examines_texts:
            return []
        with_calls = not self._examines_calls
        row, found = loops_in_texts(history.turns, self._limits, effort, with_calls=with_calls)
        spoken = [
            number if with_calls or not turn.calls else -1
            for number, turn in zip(row, history.turns, strict=True)
        ]
        sight.see(spoken, history.turns, self._limits.max_period)
        return loops_of(found, row, history.turns, steps)
