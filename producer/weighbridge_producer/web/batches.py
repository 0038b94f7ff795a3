"""The batches, and one batch: how it stands, what became of its jobs, and what can be done with it."""

from __future__ import annotations

import shlex
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from weighbridge.errors import BatchError
from weighbridge.jobs.api_keys import Role
from weighbridge_producer.http.access import Admin, Reader, Submitter
from weighbridge_producer.http.service import Served
from weighbridge_producer.web.addresses import batch_at
from weighbridge_producer.web.causes import causes_of
from weighbridge_producer.web.charts import Histogram, Segment, bar, histogram
from weighbridge_producer.web.progress import Sample, duration, progress_of
from weighbridge_producer.web.rendering import page

if TYPE_CHECKING:
    from weighbridge.jobs.model import BatchState, GraderSummary
    from weighbridge_producer.http.service import Service

router = APIRouter()

_PER_PAGE = 25
_FARTHEST = 1_000_000  #: batches that are paged through
_LABELS_SHOWN = 40
_OUTCOMES = ("passed", "failed", "ungradable", "errored", "cancelled", "expired")
#: The tone of an outcome, and the filter that its results go by.
_TONES = {
    "passed": ("pass", {"verdict": "pass"}),
    "failed": ("fail", {"verdict": "fail"}),
    "ungradable": ("ungradable", {"verdict": "ungradable"}),
    "errored": ("errored", {"status": "errored"}),
    "cancelled": ("muted", {"status": "cancelled"}),
    "expired": ("muted", {"status": "expired"}),
}

_Amount = Query(ge=0, le=1e12, allow_inf_nan=False)


class Row(NamedTuple):
    """One batch in the list."""

    state: BatchState
    source: str
    bar: list[Segment]
    age: str


class Outcome(NamedTuple):
    """How many jobs of a label came to one end, of how many, and where they are listed."""

    name: str
    tone: str
    jobs: int
    of: int
    noun: str
    href: str


@dataclass(frozen=True, slots=True)
class LabelView:
    """One label's jobs as the page shows them."""

    summary: GraderSummary
    name: str
    bar: list[Segment]
    outcomes: list[Outcome]
    histogram: Histogram | None


@router.get("/")
def batches(
    request: Request,
    service: Served,
    _: Reader,
    start: Annotated[int, Query(alias="from", ge=0, le=_FARTHEST)] = 0,
) -> HTMLResponse:
    """Show the batches, newest first."""
    ids = service.client.store.batches(start + _PER_PAGE + 1)[start:]
    now = time.time()
    rows = []
    for batch_id in ids[:_PER_PAGE]:
        with suppress(BatchError):  # gone since the list was read
            rows.append(_row(service, batch_id, now))
    return page(
        request,
        "batches.html",
        rows=rows,
        start=start,
        earlier=max(0, start - _PER_PAGE) if start else None,
        later=start + _PER_PAGE if len(ids) > _PER_PAGE else None,
        batch_at=batch_at,
        badge_of=_badge_of,
    )


def _row(service: Service, batch_id: str, now: float) -> Row:
    batch = service.client.batch(batch_id)
    state = batch.status()
    return Row(
        state, batch.options().source, bar(state.counts), duration(max(0, now - state.created_at))
    )


@router.get("/batches/{batch_id}")
def batch(
    request: Request,
    service: Served,
    who: Reader,
    batch_id: str,
    retried: Annotated[int | None, Query(ge=0, le=10**12)] = None,
) -> HTMLResponse:
    """Show one batch."""
    handle = service.client.batch(batch_id)
    options = handle.options()
    results_json_href = f"/api{batch_at(batch_id, 'results', format='ndjson')}"
    return page(
        request,
        "batch.html",
        **_standing(service, batch_id, None),
        options=options,
        retried=retried,
        can_submit=who.role.includes(Role.SUBMIT),
        can_delete=who.role.includes(Role.ADMIN),
        is_complete=False,
        has_ended_since=False,
        causes_href=batch_at(batch_id, "causes"),
        json_href=f"/api{batch_at(batch_id)}",
        results_json_href=results_json_href,
        results_url=shlex.quote(f"{str(request.base_url).rstrip('/')}{results_json_href}"),
        needs_key=service.keys_required,
    )


