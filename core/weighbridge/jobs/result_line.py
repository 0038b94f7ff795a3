"""Result lines: the result of one job, encoded as a JSON line and decoded."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sized
from functools import cache, lru_cache
from typing import Annotated, Any, NamedTuple

import msgspec
import orjson

from weighbridge.errors import Fault
from weighbridge.graders.base import Evidence, GraderResult
from weighbridge.jobs.damaged_data import DAMAGED_DATA
from weighbridge.jobs.outcome import OUTCOME_OF, UNGRADED, VACUOUS, JobStatus, Outcome
from weighbridge.text import pluralize

CAUSE_LIMIT = 120  #: characters
#: Line number in the input, from 1; 0 if no longer known. Every JSON reader has integers of 53 bits.
LineNumber = Annotated[int, msgspec.Meta(ge=0, le=2**53 - 1)]
#: Integers of 64 bits, which all outputs can hold.
GraderVersion = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]


class JobProfile(NamedTuple):
    """The parts of a result that summaries count by, and that filters compare."""

    label: str | None
    grader: str | None
    outcome: Outcome
    cause: str


class ResultRow(msgspec.Struct, frozen=True, gc=False):
    """One result line, with its fields in the order in which they are encoded."""

    custom_id: str | None  #: None if the line has no valid one
    line: LineNumber
    label: str | None  #: None, like grader and version, if the line is not a case
    grader: str | None
    grader_version: GraderVersion | None  #: None if the grader was not created
    #: Of the configuration with defaults; None if the grader was not created.
    config_digest: str | None
    status: str  #: a JobStatus
    result: Mapping[str, Any] | None  #: a GraderResult; None unless the job is graded
    error: Fault | None  #: the reason if the job is not graded
    metadata: Mapping[str, Any] | None  #: the case's metadata
    receipt: str | None  #: None unless the job is graded

    @classmethod
    def ungraded(
        cls,
        error: Fault,
        line: int,
        status: JobStatus = JobStatus.ERRORED,
        *,
        custom_id: str | None = None,
        label: str | None = None,
        grader: str | None = None,
        grader_version: int | None = None,
        config_digest: str | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> ResultRow:
        """Return the row of a job that was not graded; what its error kept from being read is None."""
        return cls(
            custom_id=custom_id,
            line=line,
            label=label,
            grader=grader,
            grader_version=grader_version,
            config_digest=config_digest,
            status=status.value,
            result=None,
            error=error,
            metadata=metadata,
            receipt=None,
        )

    @classmethod
    def from_bytes(cls, line: bytes) -> ResultRow:
        """Parse the output of `to_bytes`; raises ValueError for other data."""
        try:
            return msgspec.convert(orjson.loads(line), cls)
        except DAMAGED_DATA as error:
            raise not_a_result_line(error) from error

    @classmethod
    def with_exact_integers(cls, line: bytes) -> ResultRow:
        """Parse it in half the time, with integers over 64 bits kept as they are, which `to_bytes` cannot encode."""
        try:
            return _row_decoder().decode(line)
        except DAMAGED_DATA as error:
            raise not_a_result_line(error) from error

    @classmethod
    def from_foreign_bytes(cls, line: bytes) -> ResultRow:
        """Parse a line that any program may have written; raises ValueError unless all properties can be read."""
        row = cls.from_bytes(line)
        try:
            check_status(row.status, is_graded=row.result is not None)
            if row.result is not None:
                result = msgspec.convert(row.result, GraderResult)
                check_result(result["verdict"], result["score"], result["evidence"])
        except DAMAGED_DATA as error:
            raise not_a_result_line(error) from error
        return row

    def to_bytes(self) -> bytes:
        """Return the row as a JSON line with a newline."""
        return orjson.dumps(msgspec.structs.asdict(self), option=orjson.OPT_APPEND_NEWLINE)

    @property
    def outcome(self) -> Outcome:
        """The category in which the job is counted."""
        return OUTCOME_OF[self.result["verdict"]] if self.result else UNGRADED[self.status]

    @property
    def cause(self) -> str:
        """The cause of a job that did not pass, as counted in summaries; VACUOUS for a pass with nothing to check."""
        if self.result:
            return classify(self.result)[1]
        return self.error.code if self.error and self.status == JobStatus.ERRORED else ""

    @property
    def causes(self) -> list[str]:
        """The cause of a job that did not pass, then those of its other failed checks."""
        others = [named_cause(check["check"], check.get("cause")) for check in self.failed_checks]
        return list(dict.fromkeys(filter(None, (self.cause, *others))))

    @property
    def verdict(self) -> str | None:
        """The verdict of a graded job."""
        return self.result.get("verdict") if self.result else None

    @property
    def score(self) -> float | None:
        """The score of a graded job; 0.0 if it is ungradable."""
        return self.result.get("score") if self.result else None

    @property
    def evidence(self) -> list[Evidence]:
        """The evidence of the verdict."""
        checks: list[Evidence] = self.result["evidence"] if self.result else []
        return checks

    @property
    def failed_checks(self) -> list[Evidence]:
        """The checks that failed."""
        return [check for check in self.evidence if not check["passed"]]

    def reason(self) -> str:
        """Return a short reason why the job did not pass; empty if it passed.

        It is the grader's own or, without one, the first failed check, with the number of the others.
        """
        if self.error:
            return str(self.error)
        if self.result is None or self.outcome is Outcome.PASSED:
            return ""
        reason = self.result["details"].get("reason")
        if reason or not self.failed_checks:
            return str(reason or "")
        first, *others = self.failed_checks
        described = first.get("description")  # a plug-in's evidence may lack it
        return f"{described}{further_checks(len(others))}" if described else ""

    def compared(self) -> tuple[Any, Any]:
        """Return the expected and the observed text, or the limit and the observed value of the deciding check.

        No single check decides a pass of several checks.
        """
        if not self.result:
            return None, None
        details = self.result["details"]
        if "expected_original" in details:
            return details["expected_original"], details.get("actual_original")
        deciding = self.failed_checks[:1] or (self.evidence if len(self.evidence) == 1 else ())
        return next(((each.get("limit"), each.get("observed")) for each in deciding), (None, None))


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
    """Encode a graded job like `to_bytes`, in half the time.

    `facts` are the label, the grader, its version and its config digest.
    """
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
    """Return the encoded fields common to all graded jobs of one grader and label."""
    label, grader, version, config_digest = facts
    row = {
        "label": label,
        "grader": grader,
        "grader_version": version,
        "config_digest": config_digest,
        "status": JobStatus.GRADED,
    }
    return orjson.dumps(row)[1:-1] + b","


def is_result(value: Any) -> bool:
    """Return whether a JSON value has all fields of a result line, and perhaps more."""
    return type(value) is dict and value.keys() >= set(ResultRow.__struct_fields__)


def check_status(status: str, *, is_graded: bool) -> None:
    """Raise ValueError for a status that no job has, or that does not fit whether it has a grader's result."""
    if is_graded and status != JobStatus.GRADED:
        raise ValueError(f"it has the status {status[:40]!r}, and a result")
    if not is_graded and status not in UNGRADED:
        raise ValueError(f"it has the status {status[:40]!r}, but no result")


