"""Route to open a batch before its upload, so that its id is known even if the upload fails."""

from __future__ import annotations

import json
from typing import Any

from fastapi import APIRouter, Response
from pydantic import BaseModel, Field

from weighbridge.jobs.batch_state import Priority
from weighbridge_producer.batch_shapes import BatchSummary
from weighbridge_producer.service.access.auth import Submitter
from weighbridge_producer.service.service import Served
from weighbridge_producer.service.uploads.submission_params import SubmissionParams

router = APIRouter(prefix="/api/open-batches", tags=["batches"])


class NewOpenBatch(BaseModel, extra="forbid"):
    """Parameters of a batch to be opened."""

    graders: list[str | dict[str, Any]] = Field(
        [], description='ids or {"grader", "config", "label"}'
    )
    metadata: dict[str, str] = Field({}, description="kept with the batch")
    source: str = Field("upload", description="the name of the input")
    priority: Priority = Field(
        "normal", description="the batch's share of worker time when batches compete"
    )
    project: str = Field("", description="that of the key, unless an admin names another")


@router.post(
    "",
    status_code=201,
    responses={
        201: {
            "description": "the open batch, without jobs",
            "headers": {"Location": {"schema": {"type": "string"}}},
        }
    },
)
def open_batch(
    opening: NewOpenBatch, response: Response, service: Served, identity: Submitter
) -> BatchSummary:
    """Open an empty batch, to be filled by `POST /api/batches?resume=`, repeatedly if that is interrupted."""
    fields = opening.model_dump()
    texts = {name: json.dumps(fields.pop(name)) for name in ("graders", "metadata")}
    params = SubmissionParams.of((fields | texts).items())
    batch = service.client.open(
        *(params.source, params.graders),
        metadata=params.metadata,
        priority=params.priority,
        project=identity.project_for(params.project),
        actor=identity.actor,
    )
    response.headers["Location"] = f"/api/batches/{batch.id}"
    return BatchSummary.of(batch.status())
