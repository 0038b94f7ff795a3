"""Page of the workers: their state and rates, the queue, and advice if work is stuck."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse

from weighbridge.text import duration
from weighbridge_producer.pages.addresses import batch_at
from weighbridge_producer.pages.rendering import page
from weighbridge_producer.service.access.auth import Reader
from weighbridge_producer.service.service import Served

if TYPE_CHECKING:
    from weighbridge.store.health import DeadLetter, Health
    from weighbridge.store.worker_registry import WorkerInfo
    from weighbridge_producer.service.access.auth import Identity
    from weighbridge_producer.service.service import Service

router = APIRouter()

_SHOWN = 100
_LEAST_SECONDS = 0.5  #: shortest interval for measuring a rate
_BEAT_SECONDS = 30.0  #: interval of two samples, because counts are updated only by heartbeats
_ADVICE = {
    "WORKER_KILLED": "the case crashes its worker process: look at its inputs and at the worker's log, then retry",
    "TIMEOUT": "grading takes longer than a job may: raise WEIGHBRIDGE_JOB_DEADLINE_SECONDS, or make the case smaller, then retry",
    "OUT_OF_MEMORY": "grading needs more memory than a child may have: raise WEIGHBRIDGE_CHILD_MEMORY_LIMIT_BYTES, then retry",
}

_Amount = Query(ge=0, le=1e15, allow_inf_nan=False)


class ShownWorker(NamedTuple):
    """One row in the table of workers."""

    info: WorkerInfo
    age: str
    graders: str


class DeadLetterRow(NamedTuple):
    """Dead letters, with a link to their list, and advice."""

    letter: DeadLetter
    href: str
    advice: str


@router.get("/workers")
def workers(request: Request, service: Served, identity: Reader) -> HTMLResponse:
    """Show the workers and the queue."""
    return page(request, "workers.html", **_context(service, identity, 0, 0))


@router.get("/workers/live")
def live(
    request: Request,
    service: Served,
    identity: Reader,
    at: Annotated[float, _Amount] = 0,
    jobs: Annotated[int, _Amount] = 0,
) -> HTMLResponse:
    """Show the live part of the page, with the rate since an earlier sample given in the query."""
    return page(request, "parts/workers.html", **_context(service, identity, at, jobs))


def _context(service: Service, identity: Identity, at: float, jobs: int) -> dict[str, Any]:
    health = service.client.health(project=identity.sees)
    now = time.time()
    graded = sum(worker.jobs for worker in health.workers)
    took = now - at
    # The count of an ended worker is missing from the total: skip the rate until the next sample.
    rate = (graded - jobs) / took if at and took >= _LEAST_SECONDS and graded >= jobs else None
    is_fresh = at and took < _BEAT_SECONDS and graded >= jobs
    since = (at, jobs) if is_fresh else (now, graded)
    return {
        "health": health,
        "workers": [_worker(worker, now) for worker in health.workers[:_SHOWN]],
        "stuck": health.stuck[:_SHOWN],
        "letters": [_letter(letter) for letter in health.dead_letters[:_SHOWN]],
        "children": sum(worker.concurrency for worker in health.workers),
        "rate": rate,
        "advice": _advice(health),
        "live_href": f"/workers/live?at={since[0]:.3f}&jobs={since[1]}",
        "batch_at": batch_at,
    }


def _worker(worker: WorkerInfo, now: float) -> ShownWorker:
    graders = ", ".join(f"{name} {version}" for name, version in worker.graders.items())
    return ShownWorker(worker, duration(max(0.0, now - worker.started_at)), graders)


def _letter(letter: DeadLetter) -> DeadLetterRow:
    href = batch_at(letter.batch_id, "results", label=letter.label, cause=letter.code)
    return DeadLetterRow(letter, href, _ADVICE.get(letter.code, "look at the cases, then retry"))


def _advice(health: Health) -> str:
    """Return advice on the current problems; empty if there are none."""
    waits = health.queue_length or health.stuck or health.active_batches
    if not health.workers:
        waiting = "Work is waiting, and no worker is running." if waits else "No worker is running."
        return f"{waiting} Start one: weighbridge worker --redis-url URL"
    if all(worker.draining for worker in health.workers):
        return "All workers are draining. Start another before they stop."
    if health.stuck:
        return (
            "Some work has made no progress for a while. Running workers put stuck work back in the queue; if it stays "
            "here, restart the workers, or cancel and retry the batch."
        )
    return ""
