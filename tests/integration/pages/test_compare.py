"""The page that compares two batches, and the one that shows a case of both side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest

from support import requests
from support.http import HttpServer
from support.pages import Page
from weighbridge_producer import Client
from weighbridge_producer.pages import compare as compare_page

if TYPE_CHECKING:
    from collections.abc import Iterator

    from support.workers import WorkerProcess
    from weighbridge.embedded.server import EmbeddedServer
    from weighbridge_producer import Batch

ATTACK = "</pre><script>pwned=1</script>"
HOSTILE_ID = "a&b=<script>pwned=1</script>\u202e"


def cases(answers: dict[str, str]) -> list[dict[str, object]]:
    return [
        {
            "custom_id": name,
            "inputs": {"agent_response": answer, "expected_output": "It is in Graz."},
            "metadata": {"topic": name[:1]},
        }
        for name, answer in answers.items()
    ]


@pytest.fixture(scope="module")
def two(server: EmbeddedServer, worker: WorkerProcess) -> Iterator[tuple[Batch, Batch]]:
    """Two batches: one case regressed, one was repaired, one was removed, and one is new."""
    right, wrong = "It is in Graz.", "It is in Linz."
    before = {"r1": right, "f1": wrong, "same": right, "gone": right, HOSTILE_ID: right}
    after = {"r1": wrong, "f1": right, "same": right, "new": right, HOSTILE_ID: ATTACK}
    with Client(server.url) as client:
        batches = [client.submit(cases(each), graders=["string-match"]) for each in (before, after)]
        for batch in batches:
            batch.wait(60)
        yield batches[0], batches[1]


def get(service: HttpServer, path: str, status: int = 200) -> Page:
    answer = requests.get(f"{service.url}{path}", headers={"Accept": "text/html"}, timeout=30)
    assert answer.status_code == status, answer.text
    page = Page.of(answer.text)
    assert page.intruders() == []
    return page


def compared(service: HttpServer, two: tuple[Batch, Batch], query: str = "") -> Page:
    return get(service, f"/compare?before={two[0].id}&after={two[1].id}{query}")


def words(page: Page) -> str:
    return " ".join(page.root.text.split())


def test_without_batches_two_can_be_chosen(service: HttpServer, two: tuple[Batch, Batch]) -> None:
    page = get(service, "/compare")
    offered = {
        option.attributes["value"] for option in page.root.one("select", id="after").all("option")
    }
    assert {two[0].id, two[1].id} <= offered
    assert page.root.all("table") == []


def test_without_any_batch_the_page_leads_to_a_new_one(own_server: EmbeddedServer) -> None:
    with HttpServer(own_server.url) as service:
        page = get(service, "/compare")
    assert "No batches to compare yet" in words(page)
    assert "/new" in [link.attributes["href"] for link in page.root.one("main").all("a")]


def test_the_groups_and_rates_of_two_batches_are_shown(
    service: HttpServer, two: tuple[Batch, Batch]
) -> None:
    page = compared(service, two)
    text = words(page)
    assert "1 result unchanged, 2 regressed , 1 repaired , 1 new , 1 gone" in text.replace(
        ",", " ,"
    ).replace("  ", " ").replace("unchanged ,", "unchanged,")
    [row] = page.root.one("section", **{"aria-labelledby": "rates"}).one("tbody").all("tr")
    assert "75.0% [30.1,\u00a095.4]" in row.text
    chosen = [o.attributes["value"] for o in page.root.all("option") if "selected" in o.attributes]
    assert chosen == [two[0].id, two[1].id]


def test_every_change_is_in_the_csv_and_the_command_has_the_address(
    service: HttpServer, two: tuple[Batch, Batch], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compare_page, "_EXAMPLES", 1)
    page = compared(service, two, "&by=metadata.topic")
    assert "The first 1 of 2. All are in the CSV below." in words(page)
    section = page.root.one("section", **{"aria-labelledby": "all-changes"})
    changes = requests.get(service.url + section.one("a").attributes["href"])
    assert changes.headers["content-type"].startswith("text/csv")
    assert sum("regressed" in line for line in changes.text.splitlines()) == 2
    command = f"weighbridge compare {two[0].id} {two[1].id} --url {service.url} --by metadata.topic"
    assert command in section.text


def test_batches_graded_under_different_conditions_are_said_to_be(
    service: HttpServer, two: tuple[Batch, Batch], server: EmbeddedServer
) -> None:
    grader = {"grader": "string-match", "config": {"strip_whitespace": True}}
    with Client(server.url) as client:
        again = client.submit(cases({"same": "It is in Graz."}), graders=[grader])
        again.wait(60)
    page = get(service, f"/compare?before={two[0].id}&after={again.id}")
    assert "1 pair graded by configuration" in words(page)


def test_rates_can_be_told_apart_by_a_field(service: HttpServer, two: tuple[Batch, Batch]) -> None:
    page = compared(service, two, "&by=metadata.topic")
    rows = page.root.one("section", **{"aria-labelledby": "rates"}).one("tbody").all("tr")
    assert len(rows) == 5
    assert "metadata.FIELD" in words(compared(service, two, "&by=topic"))


def test_a_case_of_both_is_side_by_side_with_what_differs_marked(
    service: HttpServer, two: tuple[Batch, Batch]
) -> None:
    page = compared(service, two)
    [href] = [link.attributes["href"] for link in page.root.all("a") if link.text == "r1"]
    side_by_side = get(service, href)
    assert [stamp.text for stamp in side_by_side.root.all("p", class_="stamp")] == ["pass", "fail"]
    assert [mark.text for mark in side_by_side.root.all("mark")] == ["Graz", "Linz"]


@pytest.fixture(scope="module")
def looping(server: EmbeddedServer, worker: WorkerProcess) -> Iterator[tuple[Batch, Batch]]:
    """Two batches of a run: at first it repeats a call from its 151st step to its end, then only twice."""

    def run(repeats: int) -> dict[str, object]:
        calls = [*map(str, range(150)), *["same"] * repeats, "last"]
        steps = [{"type": "tool", "name": "find", "arguments": {"q": q}} for q in calls]
        return {"custom_id": "run", "inputs": {"trace": {"format": "weighbridge", "steps": steps}}}

    with Client(server.url) as client:
        batches = [client.submit([run(repeats)], graders=["loop"]) for repeats in (6, 2)]
        for batch in batches:
            batch.wait(60)
        yield batches[0], batches[1]


def test_the_traces_of_a_case_are_side_by_side_from_before_the_failure(
    service: HttpServer, looping: tuple[Batch, Batch]
) -> None:
    page = compared(service, looping)
    [link] = [link for link in page.root.all("a") if link.text == "run"]
    assert "steps of loop: s151, s152, s153, s154, s155, s156 -> none" in words(page)
    side_by_side = get(service, link.attributes["href"])
    steps = side_by_side.root.one("section", **{"aria-labelledby": "steps"})
    assert "steps 141 to 157 of 157" in " ".join(steps.text.split())
    assert "12 equal rows" in steps.text
    assert "From here on they diverge at step 153 (before)." in " ".join(steps.text.split())
    alone = [row for row in steps.all("li") if "no such step" in row.text]
    assert len(alone) == 4
    assert all("loop" in row.text for row in alone)
    hrefs = [link.attributes["href"] for link in alone[0].all("a")]
    assert hrefs[0].startswith(f"/batches/{looping[0].id}/result?custom_id=run")
    get(service, hrefs[0])
    [earlier] = [each for each in steps.all("a") if each.text == "Earlier steps"][:1]
    assert "steps 41 to 140 of 157" in words(get(service, earlier.attributes["href"]))


def test_hostile_ids_and_answers_are_text(service: HttpServer, two: tuple[Batch, Batch]) -> None:
    query = f"before={two[0].id}&after={two[1].id}&custom_id={quote(HOSTILE_ID)}&label=string-match"
    page = get(service, f"/compare/case?{query}")
    assert ATTACK in page.root.text


def test_a_case_that_only_one_batch_has_leads_to_its_result(
    service: HttpServer, two: tuple[Batch, Batch]
) -> None:
    page = compared(service, two)
    links = {link.text: link.attributes["href"] for link in page.root.all("a")}
    assert links["gone"].startswith(f"/batches/{two[0].id}/result")
    assert links["new"].startswith(f"/batches/{two[1].id}/result")
    get(service, links["new"])


def test_batches_that_are_too_large_are_left_to_the_command_line(
    service: HttpServer, two: tuple[Batch, Batch], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compare_page, "RESULTS_LIMIT", 5)
    text = words(compared(service, two))
    assert f"weighbridge compare {two[0].id} {two[1].id} --url {service.url}" in text
    assert "Pass rates" not in text


@pytest.mark.parametrize("path", ["/compare", "/compare/case"])
def test_a_batch_that_does_not_exist_is_not_found(
    service: HttpServer, two: tuple[Batch, Batch], path: str
) -> None:
    get(service, f"{path}?before={two[0].id}&after=nobody&custom_id=r1", 404)
    get(service, f"{path}?before=..%2F&after={two[0].id}&custom_id=r1", 404)


def test_a_key_compares_no_batch_of_another_project(
    server: EmbeddedServer, two: tuple[Batch, Batch]
) -> None:
    with HttpServer(server.url, keys_required=True) as guarded:
        headers = {
            "Accept": "text/html",
            "Authorization": f"Bearer {guarded.make_key('read', 'other', 'other')}",
        }
        query = f"before={two[0].id}&after={two[1].id}"
        for path in (f"/compare?{query}", f"/compare/case?{query}&custom_id=r1"):
            assert requests.get(guarded.url + path, headers=headers, timeout=30).status_code == 404
        listed = requests.get(f"{guarded.url}/compare", headers=headers, timeout=30)
        assert listed.status_code == 200
        assert two[0].id not in listed.text
