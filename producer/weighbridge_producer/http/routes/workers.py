"""The workers: who lives, and who is to leave."""

from __future__ import annotations

from fastapi import APIRouter, Depends
from pydantic import BaseModel

from weighbridge.jobs.api_keys import Role
from weighbridge.jobs.fleet import WorkerInfo
from weighbridge_producer.http.access import require
from weighbridge_producer.http.service import Served

router = APIRouter(prefix="/api/workers", tags=["workers"])


class Workers(BaseModel):
    """The living workers, by name."""

    workers: list[WorkerInfo]


class Drained(BaseModel):
    """A worker that was asked to leave."""

    worker: str


@router.get("", dependencies=[Depends(require(Role.READ))])
def list_workers(service: Served) -> Workers:
    """Return the living workers."""
    return Workers(workers=service.client.workers())


@router.post("/{name}/drain", status_code=202, dependencies=[Depends(require(Role.ADMIN))])
def drain_worker(name: str, service: Served) -> Drained:
    """Ask a worker to finish what it has begun, and leave."""
    service.client.drain(name)
    return Drained(worker=name)
