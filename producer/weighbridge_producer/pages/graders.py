"""Pages of the graders: the catalogue, and for each a description, its configuration, and a trial."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import orjson
from fastapi import APIRouter, Depends, Request
from fastapi.responses import HTMLResponse
from starlette.concurrency import run_in_threadpool

from weighbridge.errors import Fault, UnknownGraderError
from weighbridge.graders.registry import default_registry
from weighbridge_producer.pages.config_form import ConfigForm
from weighbridge_producer.pages.forms import entries_of
from weighbridge_producer.pages.playground import Input, example_inputs, pasted_inputs
from weighbridge_producer.pages.rendering import page
from weighbridge_producer.service.access.auth import Submitter, rate_limited
from weighbridge_producer.service.problems import ProblemError
from weighbridge_producer.service.service import Served
from weighbridge_producer.service.trial import run_trial
from weighbridge_producer.trace_view.evidence import shown_evidence

if TYPE_CHECKING:
    from collections.abc import Mapping

    from weighbridge_producer.service.service import Service

router = APIRouter()


@router.get("/graders", dependencies=[Depends(rate_limited)])
def show_catalogue(request: Request, service: Served) -> HTMLResponse:
    """Show all graders that are installed here."""
    failures = default_registry().failures
    return page(request, "graders.html", graders=service.client.graders(), failures=failures)


@router.get("/graders/{grader_id}/try", dependencies=[Depends(rate_limited)])
@router.get("/graders/{grader_id}", dependencies=[Depends(rate_limited)])
def show_grader(request: Request, grader_id: str, service: Served) -> HTMLResponse:
    """Show one grader, with its example as a trial."""
    grader = _described(service.client.graders(), grader_id)
    form = ConfigForm.of(grader_id, grader["example"]["config"])
    return _page(request, service, grader, form, example_inputs(grader))


@router.post("/graders/{grader_id}/try")
async def try_grader(
    request: Request,
    grader_id: str,
    service: Served,
    identity: Submitter,
) -> HTMLResponse:
    """Grade the pasted inputs with the configuration entered, and show the verdict."""
    grader = _described(service.client.graders(), grader_id)
    limit = service.settings.try_it_limit_bytes
    entries = await entries_of(request, limit, identity.project)
    form = await run_in_threadpool(ConfigForm.submitted, grader_id, entries)
    inputs, values = pasted_inputs(grader, entries)
    if not form.is_valid or any(entry.problem for entry in inputs):
        return _page(request, service, grader, form, inputs, status_code=422)
    job = orjson.dumps({"inputs": values, "config": form.config})
    answer = await run_trial(service, grader_id, job, identity.project)
    return _page(request, service, grader, form, inputs, result=answer.result, error=answer.error)


def _described(catalogue: list[dict[str, Any]], grader_id: str) -> dict[str, Any]:
    """Return a grader's entry in the catalogue; ProblemError if there is none."""
    for grader in catalogue:
        if grader["id"] == grader_id:
            return grader
    error = UnknownGraderError(grader_id, [grader["id"] for grader in catalogue])
    raise ProblemError(404, error.code, error.message, "/graders lists them")


def _page(
    request: Request,
    service: Service,
    grader: dict[str, Any],
    form: ConfigForm,
    inputs: list[Input],
    *,
    result: Mapping[str, Any] | None = None,
    error: Fault | None = None,
    status_code: int = 200,
) -> HTMLResponse:
    return page(
        request,
        "grader.html",
        status_code=status_code,
        grader=grader,
        meaning=inspect.cleandoc(default_registry().get(grader["id"]).__doc__ or ""),
        form=form,
        inputs=inputs,
        result=result,
        evidence=shown_evidence(result),
        error=error,
        needs_key=service.keys_required,
    )
