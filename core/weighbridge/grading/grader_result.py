"""Conversion of a grader's return value to a result line and an outcome."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weighbridge.errors import Fault
from weighbridge.grading.grader_cache import ReadyGrader, brief
from weighbridge.jobs.error_codes import ErrorCode
from weighbridge.jobs.grader_spec import GraderSpec
from weighbridge.jobs.outcome import Outcome
from weighbridge.jobs.result_line import classify, graded_to_bytes

if TYPE_CHECKING:
    from weighbridge.graders.base import GraderResult
    from weighbridge.grading.case import Case
    from weighbridge.grading.inputs import Inputs
    from weighbridge.jobs.chunk import Line

#: A result line, with its outcome, cause and score; a plain tuple for speed.
Graded = tuple[bytes, Outcome, str, float]


def to_result_line(
    line: Line,
    case: Case,
    inputs: Inputs,
    spec: GraderSpec,
    ready: ReadyGrader,
    result: GraderResult,
) -> Graded | Fault:
    """Return the line of a result, or a fault if the result is invalid."""
    try:
        outcome, cause = classify(result)
        line_written = graded_to_bytes(
            case.custom_id,
            line.number,
            (spec.label, spec.grader, ready.version, ready.receipts.config_digest),
            result,
            inputs.metadata_of(case) if ready.reads_trace else case.metadata,
            ready.receipts.of(inputs.canonical, result),
        )
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001 - a plug-in may return anything
        return Fault(
            ErrorCode.GRADER_CRASHED,
            f"the grader returned no valid result: {brief(error)}",
            "graders return a GraderResult of plain JSON types",
        )
    return line_written, outcome, cause, result["score"]
