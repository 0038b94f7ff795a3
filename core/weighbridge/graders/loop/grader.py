"""The `loop` grader: fails an agent's run in which the same calls or texts are repeated without progress."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from weighbridge.graders.base import GraderRequirements, GraderResult
from weighbridge.graders.config import parse_config
from weighbridge.graders.loop.config import LoopConfig
from weighbridge.graders.trace_grader import TraceGrader

if TYPE_CHECKING:
    from weighbridge.graders.loop.judgement import RunJudge
    from weighbridge.traces import Trace


class LoopGrader(TraceGrader):
    """Passes when the agent does not repeat the same calls or texts without progress."""

    id = "loop"
    name = "Loop"
    description = "Repeated similar steps"
    version = 50
    Config = LoopConfig
    settings: LoopConfig

    @classmethod
    def requirements(cls, config: dict[str, Any] | None = None) -> GraderRequirements:
        """Return the step types examined, and tool calls as a requirement if these are examined.

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

    @classmethod
    def preload(cls) -> None:
        """Import the search for loops, whose patterns take 0.1 s to compile."""
        import_module("weighbridge.graders.loop.judgement")

    def judge(self, trace: Trace) -> GraderResult:
        """Detect steps that repeat each other."""
        return self._run_judge().judge(trace, self.lacking(trace, "tool_calls"))

    def blank_details(self) -> dict[str, object]:
        """Return the details of a trace that cannot be read."""
        return self._run_judge().blank_details()

    def _run_judge(self) -> RunJudge:
        from weighbridge.graders.loop.judgement import RunJudge

        return RunJudge(self.settings)
