"""The pages of batches: the list, one batch while it is graded and after, and what can be done with it."""

from __future__ import annotations

import re
import subprocess
import time
from typing import TYPE_CHECKING

import httpx
import pytest

from support import requests
from support.chunks import filled, opened
from support.examples import MIXED
from support.grading import grade_open_chunks
from support.http import HttpServer
from support.pages import Page
from weighbridge.store import BatchOptions
from weighbridge_producer.client.redis_client import RedisClient
from weighbridge_producer.pages import batches as pages_of_batches

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from support.workers import WorkerProcess
    from weighbridge.embedded.server import EmbeddedServer
    from weighbridge_producer import Batch

HTML = {"Accept": "text/html"}


def get(service: HttpServer, path: str, status: int = 200, **headers: str) -> Page:
    answer = requests.get(f"{service.url}{path}", headers=HTML | headers, timeout=30)
    assert answer.status_code == status, answer.text
    page = Page.of(answer.text)
    assert page.intruders() == []
    return page


def post(service: HttpServer, path: str, key: str = "") -> httpx.Response:
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    return requests.post(f"{service.url}{path}", headers=HTML | headers, timeout=30)


def case(name: str, answer: str = "yes") -> dict[str, object]:
    return {"custom_id": name, "inputs": {"agent_response": answer, "expected_output": True}}


# ---- the list ----


def test_a_new_service_says_how_to_begin(own_server: EmbeddedServer) -> None:
    with HttpServer(own_server.url) as service:
        page = get(service, "/")
    assert page.root.all("table") == []
    links = {link.attributes["href"] for link in page.root.all("a")}
    assert {"/new", "/graders", "/workers"} <= links
    assert "weighbridge submit" in page.root.text


def test_the_list_shows_each_batch_with_its_counts_as_a_bar(
    service: HttpServer, shop: Batch
) -> None:
    page = get(service, "/")
    [row] = [row for row in page.root.all("tr") if shop.id in row.text]
    assert row.one("a").attributes["href"] == f"/batches/{shop.id}"
    assert "shop_agent.jsonl" in row.text
    assert row.one("svg").one("title").text == "Jobs: 25 passed, 5 failed"


UNMEASURED = {"custom_id": "u", "inputs": {"trace": [{"role": "user", "content": "hello"}]}}
TOKENS = {"grader": "budget", "config": {"max_tokens": 9, "missing_usage": "ungradable"}}


@pytest.mark.parametrize(
    ("cases", "grader", "words", "told"),
    [
        ([case("p")], "true-false", "The one job passed", ["100.0%", "0", "0", "0", "1"]),
        (
            *([case("p"), case("f", "no")], "true-false"),
            *("1 of 2 jobs failed", ["50.0%", "1", "0", "0", "2"]),
        ),
        ([UNMEASURED], TOKENS, "1 ungradable; 0 passed", ["\u2013", "0", "1", "0", "1"]),
        ([{"custom_id": "e"}], "true-false", "1 errored; 0 passed", ["\u2013", "0", "0", "1", "1"]),
        ([], "true-false", "Nothing was graded", ["\u2013", "0", "0", "0", "0"]),
    ],
)
def test_what_jobs_came_to_is_told_apart_from_the_life_of_their_batch(
    own_server: EmbeddedServer, cases: list[object], grader: object, words: str, told: list[str]
) -> None:
    with HttpServer(own_server.url) as service:
        client = service.service.client
        batch = client.open("cases", [grader])
        batch.fill(cases)
        grade_open_chunks(client.store, batch.id)
        [row] = get(service, "/").root.one("tbody").all("tr")
        of_page = get(service, f"/batches/{batch.id}").root
    for life in (row.one(class_="life"), of_page.one(id="status")):
        assert life.text == "completed"
        assert life.attributes["class"] == "life life-completed"
    assert of_page.one(id="answer").text == words
    assert [cell.text for cell in row.all("td", class_="numeric")] == told


def test_the_list_is_paged_newest_first(own_server: EmbeddedServer) -> None:
    with HttpServer(own_server.url) as service:
        made = [service.service.client.open(f"batch {n}", ()).id for n in range(30)]
        shown, path = [], "/"
        while path:
            page = get(service, path)
            shown += [row.one("a").attributes["href"] for row in page.root.one("tbody").all("tr")]
            older = [link for link in page.root.all("a") if link.text == "Older"]
            path = older[0].attributes["href"] if older else ""
        assert get(service, "/?from=900").root.all("table") == []
    assert sorted(shown) == sorted(f"/batches/{batch}" for batch in made)
    assert len(shown) == len(set(shown))


