"""Causes of the jobs of a batch that did not pass, with a few examples each."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from weighbridge.graders.difference_reason import shorten_reason
from weighbridge.jobs.limits import NAME_LIMIT
from weighbridge.jobs.result_line import ResultRow
from weighbridge.store.result_filter import ResultFilter
from weighbridge.text import shorten
from weighbridge_producer.pages.addresses import batch_at, result_at
from weighbridge_producer.pages.rendering import page
from weighbridge_producer.service.access.auth import ReadBatch, SearchTurn

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weighbridge.jobs.outcome import GraderSummary
    from weighbridge_producer.client.redis_batch import RedisBatch

router = APIRouter()

SHOWN = 20
_EXEMPLARS = 3
_WHY_CHARACTERS = 300
_SECONDS_A_CAUSE = 0.1
_SECONDS_IN_ALL = 0.25
#: The store's names for those over its limits.
_FOLDED = (
    "(other labels)",
    "(other causes)",
)


class Exemplar(NamedTuple):
    """An example job of a cause."""

    name: str
    href: str | None
    reason: str


class Cause(NamedTuple):
    """A reason why jobs of one label did not pass."""

    label: str
    grader: str
    reason: str
    jobs: int
    #: jobs of the label that were graded or errored; of the batch, if the lines name no label
    of: int
    href: str | None  #: URL of the table of these jobs
    exemplars: tuple[Exemplar, ...] = ()

    @property
    def percent(self) -> float:
        """The share of the label's jobs."""
        return 100 * self.jobs / self.of if self.of else 0.0


class Causes(NamedTuple):
    """The causes of one batch, commonest first."""

    shown: tuple[Cause, ...]
    total: int  #: number of causes
    jobs: int  #: number of jobs that did not pass
    noun: str  #: the noun for these jobs


def causes_of(batch_id: str, summary: Sequence[GraderSummary]) -> Causes:
    """Return the causes counted in a summary, without examples."""
    all_jobs = sum(each.graded + each.errored for each in summary)
    found = [
        Cause(
            each.label,
            each.grader,
            reason,
            jobs,
            each.graded + each.errored if each.label else all_jobs,
            _table_of(batch_id, each.label, reason),
        )
        for each in summary
        for reason, jobs in each.causes
    ]
    found.sort(key=lambda cause: (-cause.jobs, cause.label, cause.reason))
    others = sum(each.ungradable + each.errored for each in summary)
    jobs = others + sum(each.failed for each in summary)
    return Causes(
        tuple(found[:SHOWN]), len(found), jobs, "job that did not pass" if others else "failure"
    )


@router.get("/batches/{batch_id}/causes")
def causes(
    request: Request,
    batch: ReadBatch,
    _turn: SearchTurn,
) -> HTMLResponse:
    """Show the causes with examples, as far as they are found within the time limit."""
    batch_id, state = batch.id, batch.status()
    found = causes_of(batch_id, batch.summary())
    return page(
        request,
        "parts/causes.html",
        batch_id=batch_id,
        causes=found._replace(shown=with_exemplars(batch, found.shown)),
        is_complete=True,
        is_final=state.status.final,
        causes_href=batch_at(batch_id, "causes"),
    )


def with_exemplars(batch: RedisBatch, shown: Sequence[Cause]) -> tuple[Cause, ...]:
    """Return causes with the first jobs found for each within the time limit."""
    deadline = time.monotonic() + _SECONDS_IN_ALL
    found = []
    for cause in shown:
        left = min(_SECONDS_A_CAUSE, deadline - time.monotonic())
        first = _exemplars(batch, cause, left) if cause.href and left > 0 else ()
        found.append(cause._replace(exemplars=first))
    return tuple(found)


def _exemplars(batch: RedisBatch, cause: Cause, seconds: float) -> tuple[Exemplar, ...]:
    wanted = ResultFilter(label=cause.label, cause=cause.reason)
    lines = batch.search(wanted, limit=_EXEMPLARS, budget_seconds=seconds).lines
    return tuple(_exemplar(batch.id, ResultRow.from_bytes(line)) for line in lines)


def _exemplar(batch_id: str, result: ResultRow) -> Exemplar:
    custom_id, label = result.custom_id, result.label
    if custom_id is None or label is None:
        return Exemplar(custom_id or f"line {result.line}", None, why(result))
    return Exemplar(custom_id, result_at(batch_id, custom_id, label), why(result))


def why(result: ResultRow) -> str:
    """Return the reason for a result in one line: its error, or the check that failed."""
    if result.error:
        return shorten(str(result.error), _WHY_CHARACTERS)
    chosen = next(iter((*result.failed_checks, *result.evidence)), None)
    return shorten_reason(str(chosen["description"]), _WHY_CHARACTERS) if chosen else ""


def _table_of(batch_id: str, label: str, reason: str) -> str | None:
    # Combined or truncated names cannot be used as a filter.
    if label in _FOLDED or reason in _FOLDED or len(reason) > NAME_LIMIT:
        return None
    return batch_at(batch_id, "results", label=label, cause=reason)
