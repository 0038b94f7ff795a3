"""The table of results: filters in the address, a cursor from page to page, and ids of any kind."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

import httpx
import orjson
import pytest

from support import requests
from support.examples import MIXED
from support.http import HttpServer
from support.pages import Page
from weighbridge_producer import Client

if TYPE_CHECKING:
    from collections.abc import Iterator

    from support.pages import Element
    from support.workers import WorkerProcess
    from weighbridge.embedded.server import EmbeddedServer
    from weighbridge_producer import Batch

HOSTILE_IDS = (
    "<script>pwned=1</script>",
    "\"'><img src=x onerror=pwned=1>",
    "a/../../b",
    "..",
    "?label=x&custom_id=y#step-1",
    "100%41",
    "{{ 7 * 7 }}",
    "\u202eevil\u202c",
    "a b+c",
    "é€😀",
    "javascript:alert(1)",
    "x" * 256,
)


@pytest.fixture(scope="module")
def hostile(server: EmbeddedServer, worker: WorkerProcess) -> Iterator[Batch]:
    """Cases whose ids and answers contain attacks on the page."""
    with Client(server.url) as client:
        inputs = {"agent_response": "</pre><script>pwned=1</script>", "expected_output": "x"}
        cases = [{"custom_id": name, "inputs": inputs} for name in HOSTILE_IDS]
        batch = client.submit(cases, graders=["string-match"])
        batch.wait(60)
        yield batch


def get(service: HttpServer, path: str, status: int = 200) -> Page:
    answer = requests.get(f"{service.url}{path}", headers={"Accept": "text/html"}, timeout=30)
    assert answer.status_code == status, answer.text
    page = Page.of(answer.text)
    assert page.intruders() == []
    return page


def rows(page: Page) -> list[Element]:
    return [row for body in page.root.all("tbody") for row in body.all("tr")]


def link(page: Page, text: str) -> str | None:
    found = [each.attributes["href"] for each in page.root.all("a") if each.text == text]
    return found[0] if found else None


def named(page: Page) -> list[str]:
    return [row.all("td")[0].text.strip() for row in rows(page)]


def test_every_case_has_a_row_with_a_column_for_each_grader_and_why(
    service: HttpServer, shop: Batch
) -> None:
    page = get(service, f"/batches/{shop.id}/results")
    [row] = [row for row in rows(page) if "shop-stuck-4" in row.text]
    assert [cell.text for cell in row.all("a", class_="badge")] == ["pass", "fail", "pass"]
    assert "the same step 6 times in a row" in row.text
    assert (
        row.all("a")[0].attributes["href"]
        == f"/batches/{shop.id}/result?custom_id=shop-stuck-4&label=loop&table=order%3Dfailures"
    )
    assert link(page, "Next") is None


def test_failures_come_first_unless_another_order_is_asked_for(
    service: HttpServer, shop: Batch
) -> None:
    address = f"/batches/{shop.id}/results"
    of_input = named(get(service, f"{address}?order=input"))
    assert [int(name.rpartition("-")[2]) for name in of_input] == list(range(1, 11))
    failed = {"shop-stuck-4", "shop-pingpong-5", "shop-misuse-6", "shop-unknown-7", "shop-chatty-8"}
    by_failure = named(get(service, address))
    assert by_failure == sorted(of_input, key=lambda name: name not in failed)
    by_score = named(get(service, f"{address}?order=score"))
    assert by_score[:3] == ["shop-unknown-7", "shop-pingpong-5", "shop-stuck-4"]


def test_a_heading_leads_to_the_order_by_its_column_and_says_if_it_is_the_present_one(
    service: HttpServer, shop: Batch
) -> None:
    page = get(service, f"/batches/{shop.id}/results?text=shop&order=input")
    for heading, named_after in (("Case", "input"), ("Why", "")):
        [cell] = [each for each in page.root.all("th") if each.text == heading]
        order = "&order=input" if named_after else ""
        where = cell.one("a").attributes["href"]
        assert where == f"/batches/{shop.id}/results?text=shop{order}"
        assert cell.attributes.get("aria-sort") == ("ascending" if named_after else None)
    assert [each.text for each in page.root.all("th") if not each.all("a")] == [
        each.label for each in shop.summary() if each.label
    ]


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ("verdict=fail", 5),
        ("verdict=fail&label=loop", 2),
        ("grader=budget", 10),
        ("status=errored", 0),
        ("cause=tool_known", 1),
        ("cause=tool_known%3A+cancel_order", 1),
        ("cause=loop", 2),
        ("text=unknown%20parcel", 1),
        ("text=lost%20parcel", 0),
        ("text=PARCEL&verdict=fail", 3),
        ("custom_id=shop-stuck-4", 1),
        ("custom_id=nobody", 0),
    ],
)
def test_filters_in_the_address_choose_the_cases(
    service: HttpServer, shop: Batch, query: str, count: int
) -> None:
    page = get(service, f"/batches/{shop.id}/results?{query}")
    assert len(rows(page)) == count
    if count and "custom_id" not in query:
        told = f"1\u2013{count} of {count} case{'s' if count > 1 else ''}"
        assert page.root.one(class_="shown-count").text == told


def test_fields_of_metadata_that_are_chosen_have_columns_and_stay_in_the_address(
    service: HttpServer, server: EmbeddedServer, worker: WorkerProcess
) -> None:
    inputs = {"agent_response": "no", "expected_output": True}
    cases = [
        {"custom_id": f"c{n:02}", "inputs": inputs, "metadata": {"topic": f"t{n}", "<b>": [n]}}
        for n in range(60)
    ]
    with Client(server.url) as client:
        batch = client.submit(cases, graders=["true-false"])
        batch.wait(60)
    address = f"/batches/{batch.id}/results"
    offered = get(service, address).root.one("main").one("form").all("input", name="column")
    assert [box.attributes["value"] for box in offered] == ["topic", "<b>"]
    page = get(service, f"{address}?column=%3Cb%3E&column=topic&verdict=fail")
    assert [cell.text for cell in rows(page)[7].all("td", class_="of-field")] == ["[7]", "t7"]
    following = link(page, "Next")
    assert following == f"{address}?verdict=fail&column=%3Cb%3E&column=topic&page=2"
    assert len(rows(get(service, following))) == 10


def test_the_form_shows_the_filters_that_are_set(service: HttpServer, shop: Batch) -> None:
    page = get(service, f"/batches/{shop.id}/results?verdict=fail&label=loop&text=%22%3E%3Cb%3E")
    chosen = [
        option.attributes["value"]
        for option in page.root.one("main").one("form").all("option")
        if "selected" in option.attributes
    ]
    assert chosen == ["fail", "loop", "failures"]
    assert page.root.one("input", name="text").attributes["value"] == '"><b>'
    assert link(page, "Clear") == f"/batches/{shop.id}/results"


def test_pages_follow_each_other_and_show_each_result_once(
    service: HttpServer, server: EmbeddedServer, worker: WorkerProcess
) -> None:
    inputs = {"agent_response": "yes", "expected_output": True}
    cases = [{"custom_id": f"c{n}", "inputs": inputs} for n in range(170)]
    with Client(server.url) as client:
        batch = client.submit(cases, graders=["true-false"])
        batch.wait(60)
    seen: list[str] = []
    sizes, path = [], f"/batches/{batch.id}/results?verdict=pass"
    while path:
        page = get(service, path)
        seen += [row.all("a")[0].text for row in rows(page)]
        sizes.append(len(rows(page)))
        path = link(page, "Next") or ""
        assert not path or "verdict=pass" in path
    assert sizes == [50, 50, 50, 20]
    assert seen == [case["custom_id"] for case in cases]
    assert link(page, "First") == f"/batches/{batch.id}/results?verdict=pass"


def test_lines_that_are_no_cases_have_rows_that_tell_their_errors(
    service: HttpServer, server: EmbeddedServer, worker: WorkerProcess
) -> None:
    with Client(server.url) as client:
        batch = client.submit(MIXED)
        batch.wait(60)
    page = get(service, f"/batches/{batch.id}/results?status=errored")
    told = {row.all("td")[0].text: row.one("td", class_="of-why").text for row in rows(page)}
    assert told["line 9"].startswith("errored INVALID_JSON: ")
    assert told["triage-001"].startswith("errored ID_CONFLICT: ")


@pytest.mark.parametrize(
    ("query", "status", "told"),
    [
        ("verdict=maybe", 422, "choose one of pass, fail, ungradable"),
        ("status=lost", 422, "choose one of graded, errored"),
        ("cursor=nonsense", 410, "is not a cursor"),
        ("cursor=0.0.0-0.1.9%27%3B--", 410, "is not a cursor"),
        (f"label={'x' * 300}", 422, "at most 256"),
    ],
)
def test_what_cannot_be_looked_for_is_told_beside_the_form(
    service: HttpServer, shop: Batch, query: str, status: int, told: str
) -> None:
    page = get(service, f"/batches/{shop.id}/results?{query}", status)
    assert told in page.root.one(role="alert").text
    assert page.root.one("main").one("form").attributes["action"] == f"/batches/{shop.id}/results"


def test_a_result_of_any_id_is_reached_by_its_link_and_shown_as_text(
    service: HttpServer, hostile: Batch
) -> None:
    page = get(service, f"/batches/{hostile.id}/results")
    links = [row.all("a")[0].attributes["href"] for row in rows(page)]
    ids = [parse_qs(urlsplit(href).query)["custom_id"][0] for href in links]
    assert sorted(ids) == sorted(HOSTILE_IDS)
    for name, href in zip(ids, links, strict=True):
        result = get(service, href)
        shown = name.replace("\u202e", "\\u202e").replace("\u202c", "\\u202c")
        assert result.root.one("h1").text == shown
        assert "</pre><script>pwned=1</script>" in result.root.text


def test_a_results_raw_json_is_reached_from_its_page_whatever_its_id(
    service: HttpServer, hostile: Batch
) -> None:
    for name in HOSTILE_IDS:
        query = httpx.QueryParams({"custom_id": name})
        href = link(get(service, f"/batches/{hostile.id}/result?{query}"), "Raw JSON of the result")
        answer = requests.get(f"{service.url}{href}")
        assert answer.status_code == 200, (name, answer.text)
        assert orjson.dumps(name) in answer.content


def test_the_results_that_match_are_offered_as_files(service: HttpServer, shop: Batch) -> None:
    page = get(service, f"/batches/{shop.id}/results?verdict=fail&label=loop")
    for name, begins in (("CSV", b'"custom_id"'), ("report", b"<!doctype html>")):
        answer = requests.get(f"{service.url}{link(page, name)}", timeout=60)
        assert answer.status_code == 200, answer.text
        assert answer.content.startswith(begins)
        assert b"shop-stuck-4" in answer.content
        assert b"shop-chatty-8" not in answer.content
