"""Parts of result lines, for passes over all results of a run: decoding one takes at most half the time of a ResultRow.

The functions raise ValueError for data that is not a result line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
import orjson

from weighbridge.errors import Fault
from weighbridge.graders.base import Verdict
from weighbridge.jobs.damaged_data import DAMAGED_DATA
from weighbridge.jobs.outcome import OUTCOME_OF, UNGRADED, VACUOUS, JobStatus, Outcome
from weighbridge.jobs.result_line import (
    GraderVersion,
    JobProfile,
    LineNumber,
    cause_of,
    not_a_result_line,
)

if TYPE_CHECKING:
    from collections.abc import Callable

_Part = TypeVar("_Part", bound=msgspec.Struct)


def field_bytes(name: str, value: str) -> bytes:
    """Return bytes that are in every line with this value in a field or in its result, and in a few others."""
    return orjson.dumps({name: value})[1:-1]


#: In every line of an errored job, and in others that have the same in their metadata.
ERRORED_BYTES = field_bytes("status", JobStatus.ERRORED)
#: In every line of a passed job that a built-in grader judged, and in others that have the same in their metadata.
PASSED_BYTES = field_bytes("verdict", Verdict.PASS) + b',"details"'


def _reader(part: type[_Part]) -> Callable[[bytes | msgspec.Raw], _Part]:
    """Return a function that decodes a part of a line."""
    decode = msgspec.json.Decoder(part).decode

    def read(line: bytes | msgspec.Raw) -> _Part:
        try:
            return decode(line)
        except DAMAGED_DATA as error:
            raise not_a_result_line(error) from error

    return read


class _Numbered(msgspec.Struct, gc=False):
    line: LineNumber


_read_numbered = _reader(_Numbered)


def line_number_of(line: bytes) -> int:
    """Return the number of the input line that a result belongs to."""
    return _read_numbered(line).line


class LabelledMetadata(msgspec.Struct, gc=False):
    """What decides the columns of a table of results."""

    label: str | None
    metadata: dict[str, Any] | None


read_labelled_metadata = _reader(LabelledMetadata)


class _ScoredVerdict(msgspec.Struct, gc=False):
    verdict: str
    score: float
    evidence: msgspec.Raw

    def cause(self, outcome: Outcome) -> str:
        evidence = bytes(self.evidence)
        # Most jobs pass, and few of them are vacuous.
        if outcome is Outcome.PASSED and _VACUOUS_BYTES not in evidence:
            return ""
        return cause_of(outcome, orjson.loads(evidence))


_VACUOUS_BYTES = orjson.dumps(VACUOUS)


class _Profiled(msgspec.Struct, gc=False):
    line: int
    status: str
    label: str | None
    grader: str | None
    result: _ScoredVerdict | None
    error: Fault | None


_profiled = msgspec.json.Decoder(_Profiled)


def profile_of(line: bytes) -> tuple[int, JobProfile, float | None]:
    """Return a result's line number, profile and score, for the index of a batch's cases."""
    try:
        row = _profiled.decode(line)
        if row.result is None:
            outcome = UNGRADED[row.status]
            cause = row.error.code if row.error and row.status == JobStatus.ERRORED else ""
            return row.line, JobProfile(row.label, row.grader, outcome, cause), None
        outcome = OUTCOME_OF[row.result.verdict]
        score = row.result.score if outcome.has_score else None
        profile = JobProfile(row.label, row.grader, outcome, row.result.cause(outcome))
        return row.line, profile, score
    except DAMAGED_DATA as error:
        raise not_a_result_line(error) from error


class CheckLimit(msgspec.Struct, gc=False):
    """The name of a check in the evidence, its limit as JSON, and the steps of the agent's run that it is about as JSON."""

    check: str
    limit: msgspec.Raw = msgspec.Raw(b"null")
    step_ids: msgspec.Raw = msgspec.Raw(b"[]")


class CheckedVerdict(msgspec.Struct, gc=False):
    """The parts of a grader's result that a comparison needs of a passed job."""

    verdict: str
    score: float
    evidence: list[CheckLimit]
    details: msgspec.Raw = msgspec.Raw(b"{}")

    def expected(self) -> ExpectedAnswer | None:
        """Return which accepted answer was compared; None if the details do not say so."""
        if _INDEX_BYTES not in bytes(self.details):
            return None
        found = _read_expected_answer(self.details)
        says_so = bytes(found.expected_original) and type(found.expected_index) is int
        return found if says_so else None


class ExpectedAnswer(msgspec.Struct, gc=False):
    """The accepted answer that a response was compared with, as JSON, and which one it is: 0 for the case's own."""

    expected_original: msgspec.Raw = msgspec.Raw(b"")
    expected_index: Any = None  # a plug-in's details may have a field of this name


_INDEX_BYTES = b'"expected_index":'
_read_expected_answer = _reader(ExpectedAnswer)
_read_checked_verdict = _reader(CheckedVerdict)


class ComparedResult(msgspec.Struct, gc=False):
    """What a comparison needs of a result line, with the nested parts left as JSON."""

    custom_id: str | None
    line: LineNumber
    label: str | None
    grader: str | None
    grader_version: GraderVersion | None
    config_digest: str | None
    status: str
    result: msgspec.Raw
    metadata: msgspec.Raw
    receipt: str | None

    def verdict(self) -> CheckedVerdict | None:
        """Return the verdict; None if the job was not graded."""
        return None if bytes(self.result) == b"null" else _read_checked_verdict(self.result)


read_compared_result = _reader(ComparedResult)


class _WithCase(msgspec.Struct, gc=False):
    case: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


_read_with_case = _reader(_WithCase)


def case_in(line: bytes) -> bytes | None:
    """Return the case that was added to a result line, as JSON; None if it has none."""
    case = _read_with_case(line).case
    return None if case is msgspec.UNSET else bytes(case)
