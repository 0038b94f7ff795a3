"""Result lines: what is told of one job, written as a line of JSON and read again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from typing import Any

import msgspec
import orjson

from weighbridge.errors import Fault
from weighbridge.graders.base import Evidence, GraderResult
from weighbridge.jobs.outcome import OUTCOME_OF, UNGRADED, VACUOUS, JobStatus, Outcome

CAUSE_LIMIT = 120  #: characters
_UNDECODABLE = (msgspec.MsgspecError, ValueError, TypeError, RecursionError)


class ResultRow(msgspec.Struct, frozen=True, gc=False):
    """One result line. Its fields stand in the order in which they are written."""

    custom_id: str | None  #: None where the line tells none
    line: int  #: of the input, from 1; 0 where it is not known any more
    label: str | None  #: None, with grader and version, where the line is no case
    grader: str | None
    grader_version: int | None  #: None where the grader was not built
    config_digest: str | None  #: of its configuration with the defaults filled in; None likewise
    status: str  #: a JobStatus
    result: Mapping[str, Any] | None  #: a GraderResult; None unless the job is graded
    error: Fault | None  #: why it is not graded
    metadata: Mapping[str, Any] | None  #: the case's own
    receipt: str | None  #: None unless the job is graded

    @classmethod
    def from_bytes(cls, line: bytes) -> ResultRow:
        """Read what `to_bytes` wrote; ValueError for anything else."""
        try:
            return msgspec.convert(orjson.loads(line), cls)
        except _UNDECODABLE as error:
            raise ValueError(f"this is no result line: {error}") from error

    @classmethod
    def with_exact_integers(cls, line: bytes) -> ResultRow:
        """Read the same in half the time; integers over 64 bits stay as they are, which `to_bytes` cannot write."""
        try:
            return _row_decoder().decode(line)
        except _UNDECODABLE as error:
            raise ValueError(f"this is no result line: {error}") from error

    def to_bytes(self) -> bytes:
        """Return the row as a line of JSON, newline included."""
        return orjson.dumps(msgspec.structs.asdict(self), option=orjson.OPT_APPEND_NEWLINE)

    @property
    def outcome(self) -> Outcome:
        """What the job is counted as."""
        return OUTCOME_OF[self.result["verdict"]] if self.result else UNGRADED[self.status]

    @property
    def cause(self) -> str:
        """Why the job did not pass, as summaries count it; VACUOUS for a pass that rests on no facts."""
        if self.result:
            return classify(self.result)[1]
        return self.error.code if self.error and self.status == JobStatus.ERRORED else ""

    @property
    def evidence(self) -> list[Evidence]:
        """The checks that the verdict rests on."""
        checks: list[Evidence] = self.result["evidence"] if self.result else []
        return checks

    @property
    def failed_checks(self) -> list[Evidence]:
        """Those that did not hold."""
        return [check for check in self.evidence if not check["passed"]]

    def reason(self) -> str:
        """Return in a few words why the job did not pass; nothing where it did."""
        if self.error:
            return str(self.error)
        if self.result is None or self.outcome is Outcome.PASSED:
            return ""
        reason = self.result["details"].get("reason")
        return str(reason or next((check["description"] for check in self.failed_checks), ""))


@cache
def _row_decoder() -> msgspec.json.Decoder[ResultRow]:
    return msgspec.json.Decoder(ResultRow)


def graded_to_bytes(
    custom_id: str,
    line: int,
    facts: tuple[str | None, str, int, str],
    result: GraderResult,
    metadata: Mapping[str, Any] | None,
    receipt: str,
) -> bytes:
    """Return what `to_bytes` returns for a graded job, in half the time; `facts` are label, grader, its version and config digest."""
    return (
        b'{"custom_id":%b,"line":%d,%b"result":%b,"error":null,"metadata":%b,"receipt":"%b"}\n'
        % (
            orjson.dumps(custom_id),
            line,
            _facts_to_bytes(facts),
            orjson.dumps(result),
            orjson.dumps(metadata) if metadata is not None else b"null",
            receipt.encode(),
        )
    )


@lru_cache(maxsize=256)
def _facts_to_bytes(facts: tuple[str | None, str, int, str]) -> bytes:
    """Return the fields that are the same for each graded job of one grader and label."""
    label, grader, version, config_digest = facts
    row = {
        "label": label,
        "grader": grader,
        "grader_version": version,
        "config_digest": config_digest,
        "status": JobStatus.GRADED,
    }
    return orjson.dumps(row)[1:-1] + b","


class _Numbered(msgspec.Struct):
    line: int


_numbered = msgspec.json.Decoder(_Numbered)


def line_number_of(row: bytes) -> int:
    """Return which line of the input a result line is of, without reading the rest; ValueError where it tells none."""
    try:
        return _numbered.decode(row).line
    except _UNDECODABLE as error:
        raise ValueError(f"this is no result line: {error}") from error


def classify(result: GraderResult | Mapping[str, Any]) -> tuple[Outcome, str]:
    """Return what a grader's result is counted as, and its cause; raise anything for what is no result."""
    outcome = OUTCOME_OF[result["verdict"]]
    if not 0.0 <= result["score"] <= 1.0:
        raise ValueError(f"the score is {result['score']}")
    if type(result["details"]) is not dict or not result["evidence"]:
        raise ValueError("it lacks details or evidence")
    if outcome is not Outcome.PASSED:
        return outcome, cause_in(result["evidence"])
    for check in result["evidence"]:
        if check["check"] == VACUOUS:
            return outcome, VACUOUS
    return outcome, ""


def is_kind_of(cause: str, wanted: str) -> bool:
    """Whether a cause is the one wanted, or where a check is wanted, a kind of failure of it."""
    return cause == wanted or (bool(wanted) and cause.startswith(f"{wanted}: "))


def cause_in(evidence: Iterable[Mapping[str, Any]]) -> str:
    """Name why a job did not pass: by the first check that failed, and its kind of failure where it has kinds."""
    for entry in evidence:
        if not entry["passed"]:
            kind = entry.get("cause")
            named = f"{entry['check']}: {kind}" if isinstance(kind, str) else str(entry["check"])
            return named[:CAUSE_LIMIT]
    return ""
