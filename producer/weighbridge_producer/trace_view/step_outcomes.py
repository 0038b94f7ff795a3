"""What a step came to: its error, and its output if that is not the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from weighbridge.traces import Step


def error_and_output(step: Step) -> tuple[str, Any]:
    """Return the error of a step, empty if it has none, and the output of a tool call; if one contains the other, only that one."""
    error = step.error or ""
    output = step.output if step.type == "tool" else None
    if error and type(output) is str:
        if output.strip() in error:
            return error, None
        if error in output:
            return output, None
    return error, output
