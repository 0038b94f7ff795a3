"""Grading in the test's own process, so that the test controls the order of events."""

from __future__ import annotations

from typing import TYPE_CHECKING

from support.uploads import lines_of, upload
from weighbridge.grading.line_grader import LineGrader
from weighbridge.grading.tally import Tally

if TYPE_CHECKING:
    from collections.abc import Iterable

    from support.cases import Case
    from support.http import HttpServer
    from weighbridge.store import Store


def grade_open_chunks(store: Store, batch: str, most: int | None = None) -> None:
    """Grade and record all open chunks of a batch, or up to `most` of them."""
    grader = LineGrader(store.options(batch).graders)
    for chunk in store.open_chunks(batch)[:most]:
        tally = Tally()
        lines = store.chunk(batch, chunk).lines(chunk)
        results = b"".join(grader.grade(line, tally) for line in lines)
        store.record(batch, chunk, results, tally)


def graded(service: HttpServer, cases: Iterable[Case], query: str = "") -> str:
    """Submit cases over HTTP, wait until they are graded, and return the batch."""
    answer = upload(service.url, lines_of(cases), query)
    assert answer.status_code == 201, answer.text
    batch: str = answer.json()["batch_id"]
    grade_open_chunks(service.service.client.store, batch)
    return batch
