"""The page of workers: running workers, waiting messages, stuck chunks, dead letters, and advice."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from support import requests
from support.cases import hazard_case
from support.http import HttpServer
from support.pages import Page
from weighbridge.graders.true_false import TrueFalseGrader

if TYPE_CHECKING:
    from support.workers import StartWorker
    from weighbridge.graders.true_false import TrueFalseGrader
from weighbridge.embedded.server import EmbeddedServer

ANSWER = {"agent_response": "yes", "expected_output": True}


def get(service: HttpServer, path: str = "/workers", status: int = 200) -> Page:
    answer = requests.get(f"{service.url}{path}", headers={"Accept": "text/html"}, timeout=30)
    assert answer.status_code == status, answer.text
    page = Page.of(answer.text)
    assert page.intruders() == []
    return page


def tiles(page: Page) -> dict[str, str]:
    found = page.root.one("dl", class_="tiles").all("div")
    return {tile.one("dt").text: tile.one("dd").text.strip() for tile in found}


def test_without_a_worker_the_page_says_how_to_start_one(own_server: EmbeddedServer) -> None:
    with HttpServer(own_server.url) as service:
        assert "No worker is running" in get(service).root.one("p", class_="notice").text
        service.service.client.submit(
            [{"custom_id": "c", "inputs": ANSWER}], graders=["true-false"]
        )
        page = get(service)
    assert "Work is waiting, and no worker is running" in page.root.one("p", class_="notice").text
    assert "weighbridge worker" in page.root.text
    assert tiles(page)["Active batches"] == "1"
    assert tiles(page)["Waiting in the queue"] == "1 chunk"


def test_a_worker_is_shown_with_its_children_and_what_it_grades(
    own_server: EmbeddedServer, start_worker: StartWorker
) -> None:
    worker = start_worker(own_server.url, 2)
    info = worker.info()
    assert info
    with HttpServer(own_server.url) as service:
        page = get(service)
        assert tiles(page)["Workers running"] == "1"
        assert tiles(page)["Child processes"] == "2"
        [row] = page.root.one("tbody").all("tr")
        assert info.name in row.text
        assert f"true-false {TrueFalseGrader.version}" in row.text
        assert "failed to load" in row.text
        assert page.root.all("p", class_="notice") == []
        service.service.client.drain(info.name)
        assert worker.await_end() == 0
        assert "No worker is running" in get(service).root.text


def test_the_rate_is_told_from_the_second_look_on(own_server: EmbeddedServer) -> None:
    with HttpServer(own_server.url) as service:
        page = get(service)
        again = page.root.one(id="poll").attributes
        assert again["hx-trigger"] == "every 2s"
        assert again["hx-get"].startswith("/workers/live?at=")
        later = get(service, "/workers/live?at=1&jobs=0")
        assert tiles(later)["Jobs a second"] == "0"


def test_jobs_that_were_given_up_are_told_with_what_to_do(
    own_server: EmbeddedServer, start_worker: StartWorker
) -> None:
    start_worker(own_server.url, 1, job_deadline_seconds=1)
    with HttpServer(own_server.url) as service:
        batch = service.service.client.submit([hazard_case("slow", "loops")])
        assert batch.wait(60).counts.errored == 1
        page = get(service)
        [row] = page.root.one(id="dead-letters").one("tbody").all("tr")
        assert "TIMEOUT" in row.text
        assert "WEIGHBRIDGE_JOB_DEADLINE_SECONDS" in row.text
        href = row.all("a")[1].attributes["href"]
        assert len(get(service, str(href)).root.one("tbody").all("tr")) == 1


@pytest.mark.parametrize("numbers", ["at=nan", "jobs=-1", "at=x", "jobs=1e99"])
def test_a_look_with_numbers_that_cannot_be_is_refused(
    own_server: EmbeddedServer, numbers: str
) -> None:
    with HttpServer(own_server.url) as service:
        get(service, f"/workers/live?{numbers}", 422)
