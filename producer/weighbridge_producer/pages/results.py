"""Page with the table of a batch's cases; filters, order, columns and page number are in the URL."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse

from weighbridge.errors import InvalidFilterError, StaleCursorError, WeighbridgeError
from weighbridge.graders.base import Verdict
from weighbridge.jobs.outcome import JobStatus
from weighbridge.jobs.result_line import ResultRow
from weighbridge.store.result_filter import ResultFilter
from weighbridge_producer.pages.addresses import batch_at
from weighbridge_producer.pages.batch_order import Heading
from weighbridge_producer.pages.case_table import LABELS_SHOWN, by_case, case_table, read_cases
from weighbridge_producer.pages.rendering import page
from weighbridge_producer.pages.results_query import ResultsQuery
from weighbridge_producer.service.access.auth import ReadBatch, SearchTurn
from weighbridge_producer.service.caches.case_views import CaseOrder, NotReady, NoViewError
from weighbridge_producer.service.problems import problem_of
from weighbridge_producer.service.service import Served

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from weighbridge.jobs.batch_state import BatchState
    from weighbridge.jobs.outcome import GraderSummary
    from weighbridge_producer.client.redis_batch import RedisBatch
    from weighbridge_producer.service.service import Service

router = APIRouter()

PER_PAGE = 50
_SEARCH_SECONDS = 0.15
_MEANWHILE_SECONDS = 0.05  #: for a search that is shown until the sorted view is ready
_CHOICES_SHOWN = 200

#: Download formats of the matching results.
_DOWNLOADS = (("CSV", "csv"), ("JSON Lines", "jsonl"), ("report", "html"), ("JUnit", "junit"))
_ORDERS = {
    CaseOrder.FAILURES: "failures first",
    CaseOrder.INPUT: "as in the input",
    CaseOrder.SCORE: "lowest score first",
}


@dataclass(slots=True)
class _Found:
    """The cases of one page, and their position in the table."""

    cases: list[list[ResultRow]] = field(default_factory=list)
    first: int = 0  #: number of the first case, from 1
    total: int | None = None  #: number of matching cases, if known
    cursor: str | None = None
    is_searched: bool = True
    percent: int | None = None  #: progress of sorting; None if complete or impossible
    unsorted: str = ""  #: reason why the cases are not sorted


@router.get("/batches/{batch_id}/results")
def results(
    request: Request,
    service: Served,
    batch: ReadBatch,
    _turn: SearchTurn,
    query: Annotated[ResultsQuery, Query()],
) -> HTMLResponse:
    """Show a page of the cases with results that match the filters."""
    batch_id = batch.id
    state, summary = batch.state_and_summary()
    problem: WeighbridgeError | None = None
    found, wanted = _Found(), ResultFilter()
    try:
        wanted = ResultFilter(**query.filters())
        found = _found(service, batch, state, wanted, query)
    except (InvalidFilterError, StaleCursorError) as error:
        problem = error
    labels = _columns(summary)
    fields = list(dict.fromkeys(query.column))
    first_href, form_href = query.address(batch_id), batch_at(batch_id, "results")
    return page(
        *(request, "results.html"),
        status_code=problem_of(problem).status if problem else 200,
        batch_id=batch_id,
        batch_href=batch_at(batch_id),
        form_href=form_href,
        state=state,
        filters=query.filters(),
        is_filtered=any(query.filters().values()),
        is_first=query.page == 1 and not query.cursor,
        problem=problem,
        way_out=first_href if isinstance(problem, StaleCursorError) else form_href,
        table=case_table(batch_id, found.cases, labels, fields, wanted, query.as_text()),
        found=found,
        pages=_pages(batch_id, query, found),
        order=query.order,
        orders=_ORDERS,
        headings=_headings(batch_id, query),
        here=query.address(batch_id, page=query.page if query.page > 1 else ""),
        choices=_choices(summary),
        downloads=[
            (name, f"/api{batch_at(batch_id, 'results', **query.filters(), format=form)}")
            for name, form in _DOWNLOADS
        ],
    )


def _headings(batch_id: str, query: ResultsQuery) -> dict[CaseOrder, Heading]:
    """Return the links by which the table is sorted."""
    return {
        order: Heading(
            query.address(batch_id, order="" if order is CaseOrder.FAILURES else order),
            "ascending" if order is query.order else "",
        )
        for order in _ORDERS
    }


def _found(
    service: Service,
    batch: RedisBatch,
    state: BatchState,
    wanted: ResultFilter,
    query: ResultsQuery,
) -> _Found:
    # A single id is looked up, without sorting.
    if query.cursor or wanted.custom_id:
        return _searched(batch, wanted, query.cursor)
    try:
        view = service.case_views.view(state, wanted, query.order)
    except NoViewError as error:
        found = _searched(batch, wanted, None)
        found.unsorted = str(error)
        return found
    if isinstance(view, NotReady):
        found = _searched(batch, wanted, None, _MEANWHILE_SECONDS)
        found.percent = view.percent
        return found
    start = (query.page - 1) * PER_PAGE
    cases = read_cases(service.client.store, batch.id, view, start, PER_PAGE)
    return _Found(cases, start + 1, len(view.cases))


def _searched(
    batch: RedisBatch, wanted: ResultFilter, cursor: str | None, seconds: float = _SEARCH_SECONDS
) -> _Found:
    """Return the first matching results in recorded order, as found within the time limit."""
    found = batch.search(wanted, cursor, PER_PAGE, seconds)
    rows = map(ResultRow.from_bytes, found.lines)
    return _Found(by_case(rows), cursor=found.cursor, is_searched=found.complete)


def _pages(batch_id: str, query: ResultsQuery, found: _Found) -> dict[str, Any]:
    """Return the URLs of the neighbouring pages, by link name."""
    hrefs: dict[str, Any] = {}
    if found.total is None:
        if query.cursor:
            hrefs["First"] = query.address(batch_id)
        if found.cursor and found.percent is None:
            name = "Next" if found.is_searched else "Continue search"
            hrefs[name] = query.address(batch_id, cursor=found.cursor)
        return hrefs
    last = max(1, -(-found.total // PER_PAGE))
    if query.page > 1:
        hrefs["First"] = query.address(batch_id)
        before = min(query.page - 1, last)
        hrefs["Previous"] = query.address(batch_id, page=before if before > 1 else "")
    if query.page < last:
        hrefs["Next"] = query.address(batch_id, page=query.page + 1)
        hrefs["Last"] = query.address(batch_id, page=last)
    return hrefs


def _columns(summary: Sequence[GraderSummary]) -> list[str]:
    """Return the labels with columns: those with the most jobs, in the summary's order."""
    named = [each for each in summary if each.label]
    most = sorted(named, key=lambda each: -each.finished)[:LABELS_SHOWN]
    return [each.label for each in named if each in most]


def _choices(summary: Sequence[GraderSummary]) -> dict[str, list[str]]:
    """Return the possible values of each filter; labels, graders and causes are those of the batch."""
    return {
        "verdict": list(Verdict),
        "status": list(JobStatus),
        "label": _first(each.label for each in summary),
        "grader": _first(each.grader for each in summary),
        "cause": _first(cause for each in summary for cause, _ in each.causes),
    }


def _first(values: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(filter(None, values)))[:_CHOICES_SHOWN]
