"""The job contract: the words that producer, store and worker share.

A case is one line of input; a job is one case judged by one grader; a batch is the jobs of one submission.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Literal

from weighbridge.errors import ConfigTypeError
from weighbridge.jobs.outcome import Counts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SCHEMA_VERSION = 1  #: of the Celery message and of a stored chunk
NAME_LIMIT = 256
GRADERS_LIMIT = 64  #: on one case
METADATA_LIMIT_BYTES = 64 * 1024  #: of a case
CONFIG_LIMIT_BYTES = 256 * 1024  #: of a grader, in a case
Priority = Literal["low", "normal", "high"]  #: of a batch beside others
VALID_NAME = re.compile(r"[^\x00-\x1f\x7f-\x9f]{1,256}")


class BatchStatus(StrEnum):
    """Where a batch is in its life."""

    VALIDATING = "validating"  #: opened; nothing to grade has arrived yet
    IN_PROGRESS = "in_progress"  #: jobs arrive and are graded
    COMPLETED = "completed"  #: every job is graded or errored
    FAILED = "failed"  #: its producer gave up half-way
    CANCELLING = "cancelling"  #: cancelled; the open jobs are being taken out
    CANCELLED = "cancelled"  #: cancelled; what was graded before stays
    EXPIRED = "expired"  #: out of time; what was graded before stays

    @property
    def final(self) -> bool:
        """Whether nothing more will happen."""
        return self in {
            BatchStatus.COMPLETED,
            BatchStatus.FAILED,
            BatchStatus.CANCELLED,
            BatchStatus.EXPIRED,
        }


class ErrorCode(StrEnum):
    """Why a job is `errored`: of its line, of its grader, or of what happened to it."""

    INVALID_JSON = "INVALID_JSON"  #: the line is not JSON, or only half of it
    INVALID_UTF8 = "INVALID_UTF8"  #: the line is not UTF-8
    BYTE_ORDER_MARK = "BYTE_ORDER_MARK"  #: a byte-order mark in the middle of the input
    DUPLICATE_KEY = "DUPLICATE_KEY"  #: an object has one key twice
    NUMBER_OUT_OF_RANGE = "NUMBER_OUT_OF_RANGE"  #: NaN, an infinity, or an integer over 64 bits
    LONE_SURROGATE = "LONE_SURROGATE"  #: half of a UTF-16 pair, which no UTF-8 output can carry
    TOO_DEEP = "TOO_DEEP"  #: nested deeper than 200
    LINE_TOO_LONG = "LINE_TOO_LONG"  #: over the line limit
    NOT_AN_OBJECT = "NOT_AN_OBJECT"  #: JSON, but no object
    MISSING_FIELD = "MISSING_FIELD"  #: the case or its inputs lack a field
    NO_GRADER = "NO_GRADER"  #: neither the case nor its batch names one
    UNKNOWN_FIELD = "UNKNOWN_FIELD"  #: the case or its inputs have a field that nothing reads
    INVALID_FIELD = "INVALID_FIELD"  #: a field has the wrong type or value
    #: Empty, over 256 characters, or with control characters.
    INVALID_CUSTOM_ID = "INVALID_CUSTOM_ID"
    ID_CONFLICT = "ID_CONFLICT"  #: an earlier, different line has the same custom_id
    INPUT_TRUNCATED = "INPUT_TRUNCATED"  #: the compressed input ends early or is damaged here
    #: The batch limit ends here, or the input expands like a bomb.
    INPUT_TOO_LARGE = "INPUT_TOO_LARGE"
    INPUT_LOST = "INPUT_LOST"  #: the server no longer has the line, or it is damaged there
    UNKNOWN_GRADER = "UNKNOWN_GRADER"  #: this worker has no grader with that id
    INVALID_CONFIG = "INVALID_CONFIG"  #: the grader refuses the configuration
    GRADER_CRASHED = "GRADER_CRASHED"  #: the grader raised, which graders must not
    SCHEMA_VERSION = "SCHEMA_VERSION"  #: the work is of a version that this worker does not know
    TIMEOUT = "TIMEOUT"  #: the job did not end within its deadline
    OUT_OF_MEMORY = "OUT_OF_MEMORY"  #: the job wanted more memory than a child may have
    WORKER_KILLED = "WORKER_KILLED"  #: the job's worker process died at it, again and again
    CANCELLED = "CANCELLED"  #: see JobStatus
    EXPIRED = "EXPIRED"  #: see JobStatus


#: Errors of jobs that were given up because every try killed or outlasted its worker process.
DEADLY = frozenset({ErrorCode.WORKER_KILLED, ErrorCode.TIMEOUT, ErrorCode.OUT_OF_MEMORY})
#: Errors that another try, or another worker, may not meet again.
RETRYABLE = frozenset(
    {
        ErrorCode.UNKNOWN_GRADER,
        ErrorCode.GRADER_CRASHED,
        ErrorCode.SCHEMA_VERSION,
        ErrorCode.TIMEOUT,
        ErrorCode.OUT_OF_MEMORY,
        ErrorCode.WORKER_KILLED,
        ErrorCode.CANCELLED,
        ErrorCode.EXPIRED,
    }
)


@dataclass(frozen=True, slots=True)
class GraderSpec:
    """A grader to use, its configuration, and the label its results carry."""

    grader: str
    config: Mapping[str, Any] | None = None
    label: str = field(default="")

    def __post_init__(self) -> None:
        if not self.label:
            object.__setattr__(self, "label", self.grader)

    @classmethod
    def parse(cls, value: str | Mapping[str, Any] | GraderSpec) -> GraderSpec:
        """Accept an id, a `{"grader", "config", "label"}` mapping, or a spec."""
        if isinstance(value, GraderSpec):
            return value
        if isinstance(value, str):
            return cls(value)
        unknown = set(value) - {"grader", "config", "label"}
        grader, config, label = value.get("grader"), value.get("config"), value.get("label", "")
        if unknown or not isinstance(grader, str) or not isinstance(label, str | None):
            raise ConfigTypeError(
                f"a grader is named by its id or by {{'grader', 'config', 'label'}}, not {str(dict(value))[:200]}"
            )
        if config is not None and not isinstance(config, dict):
            raise ConfigTypeError(
                f"the config of {grader!r} is an object, not {type(config).__name__}"
            )
        return cls(grader, config, label or "")

    def as_dict(self) -> dict[str, Any]:
        """Return the spec as JSON carries it."""
        return {
            "grader": self.grader,
            "config": None if self.config is None else dict(self.config),
            "label": self.label,
        }


def parse_specs(values: Sequence[str | Mapping[str, Any] | GraderSpec]) -> tuple[GraderSpec, ...]:
    """Parse the graders of a submission; labels must differ."""
    specs = tuple(GraderSpec.parse(value) for value in values)
    labels = [spec.label for spec in specs]
    for label in labels:
        if not VALID_NAME.fullmatch(label):
            raise ConfigTypeError(
                f"a label has 1 to {NAME_LIMIT} characters and no control characters: {label[:80]!r}"
            )
        if labels.count(label) > 1:
            raise ConfigTypeError(
                f"two graders are labelled {label!r}; give one of them another label"
            )
    return specs


@dataclass(frozen=True, slots=True)
class BatchState:
    """One batch at one moment."""

    batch_id: str
    status: BatchStatus
    counts: Counts
    created_at: float  #: seconds since the epoch
    expires_at: float  #: when what is open is given up
    ended_at: float | None
    sealed: bool  #: whether every job has arrived
    chunks: int
    lines: int  #: lines of input read, blank and repeated ones too
    input_bytes: int
    duplicates: int  #: lines left out because an earlier one is the same
    nondeterministic: int  #: chunks graded twice with different results
    grading_seconds: float  #: summed over workers
    epoch: int  #: how often the batch was retried
    closing: BatchStatus | None  #: the status it will end with, once its open jobs are taken out
    reason: str = ""  #: why it failed
    paused: bool = False  #: whether workers begin no more of it, for now

    def as_dict(self) -> dict[str, Any]:
        """Return the state as JSON shows it."""
        return {
            "batch_id": self.batch_id,
            "status": str(self.status),
            "counts": self.counts.as_dict(),
            "created_at": self.created_at,
            "expires_at": self.expires_at,
            "ended_at": self.ended_at,
            "sealed": self.sealed,
            "lines": self.lines,
            "input_bytes": self.input_bytes,
            "duplicates": self.duplicates,
            "nondeterministic": self.nondeterministic,
            "grading_seconds": self.grading_seconds,
            "reason": self.reason,
            "paused": self.paused,
        }
