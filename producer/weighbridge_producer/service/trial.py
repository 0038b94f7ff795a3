"""Trials: single jobs graded at once, without the queue, in the sandbox."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import orjson

from weighbridge.errors import Fault, LineError, TrialsBusyError, WeighbridgeError
from weighbridge.grading.line_grader import LineGrader
from weighbridge.grading.strict_json import decode_line
from weighbridge.grading.tally import Tally
from weighbridge.jobs.chunk import Line
from weighbridge.jobs.error_codes import ErrorCode
from weighbridge.jobs.result_line import ResultRow
from weighbridge_producer.sandbox.pool import SandboxLimitError, SandboxStartError

if TYPE_CHECKING:
    from weighbridge_producer.service.service import Service

_FIELDS = {"inputs", "config"}
_LINE = 1  #: line number of the only job
_LESS = "try a smaller input"


async def run_trial(service: Service, grader_id: str, body: bytes, project: str) -> ResultRow:
    """Grade one job in the sandbox, and return its result.

    `body` is JSON, `{"inputs": {...}, "config": {...} or null}`, and may be hostile: problems with it become the
    result's `error`. Raises TrialsBusyError if there are too many trials, in total or in the project.
    """
    with await service.trials.turn(project):
        try:
            return await service.sandbox.run(grade, grader_id, body)
        except SandboxStartError:
            raise TrialsBusyError("no process for trying a grader can be started now") from None
        except SandboxLimitError as error:
            fault = _limit_fault(error.code, service.settings.job_deadline_seconds)
            return ResultRow.ungraded(fault, _LINE)


def _limit_fault(code: ErrorCode, seconds: float) -> Fault:
    """Return the fault of a job that exceeded a limit."""
    if code == ErrorCode.TIMEOUT:
        hint = f"raise WEIGHBRIDGE_JOB_DEADLINE_SECONDS, or {_LESS}"
        return Fault(code, f"the job did not end within {seconds:g} s", hint)
    if code == ErrorCode.OUT_OF_MEMORY:
        return Fault(code, "the job needs more memory than it may have", _LESS)
    hint = f"most likely it needed too much memory: {_LESS}"
    return Fault(code, "the process that graded the job crashed", hint)


def grade(grader_id: str, body: bytes) -> ResultRow:
    """Grade one job in this process, for `run_trial`."""
    try:
        line = _line(grader_id, body)
    except WeighbridgeError as error:
        return ResultRow.ungraded(error.fault, _LINE)
    return ResultRow.from_bytes(_line_grader().grade(Line(0, _LINE, line), Tally()))


@cache
def _line_grader() -> LineGrader:
    """Return the line grader of this process, which caches graders."""
    return LineGrader()


def _line(grader_id: str, body: bytes) -> bytes:
    """Convert the request to an input line; raises LineError if it is invalid."""
    asked = decode_line(body)
    for name in sorted(asked.keys() - _FIELDS):
        raise LineError(
            ErrorCode.UNKNOWN_FIELD,
            f"unknown field {name[:80]!r}",
            "known: inputs, config",
        )
    if type(asked.get("inputs")) is not dict:
        raise LineError(
            ErrorCode.MISSING_FIELD,
            "'inputs' must be an object",
            'send {"inputs": {...}, "config": {...} or null}',
        )
    return orjson.dumps({"custom_id": "trial", "grader": grader_id, **asked})
