"""Routes of workers: list, drain, and the health of the queue."""

from __future__ import annotations

from fastapi import APIRouter
from pydantic import BaseModel

from weighbridge.store.health import Health
from weighbridge_producer.batch_shapes import Workers
from weighbridge_producer.service.access.auth import Admin, Reader
from weighbridge_producer.service.service import Served

router = APIRouter(prefix="/api", tags=["workers"])


class Drained(BaseModel):
    """A worker that was asked to drain."""

    worker: str


@router.get("/workers")
def list_workers(service: Served, _: Reader) -> Workers:
    """Return the running workers."""
    return Workers(service.client.workers())


@router.get("/health")
def show_health(service: Served, identity: Reader) -> Health:
    """Return whether work is progressing, and what blocks it, for the key's project (for admins: all projects)."""
    return service.client.health(project=identity.sees)


@router.post("/workers/{name:path}/drain", status_code=202)
def drain_worker(name: str, service: Served, identity: Admin) -> Drained:
    """Ask a worker to complete its work in progress and stop."""
    service.client.drain(name, identity.actor)
    return Drained(worker=name)
