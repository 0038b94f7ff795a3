"""Routes of workers: list, drain, and the health of the queue."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path
from pydantic import BaseModel, Field

from weighbridge.store.health import Health
from weighbridge_producer.batch_shapes import WorkerList
from weighbridge_producer.service.access.auth import Admin, Reader
from weighbridge_producer.service.service import Served

router = APIRouter(prefix="/api", tags=["workers"])


class DrainedWorker(BaseModel):
    """A worker that was asked to drain."""

    worker: str = Field(description="the name of the worker")


@router.get("/workers", response_description="the running workers")
def list_workers(service: Served, _: Reader) -> WorkerList:
    """Return the running workers."""
    return WorkerList(service.client.workers())


@router.get("/health", response_description="the state of the work")
def show_health(service: Served, identity: Reader) -> Health:
    """Return whether work is progressing, and what blocks it, for the key's project (for admins: all projects)."""
    return service.client.health(project=identity.sees)


@router.post(
    "/workers/{name:path}/drain",
    status_code=202,
    response_description="the worker was asked to drain",
)
def drain_worker(
    name: Annotated[str, Path(description="the name of a worker, as listed")],
    service: Served,
    identity: Admin,
) -> DrainedWorker:
    """Ask a worker to complete its work in progress and stop."""
    service.client.drain(name, identity.actor)
    return DrainedWorker(worker=name)
