"""Routes of the audit log."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, Field
from starlette.concurrency import run_in_threadpool

from weighbridge_producer.batch_shapes import AuditEntry, AuditLogPage
from weighbridge_producer.service.access.auth import Manager, search_turn
from weighbridge_producer.service.service import Served

PAGE_LIMIT = 1_000

router = APIRouter(prefix="/api/audit", tags=["operations"])


class AuditQuery(BaseModel, extra="forbid"):
    """Which entries."""

    batch: str | None = Field(None, description="only those about this batch")
    since: float = Field(0, ge=0, le=1e11, description="seconds since the epoch")
    project: str | None = Field(None, description="for admins: only entries of this project")
    cursor: str | None = Field(None, description="`next_cursor` of the previous page")
    limit: int = Field(100, ge=1, le=PAGE_LIMIT, description="entries in a page")


@router.get("", response_description="a page of the audit log")
async def list_audit(
    request: Request,
    service: Served,
    identity: Manager,
    query: Annotated[AuditQuery, Query()],
) -> AuditLogPage:
    """Return entries of the audit log: actions on batches, queues, API keys and workers, with their actors.

    The entries are those of the key's project (for admins: of all projects), newest first. A page with fewer than
    `limit` entries may still have a `next_cursor`.
    """
    project = identity.project_for(query.project) if query.project else identity.sees
    await search_turn(request, service, identity)
    found = await run_in_threadpool(
        service.audit.page,
        project=project,
        batch=query.batch,
        since=query.since,
        cursor=query.cursor,
        limit=query.limit,
    )
    entries = list(map(AuditEntry.of, found.entries))
    return AuditLogPage(entries, found.next_cursor)
