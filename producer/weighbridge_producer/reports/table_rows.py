"""Result lines as rows of tables need them, decoded in two thirds of the time that a ResultRow takes."""

from __future__ import annotations

from typing import Any

import msgspec

from weighbridge.errors import Fault
from weighbridge.jobs.damaged_data import DAMAGED_DATA
from weighbridge.jobs.outcome import OUTCOME_OF, UNGRADED, VACUOUS, Outcome
from weighbridge.jobs.result_line import (
    GraderVersion,
    LineNumber,
    check_result,
    check_status,
    named_cause,
    not_a_result_line,
)


class _Details(msgspec.Struct, gc=False):
    reason: Any = None
    expected_original: Any = msgspec.UNSET
    actual_original: Any = None


# A plug-in's evidence may lack a description, or have values of other types.
class _Check(msgspec.Struct, gc=False):
    check: Any
    passed: Any
    description: Any = ""
    cause: Any = None
    limit: Any = None
    observed: Any = None


class _Verdict(msgspec.Struct, gc=False):
    verdict: str
    score: Any
    details: _Details
    evidence: list[_Check]


class Judgement(msgspec.Struct, gc=False):
    """What the columns of a table say of a result, each as the ResultRow has it."""

    outcome: Outcome
    score: str  #: as Python writes it; empty if the job was not graded
    expected: Any
    observed: Any
    reason: str
    cause: str


class TableRow(msgspec.Struct, frozen=True, gc=False):
    """The fields of a ResultRow, without the parts of its result that no table shows."""

    custom_id: str | None
    line: LineNumber
    label: str | None
    grader: str | None
    grader_version: GraderVersion | None
    config_digest: str | None
    status: str
    result: _Verdict | None
    error: Fault | None
    metadata: dict[str, Any] | None
    receipt: str | None

    @classmethod
    def from_bytes(cls, line: bytes) -> TableRow:
        """Parse a result line, with integers over 64 bits kept as they are; raises ValueError for other data."""
        try:
            row = _decode(line)
            if row.result is None:
                check_status(row.status, is_graded=False)
            else:
                check_result(row.result.verdict, row.result.score, row.result.evidence)
        except DAMAGED_DATA as error:
            raise not_a_result_line(error) from error
        return row

    def judgement(self) -> Judgement:
        """Return what the columns say."""
        result, error = self.result, self.error
        if result is None:
            outcome = UNGRADED[self.status]
            cause = error.code if error and outcome is Outcome.ERRORED else ""
            return Judgement(outcome, "", None, None, str(error or ""), cause)
        checks, details = result.evidence, result.details
        outcome, deciding = OUTCOME_OF[result.verdict], checks[0]
        reason: Any = error or ""
        cause = ""
        for check in checks:
            if not check.passed:
                deciding = check
                break
        if outcome is Outcome.PASSED:
            for check in checks:
                if check.check == VACUOUS:
                    cause = VACUOUS
        else:
            reason = reason or details.reason
            if not deciding.passed:
                reason = reason or deciding.description
                cause = named_cause(deciding.check, deciding.cause)
        expected, observed = details.expected_original, details.actual_original
        if expected is msgspec.UNSET:
            expected, observed = deciding.limit, deciding.observed
        return Judgement(outcome, str(result.score), expected, observed, str(reason or ""), cause)


_decode = msgspec.json.Decoder(TableRow).decode
