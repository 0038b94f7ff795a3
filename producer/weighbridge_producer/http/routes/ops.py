"""For those who run the service: does it live, can it work, what does it do."""

from __future__ import annotations

from fastapi import APIRouter

from weighbridge.jobs.connection import plain_errors
from weighbridge_producer.http.service import Served

router = APIRouter(tags=["operations"])


@router.get("/healthz")
async def healthz() -> dict[str, str]:
    """Say that the process lives."""
    return {"status": "ok"}


@router.get("/readyz")
def readyz(service: Served) -> dict[str, str]:
    """Say that the store answers; 503 when it does not."""
    with plain_errors():
        service.client.store.redis.ping()
    return {"status": "ok"}
