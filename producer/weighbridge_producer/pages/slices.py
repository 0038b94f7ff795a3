"""The jobs of a batch by the values of a metadata field, counted further with each request."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse

from weighbridge.errors import InvalidFilterError, ResultsFreedError, StaleCursorError
from weighbridge_producer.gating.fields import EACH_ENTRY, MISSING, list_in, parse_field
from weighbridge_producer.pages.addresses import batch_at
from weighbridge_producer.pages.rendering import page
from weighbridge_producer.service.access.auth import ReadBatch, Reader, SearchTurn, search_turn
from weighbridge_producer.service.service import Served

if TYPE_CHECKING:
    from weighbridge.jobs.batch_state import BatchState
    from weighbridge_producer.service.service import Service

router = APIRouter()

By = Annotated[str, Query(max_length=300)]


async def count_turn(request: Request, service: Served, reader: Reader, by: By = "") -> None:
    """Wait for a turn to read results, if a field is given."""
    if by.strip():
        await search_turn(request, service, reader)


def slices_of(service: Service, state: BatchState, by: str) -> dict[str, Any]:
    """Return the template's context for a field; without one, no result is read."""
    batch_id, by = state.batch_id, by.strip()
    context: dict[str, Any] = {"by": by, "sliced": None, "slices_problem": ""}
    if not by:
        return context
    try:
        found = service.slice_counts.count(state, (parse_field(by),))
    except (InvalidFilterError, ResultsFreedError, StaleCursorError) as error:
        return context | {"slices_problem": str(error)}
    return context | {
        "sliced": found,
        "is_absent": all(each.value == MISSING for each in found.slices),
        "each_entry": batch_at(batch_id, by=f"{by}.{EACH_ENTRY}")
        if any(list_in(each.value) for each in found.slices)
        else "",
        "here": batch_at(batch_id, by=by),
        "slices_href": batch_at(batch_id, "slices", by=by),
    }


@router.get("/batches/{batch_id}/slices")
def slices(
    request: Request, service: Served, batch: ReadBatch, _turn: SearchTurn, by: By = ""
) -> HTMLResponse:
    """Show the jobs by the values of a field, as many as can be counted in the time limit."""
    state = batch.status()
    context = slices_of(service, state, by)
    return page(request, "parts/slices.html", is_final=state.status.final, **context)
