"""Entries: the parts of a result line that a comparison needs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from zlib import crc32

import msgspec

from weighbridge.graders.difference_reason import shorten_reason
from weighbridge.jobs.damaged_data import DAMAGED_DATA
from weighbridge.jobs.limits import NAME_LIMIT
from weighbridge.jobs.outcome import VACUOUS, Outcome
from weighbridge.jobs.result_line import (
    ResultRow,
    check_result,
    check_status,
    not_a_result_line,
)
from weighbridge.jobs.result_line_parts import CheckedVerdict, CheckLimit, read_compared_result
from weighbridge.text import shorten
from weighbridge_producer.gating.fields import Leaves, leaves_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from weighbridge_producer.gating.fields import FieldPath

_REASON_LIMIT = 200  #: characters
_COMPARED_LIMIT = 500  #: characters of an expected or observed text
_CHECKS_LIMIT = 16  #: per result
_STEPS_LIMIT = 24  #: per check
_STEP_LIMIT = 80  #: characters of a step's id


class FailedCheck(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A failed check: its name, its steps, and digests of its values and of the texts that were compared."""

    check: str
    step_ids: tuple[str, ...]
    steps: int  #: number of steps; `step_ids` are the first ones
    digest: int  #: of the limit, the observed value and all steps
    texts: int | None = None  #: of both texts before normalisation; None if none were compared

    def is_same(self, other: FailedCheck | None) -> bool:
        """Return whether another run failed the check in the same way; how equal texts were normalised does not matter."""
        if other is None:
            return False
        failed = (self.check, self.step_ids, self.steps)
        if failed != (other.check, other.step_ids, other.steps):
            return False
        return self.digest == other.digest or (self.texts is not None and self.texts == other.texts)


class Entry(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The parts of one result that a comparison stores, a few hundred bytes."""

    custom_id: str | None
    label: str | None
    line: int  #: line number in the run's input
    grader: str | None
    grader_version: int | None
    config: str  #: a digest of the configuration; empty if the grader was not created
    outcome: str
    cause: str  #: as counted in summaries; VACUOUS for a pass with nothing to check
    reason: str  #: why the job did not pass
    failed_checks: tuple[FailedCheck, ...]
    limits: dict[str, int]  #: by check: a digest of the threshold applied, or the value expected
    digest: int  #: of the whole result; 0 if the job was not graded
    receipt: str  #: the first characters; empty if the job was not graded
    fields: Leaves  #: the wanted metadata fields
    #: as in tables of results; None if it was not read, or there is none
    expected: str | None = None
    observed: str | None = None


_RECEIPT_CHARACTERS = 24  #: 96 bits, enough to detect differences
_PASS = str(Outcome.PASSED.verdict)
_Judged = tuple[str, str, str, tuple[FailedCheck, ...]]  #: outcome, cause, reason and failed checks
_PLAIN_PASS: _Judged = (str(Outcome.PASSED), "", "", ())
_VACUOUS_PASS: _Judged = (str(Outcome.PASSED), VACUOUS, "", ())


def read_entry(
    line: bytes, wanted: tuple[FieldPath, ...] | None = (), *, in_full: bool = False
) -> Entry:
    """Parse a result line, with the wanted metadata fields or all (None); ValueError if it is not a result.

    `in_full` adds the other metadata fields, and what was expected and observed.
    """
    found = read_compared_result(line)
    result = found.verdict()
    try:
        check_status(found.status, is_graded=result is not None)
        if result:
            check_result(result.verdict, result.score, result.evidence)
        fields = leaves_of(found.metadata, wanted)
        if in_full:
            fields = leaves_of(found.metadata, None) | fields
    except DAMAGED_DATA as error:
        raise not_a_result_line(error) from error
    names = (found.custom_id, found.label, found.grader, found.config_digest)
    if any(len(name) > NAME_LIMIT for name in names if name):
        raise ValueError(
            f"its custom_id, label, grader or config_digest has more than {NAME_LIMIT} characters"
        )
    limits = _limits(result) if result else {}
    if result and result.verdict == _PASS:
        judged = _VACUOUS_PASS if VACUOUS in limits else _PLAIN_PASS
    else:
        judged = _not_passed(line)
    return Entry(
        found.custom_id,
        found.label,
        found.line,
        found.grader,
        found.grader_version,
        found.config_digest or "",
        *judged,
        limits,
        crc32(found.result) if result else 0,
        found.receipt[:_RECEIPT_CHARACTERS] if found.receipt else "",
        fields,
        *(_compared(line) if in_full and result else ()),
    )


def _compared(line: bytes) -> Iterator[str | None]:
    """Yield what was expected and what was observed, values that are not texts as JSON."""
    row = ResultRow.with_exact_integers(line)
    try:
        for value in row.compared():
            is_text = value is None or isinstance(value, str)
            text = value if is_text else msgspec.json.encode(value).decode()
            yield text and shorten(text, _COMPARED_LIMIT)
    except DAMAGED_DATA as error:
        raise not_a_result_line(error) from error


def _not_passed(line: bytes) -> _Judged:
    """Return the outcome, cause, reason and failed checks of a job that did not pass."""
    row = ResultRow.with_exact_integers(line)
    try:
        texts = _texts_digest(row)
        failed = tuple(_failed_check(check, texts) for check in row.failed_checks[:_CHECKS_LIMIT])
        return str(row.outcome), row.cause, shorten_reason(row.reason(), _REASON_LIMIT), failed
    except DAMAGED_DATA as error:
        raise not_a_result_line(error) from error


def _texts_digest(row: ResultRow) -> int | None:
    """Return a digest of the texts that a grader compared, as they were given; None if it compared none."""
    if not row.result or "expected_original" not in row.result["details"]:
        return None
    return crc32(msgspec.json.encode(row.compared()))


def _failed_check(check: Any, texts: int | None) -> FailedCheck:
    steps = tuple(shorten(str(step), _STEP_LIMIT) for step in check["step_ids"][:_STEPS_LIMIT])
    shown = msgspec.json.encode([check.get("limit"), check.get("observed"), check["step_ids"]])
    return FailedCheck(
        str(check["check"])[:_STEP_LIMIT], steps, len(check["step_ids"]), crc32(shown), texts
    )


def _limits(result: CheckedVerdict) -> dict[str, int]:
    """Return a digest of each check's limit; repeated checks share one digest of all their limits.

    The limit of a check of certain steps may depend on what the agent did there, so it is left out. So is an answer that was
    accepted beside the case's own, which the response selects; the case's own is compared whole, as the limit is an excerpt.
    """
    evidence = result.evidence
    if len(evidence) == 1:
        if not _is_of_case(evidence[0]):
            return {}
        limit = evidence[0].limit
        if expected := result.expected():
            if expected.expected_index:
                return {}
            limit = expected.expected_original
        return {evidence[0].check: crc32(limit)}
    limits: dict[str, int] = {}
    for check in filter(_is_of_case, evidence):
        if len(limits) < _CHECKS_LIMIT or check.check in limits or check.check == VACUOUS:
            limits[check.check] = crc32(check.limit, limits.get(check.check, 0))
    return limits


def _is_of_case(check: CheckLimit) -> bool:
    return bytes(check.step_ids) == b"[]"
