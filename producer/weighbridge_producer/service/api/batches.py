"""Batches: submit, list, look at, end."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Request, Response
from pydantic import BaseModel, Field
from starlette.concurrency import run_in_threadpool

from weighbridge.jobs.model import BatchState
from weighbridge.store import WEIGHTS, BatchOptions
from weighbridge_producer.service.auth import ManageBatch, ReadBatch, Reader, SubmitBatch, Submitter
from weighbridge_producer.service.problems import PROBLEM_ANSWERS
from weighbridge_producer.service.schemas import (
    BatchListShape,
    BatchShape,
    RetriedShape,
    StateShape,
    SubmittedShape,
    options_json,
    state_json,
    submitted_json,
)
from weighbridge_producer.service.service import Served
from weighbridge_producer.service.upload import FORM, LINES, receive

PAGE_LIMIT = 200

router = APIRouter(prefix="/api/batches", tags=["batches"])


def _in_query(name: str, description: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"name": name, "in": "query", "description": description, "schema": schema}


_TEXT = {"type": "string"}
_GRADERS = 'JSON: a list of ids or of {"grader", "config", "label"}'
_METADATA = "JSON: an object of strings, kept with the batch"
_STRICT = "refuse everything when any line cannot be graded, before any is graded"
_RESUME = "the id of a batch that was begun with the same cases: submit the rest of them"
_FRAMED = "whether notes of the sender stand ahead of lines, as the Python client writes them"
_PROJECT = "whose batch it is: the key's project, unless an admin names another"
_PRIORITY = "its share of the workers' time beside other batches"
_PRIORITIES = {"type": "string", "enum": list(WEIGHTS), "default": "normal"}
_SUBMISSION = {
    "parameters": [
        _in_query("grader", "a grader's id; may be repeated", {"type": "array", "items": _TEXT}),
        _in_query("graders", f"{_GRADERS}; also as the header Weighbridge-Graders", _TEXT),
        _in_query("metadata", f"{_METADATA}; also as the header Weighbridge-Metadata", _TEXT),
        _in_query("source", "what to call the input", _TEXT),
        _in_query("strict", _STRICT, {"type": "boolean"}),
        _in_query("resume", _RESUME, _TEXT),
        _in_query("framed", _FRAMED, {"type": "boolean"}),
        _in_query("priority", _PRIORITY, _PRIORITIES),
        _in_query("project", _PROJECT, _TEXT),
    ],
    "requestBody": {
        "required": True,
        "description": "JSON lines, plain or packed by gzip or zstd, or a form with them as its last field",
        "content": {
            **{kind: {"schema": {**_TEXT, "format": "binary"}} for kind in LINES},
            FORM: {
                "schema": {
                    "type": "object",
                    "properties": {
                        "grader": {"type": "array", "items": _TEXT},
                        "graders": {**_TEXT, "description": _GRADERS},
                        "metadata": {**_TEXT, "description": _METADATA},
                        "source": _TEXT,
                        "strict": {"type": "boolean", "description": _STRICT},
                        "resume": {**_TEXT, "description": _RESUME},
                        "framed": {"type": "boolean", "description": _FRAMED},
                        "priority": {**_PRIORITIES, "description": _PRIORITY},
                        "project": {**_TEXT, "description": _PROJECT},
                        "file": {**_TEXT, "format": "binary", "description": "the last field"},
                    },
                    "required": ["file"],
                    "additionalProperties": False,
                }
            },
        },
    },
}
_REPLAYED = {"Idempotency-Replayed": {"schema": {"type": "string", "enum": ["true"]}}}
_LOCATION = {"Location": {"schema": _TEXT}}


@router.post(
    "",
    status_code=201,
    response_model=SubmittedShape,
    openapi_extra=_SUBMISSION,
    responses={
        200: {
            "model": SubmittedShape,
            "description": "an earlier request with this Idempotency-Key has submitted it",
            "headers": {**_REPLAYED, **_LOCATION},
        },
        201: {"description": "submitted; the batch is sealed", "headers": _LOCATION},
        408: {**PROBLEM_ANSWERS[400], "description": "nothing of the body came for long"},
    },
)
async def submit_batch(
    request: Request,
    response: Response,
    service: Served,
    identity: Submitter,
    idempotency_key: Annotated[
        str | None,
        Header(description="sent again with the same key, a request goes on with what it began"),
    ] = None,
) -> dict[str, Any]:
    """Submit cases as one batch, while they arrive.

    A line that cannot be graded becomes an errored job. Without an Idempotency-Key an upload that breaks off ends its
    batch as failed; with one it can be sent again, for 24 hours, and goes on from what has arrived.
    """
    received = await receive(request, service, identity, key=idempotency_key)
    response.headers["Location"] = f"/api/batches/{received.batch.id}"
    if received.replayed:
        response.status_code = 200
        response.headers["Idempotency-Replayed"] = "true"
    state = await run_in_threadpool(received.batch.status)
    return submitted_json(state, received.durability)


class ListQuery(BaseModel, extra="forbid"):
    """Which batches to list."""

    limit: int = Field(50, ge=1, le=PAGE_LIMIT)
    cursor: str | None = Field(None, description="`next_cursor` of the page before")
    project: str | None = Field(None, description="for admins: only this project's")


@router.get("", response_model=BatchListShape)
def list_batches(
    service: Served, identity: Reader, query: Annotated[ListQuery, Query()]
) -> dict[str, Any]:
    """List the batches of the key's project, of all for admins, newest first; those that are gone are left out."""
    store, limit = service.client.store, query.limit
    project = identity.project_for(query.project) if query.project else identity.sees
    found = store.batches(limit + 1, before=query.cursor or None, project=project)
    listed = [_listed(*each) for each in store.listed(found[:limit])]
    return {"batches": listed, "next_cursor": found[limit - 1] if len(found) > limit else None}


