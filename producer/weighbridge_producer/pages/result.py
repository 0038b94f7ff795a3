"""Page of one result: its verdict, its evidence and, for a trace, its timeline."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, NamedTuple

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse, Response

from weighbridge.errors import NoSuchResultError
from weighbridge.jobs.limits import NAME_LIMIT
from weighbridge.jobs.outcome import Outcome
from weighbridge_producer.pages.addresses import batch_at, result_at
from weighbridge_producer.pages.large_cases import LargeCaseError, read_case
from weighbridge_producer.pages.neighbouring_cases import neighbours_of
from weighbridge_producer.pages.rendering import page
from weighbridge_producer.pages.results_query import TEXT_LIMIT, ResultsQuery
from weighbridge_producer.service.access.auth import LargeRead, ReadBatch, Reader
from weighbridge_producer.service.service import Served
from weighbridge_producer.trace_view.case_view import (
    TEXT_ON_STEP_PAGE,
    CaseView,
    StepSelection,
    StepView,
    view_case,
    view_step,
)
from weighbridge_producer.trace_view.charts import hue_of, loop_strip, totals_chart
from weighbridge_producer.trace_view.evidence import shown_evidence

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weighbridge.jobs.result_line import ResultRow
    from weighbridge_producer.client.redis_batch import RedisBatch
    from weighbridge_producer.service.access.auth import Identity
    from weighbridge_producer.service.service import Service

router = APIRouter()

CustomId = Annotated[str, Query(min_length=1, max_length=1_000)]


class Tab(NamedTuple):
    """Another label of the same case."""

    label: str
    href: str
    outcome_word: str
    is_current: bool


@router.get("/batches/{batch_id}/result")
def result(
    request: Request,
    service: Served,
    identity: Reader,
    batch: ReadBatch,
    _turn: LargeRead,
    custom_id: CustomId,
    label: str = "",
    step: Annotated[int | None, Query(ge=1, le=10**9)] = None,
    first: Annotated[int | None, Query(alias="from", ge=1, le=10**9)] = None,
    table: Annotated[str, Query(max_length=TEXT_LIMIT)] = "",
) -> HTMLResponse:
    """Show one result."""
    batch_id = batch.id
    opened_from = ResultsQuery.of_text(table) if table else None
    table = opened_from.as_text() if opened_from else ""
    results, line = batch.rows_and_case(custom_id)
    chosen = _chosen(results, custom_id, label)
    view = view_of(service, identity, batch, line, chosen, StepSelection(step, first))
    timeline = view.timeline
    numbers = timeline.numbers if timeline else {}

    def step_href(number: int) -> str:
        if timeline and timeline.window.holds(number):
            return f"#step-{number}"
        return result_at(batch_id, custom_id, chosen.label or "", number, table)

    def window_href(start: int) -> str:
        query = {"custom_id": custom_id, "label": chosen.label, "from_": start, "table": table}
        return f"{batch_at(batch_id, 'result', **query)}#timeline"

    return page(
        request,
        "result.html",
        batch_id=batch_id,
        batch_href=batch_at(batch_id),
        custom_id=custom_id,
        around=neighbours_of(service, batch, chosen, opened_from),
        table_href=f"{batch_at(batch_id, 'results')}?{table}" if table else "",
        result=chosen,
        outcome_word=chosen.outcome.word,
        tabs=_tabs(batch_id, custom_id, results, chosen, table),
        evidence=shown_evidence(chosen.result, numbers, step_href),
        view=view,
        timeline=timeline,
        step=step,
        charts=[totals_chart(each, timeline.window.total) for each in timeline.totals]
        if timeline
        else [],
        loop_strip=loop_strip,
        hue_of=hue_of,
        step_href=step_href,
        window_href=window_href,
        whole_href=lambda number, part: batch_at(
            *(batch_id, "step"),
            custom_id=custom_id,
            label=chosen.label,
            step=number,
            part=part,
            table=table,
        ),
        case_href=batch_at(batch_id, "case", custom_id=custom_id),
        # In the query, because ".." as a path segment would be resolved.
        raw_href=f"/api{batch_at(batch_id, 'results', custom_id=custom_id, label=chosen.label)}",
    )


@router.get("/batches/{batch_id}/step")
def step_page(
    request: Request,
    service: Served,
    identity: Reader,
    batch: ReadBatch,
    _turn: LargeRead,
    custom_id: CustomId,
    step: Annotated[int, Query(ge=1, le=10**9)],
    label: Annotated[str, Query(max_length=NAME_LIMIT)] = "",
    part: Annotated[str, Query(max_length=20)] = "",
    at: Annotated[int, Query(ge=0, le=10**9)] = 0,
    table: Annotated[str, Query(max_length=TEXT_LIMIT)] = "",
) -> HTMLResponse:
    """Show one step of a trace with all its texts."""
    batch_id = batch.id
    line = batch.case(custom_id)
    try:
        view = read_case(service, identity.project, view_step, line, step, part, at)
    except LargeCaseError as error:
        view = StepView(not_shown_reason=str(error))
    if view.steps and step > view.steps:
        raise NoSuchResultError(
            f"the trace of {custom_id[:80]!r} has no step {step}", f"it has {view.steps:,}"
        )
    return page(
        request,
        "step.html",
        batch_id=batch_id,
        custom_id=custom_id,
        number=step,
        view=view,
        most=TEXT_ON_STEP_PAGE,
        result_href=result_at(batch_id, custom_id, label, step, table),
        more_href=lambda name, start: batch_at(
            *(batch_id, "step"),
            custom_id=custom_id,
            label=label,
            step=step,
            part=name,
            at=start,
            table=table,
        ),
    )


@router.get("/batches/{batch_id}/case")
def case(batch: ReadBatch, _turn: LargeRead, custom_id: CustomId) -> Response:
    """Return a case's line as it was submitted."""
    line = batch.case(custom_id)
    if line is None:
        raise NoSuchResultError(
            f"the inputs of {custom_id[:80]!r} are no longer stored", "the result is still there"
        )
    headers = {"Content-Disposition": 'attachment; filename="case.json"'}
    return Response(line, media_type="application/json", headers=headers)


def _chosen(results: Sequence[ResultRow], custom_id: str, label: str) -> ResultRow:
    """Return the result with a label or, without a label, the first that did not pass."""
    if not label:
        return next((each for each in results if each.outcome is not Outcome.PASSED), results[0])
    for each in results:
        if each.label == label:
            return each
    known = ", ".join(str(each.label) for each in results[:20])
    raise NoSuchResultError(
        f"case {custom_id[:80]!r} has no result labelled {label[:80]!r}", f"it has {known}"
    )


def _tabs(
    batch_id: str,
    custom_id: str,
    results: Sequence[ResultRow],
    chosen: ResultRow,
    table: str,
) -> list[Tab]:
    return [
        Tab(
            each.label or "(no label)",
            result_at(batch_id, custom_id, each.label or "", table=table),
            each.outcome.word,
            each is chosen,
        )
        for each in results
    ]


def view_of(
    service: Service,
    identity: Identity,
    batch: RedisBatch,
    line: bytes | None,
    result: ResultRow,
    wanted: StepSelection,
) -> CaseView:
    """Return the view of a case, or the reason why it cannot be shown."""
    facts = (batch.options().graders, result.label, result.result, wanted)
    try:
        return read_case(service, identity.project, view_case, line, *facts)
    except LargeCaseError as error:
        return CaseView(not_shown_reason=str(error))
