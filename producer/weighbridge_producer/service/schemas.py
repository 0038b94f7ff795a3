"""Response schemas of batches and graders for the OpenAPI document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, Field, create_model

from weighbridge.graders.base import Verdict
from weighbridge.jobs.model import BatchStatus
from weighbridge.jobs.outcome import OUTCOME_OF, Outcome
from weighbridge.store.audit import Action

if TYPE_CHECKING:
    from weighbridge.jobs.model import BatchState
    from weighbridge.store import BatchOptions, Durability


class RequirementsShape(BaseModel):
    """What a grader needs from a trace; empty for a grader of outputs."""

    step_types: list[str]
    capabilities: list[str] = Field(
        description="of tool_calls, token_usage, timing, cost, tool_definitions"
    )


class ExampleShape(BaseModel):
    """A job that a grader can grade."""

    inputs: dict[str, Any]
    config: dict[str, Any] | None


class GraderShape(BaseModel):
    """A grader's entry in the catalogue."""

    id: str
    name: str
    description: str
    version: int = Field(description="raised whenever any verdict could change")
    config_schema: dict[str, Any] = Field(description="a JSON Schema")
    inputs_schema: dict[str, Any] = Field(description="a JSON Schema")
    requirements: RequirementsShape
    example: ExampleShape


class CatalogueShape(BaseModel):
    """All graders installed on the service."""

    graders: list[GraderShape]


class EvidenceShape(BaseModel, extra="allow"):
    """One check that contributes to a verdict."""

    check: str
    description: str
    passed: bool
    step_ids: list[str]


class JudgementShape(BaseModel):
    """A grader's result."""

    passed: bool
    score: float = Field(ge=0, le=1)
    verdict: Verdict
    details: dict[str, Any]
    evidence: list[EvidenceShape] = Field(min_length=1)


class TrialShape(BaseModel):
    """The result of a trial."""

    grader: str
    grader_version: int
    config_digest: str = Field(
        description="the first 16 digits of the SHA-256 over the config with its defaults filled in"
    )
    status: Literal["graded"]
    result: JudgementShape
    receipt: str = Field(
        description="SHA-256 over the grader, its config, the inputs and the result"
    )


_JOBS: dict[str, Any] = {outcome.value: (int, ...) for outcome in Outcome}
_GRADED = " + ".join(OUTCOME_OF.values())


class CountsShape(
    create_model(  # type: ignore[misc]
        "CountsShape",
        total=(int, ...),
        graded=(int, Field(description=_GRADED)),
        **_JOBS,
        pending=(int, ...),
    )
):
    """Jobs by outcome: `total = graded + errored + cancelled + expired + pending`."""


class StateShape(BaseModel):
    """A batch at one moment."""

    batch_id: str
    status: BatchStatus
    counts: CountsShape
    created_at: float = Field(description="seconds since the epoch")
    expires_at: float = Field(description="when jobs that are still open expire")
    ended_at: float | None
    sealed: bool = Field(description="whether every job has arrived")
    chunks: int
    lines: int = Field(description="lines of input read, blank and repeated ones too")
    input_bytes: int
    duplicates: int = Field(description="lines left out because an earlier one is the same")
    nondeterministic: int = Field(description="chunks graded twice with different results")
    grading_seconds: float = Field(description="summed over workers")
    epoch: int = Field(description="how often the batch was retried")
    closing: BatchStatus | None = Field(
        description="the status it will end with, once its open jobs are closed"
    )
    reason: str = Field(description="why it failed")
    paused: bool = Field(description="whether it is paused")


class DurabilityShape(BaseModel):
    """How durably a batch was stored in Redis when it was sealed."""

    disk: bool | None = Field(
        description="whether it is synced to the disk of Redis: false when that was not confirmed in time, null when"
        " Redis keeps no append-only file or cannot confirm it"
    )
    replicas: int = Field(description="replicas that have confirmed it")
    connected_replicas: int
    append_only: bool = Field(description="whether Redis writes an append-only file")
    waited_seconds: float = Field(description="the time limit for each confirmation")
    text: str = Field(description="description as text")


