"""Agent traces: one model, and importers from the formats that agents write."""

from weighbridge.traces.known_formats import FORMATS, formats
from weighbridge.traces.model import (
    CAPABILITIES,
    Capability,
    Counts,
    Step,
    StepType,
    ToolDefinition,
    Trace,
    Usage,
)
from weighbridge.traces.read import read_trace, read_traces

__all__ = [
    "CAPABILITIES",
    "FORMATS",
    "Capability",
    "Counts",
    "Step",
    "StepType",
    "ToolDefinition",
    "Trace",
    "Usage",
    "formats",
    "read_trace",
    "read_traces",
]
