"""Cases as they were submitted."""

from __future__ import annotations

from fastapi import APIRouter, Response

from weighbridge_producer.service.auth import LargeRead, ReadBatch
from weighbridge_producer.service.problems import ProblemError

router = APIRouter(prefix="/api/batches", tags=["results"])


@router.get(
    "/{batch_id}/cases/{custom_id:path}",
    response_class=Response,
    responses={
        200: {
            "description": "the case's line; for a trace that was submitted bare, the case that was made of it",
            "content": {"application/json": {"schema": {"type": "object"}}},
        }
    },
)
def show_case(batch: ReadBatch, custom_id: str, _turn: LargeRead) -> Response:
    """Return a case as it was submitted; 410 when the batch's inputs are freed."""
    line = batch.case(custom_id)
    if line is None:
        raise ProblemError(
            410,
            "INPUTS_FREED",
            f"the inputs of batch {batch.id[:80]!r} are freed",
            "see the input that was submitted",
        )
    return Response(line, media_type="application/json")