def test_batches_are_found_by_a_part_of_their_name_or_id(own_server: EmbeddedServer) -> None:
    with HttpServer(own_server.url) as service:
        client = service.service.client
        made = {n: client.open(f"{'night' if n % 2 else 'day'} {n}", ()).id for n in range(60)}

        def listed(path: str) -> list[str]:
            rows = get(service, path).root.all("td", class_="of-batch")
            return [row.one("a").text for row in rows]

        nights = [f"night {n}" for n in range(1, 60, 2)]
        page = get(service, "/?text=NIGHT")
        [older] = [link for link in page.root.all("a") if link.text == "Older"]
        found = listed("/?text=NIGHT") + listed(older.attributes["href"])
        assert sorted(found) == sorted(nights)
        assert listed(f"/?text={made[7][-12:]}") == ["night 7"]
        assert listed("/?text=%3Cb%3E") == []


@pytest.fixture
def rated(own_server: EmbeddedServer) -> Iterator[HttpServer]:
    """A service with batches `a` to `c`, of which the last has the most jobs and the first fails most, and one without jobs."""
    with HttpServer(own_server.url) as service:
        client = service.service.client
        for name, answers in (("b", "yy"), ("a", "ynn"), ("c", "yyyn"), ("none", "")):
            batch = client.open(name, ["true-false"])
            cases = [case(f"{n}", {"y": "yes", "n": "no"}[each]) for n, each in enumerate(answers)]
            if cases:
                client.submit(cases, graders=["true-false"], resume=batch.id)
                grade_open_chunks(client.store, batch.id)
        yield service


def names_of_batches(page: Page) -> list[str]:
    return [cell.one("a").text for cell in page.root.all("td", class_="of-batch")]


def heading(page: Page, name: str) -> tuple[str, str]:
    """Return the link of a column's heading, and the direction in which it says that the table is sorted."""
    [found] = [each for each in page.root.all("th") if each.text == name]
    return found.one("a").attributes["href"], found.attributes.get("aria-sort", "")


ORDERS = {
    "Batch": (["a", "b", "c", "none"], ["none", "c", "b", "a"]),
    "Pass rate": (["a", "c", "b", "none"], ["b", "c", "a", "none"]),
    "Failed": (["a", "c", "none", "b"], ["none", "b", "c", "a"]),
    "Jobs": (["c", "a", "b", "none"], ["none", "b", "a", "c"]),
    "Created": (["b", "a", "c", "none"], ["none", "c", "a", "b"]),
}


def test_a_heading_sorts_the_list_and_then_the_other_way(rated: HttpServer) -> None:
    first = get(rated, "/")
    assert heading(first, "Created")[1] == "descending"
    for column, (names, reverse) in ORDERS.items():
        page, seen = first, []
        for expected in (names, reverse, names):
            page = get(rated, heading(page, column)[0])
            assert names_of_batches(page) == expected
            seen.append(heading(page, column)[1])
        assert {*seen} == {"ascending", "descending"}
        assert seen[0] == seen[2]


def test_a_sorted_list_is_searched_and_paged_and_says_if_only_the_newest_are_sorted(
    rated: HttpServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages_of_batches, "_PER_PAGE", 2)
    page = get(rated, "/?order=-jobs")
    assert names_of_batches(page) == ["c", "a"]
    [following] = [link for link in page.root.all("a") if link.text == "Next"]
    page = get(rated, following.attributes["href"])
    assert names_of_batches(page) == ["b", "none"]
    assert "sorted" not in page.root.text
    [before] = [link for link in page.root.all("a") if link.text == "Previous"]
    assert before.attributes["href"] == "/?order=-jobs"
    page = get(rated, "/?order=-jobs&text=NONE")
    assert names_of_batches(page) == ["none"]
    assert page.root.one("input", name="order").attributes["value"] == "-jobs"
    assert [link.attributes["href"] for link in page.root.all("a") if link.text == "Clear"] == [
        "/?order=-jobs"
    ]
    assert heading(page, "Batch")[0].startswith("/?text=NONE&order=name")
    monkeypatch.setattr(pages_of_batches, "_SORTED_BATCHES", 2)
    monkeypatch.setattr(pages_of_batches, "_SEARCHED_AT_ONCE", 2)
    page = get(rated, "/?order=name")
    assert names_of_batches(page) == ["c", "none"]
    assert "Only the newest 2 batches are sorted." in page.root.text
    assert get(rated, "/?order=evil", 422).root.all("table") == []