def check_result(verdict: str, score: float, evidence: Sized) -> None:
    """Raise ValueError for a verdict or a score that no grader gives, and without evidence."""
    if verdict not in OUTCOME_OF:
        raise ValueError(f"no result has the verdict {str(verdict)[:40]!r}")
    if not 0.0 <= score <= 1.0:
        raise ValueError(f"the score is {score}")
    if not evidence:
        raise ValueError("it lacks evidence")


def not_a_result_line(error: Exception) -> ValueError:
    """Return the error for data that is not a result line."""
    return ValueError(f"this is not a result line: {error}")


def classify(result: GraderResult | Mapping[str, Any]) -> tuple[Outcome, str]:
    """Return the outcome and cause of a grader's result; may raise any exception if it is invalid."""
    verdict, evidence = result["verdict"], result["evidence"]
    check_result(verdict, result["score"], evidence)
    if type(result["details"]) is not dict:
        raise ValueError("it lacks details")
    outcome = OUTCOME_OF[verdict]
    return outcome, cause_of(outcome, evidence)


def is_kind_of(cause: str, wanted: str) -> bool:
    """Return whether a cause equals the wanted one, or is a kind of failure of a wanted check, or of a wanted kind."""
    return cause == wanted or (bool(wanted) and cause.startswith((f"{wanted}: ", f"{wanted}, ")))


def cause_of(outcome: Outcome, evidence: Iterable[Mapping[str, Any]]) -> str:
    """Return the cause of a graded job: the first failed check, and its kind of failure if it has one.

    A pass has the cause VACUOUS if there was nothing to check, and none otherwise.
    """
    for entry in evidence:
        if outcome is Outcome.PASSED:
            if entry["check"] == VACUOUS:
                return VACUOUS
        elif not entry["passed"]:
            return named_cause(entry["check"], entry.get("cause"))
    return ""


def further_checks(count: int) -> str:
    """Return the end of a reason that says how many more checks failed; empty for none."""
    return f", and {pluralize(count, 'more failed check')}" if count else ""


def named_cause(check: object, kind: object) -> str:
    """Return the cause of a failure: the check that failed, and its kind of failure if it has one."""
    of_kind = kind.strip() if isinstance(kind, str) else ""
    named = f"{check}: {of_kind}" if of_kind else str(check)
    return named[:CAUSE_LIMIT].rstrip()
