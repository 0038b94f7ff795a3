"""Result lines: what a grader returned, written as one line and counted as one outcome."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weighbridge.errors import Fault
from weighbridge.grading.grader_cache import ReadyGrader, brief
from weighbridge.grading.receipt import encode_result, receipt
from weighbridge.jobs.model import ErrorCode, GraderSpec
from weighbridge.jobs.outcome import OUTCOME_OF, VACUOUS, JobStatus, Outcome

if TYPE_CHECKING:
    from weighbridge.graders.base import GraderResult
    from weighbridge.grading.case import Case
    from weighbridge.grading.inputs import Inputs
    from weighbridge.jobs.chunk import Line

CAUSE_LIMIT = 120
#: A job's result as a line, and what it is counted as: outcome, cause and score. A plain tuple, made for every job.
Graded = tuple[bytes, Outcome, str, float]
_GRADED = str(JobStatus.GRADED)


def classify(result: GraderResult) -> tuple[Outcome, str]:
    """Return what a result is counted as and why; raise anything for what is no result."""
    outcome = OUTCOME_OF[result["verdict"]]
    if not 0.0 <= result["score"] <= 1.0:
        raise ValueError(f"the score is {result['score']}")
    if type(result["details"]) is not dict or not result["evidence"]:
        raise ValueError("it lacks details or evidence")
    if outcome is not Outcome.PASSED:
        return outcome, _cause(result)
    for entry in result["evidence"]:
        if entry["check"] == VACUOUS:
            return outcome, VACUOUS
    return outcome, ""


def _cause(result: GraderResult) -> str:
    """Name why a job did not pass: by check and match status, never by text that quotes the input."""
    check = next((str(entry["check"]) for entry in result["evidence"] if not entry["passed"]), "")
    status = result["details"].get("match_status")
    named = f"{check}: {status}" if isinstance(status, str) and status != check else check
    return named[:CAUSE_LIMIT]


def written(
    line: Line,
    case: Case,
    inputs: Inputs,
    spec: GraderSpec,
    ready: ReadyGrader,
    result: GraderResult,
) -> Graded | Fault:
    """Write the line of a result; an error says what is wrong with the result."""
    try:
        outcome, cause = classify(result)
        row = result_line(
            *(line.number, case.custom_id, spec.label, spec.grader, ready.version),
            *(_GRADED, result, None, case.metadata),
            receipt(ready.subject, inputs.canonical, result),
        )
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001 - a plug-in may return anything
        return Fault(
            ErrorCode.GRADER_CRASHED,
            f"the grader returned no valid result: {brief(error)}",
            "graders return a GraderResult of plain JSON types",
        )
    return row, outcome, cause, result["score"]


def result_line(
    line: int,
    custom_id: str | None,
    label: str | None,
    grader: str | None,
    version: int | None,
    status: str,
    result: GraderResult | None,
    error: Fault | None,
    metadata: dict[str, Any] | None = None,
    proof: str | None = None,
) -> bytes:
    """Write one line of results."""
    return encode_result(
        {
            "custom_id": custom_id,
            "line": line,
            "label": label,
            "grader": grader,
            "grader_version": version,
            "status": status,
            "result": result,
            "error": error,
            "metadata": metadata,
            "receipt": proof,
        }
    )
