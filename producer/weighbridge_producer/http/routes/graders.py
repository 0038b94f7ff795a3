"""The graders: the catalogue, and one job graded at once to try a grader."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Depends

from weighbridge.errors import UnknownGraderError
from weighbridge_producer.http.access import anybody
from weighbridge_producer.http.problems import ProblemError
from weighbridge_producer.http.service import Served

router = APIRouter(prefix="/api/graders", tags=["graders"])


@router.get("", dependencies=[Depends(anybody)])
def list_graders(service: Served) -> dict[str, Any]:
    """Return every grader that is installed here."""
    return {"graders": service.client.graders()}


@router.get("/{grader_id}", dependencies=[Depends(anybody)])
def show_grader(grader_id: str, service: Served) -> dict[str, Any]:
    """Return one grader."""
    catalogue = service.client.graders()
    for grader in catalogue:
        if grader["id"] == grader_id:
            return grader
    known = [grader["id"] for grader in catalogue]
    error = UnknownGraderError(grader_id, known)
    raise ProblemError(404, error.code, error.message, error.hint)
