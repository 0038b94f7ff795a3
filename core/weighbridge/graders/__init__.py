"""Deterministic judges of agent outputs and traces."""

from weighbridge.graders.base import (
    Evidence,
    Grader,
    GraderConfig,
    GraderInterface,
    GraderRequirements,
    GraderResult,
    OutputGrader,
    Strings,
    Verdict,
    graded,
)
from weighbridge.graders.budget import BudgetGrader
from weighbridge.graders.loop import LoopGrader
from weighbridge.graders.registry import Registry, default_registry
from weighbridge.graders.string_match import StringMatchGrader
from weighbridge.graders.tool_schema import ToolSchemaGrader
from weighbridge.graders.trace_grader import TraceGrader
from weighbridge.graders.true_false import TrueFalseGrader

__all__ = [
    "BudgetGrader",
    "Evidence",
    "Grader",
    "GraderConfig",
    "GraderInterface",
    "GraderRequirements",
    "GraderResult",
    "LoopGrader",
    "OutputGrader",
    "Registry",
    "StringMatchGrader",
    "Strings",
    "ToolSchemaGrader",
    "TraceGrader",
    "TrueFalseGrader",
    "Verdict",
    "default_registry",
    "graded",
]
