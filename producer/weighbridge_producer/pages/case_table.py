"""Rows of a table of cases, with the outcome of each job in a column per label."""

from __future__ import annotations

from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

import orjson

from weighbridge.jobs.outcome import Outcome
from weighbridge.jobs.result_line import ResultRow
from weighbridge.text import cut_after
from weighbridge_producer.pages.addresses import result_at
from weighbridge_producer.pages.causes import why

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from weighbridge.store import Store
    from weighbridge.store.result_filter import ResultFilter
    from weighbridge_producer.service.caches.case_index import RowRange
    from weighbridge_producer.service.caches.case_views import SortedCases

LABELS_SHOWN = 8  #: labels with columns; others are only counted
FIELDS_OFFERED = 30  #: metadata fields that can be shown as columns
_FIELD_CHARACTERS = 200


class Cell(NamedTuple):
    """The outcome of one job of a case."""

    word: str
    score: float | None  #: if it adds information to the outcome
    href: str | None


class CaseRow(NamedTuple):
    """One case."""

    name: str
    href: str | None
    line: int
    cells: list[Cell | None]  #: one cell per label with a column
    others: int  #: jobs under labels without a column
    word: str  #: the outcome of an invalid line, which has no label and so no cell
    why: str
    why_label: str
    fields: list[str]  #: values of the requested metadata fields


class CaseTable(NamedTuple):
    """Rows of cases, with their columns and further possible columns."""

    rows: list[CaseRow]
    labels: Sequence[str]
    fields: Sequence[str]
    offered: list[str]  #: metadata fields of these cases, and the requested ones


def read_cases(
    store: Store, batch_id: str, view: SortedCases, start: int, count: int
) -> list[list[ResultRow]]:
    """Return the results of `count` cases of a view; empty for a case whose results are deleted."""
    locations = [view.index.location(case) for case in view.cases[start : start + count]]
    found: dict[RowRange, list[ResultRow]] = {}
    for chunk, some in groupby(sorted(locations), key=lambda location: location.chunk):
        [results] = store.results(batch_id, [chunk])
        for location in some:
            lines = (results or b"")[location.start : location.end].splitlines()
            found[location] = list(_readable(lines))
    return [found[location] for location in locations]


def _readable(lines: Iterable[bytes]) -> Iterator[ResultRow]:
    for line in lines:
        try:
            yield ResultRow.from_bytes(line)
        except ValueError:  # forged or corrupt
            continue


def by_case(rows: Iterable[ResultRow]) -> list[list[ResultRow]]:
    """Group adjacent results by case."""
    return [list(some) for _, some in groupby(rows, key=lambda row: (row.line, row.custom_id))]


def case_table(
    batch_id: str,
    cases: Iterable[Sequence[ResultRow]],
    labels: Sequence[str],
    fields: Sequence[str],
    wanted: ResultFilter,
    table: str,
) -> CaseTable:
    """Return the rows of cases with a column for each label and for each field of metadata; links keep the query `table`."""
    present = [case for case in cases if case]
    offered = dict.fromkeys(fields) | dict.fromkeys(
        str(name) for case in present for name in case[0].metadata or ()
    )
    href = partial(href_of, batch_id, table)
    rows = [_row(href, case, labels, fields, wanted) for case in present]
    return CaseTable(rows, labels, fields, list(offered)[:FIELDS_OFFERED])


def _row(
    href: Callable[[ResultRow], str | None],
    case: Sequence[ResultRow],
    labels: Sequence[str],
    fields: Sequence[str],
    wanted: ResultFilter,
) -> CaseRow:
    meant = job_to_link(case, wanted)
    by_label = {job.label: job for job in case}
    shown = [by_label.get(label) for label in labels]
    metadata = meant.metadata or {}
    did_not_pass = meant.outcome is not Outcome.PASSED
    return CaseRow(
        name=meant.custom_id or f"line {meant.line}",
        href=href(meant),
        line=meant.line,
        cells=[_cell(job, href(job)) if job else None for job in shown],
        others=sum(bool(job.label) for job in case) - sum(job is not None for job in shown),
        word="" if meant.label else meant.outcome.word,
        why=why(meant) if did_not_pass else "",
        why_label=meant.label or "" if did_not_pass and len(case) > 1 else "",
        fields=[_written(metadata.get(name)) for name in fields],
    )


def job_to_link(case: Sequence[ResultRow], wanted: ResultFilter) -> ResultRow:
    """Return the job of a case to link to: of those that match the filter, the first that did not pass."""
    matching = [job for job in case if wanted.admits(job)] or case
    return next((job for job in matching if job.outcome is not Outcome.PASSED), matching[0])


def href_of(batch_id: str, table: str, job: ResultRow) -> str | None:
    """Return the URL of a job's page; None for an invalid line, about which the table shows all information."""
    if job.custom_id and job.label:
        return result_at(batch_id, job.custom_id, job.label, table=table)
    return None


def _cell(job: ResultRow, href: str | None) -> Cell:
    score = job.score if job.outcome.has_score else None
    return Cell(job.outcome.word, None if score in {0, 1} else score, href)


def _written(value: object) -> str:
    if value is None:
        return ""
    text = value if isinstance(value, str) else orjson.dumps(value, default=str).decode()
    return cut_after(text, _FIELD_CHARACTERS)
