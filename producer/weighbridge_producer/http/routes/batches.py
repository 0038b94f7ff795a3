"""Batches: submit, list, look at, end."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Header, Path, Query, Request, Response
from pydantic import BaseModel, Field
from starlette.concurrency import run_in_threadpool

from weighbridge.errors import BatchError
from weighbridge_producer.http.access import Admin, Reader, Submitter
from weighbridge_producer.http.problems import PROBLEM_ANSWERS
from weighbridge_producer.http.service import Served, Service
from weighbridge_producer.http.shapes import (
    BatchListShape,
    BatchShape,
    RetriedShape,
    StateShape,
    SubmittedShape,
    options_json,
    state_json,
    submitted_json,
)
from weighbridge_producer.http.upload import FORM, LINES, receive

PAGE_LIMIT = 200

router = APIRouter(prefix="/api/batches", tags=["batches"])
BatchId = Annotated[str, Path(description="as the submission answered it", examples=["wb_..."])]


def _in_query(name: str, description: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"name": name, "in": "query", "description": description, "schema": schema}


_TEXT = {"type": "string"}
_GRADERS = 'JSON: a list of ids or of {"grader", "config", "label"}'
_METADATA = "JSON: an object of strings, kept with the batch"
_STRICT = "refuse everything when any line cannot be graded, before any is graded"
_RESUME = "the id of a batch that was begun with the same cases: submit the rest of them"
_FRAMED = "whether notes of the sender stand ahead of lines, as the Python client writes them"
_SUBMISSION = {
    "parameters": [
        _in_query("grader", "a grader's id; may be repeated", {"type": "array", "items": _TEXT}),
        _in_query("graders", f"{_GRADERS}; also as the header Weighbridge-Graders", _TEXT),
        _in_query("metadata", f"{_METADATA}; also as the header Weighbridge-Metadata", _TEXT),
        _in_query("source", "what to call the input", _TEXT),
        _in_query("strict", _STRICT, {"type": "boolean"}),
        _in_query("resume", _RESUME, _TEXT),
        _in_query("framed", _FRAMED, {"type": "boolean"}),
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
    received = await receive(request, service, caller=identity.key_id, key=idempotency_key)
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


@router.get("", response_model=BatchListShape)
def list_batches(
    service: Served, _: Reader, query: Annotated[ListQuery, Query()]
) -> dict[str, Any]:
    """List the batches, newest first; those that are gone are left out."""
    store, limit = service.client.store, query.limit
    found = store.batches(limit + 1, before=query.cursor or None)
    listed = []
    for batch in found[:limit]:
        try:
            listed.append(_listed(service, batch))
        except BatchError:
            continue  # expired, or deleted this moment
    return {"batches": listed, "next_cursor": found[limit - 1] if len(found) > limit else None}


def _listed(service: Service, batch: str) -> dict[str, Any]:
    options = options_json(service.client.store.options(batch))
    state = state_json(service.client.store.state(batch))
    return {**state, "source": options["source"], "metadata": options["metadata"]}


@router.get("/{batch_id}", response_model=BatchShape)
def show_batch(batch_id: BatchId, service: Served, _: Reader) -> dict[str, Any]:
    """Show how a batch stands, what each grader's jobs came to, and what it was submitted with."""
    batch = service.client.batch(batch_id)
    return {
        **state_json(batch.status()),
        "graders": [row.as_dict() for row in batch.summary()],
        "options": options_json(batch.options()),
    }


@router.post("/{batch_id}/cancel", response_model=StateShape)
def cancel_batch(batch_id: BatchId, service: Served, _: Submitter) -> dict[str, Any]:
    """Cancel what is not graded yet; what is stays. A batch that has ended stays as it is."""
    return state_json(service.client.batch(batch_id).cancel())


@router.post("/{batch_id}/retry", response_model=RetriedShape)
def retry_batch(batch_id: BatchId, service: Served, _: Submitter) -> dict[str, Any]:
    """Grade again what errored for a reason that may be gone, was cancelled, or expired."""
    batch = service.client.batch(batch_id)
    retried = batch.retry()
    return {"retried": retried, **state_json(batch.status())}


@router.delete("/{batch_id}", status_code=204)
def delete_batch(batch_id: BatchId, service: Served, _: Admin) -> None:
    """Drop a batch, its inputs and results."""
    batch = service.client.batch(batch_id)
    batch.status()
    batch.delete()