def test_the_pass_rates_of_a_source_are_drawn_and_lead_to_its_batches(
    own_server: EmbeddedServer,
) -> None:
    with HttpServer(own_server.url) as service:
        client, made = service.service.client, set()
        for _ in range(2):
            batch = client.open("<i>nightly", ["true-false"])
            client.submit([case("p"), case("f", "no")], graders=["true-false"], resume=batch.id)
            grade_open_chunks(client.store, batch.id)
            made.add(f"/batches/{batch.id}")
        figure = get(service, "/").root.one("figure", class_="history-chart")
    told = " ".join(figure.one("figcaption").text.split())
    assert told == "<i>nightly 2 batches latest 50.0%"
    assert {link.attributes["href"] for link in figure.all("a")} == made


def test_a_theme_is_remembered_and_leads_back_to_where_it_was_chosen(service: HttpServer) -> None:
    chosen = requests.post(
        f"{service.url}/theme", data={"theme": "dark", "back": "/workers"}, headers=HTML
    )
    assert (chosen.status_code, chosen.headers["location"]) == (303, "/workers")
    cookie = chosen.headers["set-cookie"].partition(";")[0]
    page = get(service, "/workers", Cookie=cookie)
    assert page.root.one("html").attributes["data-theme"] == "dark"
    themes = page.root.one("form", action="/theme")
    pressed = [button.text for button in themes.all("button", **{"aria-pressed": "true"})]
    assert pressed == ["Dark"]
    back = requests.post(f"{service.url}/theme", data={"theme": "system", "back": "//evil.example"})
    assert back.headers["location"] == "/"
    assert "Max-Age=0" in back.headers["set-cookie"]
    assert (
        "data-theme"
        not in get(service, "/", Cookie="weighbridge_theme=x").root.one("html").attributes
    )


@pytest.mark.parametrize("start", ["-1", "x", "99999999999999999999"])
def test_a_page_of_the_list_that_cannot_be_is_refused(service: HttpServer, start: str) -> None:
    get(service, f"/?from={start}", status=422)


# ---- a batch that is graded ----


def test_a_paused_batch_is_called_so_until_it_ends(own_server: EmbeddedServer) -> None:
    with HttpServer(own_server.url) as service:
        batch = service.service.client.submit([case("a")], graders=["true-false"])
        batch.pause()
        [row] = [row for row in get(service, "/").root.all("tr") if batch.id in row.text]
        assert "in progress, paused" in " ".join(row.text.split())
        told = get(service, f"/batches/{batch.id}").root.one(id="paused")
        assert f"weighbridge unpause {batch.id}" in told.text
        batch.unpause()
        assert get(service, f"/batches/{batch.id}").root.all(id="paused") == []
        batch.pause()
        batch.cancel()
        assert get(service, f"/batches/{batch.id}").root.all(id="paused") == []
        assert "paused" not in get(service, "/").root.one("tbody").text


def test_each_outcome_is_told_with_its_denominator(service: HttpServer, shop: Batch) -> None:
    page = get(service, f"/batches/{shop.id}")
    told = [" ".join(item.text.split()) for item in page.root.one("main").all("li")]
    assert "25 of 30 judged jobs passed 83.3%" in told
    assert "5 of 30 judged jobs failed 16.7%" in told
    assert "2 of 10 judged jobs failed 20.0%" in told
    assert "1 of 8 passes is vacuous" in page.root.one(id="distributions").text


def test_the_answer_comes_before_its_causes_and_these_before_distributions(
    service: HttpServer, shop: Batch
) -> None:
    text = get(service, f"/batches/{shop.id}").root.one("main").text
    order = ["5 of 30 jobs failed", "Why: 5 causes", "By grader", "About this batch"]
    assert sorted(order, key=text.index) == order


def test_what_is_shown_of_a_running_batch_is_all_of_one_moment(
    service: HttpServer, shop: Batch
) -> None:
    live = get(service, f"/batches/{shop.id}/live").root
    apart = live.one(id="distributions")
    assert apart.attributes["hx-swap-oob"] == "innerMorph"
    assert "By grader" in apart.text


