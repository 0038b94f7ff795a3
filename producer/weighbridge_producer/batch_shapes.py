"""JSON documents of the API that the service writes and the HTTP client reads: batches, and what goes with them."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Annotated, Any, Self

import msgspec
from pydantic import Field, GetPydanticSchema

from weighbridge.errors import Fault
from weighbridge.jobs.batch_state import BatchState, BatchStatus
from weighbridge.jobs.outcome import OUTCOME_OF, GraderSummary
from weighbridge.store import BatchOptions, Durability
from weighbridge.store.api_keys import ApiKey, Role
from weighbridge.store.audit import Action, Entry
from weighbridge.store.worker_registry import WorkerInfo

_GRADED = " + ".join(OUTCOME_OF.values())
#: A JSON object that is passed on as it is.
_RawObject = Annotated[
    msgspec.Raw, GetPydanticSchema(lambda _, schema_of: schema_of(dict[str, Any]))
]

_Passed = Annotated[int, Field(description="jobs with the verdict `pass`")]
_Failed = Annotated[int, Field(description="jobs with the verdict `fail`")]
_Ungradable = Annotated[int, Field(description="jobs whose inputs lack what the grader needs")]
_Errored = Annotated[int, Field(description="jobs that could not be judged because of an error")]
_Cancelled = Annotated[int, Field(description="jobs that were cancelled before they were graded")]
_Expired = Annotated[int, Field(description="jobs that were not graded before the batch expired")]


@dataclass(frozen=True, slots=True)
class JobCounts:
    """Jobs by outcome: `total = graded + errored + cancelled + expired + pending`."""

    total: Annotated[int, Field(description="all jobs of the batch so far")]
    graded: Annotated[int, Field(description=_GRADED)]
    passed: _Passed
    failed: _Failed
    ungradable: _Ungradable
    errored: _Errored
    cancelled: _Cancelled
    expired: _Expired
    pending: Annotated[int, Field(description="jobs that have no result yet")]


@dataclass(frozen=True, slots=True)
class BatchSummary:
    """A batch at one moment."""

    batch_id: Annotated[str, Field(description="the id of the batch")]
    status: Annotated[BatchStatus, Field(description="what the batch is doing, or how it ended")]
    counts: Annotated[JobCounts, Field(description="its jobs by outcome")]
    created_at: Annotated[float, Field(description="seconds since the epoch")]
    expires_at: Annotated[
        float,
        Field(
            description="seconds since the epoch: when jobs without a result expire; WEIGHBRIDGE_RESULT_TTL_SECONDS later the"
            " batch is deleted with its results"
        ),
    ]
    ended_at: Annotated[
        float | None, Field(description="seconds since the epoch; null until the batch has ended")
    ]
    sealed: Annotated[bool, Field(description="whether every job has arrived")]
    chunks: Annotated[int, Field(description="parts of the batch that workers grade one at a time")]
    lines: Annotated[int, Field(description="lines of input read, blank and repeated ones too")]
    input_bytes: Annotated[int, Field(description="size of the input in bytes")]
    duplicates: Annotated[
        int, Field(description="lines left out because an earlier one is the same")
    ]
    nondeterministic: Annotated[
        int, Field(description="chunks graded twice with different results")
    ]
    grading_seconds: Annotated[
        float, Field(description="seconds that grading took, summed over workers")
    ]
    epoch: Annotated[int, Field(description="how often the batch was retried")]
    closing: Annotated[
        BatchStatus | None,
        Field(description="the status it will end with, once its open jobs are closed"),
    ]
    reason: Annotated[
        str, Field(description="why it failed, also while jobs of a failed batch are retried")
    ]
    paused: Annotated[bool, Field(description="whether it is paused")]
    arrived_at: Annotated[
        float | None,
        Field(
            description="seconds since the epoch: when the last jobs arrived; null until the first ones have. If it is long ago"
            " and `sealed` is false, the upload may have been interrupted: send the input again with `resume`"
        ),
    ]

    @classmethod
    def of(cls, state: BatchState, **others: Any) -> Self:
        """Return the document of a state, with values for the fields that a subclass adds."""
        return msgspec.convert(_values(state) | others, cls, from_attributes=True)

    def state(self) -> BatchState:
        """Return the state."""
        return msgspec.convert(self, BatchState, from_attributes=True)


@dataclass(frozen=True, slots=True)
class DurabilityReport:
    """How durably a batch was stored in Redis when it was sealed."""

    disk: Annotated[
        bool | None,
        Field(
            description="whether it is synced to the disk of Redis: false when that was not confirmed in time, null when"
            " Redis keeps no append-only file or cannot confirm it"
        ),
    ]
    replicas: Annotated[int, Field(description="replicas that have confirmed it")]
    connected_replicas: Annotated[int, Field(description="replicas connected to Redis")]
    append_only: Annotated[bool, Field(description="whether Redis writes an append-only file")]
    waited_seconds: Annotated[
        float,
        Field(
            description="the time that the confirmations took; 0 if there was nothing to wait for"
        ),
    ]
    limit_seconds: Annotated[float, Field(description="the time limit for each confirmation")]
    text: Annotated[str, Field(description="description as text")]

    def durability(self) -> Durability:
        """Return the durability."""
        return msgspec.convert(self, Durability, from_attributes=True)


@dataclass(frozen=True, slots=True)
class ErrorDetails:
    """What is wrong, and what would work."""

    code: Annotated[str, Field(description="the error code; it stays the same between releases")]
    message: Annotated[str, Field(description="what is wrong")]
    hint: Annotated[str, Field(description="what would work; may be empty")]

    def fault(self) -> Fault:
        """Return the fault."""
        return Fault(self.code, self.message, self.hint)


@dataclass(frozen=True, slots=True)
class SubmittedBatch(BatchSummary):
    """A newly submitted batch."""

    durability: Annotated[DurabilityReport, Field(description="how durably the batch was stored")]
    unread: Annotated[
        ErrorDetails | None,
        Field(
            description="why the input was not read to its end, for instance because a compressed file is truncated; the"
            " batch has the lines before that"
        ),
    ] = None


@dataclass(frozen=True, slots=True)
class ConfiguredGrader:
    """A grader with its configuration, and the label of its results."""

    grader: Annotated[str, Field(description="the id of the grader")]
    config: Annotated[
        dict[str, Any] | None, Field(description="its configuration; null: the defaults")
    ]
    label: Annotated[str, Field(description="the name under which its results are reported")]


@dataclass(frozen=True, slots=True)
class SubmissionOptions:
    """The options that a batch was submitted with."""

    graders: Annotated[
        list[ConfiguredGrader], Field(description="the graders, in the order of their results")
    ]
    source: Annotated[str, Field(description="what the input was called")]
    metadata: Annotated[
        dict[str, str], Field(description="values of your own, kept with the batch")
    ]
    project: Annotated[str, Field(description="the project whose API keys may see it")]
    submitted_by: Annotated[
        str,
        Field(description="an API key's name, `cli:USER@HOST`, or `local` where keys are off"),
    ]

    @classmethod
    def of(cls, options: BatchOptions) -> Self:
        """Return the document of a batch's options."""
        values = _values(options) | {"metadata": options.metadata or {}}
        return msgspec.convert(values, cls, from_attributes=True)

    def options(self) -> BatchOptions:
        """Return the options; those that the document does not have are left at their defaults."""
        return msgspec.convert(self, BatchOptions, from_attributes=True)


