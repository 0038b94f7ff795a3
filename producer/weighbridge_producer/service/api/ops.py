"""For those who run the service: does it live, can it work, what does it do."""

from __future__ import annotations

from typing import Any

from anyio import to_thread
from fastapi import APIRouter
from starlette.responses import Response

from weighbridge.store.connection import translate_errors
from weighbridge_producer.service.auth import Reader
from weighbridge_producer.service.metrics import CONTENT_TYPE
from weighbridge_producer.service.service import Served, Service

_TEXT: dict[int | str, dict[str, Any]] = {
    200: {"description": "As Prometheus reads it", "content": {CONTENT_TYPE: {}}}
}
_BATCHES_COUNTED = 100

router = APIRouter(tags=["operations"])


@router.get("/healthz")
async def healthz() -> dict[str, str]:
    """Say that the process lives."""
    return {"status": "ok"}


@router.get("/readyz")
async def readyz(service: Served) -> dict[str, str]:
    """Say that the store answers; 503 when it does not."""
    # In threads of its own: slow requests must not make a copy look dead.
    await to_thread.run_sync(_ping, service, limiter=service.probe_threads)
    return {"status": "ok"}


def _ping(service: Service) -> None:
    with translate_errors():
        service.client.store.redis.ping()


@router.get("/metrics", response_class=Response, responses=_TEXT)
def metrics(service: Served, identity: Reader) -> Response:
    """Tell Prometheus of the work on the store, and admins of this copy's requests.

    Batches are counted of the key's project only, of all for admins.
    """
    batches = service.client.batches(_BATCHES_COUNTED, project=identity.sees)
    active = [state for state in batches if not state.status.final]
    health = service.client.health(project=identity.sees)
    told = service.metrics.text(health, active, with_requests=identity.sees is None)
    return Response(told, media_type=CONTENT_TYPE)