@router.get("/batches/{batch_id}/live")
def live(
    request: Request,
    service: Served,
    _: Reader,
    batch_id: str,
    at: Annotated[float, _Amount] = 0,
    done: Annotated[int, _Amount] = 0,
    rate: Annotated[float, _Amount] = 0,
) -> HTMLResponse:
    """Show how a batch stands now, with the rate since the look whose numbers are given."""
    try:
        standing = _standing(service, batch_id, Sample(at, done, rate) if at else None)
    except BatchError as error:
        return page(request, "parts/gone.html", error=error)
    return page(request, "parts/live.html", **standing, has_ended_since=True)


def _standing(service: Service, batch_id: str, before: Sample | None) -> dict[str, Any]:
    handle = service.client.batch(batch_id)
    state, summary = handle.status(), handle.summary()
    now = progress_of(state, time.time(), before)
    sample = now.sample
    return {
        "batch_id": batch_id,
        "state": state,
        "is_final": state.status.final,
        "badge": _badge_of(state),
        "progress": now,
        "has_workers": state.status.final or bool(service.client.workers()),
        "duration": duration,
        "bar": bar(state.counts),
        "outcomes": _outcomes(batch_id, state.counts, state.counts.total, {}),
        "labels": [_label(batch_id, each) for each in summary[:_LABELS_SHOWN]],
        "labels_hidden": max(0, len(summary) - _LABELS_SHOWN),
        "causes": causes_of(batch_id, summary),
        "results_href": batch_at(batch_id, "results"),
        "live_href": batch_at(
            batch_id, "live", at=f"{sample.at:.3f}", done=sample.done, rate=f"{sample.rate:.3f}"
        ),
        "batch_at": batch_at,
    }


def _label(batch_id: str, summary: GraderSummary) -> LabelView:
    return LabelView(
        summary,
        summary.label or "lines that are no cases",
        bar(summary),
        _outcomes(batch_id, summary, 0, {"label": summary.label}),
        histogram(summary.scores),
    )


def _outcomes(batch_id: str, counts: Any, total: int, filters: dict[str, str]) -> list[Outcome]:
    """Return the outcomes that there are, those of graders with the graded jobs as their denominator."""
    every = total or sum(getattr(counts, name) for name in _OUTCOMES)
    found = []
    for name in _OUTCOMES:
        jobs = getattr(counts, name)
        tone, wanted = _TONES[name]
        is_verdict = "verdict" in wanted
        if jobs or (name in {"passed", "failed"} and counts.graded):
            href = batch_at(batch_id, "results", **filters, **wanted)
            of = counts.graded if is_verdict else every
            found.append(Outcome(name, tone, jobs, of, "graded" if is_verdict else "in all", href))
    return found


def _badge_of(state: BatchState) -> str:
    """Return the class of a batch's status: how it ended, and the worst that its jobs came to."""
    counts = state.counts
    if not state.status.final:
        return ""
    if state.status != "completed":
        return "errored"
    if counts.failed:
        return "fail"
    # Where there was nothing to grade nothing passed either.
    return "pass" if counts.passed == counts.total > 0 else "ungradable"


@router.get("/batches/{batch_id}/{act}/confirm")
def confirm(request: Request, service: Served, _: Reader, batch_id: str, act: str) -> HTMLResponse:
    """Ask once more before a batch is cancelled or deleted."""
    state = service.client.batch(batch_id).status()
    return page(
        request,
        "confirm.html",
        batch_id=batch_id,
        act="delete" if act == "delete" else "cancel",
        state=state,
        batch_at=batch_at,
    )


@router.post("/batches/{batch_id}/cancel")
def cancel(service: Served, _: Submitter, batch_id: str) -> Response:
    """Cancel a batch and go back to it."""
    service.client.batch(batch_id).cancel()
    return RedirectResponse(batch_at(batch_id), 303)


@router.post("/batches/{batch_id}/retry")
def retry(service: Served, _: Submitter, batch_id: str) -> Response:
    """Grade again what another try may mend, and go back to the batch."""
    jobs = service.client.batch(batch_id).retry()
    return RedirectResponse(batch_at(batch_id, retried=jobs), 303)


@router.post("/batches/{batch_id}/delete")
def delete(service: Served, _: Admin, batch_id: str) -> Response:
    """Delete a batch and go to the others."""
    service.client.batch(batch_id).delete()
    return RedirectResponse("/", 303)
