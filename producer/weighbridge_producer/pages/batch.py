"""Pages of one batch: its state and outcomes, and the actions on it."""

from __future__ import annotations

import shlex
import time
from typing import TYPE_CHECKING, Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from weighbridge.errors import BatchError
from weighbridge.store.api_keys import Role
from weighbridge_producer.pages.addresses import batch_at
from weighbridge_producer.pages.batch_outcome import (
    label_view,
    outcomes_of,
    overall_outcome,
    pass_rate,
)
from weighbridge_producer.pages.causes import causes_of
from weighbridge_producer.pages.progress import Sample, progress_of
from weighbridge_producer.pages.rendering import page
from weighbridge_producer.pages.slices import By, count_turn, slices_of
from weighbridge_producer.service.access.auth import ManageBatch, ReadBatch, Reader, SubmitBatch
from weighbridge_producer.service.service import Served
from weighbridge_producer.trace_view.charts import bar

if TYPE_CHECKING:
    from weighbridge_producer.client.redis_batch import RedisBatch
    from weighbridge_producer.service.service import Service

router = APIRouter()

_LABELS_SHOWN = 40

_Amount = Query(ge=0, le=1e12, allow_inf_nan=False)


@router.get("/batches/{batch_id}", dependencies=[Depends(count_turn)])
def batch(
    request: Request,
    service: Served,
    who: Reader,
    handle: ReadBatch,
    retried: Annotated[int | None, Query(ge=0, le=10**12)] = None,
    by: By = "",
) -> HTMLResponse:
    """Show one batch."""
    batch_id, options = handle.id, handle.options()
    context = _context(service, handle, None)
    results_json_href = f"/api{batch_at(batch_id, 'results', format='ndjson')}"
    return page(
        request,
        "batch.html",
        **context,
        **slices_of(service, context["state"], by),
        options=options,
        has_projects=service.keys_required,
        history=handle.history(),
        retried=retried,
        can_submit=who.role.includes(Role.SUBMIT),
        can_delete=who.role.includes(Role.MANAGE),
        is_complete=False,
        is_update=False,
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
    handle: ReadBatch,
    at: Annotated[float, _Amount] = 0,
    done: Annotated[int, _Amount] = 0,
    rate: Annotated[float, _Amount] = 0,
) -> HTMLResponse:
    """Show a batch's current state, with the rate since an earlier sample given in the query."""
    try:
        context = _context(service, handle, Sample(at, done, rate) if at else None)
    except BatchError as error:
        return page(request, "parts/gone.html", error=error)
    return page(request, "parts/live.html", **context, is_update=True)


def _context(service: Service, handle: RedisBatch, before: Sample | None) -> dict[str, Any]:
    batch_id = handle.id
    state, summary = handle.state_and_summary()
    now = progress_of(state, time.time(), before)
    sample = now.sample
    return {
        "batch_id": batch_id,
        "state": state,
        "is_final": state.status.final,
        "answer": overall_outcome(state),
        "pass_rate": pass_rate(state.counts),
        "progress": now,
        "idle_seconds": state.idle_seconds(time.time()),
        "has_workers": state.status.final or bool(service.client.workers()),
        "bar": bar(state.counts),
        "outcomes": outcomes_of(batch_id, state.counts, state.counts.total, {}),
        "labels": [label_view(batch_id, each) for each in summary[:_LABELS_SHOWN]],
        "labels_hidden": max(0, len(summary) - _LABELS_SHOWN),
        "causes": causes_of(batch_id, summary),
        "results_href": batch_at(batch_id, "results"),
        "live_href": batch_at(
            batch_id, "live", at=f"{sample.at:.3f}", done=sample.done, rate=f"{sample.rate:.3f}"
        ),
        "batch_at": batch_at,
    }


@router.get("/batches/{batch_id}/{act}/confirm")
def confirm(request: Request, batch: ReadBatch, act: Literal["cancel", "delete"]) -> HTMLResponse:
    """Ask for confirmation before a batch is cancelled or deleted."""
    batch_id, state = batch.id, batch.status()
    return page(
        request,
        "confirm.html",
        batch_id=batch_id,
        act=act,
        state=state,
        batch_at=batch_at,
    )


@router.post("/batches/{batch_id}/cancel")
def cancel(batch: SubmitBatch) -> Response:
    """Cancel a batch, and redirect to its page."""
    batch.cancel()
    return RedirectResponse(batch_at(batch.id), 303)


@router.post("/batches/{batch_id}/retry")
def retry(batch: SubmitBatch) -> Response:
    """Retry a batch, and redirect to its page."""
    jobs = batch.retry()
    return RedirectResponse(batch_at(batch.id, retried=jobs), 303)


@router.post("/batches/{batch_id}/delete")
def delete(batch: ManageBatch) -> Response:
    """Delete a batch, and redirect to the list."""
    batch.delete()
    return RedirectResponse("/", 303)
