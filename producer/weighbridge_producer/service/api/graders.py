"""Routes of graders: the catalogue, and trials of a single job."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Request

from weighbridge.errors import UnknownGraderError
from weighbridge.graders.registry import default_registry
from weighbridge_producer.service.access.auth import Submitter, rate_limited
from weighbridge_producer.service.api.grader_shapes import GraderInfo, GraderList, TrialResult
from weighbridge_producer.service.problems import ProblemError
from weighbridge_producer.service.service import Served
from weighbridge_producer.service.trial import run_trial
from weighbridge_producer.service.uploads.request_bodies import whole_body

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

_GraderId = Annotated[str, Path(description="the id of a grader")]

router = APIRouter(prefix="/api/graders", tags=["graders"])


@router.get(
    "",
    dependencies=[Depends(rate_limited)],
    response_model=None,
    responses={200: {"model": GraderList, "description": "the graders of the service"}},
)
def list_graders(service: Served) -> dict[str, Any]:
    """Return the catalogue of the graders installed on the service."""
    return {"graders": service.client.graders()}


@router.get(
    "/{grader_id}",
    dependencies=[Depends(rate_limited)],
    response_model=None,
    responses={200: {"model": GraderInfo, "description": "the grader"}},
)
def show_grader(grader_id: _GraderId, service: Served) -> dict[str, Any]:
    """Return one grader's entry in the catalogue."""
    _check_known(grader_id)
    return next(grader for grader in service.client.graders() if grader["id"] == grader_id)


@router.post(
    "/{grader_id}/grade",
    openapi_extra=_BODY,
    response_model=None,
    responses={200: {"model": TrialResult, "description": "the result; it is not stored"}},
)
async def grade(
    grader_id: _GraderId,
    request: Request,
    service: Served,
    identity: Submitter,
) -> dict[str, Any]:
    """Grade one set of inputs immediately, without the queue, and return the result as in a result line."""
    _check_known(grader_id)
    limit = service.settings.try_it_limit_bytes
    body = await whole_body(request, limit, identity.project)
    answer = await run_trial(service, grader_id, body, identity.project)
    if error := answer.error:
        raise ProblemError(422, error.code, error.message, error.hint)
    return {name: getattr(answer, name) for name in TrialResult.model_fields}


def _check_known(grader_id: str) -> None:
    known = default_registry().ids()
    if grader_id not in known:
        error = UnknownGraderError(grader_id, known)
        raise ProblemError(404, error.code, error.message, error.hint)
