"""The previous and next case: in the table that a case was opened from, or among those that did not pass."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from weighbridge.errors import InvalidFilterError
from weighbridge.jobs.outcome import Outcome
from weighbridge.store.result_filter import ResultFilter
from weighbridge_producer.pages.case_table import href_of, job_to_link, read_cases
from weighbridge_producer.service.caches.case_views import CaseOrder, NoViewError, SortedCases

if TYPE_CHECKING:
    from collections.abc import Iterable

    from weighbridge.jobs.result_line import ResultRow
    from weighbridge_producer.client.redis_batch import RedisBatch
    from weighbridge_producer.pages.results_query import ResultsQuery
    from weighbridge_producer.service.service import Service

_PASSED_OVER = 50  #: lines without a page that are skipped in search of a neighbour


class Neighbours(NamedTuple):
    """Links to the previous and next case, and the position of the case itself."""

    previous: str | None
    next: str | None
    position: int | None  #: from 1; None if the case is not among them
    total: int
    of_table: bool  #: True for the cases of a table; False for all that did not pass


def neighbours_of(
    service: Service, batch: RedisBatch, result: ResultRow, table: ResultsQuery | None
) -> Neighbours | None:
    """Return the neighbours of a case; None if there are none, or if they are not known in time."""
    text = table.as_text() if table else ""
    try:
        wanted = ResultFilter(**table.filters()) if table else ResultFilter()
        # A table with a single id is not sorted.
        if wanted.custom_id:
            table, text, wanted = None, "", ResultFilter()
        order = table.order if table else CaseOrder.FAILURES
        view = service.case_views.view(batch.status(), wanted, order)
    except (NoViewError, InvalidFilterError):
        return None
    if not isinstance(view, SortedCases):
        return None
    total = len(view.cases) if table else _failing(view)
    if not total:
        return None
    cases = _Cases(service, batch.id, view, wanted, text)
    position = cases.position(result, total)
    if position is None:
        return Neighbours(None, cases.first_href(range(total)), None, total, bool(table))
    return Neighbours(
        cases.first_href(range(position - 1, -1, -1)),
        cases.first_href(range(position + 1, total)),
        position + 1,
        total,
        bool(table),
    )


def _failing(view: SortedCases) -> int:
    """Return the number of cases that did not pass; they come first."""
    low, high = 0, len(view.cases)
    while low < high:
        middle = (low + high) // 2
        profile = view.index.profile(view.cases[middle])
        has_passed = all(job.outcome is Outcome.PASSED for job in profile)
        low, high = (low, middle) if has_passed else (middle + 1, high)
    return low


class _Cases(NamedTuple):
    """The cases of a view with their links."""

    service: Service
    batch_id: str
    view: SortedCases
    wanted: ResultFilter
    table: str  #: query that links keep

    def position(self, result: ResultRow, total: int) -> int | None:
        """Return the position of a case among the first `total`, from 0; None if it is not among them."""
        for case in self.view.index.of_line(result.line):
            try:
                at = self.view.cases.index(case)
            except ValueError:
                continue
            rows = self._rows(at)
            if at < total and rows and rows[0].custom_id == result.custom_id:
                return at
        return None

    def first_href(self, positions: Iterable[int]) -> str | None:
        """Return the link of the first case that has a page."""
        for at in islice(positions, _PASSED_OVER):
            rows = self._rows(at)
            job = job_to_link(rows, self.wanted) if rows else None
            if job and (href := href_of(self.batch_id, self.table, job)):
                return href
        return None

    def _rows(self, at: int) -> list[ResultRow]:
        [rows] = read_cases(self.service.client.store, self.batch_id, self.view, at, 1)
        return rows
