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
from weighbridge.graders.registry import Registry, default_registry
from weighbridge.graders.string_match import StringMatchGrader
from weighbridge.graders.trace_grader import TraceGrader
from weighbridge.graders.true_false import TrueFalseGrader

__all__ = [
    "Evidence",
    "Grader",
    "GraderConfig",
    "GraderInterface",
    "GraderRequirements",
    "GraderResult",
    "OutputGrader",
    "Registry",
    "StringMatchGrader",
    "Strings",
    "TraceGrader",
    "TrueFalseGrader",
    "Verdict",
    "default_registry",
    "graded",
]
