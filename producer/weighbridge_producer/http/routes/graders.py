"""The graders: the catalogue, and one job graded at once to try a grader."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request

from weighbridge.errors import UnknownGraderError
from weighbridge.graders.registry import default_registry
from weighbridge.jobs.api_keys import Role
from weighbridge.settings import MIB
from weighbridge_producer.http.access import Identity, anybody, require
from weighbridge_producer.http.problems import ProblemError
from weighbridge_producer.http.service import Served
from weighbridge_producer.http.shapes import CatalogueShape, GraderShape, TrialShape

_BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {
                "schema": {
                    "type": "object",
                    "properties": {
                        "inputs": {"type": "object"},
                        "config": {"type": ["object", "null"]},
                    },
                    "required": ["inputs"],
                    "additionalProperties": False,
                }
            }
        },
    }
}

#: Read of a body over the limit, and thrown away: who sends a little too much hears why, and no broken connection.
_DRAINED_BYTES = 16 * MIB

_BODY_SECONDS = 60.0

router = APIRouter(prefix="/api/graders", tags=["graders"])


@router.get(
    "",
    dependencies=[Depends(anybody)],
    response_model=None,
    responses={200: {"model": CatalogueShape}},
)
def list_graders(service: Served) -> dict[str, Any]:
    """Return every grader that is installed here."""
    return {"graders": service.client.graders()}


@router.get(
    "/{grader_id}",
    dependencies=[Depends(anybody)],
    response_model=None,
    responses={200: {"model": GraderShape}},
)
def show_grader(grader_id: str, service: Served) -> dict[str, Any]:
    """Return one grader."""
    _check_known(grader_id)
    return next(grader for grader in service.client.graders() if grader["id"] == grader_id)


@router.post(
    "/{grader_id}/grade",
    openapi_extra=_BODY,
    response_model=None,
    responses={200: {"model": TrialShape}},
)
async def grade(
    grader_id: str,
    request: Request,
    service: Served,
    _: Annotated[Identity, Depends(require(Role.SUBMIT))],
) -> dict[str, Any]:
    """Grade one set of inputs at once, without the queue, and return the result as a result line has it."""
    _check_known(grader_id)
    answer = await service.trials.grade(
        grader_id, await whole_body(request, service.settings.try_it_limit_bytes)
    )
    if error := answer.pop("error"):
        raise ProblemError(422, error["code"], error["message"], error["hint"])
    return answer


async def whole_body(request: Request, limit_bytes: int) -> bytes:
    """Return a request's body; a ProblemError when it is larger than it may be, or too long under way."""
    try:
        async with asyncio.timeout(_BODY_SECONDS):
            body = await _body_within(request, limit_bytes)
    except TimeoutError:
        raise ProblemError(
            408,
            "BODY_TOO_SLOW",
            f"the body did not arrive within {_BODY_SECONDS:g} s",
            "send it again",
            {"Connection": "close"},
        ) from None
    if body is None:
        raise ProblemError(
            413,
            "BODY_TOO_LARGE",
            f"the body has more than {limit_bytes:,} bytes",
            "submit it as a batch, or raise WEIGHBRIDGE_TRY_IT_LIMIT_BYTES",
            {"Connection": "close"},  # or the rest of it would be read, and thrown away
        )
    return body


async def _body_within(request: Request, limit_bytes: int) -> bytes | None:
    if _declared_size(request) > limit_bytes + _DRAINED_BYTES:
        return None
    body, size = bytearray(), 0
    async for part in request.stream():
        size += len(part)
        if size <= limit_bytes:
            body += part
        elif size > limit_bytes + _DRAINED_BYTES:
            break
    return bytes(body) if size <= limit_bytes else None


def _declared_size(request: Request) -> int:
    declared = request.headers.get("content-length", "")
    return int(declared) if declared.isdecimal() and len(declared) < 20 else 0


def _check_known(grader_id: str) -> None:
    known = default_registry().ids()
    if grader_id not in known:
        error = UnknownGraderError(grader_id, known)
        raise ProblemError(404, error.code, error.message, error.hint)
