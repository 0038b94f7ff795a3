"""Routes of submitted cases and input lines."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Response
from pydantic import BaseModel, Field

from weighbridge.errors import InputsFreedError
from weighbridge_producer.service.auth import LargeRead, ReadBatch

router = APIRouter(prefix="/api/batches", tags=["results"])


_LINES_AT_ONCE = 2_000
_BYTES_AT_ONCE = 4 * 1024 * 1024


class InputLine(BaseModel):
    """A line of a batch's input."""

    line: int = Field(description="its number, from 1")
    text: str = Field(
        description="the line without the space around it; what is not UTF-8 is replaced"
    )


class InputLines(BaseModel):
    """Consecutive lines of a batch's input, without blank, freed and missing ones."""

    lines: list[InputLine]
    last: int = Field(description="the number of the last line that was looked at")


@router.get("/{batch_id}/lines", response_model=InputLines)
def show_lines(
    batch: ReadBatch,
    _turn: LargeRead,
    first: Annotated[int, Query(ge=1, le=2**53, description="the number of the first line")] = 1,
) -> dict[str, Any]:
    """Return input lines as they were submitted, from a line number on: up to 2,000 or 4 MiB, at least one."""
    at = batch.submitted_lines().at
    end = min(first + _LINES_AT_ONCE, batch.status().lines + 1)
    found: list[dict[str, Any]] = []
    size, line = 0, first
    for line in range(first, end):
        if raw := at(line):
            found.append({"line": line, "text": raw.decode(errors="replace")})
            size += len(raw)
            if size >= _BYTES_AT_ONCE:
                break
    return {"lines": found, "last": line}


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
    """Return a case as it was submitted; 410 if the batch's inputs have been freed."""
    line = batch.case(custom_id)
    if line is None:
        raise InputsFreedError(batch.id)
    return Response(line, media_type="application/json")
