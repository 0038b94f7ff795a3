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
    ResultRow,
    check_result,
    check_status,
    further_checks,
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
    """What the columns of a table say of a result, by the names of the columns."""

    outcome: Outcome
    verdict: str | None = None  #: None, like the score, if the job was not graded
    score: float | None = None
    expected: Any = None
    observed: Any = None
    reason: str | None = None  #: None, like the cause, if there is none to name
    cause: str | None = None
    error_code: str | None = None
    error_message: str | None = None

    @classmethod
    def of(cls, row: ResultRow) -> Judgement:
        """Return what the columns say of a whole result line."""
        expected, observed = row.compared()
        return cls(
            outcome=row.outcome,
            verdict=row.verdict,
            score=row.score,
            expected=expected,
            observed=observed,
            reason=row.reason() or None,
            cause=row.cause or None,
            error_code=row.error.code if row.error else None,
            error_message=row.error.message if row.error else None,
        )


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
        """Return the same as `Judgement.of` the whole result line, in a fraction of the time."""
        result, error = self.result, self.error
        code, message = (error.code, error.message) if error else (None, None)
        reason: Any = str(error) if error else None
        cause: str | None = None
        if result is None:
            outcome = UNGRADED[self.status]
            cause = code if outcome is Outcome.ERRORED else None
            return Judgement(
                *(outcome, None, None, None, None, reason or None, cause or None, code, message)
            )
        checks, details = result.evidence, result.details
        outcome, deciding = OUTCOME_OF[result.verdict], checks[0]
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
                if not reason and deciding.description:
                    others = sum(not check.passed for check in checks) - 1
                    reason = f"{deciding.description}{further_checks(others)}"
                cause = named_cause(deciding.check, deciding.cause) or None
        expected, observed = details.expected_original, details.actual_original
        if expected is msgspec.UNSET:
            # No single check decides a pass of several.
            is_decided = not deciding.passed or len(checks) == 1
            expected, observed = (deciding.limit, deciding.observed) if is_decided else (None, None)
        return Judgement(
            *(outcome, result.verdict, result.score, expected, observed),
            *(str(reason) if reason else None, cause, code, message),
        )


_decode = msgspec.json.Decoder(TableRow).decode
