"""The workers: who lives, who is to leave, and whether work goes on."""

from __future__ import annotations

from fastapi import APIRouter, Depends
from pydantic import BaseModel

from weighbridge.jobs.api_keys import Role
from weighbridge.jobs.fleet import WorkerInfo
from weighbridge.jobs.health import Health
from weighbridge_producer.http.access import require
from weighbridge_producer.http.service import Served

router = APIRouter(prefix="/api", tags=["workers"])


class Workers(BaseModel):
    """The living workers, by name."""

    workers: list[WorkerInfo]


class Drained(BaseModel):
    """A worker that was asked to leave."""

    worker: str


@router.get("/workers", dependencies=[Depends(require(Role.READ))])
def list_workers(service: Served) -> Workers:
    """Return the living workers."""
    return Workers(workers=service.client.workers())


@router.get("/health", dependencies=[Depends(require(Role.READ))])
def show_health(service: Served) -> Health:
    """Return whether work goes on, and what holds it up."""
    return service.client.health()


@router.post(
    "/workers/{name:path}/drain", status_code=202, dependencies=[Depends(require(Role.ADMIN))]
)
def drain_worker(name: str, service: Served) -> Drained:
    """Ask a worker to finish what it has begun, and leave."""
    service.client.drain(name)
    return Drained(worker=name)