def test_the_command_on_the_page_brings_the_results(
    service: HttpServer, shop: Batch, tmp_path: Path
) -> None:
    about = get(service, f"/batches/{shop.id}").root.one(id="about-batch")
    command = next(code.text for code in about.all("code") if code.text.startswith("curl "))
    subprocess.run(["sh", "-c", command], cwd=tmp_path, check=True, timeout=60)
    results = (tmp_path / "results.jsonl").read_bytes()
    assert results == requests.get(f"{service.url}{about.all('a')[0].attributes['href']}").content
    assert results.count(b"\n") == 30


def test_the_command_names_a_key_where_one_is_needed(own_server: EmbeddedServer) -> None:
    with HttpServer(own_server.url, keys_required=True) as service:
        batch = service.service.client.open("cases", ()).id
        as_reader = {"Authorization": f"Bearer {service.make_key('read')}"}
        about = get(service, f"/batches/{batch}", **as_reader).root.one(id="about-batch")
    assert "curl -H 'Authorization: Bearer KEY' -o results.jsonl 'http" in about.text


def test_scores_are_drawn_with_a_text_that_says_the_same(service: HttpServer, shop: Batch) -> None:
    page = get(service, f"/batches/{shop.id}")
    [loop] = [
        figure for figure in page.root.all("figure") if "Scores of loop" in figure.one("title").text
    ]
    assert "0.1 to 0.2: 2" in loop.one("desc").text
    assert "0.9 to 1.0: 8" in loop.one("desc").text
    assert len(loop.all("rect")) == 10


def test_failures_are_grouped_by_cause_with_exemplars_and_the_table_of_each(
    service: HttpServer, shop: Batch
) -> None:
    page = get(service, f"/batches/{shop.id}/causes")
    assert page.root.one("h2").text == "Why: 5 causes"
    causes = page.root.all("li", class_="cause")
    links = [[link.attributes["href"] for link in cause.all("a")] for cause in causes]
    in_turn = f"/batches/{shop.id}/results?label=loop&cause=loop%3A+same_cycle%2C+find_order%2C+track_parcel"
    again = f"/batches/{shop.id}/results?label=loop&cause=loop%3A+same_call%2C+track_parcel"
    of_loops = {
        in_turn: "shop-pingpong-5",
        again: "shop-stuck-4",
    }
    for found, name in of_loops.items():
        assert [found, f"/batches/{shop.id}/result?custom_id={name}&label=loop"] in links
        assert len(get(service, found).root.one("tbody").all("tr")) == 1
    assert page.root.all(id="causes-again") == []


def test_causes_that_are_no_failures_are_not_called_so(
    service: HttpServer,
    client: RedisClient,
    worker: WorkerProcess,
) -> None:
    batch = client.submit(MIXED)
    batch.wait(60)
    page = get(service, f"/batches/{batch.id}/causes")
    assert page.root.one("h2").text == "Why: 19 causes of jobs that did not pass"
    [broken] = [
        cause for cause in page.root.all("li", class_="cause") if "INVALID_JSON" in cause.text
    ]
    assert "line 9" in broken.text


def test_lines_that_are_no_cases_are_a_share_of_the_whole_batch(
    service: HttpServer, client: RedisClient, worker: WorkerProcess
) -> None:
    cases = [*(case(f"c{n}", "no") for n in range(48)), *(b"{" for _ in range(2))]
    batch = client.submit(cases, graders=["true-false"])
    batch.wait(60)
    page = get(service, f"/batches/{batch.id}/causes")
    counts = [
        cause.one("p", class_="cause-count").text for cause in page.root.all("li", class_="cause")
    ]
    assert sorted(counts) == ["2 jobs of 50, 4.0%", "48 jobs of 48, 100.0%"]


# ---- a batch that is being graded ----


def test_a_batch_is_polled_until_its_end_and_then_no_more(own_server: EmbeddedServer) -> None:
    with HttpServer(own_server.url) as service:
        client = service.service.client
        batch = client.submit([case(f"c{n}") for n in range(5)], graders=["true-false"])
        page = get(service, f"/batches/{batch.id}")
        assert page.root.one(id="live").attributes["aria-live"] == "polite"
        pace = " ".join(page.root.one(id="pace").text.split())
        assert pace == "Nothing is graded yet. No worker is running."
        again = page.root.one(id="poll").attributes
        assert again["hx-trigger"] == "every 1s"
        grade_open_chunks(client.store, batch.id)
        ended = get(service, again["hx-get"])
    assert ended.root.one(id="done").text == "5"
    assert ended.root.all(id="poll") == []
    assert "jobs a second" in ended.root.one(id="pace").text


