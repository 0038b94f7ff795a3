"""The jobs of a batch by the values of metadata fields, over HTTP and on its page."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from support import requests
from support.grading import grade_open_chunks, graded
from support.pages import Page
from weighbridge.settings import Settings
from weighbridge_producer.client.redis_client import RedisClient
from weighbridge_producer.gating.fields import OTHER_VALUES, parse_field
from weighbridge_producer.gating.slices import SLICES_SHOWN
from weighbridge_producer.service.caches.slice_counts import SliceCounts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from support.http import HttpServer
    from weighbridge.embedded.server import EmbeddedServer
    from weighbridge_producer.client.redis_batch import RedisBatch
    from weighbridge_producer.service.caches.slice_counts import SlicedJobs

TOPIC = (parse_field("metadata.topic"),)


def case(number: int, topic: str | None) -> dict[str, object]:
    """A case that fails where its number is a multiple of three."""
    inputs = {"agent_response": "no" if number % 3 == 0 else "yes", "expected_output": True}
    metadata = {"topic": topic, "tags": ["x", f"{number % 2}"]} if topic else {}
    return {"custom_id": f"c{number}", "inputs": inputs, "metadata": metadata}


@pytest.fixture
def batch(service: HttpServer) -> str:
    topics = ["<b>tax</b>", "travel", None]
    return graded(
        service, (case(n, topics[n % 2 if n < 8 else 2]) for n in range(9)), "?grader=true-false"
    )


def test_a_batch_is_broken_down_by_a_field_over_http(service: HttpServer, batch: str) -> None:
    answer = requests.get(f"{service.url}/api/batches/{batch}/slices?by=metadata.topic", timeout=30)
    found = answer.json()
    assert (found["jobs"], found["complete"]) == (9, True)
    told = {each["value"]: (each["passed"], each["failed"]) for each in found["slices"]}
    assert told == {"<b>tax</b>": (2, 2), "travel": (3, 1), "(none)": (1, 0)}
    assert {each["label"] for each in found["slices"]} == {"true-false"}


@pytest.mark.parametrize("query", ["", "?by=topic", "?by=metadata.", "?by=metadata.topic&to=1"])
def test_a_field_that_is_none_is_refused(service: HttpServer, batch: str, query: str) -> None:
    answer = requests.get(f"{service.url}/api/batches/{batch}/slices{query}", timeout=30)
    assert answer.status_code == 422, answer.text


def shown(service: HttpServer, path: str) -> Page:
    answer = requests.get(f"{service.url}{path}", headers={"Accept": "text/html"}, timeout=30)
    assert answer.status_code == 200, answer.text
    page = Page.of(answer.text)
    assert page.intruders() == []
    return page


def test_the_page_of_a_batch_has_the_table_only_when_it_is_asked_for(
    service: HttpServer, batch: str
) -> None:
    page = shown(service, f"/batches/{batch}")
    assert page.root.one("input", id="by").attributes["value"] == ""
    assert page.root.all("table") == []
    page = shown(service, f"/batches/{batch}?by=metadata.topic")
    assert page.root.one("input", id="by").attributes["value"] == "metadata.topic"
    [table] = page.root.all("table")
    rows = [[cell.text for cell in row.all("td")] for row in table.all("tr")[1:]]
    assert rows[0][:5] == ["<b>tax</b>", "true-false", "50.0%", "2 / 4", "2"]
    assert rows[2][:3] == ["(none)", "true-false", "100.0%"]


def test_of_a_field_of_lists_the_page_leads_to_their_entries(
    service: HttpServer, batch: str
) -> None:
    page = shown(service, f"/batches/{batch}?by=metadata.tags")
    [link] = [each for each in page.root.all("a") if each.text == "Count each entry"]
    page = shown(service, link.attributes["href"] or "")
    rows = [row.all("td") for row in page.root.one("table").all("tr")[1:]]
    assert {row[0].text for row in rows} == {"x", "0", "1", "(none)"}
    assert "Count each entry" not in page.root.text


@pytest.mark.parametrize(
    ("by", "words"),
    [("topic", "write metadata.FIELD"), ("metadata.nosuch", "has a value of metadata.nosuch")],
)
def test_the_page_says_what_is_wrong_with_a_field(
    service: HttpServer, batch: str, by: str, words: str
) -> None:
    assert words in shown(service, f"/batches/{batch}?by={by}").root.text


def test_a_field_that_no_job_has_has_no_table(service: HttpServer, batch: str) -> None:
    for path in (
        f"/batches/{batch}?by=metadata.nosuch",
        f"/batches/{batch}/slices?by=metadata.nosuch",
    ):
        root = shown(service, path).root
        assert "No job that is counted has a value of metadata.nosuch." in root.text
        assert root.all("table") == []


@pytest.fixture
def client(own_server: EmbeddedServer) -> Iterator[RedisClient]:
    with RedisClient(own_server.url, settings=Settings(chunk_limit_jobs=10)) as client:
        yield client


def test_a_count_that_ran_out_of_time_is_continued_by_the_next(client: RedisClient) -> None:
    batch = client.submit((case(n, f"t{n % 40:02}") for n in range(200)), graders=["true-false"])
    grade_open_chunks(client.store, batch.id)
    counts, state = SliceCounts(client.store), batch.status()
    first = counts.count(state, TOPIC, seconds=0)
    assert not first.complete
    assert 0 < first.jobs < first.total == 200
    requests_needed = 1
    while not (found := counts.count(state, TOPIC, seconds=0)).complete:
        requests_needed += 1
        assert requests_needed < 50
    assert found.jobs == 200
    assert sum(each.summary.finished for each in found.slices) == 200
    assert len(found.slices) == SLICES_SHOWN + 1
    assert found.slices[-1].value == OTHER_VALUES
    assert counts.count(state, TOPIC) == found


def test_a_count_goes_on_while_a_batch_is_graded_and_begins_again_after_a_retry(
    client: RedisClient,
) -> None:
    batch = client.submit((case(n, "a") for n in range(40)), graders=["true-false"])
    counts = SliceCounts(client.store)

    def count(batch: RedisBatch) -> SlicedJobs:
        return counts.count(batch.status(), TOPIC, seconds=60)

    for done, most in ((0, 0), (20, 2), (40, None)):
        grade_open_chunks(client.store, batch.id, most)
        assert count(batch).jobs == done
    other = client.submit((case(n, "a") for n in range(40)), graders=["true-false"])
    grade_open_chunks(client.store, other.id, 1)
    other.cancel()
    [cancelled] = count(other).slices
    assert (cancelled.summary.cancelled, count(other).jobs) == (30, 40)
    other.retry()
    grade_open_chunks(client.store, other.id)
    [again] = count(other).slices
    assert (again.summary.cancelled, again.summary.finished) == (0, 40)


def test_counts_that_are_not_complete_go_on_however_many_others_begin(client: RedisClient) -> None:
    batch = client.submit((case(n, "a") for n in range(200)), graders=["true-false"])
    grade_open_chunks(client.store, batch.id)
    counts, state = SliceCounts(client.store), batch.status()
    fields = [(parse_field(f"metadata.f{number}"),) for number in range(40)]
    complete: set[int] = set()
    for _ in range(60):
        for number, by in enumerate(fields):
            if number not in complete and counts.count(state, by, seconds=0).complete:
                complete.add(number)
    assert len(complete) == len(fields)
