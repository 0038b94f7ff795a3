"""Routes for operators: health probes, metrics and diagnosis."""

from __future__ import annotations

from typing import Any

from anyio import to_thread
from fastapi import APIRouter
from pydantic import BaseModel, Field
from starlette.responses import Response

from weighbridge.store.connection import translate_errors
from weighbridge_producer.doctor import Severity, examine_safely
from weighbridge_producer.service.access.auth import Admin, Reader
from weighbridge_producer.service.metrics import CONTENT_TYPE
from weighbridge_producer.service.service import Served, Service

_TEXT: dict[int | str, dict[str, Any]] = {
    200: {"description": "in the format of Prometheus", "content": {CONTENT_TYPE: {}}}
}
_BATCHES_COUNTED = 100

router = APIRouter(tags=["operations"])


class DoctorFinding(BaseModel):
    """A problem, or a warning of one."""

    severity: Severity = Field(description="`problem`, or a `warning` of one")
    subject: str = Field(description="what it is about, such as `server` or `workers`")
    what: str = Field(description="what is wrong")
    advice: str = Field(description="what to do about it")


class DoctorReport(BaseModel):
    """All problems that were found."""

    findings: list[DoctorFinding] = Field(description="the findings, problems first")


@router.get("/healthz", response_description="the process is running")
async def healthz() -> dict[str, str]:
    """Report that the process is running."""
    return {"status": "ok"}


@router.get("/readyz", response_description="Redis answers")
async def readyz(service: Served) -> dict[str, str]:
    """Report whether Redis answers; 503 if it does not."""
    # In separate threads, so that slow requests do not make the probe fail.
    await to_thread.run_sync(_ping, service, limiter=service.probe_threads)
    return {"status": "ok"}


def _ping(service: Service) -> None:
    with translate_errors():
        service.client.store.redis.ping()


@router.get("/metrics", response_class=Response, responses=_TEXT)
def metrics(service: Served, identity: Reader) -> Response:
    """Return metrics for Prometheus; for admins, including those of this instance's requests.

    The metrics cover the batches of the key's project or, for admins, of all projects.
    """
    batches = service.client.batches(_BATCHES_COUNTED, project=identity.sees)
    active = [state for state in batches if not state.status.final]
    health = service.client.health(project=identity.sees)
    content = service.metrics.text(health, active, with_requests=identity.sees is None)
    return Response(content, media_type=CONTENT_TYPE)


@router.get("/api/doctor", response_description="all problems and warnings that were found")
def examine(service: Served, _: Admin) -> DoctorReport:
    """Report problems of Redis, the workers and the batches of all projects, and how to fix them."""
    found = examine_safely(service.client)
    return DoctorReport.model_validate({"findings": found}, from_attributes=True)