def test_a_batch_that_lacks_a_part_of_its_input_says_so_and_how_it_goes_on(
    own_server: EmbeddedServer,
) -> None:
    with HttpServer(own_server.url) as service:
        client = service.service.client
        batch = client.open("cut off", ["true-false"])
        filled(client.store, batch.id, [3], seal=False)
        said = shown_standing(service, batch.id)
        assert said["input"] == "Its input is not complete: more jobs are arriving."
        assert said["pace"].startswith("Nothing is graded yet.")
        grade_open_chunks(client.store, batch.id)
        assert shown_standing(service, batch.id)["pace"] == "All jobs that have arrived are done."
        meta = f"wb:{{{batch.id}}}:meta"
        client.store.redis.hset(meta, "arrived_ms", int(client.store.now() * 1000) - 185_000)
        assert shown_standing(service, batch.id)["input"] == (
            "Its input is not complete, and no jobs have arrived for 3 min 5 s. If its producer has ended,"
            f" weighbridge submit CASES --resume {batch.id} continues it."
        )
        batch.cancel()
        assert "input" not in shown_standing(service, batch.id)


def test_a_retried_batch_whose_input_broke_off_says_how_it_ends(
    own_server: EmbeddedServer,
) -> None:
    with HttpServer(own_server.url) as service:
        batch = service.service.client.open("cut off", ["true-false"])
        filled(service.service.client.store, batch.id, [3], seal=False)
        batch.give_up("ZeroDivisionError: the source broke")
        assert "input" not in shown_standing(service, batch.id)
        batch.retry()
        assert shown_standing(service, batch.id)["input"] == (
            "Its input broke off; when the jobs that it has are graded again, it is failed again."
        )


def shown_standing(service: HttpServer, batch_id: str) -> dict[str, str]:
    """Return the texts of a batch's page on its pace and its input."""
    root = get(service, f"/batches/{batch_id}").root
    return {
        name: " ".join(found.text.split())
        for name in ("pace", "input")
        for found in root.all(id=name)
    }


def test_the_rate_is_told_from_what_the_look_before_saw(own_server: EmbeddedServer) -> None:
    with HttpServer(own_server.url, chunk_limit_jobs=5) as service:
        client = service.service.client
        batch = client.submit([case(f"c{n}") for n in range(20)], graders=["true-false"])
        grade_open_chunks(client.store, batch.id, most=1)
        before = time.time() - 1000
        page = get(service, f"/batches/{batch.id}/live?at={before}&done=0")
    pace = " ".join(page.root.one(id="pace").text.split())
    assert re.match(r"0\.00(5|4\d\d?) jobs a second; about 5\d min", pace)
    assert page.root.one(id="poll").attributes["hx-get"].endswith("&done=5&rate=0.005")


@pytest.mark.parametrize(
    "numbers", ["at=nan", "at=-1", "rate=inf", "done=x", "at=1e300", "done=1e400"]
)
def test_a_look_with_numbers_that_cannot_be_is_refused(
    service: HttpServer, shop: Batch, numbers: str
) -> None:
    get(service, f"/batches/{shop.id}/live?{numbers}", status=422)


def test_a_batch_that_is_deleted_meanwhile_says_so_and_is_polled_no_more(
    service: HttpServer, client: RedisClient
) -> None:
    batch = client.submit([case("c")], graders=["true-false"])
    batch.delete()
    gone = get(service, f"/batches/{batch.id}/live")
    assert "BATCH_NOT_FOUND" in gone.root.text
    assert gone.root.all(id="poll") == []


# ---- what can be done ----


def test_cancelling_asks_once_more_and_ends_the_batch(own_server: EmbeddedServer) -> None:
    with HttpServer(own_server.url) as service:
        batch = service.service.client.submit([case("c")], graders=["true-false"])
        asked = get(service, f"/batches/{batch.id}/cancel/confirm")
        [form] = [
            form
            for form in asked.root.one("main").all("form")
            if form.attributes["method"] == "post"
        ]
        answer = post(service, form.attributes["action"])
        assert (answer.status_code, answer.headers["location"]) == (303, f"/batches/{batch.id}")
        assert batch.status().status == "cancelled"
        retried = post(service, f"/batches/{batch.id}/retry")
        page = get(service, retried.headers["location"])
        assert "1 job will be graded again" in page.root.one(role="status").text


