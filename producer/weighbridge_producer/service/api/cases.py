"""Routes of submitted cases and input lines."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query, Response

from weighbridge.errors import InputsFreedError
from weighbridge_producer.batch_shapes import InputLine, InputLines
from weighbridge_producer.service.access.auth import LargeRead, ReadBatch

router = APIRouter(prefix="/api/batches", tags=["results"])


_LINES_AT_ONCE = 2_000
_BYTES_AT_ONCE = 4 * 1024 * 1024


@router.get("/{batch_id}/lines", response_description="lines of the input")
def show_lines(
    batch: ReadBatch,
    _turn: LargeRead,
    first: Annotated[int, Query(ge=1, le=2**53, description="the number of the first line")] = 1,
) -> InputLines:
    """Return input lines as they were submitted, from a line number on: up to 2,000 or 4 MiB, at least one."""
    at = batch.case_finder()
    end = min(first + _LINES_AT_ONCE, batch.status().lines + 1)
    found: list[InputLine] = []
    size, line = 0, first
    for line in range(first, end):
        if raw := at(line):
            found.append(InputLine(line, raw.decode(errors="replace")))
            size += len(raw)
            if size >= _BYTES_AT_ONCE:
                break
    return InputLines(found, line)


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
def show_case(
    batch: ReadBatch,
    custom_id: Annotated[str, Path(description="the id of the case")],
    _turn: LargeRead,
) -> Response:
    """Return a case as it was submitted; 410 if the batch's inputs have been freed."""
    line = batch.case(custom_id)
    if line is None:
        raise InputsFreedError(batch.id)
    return Response(line, media_type="application/json")