def _listed(state: BatchState, options: BatchOptions) -> dict[str, Any]:
    return {
        **state_json(state),
        "source": options.source,
        "metadata": options.metadata or {},
        "project": options.project,
        "submitted_by": options.submitted_by,
    }


@router.get("/{batch_id}", response_model=BatchShape)
def show_batch(batch: ReadBatch) -> dict[str, Any]:
    """Show how a batch stands, what each grader's jobs came to, what it was submitted with, and who did what to it."""
    return {
        **state_json(batch.status()),
        "graders": [row.as_dict() for row in batch.summary()],
        "options": options_json(batch.options()),
        "history": [entry.as_dict() for entry in batch.history()],
    }


@router.post("/{batch_id}/cancel", response_model=StateShape)
def cancel_batch(batch: SubmitBatch) -> dict[str, Any]:
    """Cancel what is not graded yet; what is stays. A batch that has ended stays as it is."""
    return state_json(batch.cancel())


@router.post("/{batch_id}/retry", response_model=RetriedShape)
def retry_batch(batch: SubmitBatch) -> dict[str, Any]:
    """Grade again what errored for a reason that may be gone, was cancelled, or expired."""
    retried = batch.retry()
    return {"retried": retried, **state_json(batch.status())}


@router.post("/{batch_id}/pause", response_model=StateShape)
def pause_batch(batch: SubmitBatch) -> dict[str, Any]:
    """Let workers begin no more of a batch; what they have begun is finished."""
    batch.pause()
    return state_json(batch.status())


@router.post("/{batch_id}/unpause", response_model=StateShape)
def unpause_batch(batch: SubmitBatch) -> dict[str, Any]:
    """Let workers go on with a batch that was paused."""
    batch.unpause()
    return state_json(batch.status())


@router.delete("/{batch_id}", status_code=204)
def delete_batch(batch: ManageBatch) -> None:
    """Drop a batch, its inputs and results."""
    batch.status()
    batch.delete()