class SubmittedShape(StateShape):
    """A newly submitted batch."""

    durability: DurabilityShape


class SpecShape(BaseModel):
    """A grader with its configuration, and the label of its results."""

    grader: str
    config: dict[str, Any] | None
    label: str


class OptionsShape(BaseModel):
    """The options that a batch was submitted with."""

    graders: list[SpecShape]
    source: str = Field(description="what the input was called")
    metadata: dict[str, str]
    project: str = Field(description="the project whose API keys may see it")
    submitted_by: str = Field(
        description="an API key's name, `cli:USER@HOST`, or `local` where keys are off"
    )


class SummaryShape(
    create_model(  # type: ignore[misc]
        "SummaryShape",
        label=(str, ...),
        grader=(str, ...),
        graded=(int, Field(description=f"{_GRADED}; the pass rate is passed / (passed + failed)")),
        **_JOBS,
    )
):
    """The outcomes of one label's jobs so far."""

    vacuous: int = Field(description="of the passed: those with nothing to check")
    causes: dict[str, int] = Field(description="why jobs did not pass, most frequent first")
    scores: list[int] = Field(
        description="passed and failed jobs by score: [0, 0.1), [0.1, 0.2) ... [0.9, 1]"
    )


class ListedShape(StateShape):
    """A batch in a list."""

    source: str
    metadata: dict[str, str]
    project: str
    submitted_by: str


class AuditEntryShape(BaseModel):
    """One recorded action."""

    at: float = Field(description="seconds since the epoch")
    action: Action
    actor: str = Field(description="an API key's name, `cli:USER@HOST`, or `local`")
    key_id: str = Field(description="of the API key; empty where there was none")
    project: str = Field(description="empty where it concerns all projects")
    batch: str
    details: dict[str, str]


class AuditPageShape(BaseModel):
    """Some entries of the audit log, newest first."""

    entries: list[AuditEntryShape]
    next_cursor: str | None = Field(description="for the entries before these; null at the end")


class BatchShape(StateShape):
    """A batch with its details."""

    graders: list[SummaryShape]
    options: OptionsShape
    history: list[AuditEntryShape] = Field(description="its last 100 audit log entries")


class BatchListShape(BaseModel):
    """Batches, newest first."""

    batches: list[ListedShape]
    next_cursor: str | None = Field(description="for the page after this one; null at the end")


class RetriedShape(StateShape):
    """A batch that was retried."""

    retried: int = Field(description="jobs that will be graded again")


class ResultPageShape(BaseModel):
    """Some results, in the order in which they were recorded."""

    results: list[dict[str, Any]]
    next_cursor: str | None = Field(
        description="the cursor after these; null when nothing more is there now"
    )
    complete: bool = Field(
        description="false: the search time limit was reached before the page was full; continue with the cursor"
    )


class CaseResultsShape(BaseModel):
    """The results of one case, one per grader."""

    results: list[dict[str, Any]]


def state_json(state: BatchState) -> dict[str, Any]:
    """Return a state in the API's JSON form."""
    return {
        **state.as_dict(),
        "chunks": state.chunks,
        "epoch": state.epoch,
        "closing": str(state.closing) if state.closing else None,
    }


def submitted_json(state: BatchState, durability: Durability) -> dict[str, Any]:
    """Return the state of a newly submitted batch in the API's JSON form."""
    return state_json(state) | {"durability": durability.as_dict()}


def options_json(options: BatchOptions) -> dict[str, Any]:
    """Return a batch's options in the API's JSON form."""
    return {
        "graders": [spec.as_dict() for spec in options.graders],
        "source": options.source,
        "metadata": options.metadata or {},
        "project": options.project,
        "submitted_by": options.submitted_by,
    }