@dataclass(frozen=True, slots=True)
class LabelOutcomes:
    """The outcomes of one label's jobs so far."""

    label: Annotated[
        str,
        Field(
            description="the name under which the results are reported; empty: lines that are not cases"
        ),
    ]
    grader: Annotated[str, Field(description="the id of the grader")]
    graded: Annotated[
        int, Field(description=f"{_GRADED}; the pass rate is passed / (passed + failed)")
    ]
    passed: _Passed
    failed: _Failed
    ungradable: _Ungradable
    errored: _Errored
    cancelled: _Cancelled
    expired: _Expired
    vacuous: Annotated[int, Field(description="of the passed: those with nothing to check")]
    causes: Annotated[
        dict[str, int], Field(description="why jobs did not pass, most frequent first")
    ]
    scores: Annotated[
        list[int],
        Field(description="passed and failed jobs by score: [0, 0.1), [0.1, 0.2) ... [0.9, 1]"),
    ]

    def summary(self) -> GraderSummary:
        """Return the summary."""
        values = asdict(self) | {"causes": list(self.causes.items())}
        return msgspec.convert(values, GraderSummary)


@dataclass(frozen=True, slots=True)
class BatchListItem(BatchSummary):
    """A batch in a list."""

    source: Annotated[str, Field(description="what the input was called")]
    metadata: Annotated[
        dict[str, str], Field(description="values of your own, kept with the batch")
    ]
    project: Annotated[str, Field(description="the project whose API keys may see it")]
    submitted_by: Annotated[
        str, Field(description="an API key's name, `cli:USER@HOST`, or `local` where keys are off")
    ]


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One recorded action."""

    at: Annotated[float, Field(description="seconds since the epoch")]
    action: Annotated[Action, Field(description="what was done")]
    actor: Annotated[str, Field(description="an API key's name, `cli:USER@HOST`, or `local`")]
    key_id: Annotated[str, Field(description="of the API key; empty where there was none")]
    project: Annotated[str, Field(description="empty where it concerns all projects")]
    batch: Annotated[
        str, Field(description="the id of the batch that it concerns; empty if it concerns none")
    ]
    details: Annotated[
        dict[str, str], Field(description="further values that depend on the action")
    ]

    @classmethod
    def of(cls, entry: Entry) -> Self:
        """Return the document of an entry."""
        return msgspec.convert(entry.as_dict(), cls)

    def entry(self) -> Entry:
        """Return the entry."""
        return Entry.from_dict(asdict(self))


@dataclass(frozen=True, slots=True)
class AuditLogPage:
    """Some entries of the audit log, newest first."""

    entries: Annotated[list[AuditEntry], Field(description="the entries, newest first")]
    next_cursor: Annotated[
        str | None, Field(description="for the entries before these; null at the end")
    ]


@dataclass(frozen=True, slots=True)
class BatchDetails(BatchSummary):
    """A batch with its details."""

    graders: Annotated[list[LabelOutcomes], Field(description="the outcomes by label")]
    options: Annotated[
        SubmissionOptions, Field(description="the options that it was submitted with")
    ]
    history: Annotated[list[AuditEntry], Field(description="its last 100 audit log entries")]


@dataclass(frozen=True, slots=True)
class BatchList:
    """Batches, newest first."""

    batches: Annotated[list[BatchListItem], Field(description="the batches, newest first")]
    next_cursor: Annotated[
        str | None, Field(description="for the page after this one; null at the end")
    ]


@dataclass(frozen=True, slots=True)
class RetriedBatch(BatchSummary):
    """A batch that was retried."""

    retried: Annotated[int, Field(description="jobs that will be graded again")]


@dataclass(frozen=True, slots=True)
class ResultsPage:
    """Some results, in the order in which they were recorded."""

    results: Annotated[
        list[_RawObject], Field(description="the results, each as in a file of results")
    ]
    next_cursor: Annotated[
        str | None,
        Field(description="the cursor after these; null when nothing more is there now"),
    ]
    complete: Annotated[
        bool,
        Field(
            description="false: the search time limit was reached before the page was full; continue with the cursor"
        ),
    ]


@dataclass(frozen=True, slots=True)
class MetadataSlice:
    """The outcomes of one label's jobs with one value of a metadata field."""

    field: Annotated[str, Field(description="as requested: `metadata.topic`")]
    value: Annotated[
        str,
        Field(
            description="`(none)`: jobs without a value (text, number, or true or false); `(other)`: those of all rarer values; one of more than 64"
            " characters: its first 48, `…` and a digest of all of it"
        ),
    ]
    label: Annotated[str, Field(description="empty: lines that are not cases")]
    passed: _Passed
    failed: _Failed
    ungradable: _Ungradable
    errored: _Errored
    cancelled: _Cancelled
    expired: _Expired
    vacuous: Annotated[int, Field(description="of the passed: those with nothing to check")]


