"""The job contract: types common to producer, store and worker.

A case is one line of input; a job is one case judged by one grader; a batch is the jobs of one submission.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal

from weighbridge.errors import GraderSpecError
from weighbridge.jobs.outcome import Counts
from weighbridge.text import closest, did_you_mean, found_instead

SCHEMA_VERSION = 1  #: of the Celery message and of a stored chunk
NAME_LIMIT = 256
GRADERS_LIMIT = 64  #: on one case
METADATA_LIMIT_BYTES = 64 * 1024  #: of a case
CONFIG_LIMIT_BYTES = 256 * 1024  #: of a grader, in a case
Priority = Literal["low", "normal", "high"]  #: share of a batch in the workers' time
#: How a grader is specified.
GRADER_FORM = 'a grader is an id, or {"grader": ..., "config": ..., "label": ...}'
VALID_NAME = re.compile(r"[^\x00-\x1f\x7f-\x9f]{1,256}")


class BatchStatus(StrEnum):
    """The state of a batch in its lifecycle."""

    VALIDATING = "validating"  #: opened; nothing to grade has arrived yet
    IN_PROGRESS = "in_progress"  #: jobs arrive and are graded
    COMPLETED = "completed"  #: all jobs are graded or errored
    FAILED = "failed"  #: its producer stopped before all jobs had arrived
    CANCELLING = "cancelling"  #: cancelled; the open jobs are being closed
    CANCELLED = "cancelled"  #: cancelled; earlier results are kept
    EXPIRED = "expired"  #: expired; earlier results are kept

    @property
    def final(self) -> bool:
        """True if the status will not change any more."""
        return self in {
            BatchStatus.COMPLETED,
            BatchStatus.FAILED,
            BatchStatus.CANCELLED,
            BatchStatus.EXPIRED,
        }


class ErrorCode(StrEnum):
    """The reason why a job is `errored`: its line, its grader, or an event in its process.

    The `#:` comments are the table in docs/reference/errors.md: the first line what is wrong, the others what helps.
    """

    #: The line is not JSON, or only the beginning of it.
    #: Write one JSON object per line; nothing may follow it.
    INVALID_JSON = "INVALID_JSON"
    #: The line is not UTF-8.
    #: Save the file as UTF-8.
    INVALID_UTF8 = "INVALID_UTF8"
    #: A byte-order mark in the middle of the input.
    #: Remove the bytes EF BB BF; joined files often have them.
    BYTE_ORDER_MARK = "BYTE_ORDER_MARK"
    #: An object has the same key twice.
    #: Keep one of them.
    DUPLICATE_KEY = "DUPLICATE_KEY"
    #: NaN, an infinity, or a number that does not fit into 64 bits.
    #: Write it as a string, or null.
    NUMBER_OUT_OF_RANGE = "NUMBER_OUT_OF_RANGE"
    #: Half of a surrogate pair, such as `\ud800`, which UTF-8 cannot carry.
    #: Write both halves, or U+FFFD.
    LONE_SURROGATE = "LONE_SURROGATE"
    #: Nested deeper than 200 levels.
    #: Flatten the value.
    TOO_DEEP = "TOO_DEEP"
    #: The line is over the limit.
    #: Split the case, or raise `WEIGHBRIDGE_LINE_LIMIT_BYTES`.
    LINE_TOO_LONG = "LINE_TOO_LONG"
    #: JSON, but an array, a string, a number or null.
    #: Write one case per line.
    NOT_AN_OBJECT = "NOT_AN_OBJECT"
    #: A row of a table has more or fewer cells than the header, or quotes in the wrong place.
    #: Put quotes around cells that hold the separator or a line break.
    INVALID_ROW = "INVALID_ROW"
    #: `custom_id`, `inputs`, or one of the grader's inputs is missing.
    #: The hint of the error names what is needed.
    MISSING_FIELD = "MISSING_FIELD"
    #: Neither the case nor its batch names a grader.
    #: Give the case a `grader`, or the batch one with `--grader ID`.
    NO_GRADER = "NO_GRADER"
    #: The case or its inputs have an unknown field.
    #: Check the spelling; put fields of your own into `metadata`.
    UNKNOWN_FIELD = "UNKNOWN_FIELD"
    #: A field has the wrong type or value.
    #: Compare it with the fields of a case.
    INVALID_FIELD = "INVALID_FIELD"
    #: Empty, over 256 characters, with control characters, or not a string.
    #: Use 1 to 256 characters, none of them a control character.
    INVALID_CUSTOM_ID = "INVALID_CUSTOM_ID"
    #: An earlier, different line has the same `custom_id`.
    #: Give each case an id of its own.
    ID_CONFLICT = "ID_CONFLICT"
    #: The compressed input ends early or is damaged from here on.
    #: Create the archive again; the lines before this one are graded.
    INPUT_TRUNCATED = "INPUT_TRUNCATED"
    #: The batch is full, or the compressed input expands too much; the rest is not read.
    #: Submit the rest as another batch, or raise the limit.
    INPUT_TOO_LARGE = "INPUT_TOO_LARGE"
    #: Redis no longer has the line, or it cannot be read; its line number is then 0.
    #: Submit the case again.
    INPUT_LOST = "INPUT_LOST"
    #: No grader has that id where the job was graded.
    #: Check the spelling, or install the plug-in on the workers.
    UNKNOWN_GRADER = "UNKNOWN_GRADER"
    #: The grader refuses its configuration.
    #: `weighbridge graders show ID` lists the keys that it takes.
    INVALID_CONFIG = "INVALID_CONFIG"
    #: The grader raised an exception, or returned an invalid result.
    #: Correct the plug-in, then run `weighbridge retry`.
    GRADER_CRASHED = "GRADER_CRASHED"
    #: Producer and worker are of incompatible releases.
    #: Install the same release on both, then run `weighbridge retry`.
    SCHEMA_VERSION = "SCHEMA_VERSION"
    #: The job did not end within its deadline.
    #: Raise `WEIGHBRIDGE_JOB_DEADLINE_SECONDS`, or correct the grader.
    TIMEOUT = "TIMEOUT"
    #: The job took more memory than a worker child may have.
    #: Split the case, or raise `WEIGHBRIDGE_CHILD_MEMORY_LIMIT_BYTES`.
    OUT_OF_MEMORY = "OUT_OF_MEMORY"
    #: The worker process died three times while it graded this job.
    #: Grade the case on its own to find out why.
    WORKER_KILLED = "WORKER_KILLED"
    #: The batch was cancelled before the job was graded.
    #: `weighbridge retry` grades it after all.
    CANCELLED = "CANCELLED"
    #: The batch expired before the job was graded.
    #: `weighbridge retry`; `WEIGHBRIDGE_BATCH_EXPIRY_SECONDS` gives more time.
    EXPIRED = "EXPIRED"


#: Errors of jobs that were given up: they crashed their worker process, timed out or took too much memory.
DEADLY = frozenset({ErrorCode.WORKER_KILLED, ErrorCode.TIMEOUT, ErrorCode.OUT_OF_MEMORY})
#: Errors that may not occur again in a retry or on another worker.
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
    """A grader to use, with its configuration and the label of its results."""

    grader: str
    config: Mapping[str, Any] | None = None
    label: str = field(default="")

    def __post_init__(self) -> None:
        if not self.label:
            object.__setattr__(self, "label", self.grader)

    @classmethod
    def parse(cls, value: object, *path: str | int) -> GraderSpec:
        """Parse an id, a `{"grader", "config", "label"}` mapping, or a spec; `path` is its location in the input.

        Raises GraderSpecError.
        """
        if isinstance(value, str):
            fields: Mapping[str, Any] = {"grader": value}
        elif isinstance(value, GraderSpec):
            fields = {"grader": value.grader, "config": value.config, "label": value.label}
        elif isinstance(value, Mapping):
            fields = value
        elif path:
            raise _must_be("a grader's id, or an object", path)
        else:
            raise GraderSpecError(ErrorCode.INVALID_FIELD, GRADER_FORM)
        _check_fields(fields, path)
        _check_name(fields["grader"], (*path, "grader"))
        label = fields.get("label")
        if label is not None:
            _check_name(label, (*path, "label"))
        config = fields.get("config")
        if not isinstance(config, Mapping | None):
            raise _must_be("an object", (*path, "config"))
        return cls(fields["grader"], config, label or "")

    def as_dict(self) -> dict[str, Any]:
        """Return the spec in its JSON form."""
        return {
            "grader": self.grader,
            "config": None if self.config is None else dict(self.config),
            "label": self.label,
        }


def parse_specs(values: Sequence[str | Mapping[str, Any] | GraderSpec]) -> tuple[GraderSpec, ...]:
    """Parse a list of graders, whose labels must differ; raises GraderSpecError."""
    specs = tuple(GraderSpec.parse(value, "graders", index) for index, value in enumerate(values))
    labels: set[str] = set()
    for index, spec in enumerate(specs):
        if spec.label in labels:
            raise GraderSpecError(
                ErrorCode.INVALID_FIELD,
                f"two graders are labelled {spec.label!r}",
                "give one of them another label",
                ("graders", index),
            )
        labels.add(spec.label)
    return specs


def _check_fields(given: Mapping[str, Any], path: tuple[str | int, ...]) -> None:
    known = ("grader", "config", "label")
    unknown = [str(name) for name in given if name not in known]
    if "grader" not in given:
        raise GraderSpecError(
            ErrorCode.MISSING_FIELD,
            f"{_dotted((*path, 'grader'))} is missing",
            found_instead("grader", unknown) or GRADER_FORM,
            path,
        )
    if unknown:
        meant = did_you_mean(closest(unknown[0], known), before="", after=" ")
        raise GraderSpecError(
            ErrorCode.UNKNOWN_FIELD,
            f"unknown field {_dotted((*path, unknown[0]))}",
            f"{meant}Known: {', '.join(known)}",
            (*path, unknown[0]),
        )


def _check_name(name: object, path: tuple[str | int, ...]) -> None:
    if not isinstance(name, str):
        raise _must_be("a string", path)
    if not name:
        raise _must_be("not empty", path)
    if len(name) > NAME_LIMIT:
        raise _must_be(f"at most {NAME_LIMIT} characters", path)
    if not VALID_NAME.fullmatch(name):
        raise _must_be("without control characters", path)


def _must_be(expected: str, path: tuple[str | int, ...]) -> GraderSpecError:
    return GraderSpecError(
        ErrorCode.INVALID_FIELD, f"{_dotted(path)} must be {expected}", GRADER_FORM, path
    )


def _dotted(path: tuple[str | int, ...]) -> str:
    return repr(".".join(map(str, path))[:80])


@dataclass(frozen=True, slots=True)
class BatchState:
    """One batch at one moment."""

    batch_id: str
    status: BatchStatus
    counts: Counts
    created_at: float  #: seconds since the epoch
    expires_at: float  #: when open jobs expire, in seconds since the epoch
    ended_at: float | None
    sealed: bool  #: True if all jobs have been submitted
    chunks: int
    lines: int  #: input lines read, including blank and repeated ones
    input_bytes: int
    duplicates: int  #: lines skipped because they repeat an earlier one
    nondeterministic: int  #: chunks graded twice with different results
    grading_seconds: float  #: summed over workers
    epoch: int  #: number of retries of the batch
    closing: BatchStatus | None  #: the status it will end with, once its open jobs are closed
    reason: str = ""  #: reason for the status `failed`
    paused: bool = False  #: True if workers start no more of it

    def as_dict(self) -> dict[str, Any]:
        """Return the state in its JSON form."""
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
