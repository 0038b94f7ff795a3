"""Page with the list of batches, in an order that its address has, and a search in it by name or id."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING, Annotated, NamedTuple
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse

from weighbridge.jobs.outcome import Outcome
from weighbridge.text import duration
from weighbridge_producer.pages.addresses import batch_at
from weighbridge_producer.pages.batch_order import NEWEST, PATTERN, headings, in_order
from weighbridge_producer.pages.batch_outcome import pass_rate
from weighbridge_producer.pages.rate_history import rate_histories
from weighbridge_producer.pages.rendering import page
from weighbridge_producer.service.access.auth import Reader
from weighbridge_producer.service.service import Served
from weighbridge_producer.trace_view.charts import Segment, bar

if TYPE_CHECKING:
    from weighbridge.jobs.batch_state import BatchState
    from weighbridge.store import BatchOptions
    from weighbridge_producer.service.service import Service

router = APIRouter()

_PER_PAGE = 25
_FARTHEST = 1_000_000  #: batches that can be reached by paging
_SEARCHED_BATCHES = 20_000  #: batches searched per request
_SORTED_BATCHES = 10_000  #: batches that are read for another order than the newest first
_SEARCHED_AT_ONCE = 200
_SEARCH_SECONDS = 0.15


class BatchRow(NamedTuple):
    """One batch in the list."""

    state: BatchState
    source: str
    project: str
    bar: list[Segment]
    pass_rate: float | None
    age: str


@router.get("/")
def batches(
    request: Request,
    service: Served,
    identity: Reader,
    start: Annotated[int, Query(alias="from", ge=0, le=_FARTHEST)] = 0,
    text: Annotated[str, Query(max_length=200)] = "",
    order: Annotated[str, Query(pattern=PATTERN)] = "",
) -> HTMLResponse:
    """Show the batches, newest first or in another order; with `text`, those whose name or id contains it."""
    order = order or NEWEST
    is_newest = order == NEWEST
    part = text.strip().casefold()
    if is_newest:
        found = _found(service, identity.sees, start, part)
    else:
        found = _sorted(service, identity.sees, start, part, order)
    address = partial(_list_at, text, order="" if is_newest else order)
    now = time.time()
    listed = [(state, options.source) for state, options in found.batches]
    return page(
        request,
        "batches.html",
        rows=[_row(state, options, now) for state, options in found.batches],
        has_projects=service.keys_required,
        project=identity.sees,
        start=start,
        text=text,
        histories=rate_histories(listed) if is_newest else [],
        order="" if is_newest else order,
        headings=headings(order, partial(_list_at, text, 0)),
        first_href=address(0),
        cleared_href=_list_at("", 0, "" if is_newest else order),
        earlier_href=address(max(0, start - _PER_PAGE))
        if start and not (text and is_newest)
        else None,
        later_href=None if found.next_start is None else address(found.next_start),
        is_searched=found.is_searched,
        sorted_of=found.sorted_of,
        batch_at=batch_at,
        legend=_legend(),
    )


class _Batches(NamedTuple):
    """A page of batches, and the start of the next page."""

    batches: list[tuple[BatchState, BatchOptions]]
    next_start: int | None
    is_searched: bool  #: False if the search timed out
    #: number of the newest batches that are sorted, if there are others
    sorted_of: int | None = None


def _found(service: Service, project: str | None, start: int, text: str) -> _Batches:
    store = service.client.store
    if not text:
        ids = store.batches(start + _PER_PAGE + 1, project=project)[start:]
        after = start + _PER_PAGE if len(ids) > _PER_PAGE else None
        return _Batches(store.listed(ids[:_PER_PAGE]), after, is_searched=True)
    ids = store.batches(start + _SEARCHED_BATCHES, project=project)[start:]
    deadline = time.monotonic() + _SEARCH_SECONDS
    found: list[tuple[BatchState, BatchOptions]] = []
    for at in range(0, len(ids), _SEARCHED_AT_ONCE):
        if at and time.monotonic() > deadline:
            return _Batches(found, start + at, is_searched=False)
        for state, options in store.listed(ids[at : at + _SEARCHED_AT_ONCE]):
            if _has(state, options, text):
                found.append((state, options))
                if len(found) == _PER_PAGE:
                    after = start + ids.index(state.batch_id, at) + 1
                    return _Batches(found, after, is_searched=True)
    has_more = len(ids) == _SEARCHED_BATCHES
    after = start + len(ids) if has_more else None
    return _Batches(found, after, is_searched=not has_more)


def _sorted(service: Service, project: str | None, start: int, text: str, order: str) -> _Batches:
    """Return a page of the batches in an order, of the newest ones that can be read within the time limit."""
    store = service.client.store
    ids = store.batches(_SORTED_BATCHES + 1, project=project)
    deadline = time.monotonic() + _SEARCH_SECONDS
    found: list[tuple[BatchState, BatchOptions]] = []
    read = 0
    while read < min(len(ids), _SORTED_BATCHES) and (not read or time.monotonic() < deadline):
        some = store.listed(ids[read : read + _SEARCHED_AT_ONCE])
        found += [(state, options) for state, options in some if _has(state, options, text)]
        read += _SEARCHED_AT_ONCE
    ordered = in_order(found, order)[start:]
    after = start + _PER_PAGE if len(ordered) > _PER_PAGE else None
    sorted_of = read if read < len(ids) else None
    return _Batches(ordered[:_PER_PAGE], after, is_searched=True, sorted_of=sorted_of)


def _has(state: BatchState, options: BatchOptions, text: str) -> bool:
    """Return whether the name or the id of a batch contains a text."""
    return any(text in name.casefold() for name in (options.source or "", state.batch_id))


def _list_at(text: str, start: int, order: str = "") -> str:
    given = (("text", text), ("order", order), ("from", start))
    query = {name: value for name, value in given if value}
    return f"/?{urlencode(query, errors='replace')}" if query else "/"


def _legend() -> list[tuple[str, str]]:
    """Return the CSS classes of the bars' colours with their meanings."""
    names: dict[str, list[str]] = {}
    for outcome in Outcome:
        names.setdefault(outcome.css_class, []).append(outcome)
    meanings = [(css_class, " or ".join(found)) for css_class, found in names.items()]
    return [*meanings, ("pending", "not graded yet")]


def _row(state: BatchState, options: BatchOptions, now: float) -> BatchRow:
    age = duration(max(0, now - state.created_at), most_units=1)
    return BatchRow(
        *(state, options.source, options.project, bar(state.counts)), pass_rate(state.counts), age
    )