def test_deleting_asks_once_more_and_leaves_nothing(own_server: EmbeddedServer) -> None:
    with HttpServer(own_server.url) as service:
        batch = service.service.client.submit([case("c")], graders=["true-false"])
        asked = get(service, f"/batches/{batch.id}/delete/confirm")
        assert "deleted permanently" in asked.root.text
        assert post(service, f"/batches/{batch.id}/delete").headers["location"] == "/"
        get(service, f"/batches/{batch.id}", status=404)


def test_only_cancelling_and_deleting_ask_once_more(service: HttpServer, shop: Batch) -> None:
    for act in ("cancel", "delete"):
        asked = get(service, f"/batches/{shop.id}/{act}/confirm")
        [form] = [
            each
            for each in asked.root.one("main").all("form")
            if each.attributes["method"] == "post"
        ]
        assert form.attributes["action"] == f"/batches/{shop.id}/{act}"
    get(service, f"/batches/{shop.id}/retry/confirm", status=422)


def test_retrying_a_batch_that_is_not_done_says_why_not(own_server: EmbeddedServer) -> None:
    with HttpServer(own_server.url) as service:
        batch = service.service.client.submit([case("c")], graders=["true-false"])
        answer = post(service, f"/batches/{batch.id}/retry")
        assert answer.status_code == 409
        assert "wait until it ends, or cancel it" in answer.text


def test_each_role_sees_and_does_what_it_may(own_server: EmbeddedServer) -> None:
    with HttpServer(own_server.url, keys_required=True) as service:
        batch = service.service.client.submit([case("c")], graders=["true-false"])
        keys = {role: service.make_key(role) for role in ("read", "submit", "admin")}
        buttons = {
            role: [
                button.text
                for button in get(service, f"/batches/{batch.id}", Authorization=f"Bearer {key}")
                .root.one("main")
                .all("button")
            ]
            for role, key in keys.items()
        }
        assert buttons == {
            "read": ["Show"],
            "submit": ["Show", "Cancel", "Retry jobs"],
            "admin": ["Show", "Cancel", "Retry jobs", "Delete"],
        }
        for role, act in (("read", "cancel"), ("read", "retry"), ("submit", "delete")):
            post(service, f"/batches/{batch.id}/{act}", keys[role])
        post(service, f"/batches/{batch.id}/delete")
        assert batch.status().status == "in_progress"
        get(service, f"/batches/{batch.id}", status=303)


@pytest.mark.parametrize("act", ["cancel", "retry", "delete"])
def test_another_sites_page_cannot_act(service: HttpServer, shop: Batch, act: str) -> None:
    answer = requests.post(
        f"{service.url}/batches/{shop.id}/{act}", headers={"Origin": "https://evil.example"}
    )
    assert answer.status_code == 403
    assert shop.status().status == "completed"


# ---- missing batches, and hostile content ----


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/live",
        "/causes",
        "/results",
        "/result?custom_id=x",
        "/case?custom_id=x",
        "/cancel/confirm",
    ],
)
def test_a_batch_that_is_not_there_is_told_so(service: HttpServer, path: str) -> None:
    answer = requests.get(f"{service.url}/batches/wb_nothing{path}", headers=HTML)
    assert answer.status_code == (200 if path == "/live" else 404)
    assert "wb_nothing" in answer.text


@pytest.mark.parametrize(
    "name", ["%3Cscript%3Ealert(1)%3C%2Fscript%3E", "a%2F..%2Fb", "%00", "%E2%80%AE", "x" * 500]
)
def test_a_batch_id_of_any_kind_is_refused_politely(service: HttpServer, name: str) -> None:
    answer = requests.get(f"{service.url}/batches/{name}", headers=HTML)
    assert answer.status_code == 404
    assert "<script>alert" not in answer.text


def test_a_hostile_source_and_metadata_are_shown_as_text(
    service: HttpServer, client: RedisClient
) -> None:
    attack = '"><script>pwned=1</script><img src=x onerror=pwned=2>\u202egpj.exe'
    options = BatchOptions((), attack, {attack: attack}, "weighbridge")
    batch = opened(client.store, options, expiry_seconds=60, ttl_seconds=60)
    for path in ("/", f"/batches/{batch}"):
        text = get(service, path).root.text
        assert "<script>pwned=1</script>" in text
        assert "\\u202egpj.exe" in text
    client.batch(batch).delete()
