"""Views of sorted cases: computed from the current results, and computed again when these change."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from support.grading import grade_open_chunks
from weighbridge.jobs.outcome import Outcome
from weighbridge.settings import Settings
from weighbridge.store.result_filter import ResultFilter
from weighbridge_producer.client.redis_client import RedisClient
from weighbridge_producer.pages.case_table import read_cases
from weighbridge_producer.service.caches.case_views import (
    CaseOrder,
    CaseViews,
    NoViewError,
    SortedCases,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from weighbridge.embedded.server import EmbeddedServer
    from weighbridge_producer.client.redis_batch import RedisBatch

EVERYTHING = ResultFilter()


@pytest.fixture
def client(own_server: EmbeddedServer) -> Iterator[RedisClient]:
    with RedisClient(own_server.url, settings=Settings(chunk_limit_jobs=4)) as client:
        yield client


def case(number: int) -> dict[str, object]:
    """A case that fails where its number is a multiple of three."""
    inputs = {"agent_response": "no" if number % 3 == 0 else "yes", "expected_output": True}
    return {"custom_id": f"c{number:02}", "inputs": inputs}


def seen(
    views: CaseViews,
    batch: RedisBatch,
    wanted: ResultFilter = EVERYTHING,
    order: CaseOrder = CaseOrder.INPUT,
) -> list[str]:
    view = views.view(batch.status(), wanted, order)
    assert isinstance(view, SortedCases)
    cases = read_cases(batch._store, batch.id, view, 0, 1_000)
    return [str(rows[0].custom_id) for rows in cases]


def test_cases_are_in_the_order_asked_for_however_chunks_came(client: RedisClient) -> None:
    batch = client.submit(map(case, range(10)), graders=["true-false"])
    views = CaseViews(client.store, lambda: False)
    assert seen(views, batch) == []
    grade_open_chunks(client.store, batch.id)
    names = [f"c{number:02}" for number in range(10)]
    failed = ["c00", "c03", "c06", "c09"]
    assert seen(views, batch) == names
    assert seen(views, batch, order=CaseOrder.FAILURES) == failed + sorted({*names} - {*failed})
    assert seen(views, batch, order=CaseOrder.SCORE)[:4] == failed
    assert seen(views, batch, ResultFilter(verdict="fail")) == failed
    assert seen(views, batch, ResultFilter(text="C05")) == ["c05"]


def test_what_is_graded_again_has_its_new_outcome(client: RedisClient) -> None:
    batch = client.submit(map(case, range(6)), graders=["true-false"])
    grade_open_chunks(client.store, batch.id, most=1)
    batch.cancel()
    views = CaseViews(client.store, lambda: False)
    cancelled = ResultFilter(status="cancelled")
    assert seen(views, batch, cancelled) == ["c04", "c05"]
    assert batch.retry() == 2
    grade_open_chunks(client.store, batch.id)
    assert seen(views, batch, cancelled) == []
    assert seen(views, batch) == [f"c{number:02}" for number in range(6)]


def test_each_job_of_a_case_keeps_its_label_outcome_and_cause(client: RedisClient) -> None:
    batch = client.submit([case(0)], graders=["true-false", "string-match"])
    grade_open_chunks(client.store, batch.id)
    views = CaseViews(client.store, lambda: False)
    view = views.view(batch.status(), EVERYTHING, CaseOrder.FAILURES)
    assert isinstance(view, SortedCases)
    told = {job.label: (job.outcome, job.cause) for job in view.index.profile(0)}
    assert told == {
        "true-false": (Outcome.FAILED, "boolean_match: false negative"),
        "string-match": (Outcome.FAILED, "string_match: other"),
    }
    assert view.index.of_line(1) == [0]
    assert view.index.of_line(2) == []


def test_a_batch_over_the_limit_is_not_sorted(client: RedisClient) -> None:
    batch = client.submit(map(case, range(6)), graders=["true-false"])
    with pytest.raises(NoViewError, match="more than 5 jobs is not sorted"):
        seen(CaseViews(client.store, lambda: False, jobs_limit=5), batch)
