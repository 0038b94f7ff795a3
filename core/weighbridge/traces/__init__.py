"""Agent traces: one model, and importers from the formats that agents write."""

from weighbridge.traces.detect import FORMATS, read_trace, read_traces
from weighbridge.traces.model import (
    CAPABILITIES,
    Capability,
    Step,
    StepType,
    ToolDefinition,
    Trace,
    Usage,
)

__all__ = [
    "CAPABILITIES",
    "FORMATS",
    "Capability",
    "Step",
    "StepType",
    "ToolDefinition",
    "Trace",
    "Usage",
    "read_trace",
    "read_traces",
]