@dataclass(frozen=True, slots=True)
class MetadataSlices:
    """The jobs of a batch by the values of metadata fields: for each field the 20 most common values, and all others."""

    slices: Annotated[
        list[MetadataSlice], Field(description="the outcomes by field, value and label")
    ]
    jobs: Annotated[int, Field(description="jobs counted")]
    complete: Annotated[
        bool,
        Field(
            description="false: the time limit was reached before all results were counted; the same request again"
            " continues"
        ),
    ]


@dataclass(frozen=True, slots=True)
class CaseResults:
    """The results of one case, one per grader."""

    results: Annotated[
        list[dict[str, Any]],
        Field(description="one result for each label, each as in a file of results"),
    ]


@dataclass(frozen=True, slots=True)
class WorkerList:
    """The running workers, by name."""

    workers: Annotated[list[WorkerInfo], Field(description="the workers, by name")]


@dataclass(frozen=True, slots=True)
class ApiKeyInfo:
    """An API key without its secret."""

    id: Annotated[str, Field(description="the id of the key, by which it is revoked")]
    name: Annotated[str, Field(description="a name that identifies who or what uses the key")]
    role: Annotated[Role, Field(description="what the key may do")]
    project: Annotated[
        str,
        Field(
            description="the project whose batches it gives access to; of an admin key, the one that it submits to"
        ),
    ]
    created_at: Annotated[float, Field(description="seconds since the epoch")]
    expires_at: Annotated[
        float | None, Field(description="seconds since the epoch; null: valid until it is revoked")
    ]


@dataclass(frozen=True, slots=True)
class CreatedApiKey(ApiKeyInfo):
    """A newly created API key."""

    key: Annotated[
        str,
        Field(description="what is sent as `Authorization: Bearer`; it is shown only here"),
    ]

    @classmethod
    def of(cls, key: ApiKey, token: str) -> Self:
        """Return the document of a key with its token."""
        return msgspec.convert(asdict(key) | {"key": token}, cls)

    def api_key(self) -> ApiKey:
        """Return the key without its token."""
        return msgspec.convert(self, ApiKey, from_attributes=True)


@dataclass(frozen=True, slots=True)
class InputLine:
    """A line of a batch's input."""

    line: Annotated[int, Field(description="its number, from 1")]
    text: Annotated[
        str,
        Field(description="the line without the space around it; what is not UTF-8 is replaced"),
    ]


@dataclass(frozen=True, slots=True)
class InputLines:
    """Consecutive lines of a batch's input, without blank, freed and missing ones."""

    lines: Annotated[list[InputLine], Field(description="the lines, in the order of the input")]
    last: Annotated[int, Field(description="the number of the last line examined")]


def _values(value: BatchState | BatchOptions) -> dict[str, Any]:
    """Return the fields of a value, which asdict would also convert."""
    return {field.name: getattr(value, field.name) for field in fields(value)}
