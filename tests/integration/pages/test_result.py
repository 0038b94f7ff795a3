"""The page of one result: its evidence and, for a trace, the timeline with its windows and truncated texts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from support import requests
from support.examples import MIXED
from support.http import HttpServer
from support.pages import Page
from weighbridge_producer.client.redis_client import RedisClient

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from support.pages import Element
    from support.workers import WorkerProcess
    from weighbridge.embedded.server import EmbeddedServer
    from weighbridge_producer import Batch

ATTACK = "</pre></details><script>pwned=1</script><img src=x onerror=pwned=2>"


@pytest.fixture(scope="module")
def grade(server: EmbeddedServer, worker: WorkerProcess) -> Iterator[Callable[..., Batch]]:
    """Grade cases to their end: `grade(cases, "loop")`."""
    with RedisClient(server.url) as client:

        def grade(cases: Any, *graders: Any) -> Batch:
            batch = client.submit(cases, graders=graders)
            batch.wait(120)
            return batch

        yield grade


def get(service: HttpServer, path: str, status: int = 200, **query: object) -> Page:
    address = f"{service.url}{path}"
    answer = requests.get(
        address, params=query or None, headers={"Accept": "text/html"}, timeout=60
    )
    assert answer.status_code == status, answer.text[:3000]
    page = Page.of(answer.text)
    assert page.intruders() == []
    return page


def result(
    service: HttpServer, batch: Batch, custom_id: str, label: str = "", **query: object
) -> Page:
    return get(service, f"/batches/{batch.id}/result", custom_id=custom_id, label=label, **query)


def marked(page: Page) -> list[str]:
    return [str(step.attributes["id"]) for step in page.root.all("li", class_="marked")]


def flat(element: Element) -> str:
    return " ".join(element.text.split())


def traced(*steps: dict[str, Any], name: str = "run") -> dict[str, Any]:
    trace = {"format": "weighbridge", "steps": list(steps)}
    return {"custom_id": name, "inputs": {"trace": trace}}


def tool(**facts: Any) -> dict[str, Any]:
    return {"type": "tool", "name": "find", "arguments": {"q": "x"}, "output": "none", **facts}


# ---- verdict and evidence ----


def test_without_a_label_the_first_that_did_not_pass_is_shown_and_the_others_are_tabs(
    service: HttpServer, shop: Batch
) -> None:
    page = result(service, shop, "shop-stuck-4")
    assert page.root.one("span", class_="stamp").text == "fail"
    tabs = {
        flat(tab): tab.attributes["href"] for tab in page.root.one("ul", class_="tabs").all("a")
    }
    assert list(tabs) == ["budget pass", "loop fail", "tool-schema pass"]
    assert tabs["budget pass"] == f"/batches/{shop.id}/result?custom_id=shop-stuck-4&label=budget"
    [current] = page.root.one("ul", class_="tabs").all("a", **{"aria-current": "page"})
    assert flat(current) == "loop fail"


def test_evidence_leads_to_each_step_and_each_step_back_to_its_evidence(
    service: HttpServer, shop: Batch
) -> None:
    page = result(service, shop, "shop-chatty-8", "budget")
    calls = page.root.one(id="evidence-2")
    assert "15 tool calls, limit 12" in calls.text
    assert [link.attributes["href"] for link in calls.all("a")] == [
        "#step-28",
        "#step-30",
        "#step-32",
    ]
    assert marked(page) == ["step-28", "step-30", "step-32", "step-33"]
    step = page.root.one(id="step-28")
    assert [link.attributes["href"] for link in step.all("a")] == ["#step-28", "#evidence-2"]


def test_the_config_receipt_and_details_are_reported(service: HttpServer, shop: Batch) -> None:
    page = result(service, shop, "shop-chatty-8", "budget")
    assert '"max_tool_calls": 12' in page.root.text
    receipt = shop.result("shop-chatty-8")[0]["receipt"]
    assert receipt in page.root.text


def test_an_error_is_told_with_its_code_and_hint(
    service: HttpServer, grade: Callable[..., Batch]
) -> None:
    page = result(service, grade(MIXED), "lang-005")
    assert page.root.one("span", class_="stamp").text == "errored"
    assert "INVALID_CONFIG" in page.root.one("p", class_="problem").text
    assert "Known keys" in page.root.text


def test_outputs_stand_side_by_side(service: HttpServer, grade: Callable[..., Batch]) -> None:
    inputs = {"agent_response": "Kiev", "expected_output": "Kyiv"}
    case = {"custom_id": "c", "inputs": inputs, "metadata": {"note": ATTACK}}
    page = result(service, grade([case], "string-match"), "c")
    inner = page.root.one("div", class_="columns")
    assert [(part.one("h3").text, part.one("pre").text) for part in inner.all("div")] == [
        ("Observed: agent_response", "Kiev"),
        ("Expected: expected_output", "Kyiv"),
    ]
    assert ATTACK in orjson.loads(page.root.one("pre", **{"aria-label": "Metadata"}).text)["note"]


# ---- timelines ----


def test_a_text_that_differs_is_shown_around_its_first_difference(
    service: HttpServer, grade: Callable[..., Batch]
) -> None:
    expected = "x" * 5_000 + "Fox" + "y" * 500
    texts = {"agent_response": expected.replace("Fox", "f<b>x\u200b"), "expected_output": expected}
    page = result(service, grade([{"custom_id": "d", "inputs": texts}], "string-match"), "d")
    shown = page.root.one("dl", class_="difference")
    assert [each.text for each in shown.all("mark")] == ["Fox", "f<b>x<U+200B>"]
    assert [each.text for each in shown.all("dt")] == ["expected", "observed"]


def test_a_loop_is_drawn_as_repeats(service: HttpServer, shop: Batch) -> None:
    page = result(service, shop, "shop-pingpong-5", "loop")
    head = page.root.one("div", class_="loop-head")
    assert "the same 2 steps in the same order" in flat(head)
    assert head.one("strong", class_="times").text.endswith(" 4")
    assert "same_cycle" in flat(head)
    assert head.one("svg").one("title").text == "A B A B A B A B"
    assert len(head.all("path", class_="bracket")) == 4
    badges = [
        badge.text.split()[0][0]
        for step in page.root.all("li", class_="step")
        for badge in step.all("div", class_="step-line")[0].all("span", class_="letter-badge")
    ]
    assert "".join(badges) == "ABABABAB"


def test_a_failing_case_leads_to_those_before_and_after_it(
    service: HttpServer, shop: Batch
) -> None:
    page = result(service, shop, "shop-pingpong-5", "loop")
    around = page.root.one("nav", class_="around")
    assert "2 of 5 that did not pass" in flat(around)
    names = {link.attributes["rel"]: link.attributes["href"] for link in around.all("a")}
    address = f"/batches/{shop.id}/result?custom_id="
    assert names["prev"] == f"{address}shop-stuck-4&label=loop"
    assert names["next"] == f"{address}shop-misuse-6&label=tool-schema"
    first = result(service, shop, "shop-stuck-4", "loop").root.one("nav", class_="around")
    assert [link.attributes["rel"] for link in first.all("a")] == ["next"]
    passed = result(service, shop, "shop-track-2", "loop").root.one("nav", class_="around")
    assert [link.attributes["href"] for link in passed.all("a")] == [names["prev"]]


def test_a_case_opened_from_a_table_leads_to_its_neighbours_there(
    service: HttpServer, grade: Callable[..., Batch]
) -> None:
    answers = {"a": "Graz", "b": "x", "c": "Graz", "d": "y", "e": "Graz"}
    lines = [
        orjson.dumps(
            {"custom_id": name, "inputs": {"agent_response": text, "expected_output": "Graz"}}
        )
        for name, text in answers.items()
    ]
    batch = grade([*lines[:4], b"no case", lines[4]], "string-match")
    table = get(service, f"/batches/{batch.id}/results", verdict="pass", order="input")
    links = {link.text: link for link in table.root.all("a", class_="") if link.text in answers}
    opened = get(service, str(links["c"].attributes["href"]))
    around = opened.root.one("nav", class_="around")
    assert "2 of 3 in the table" in flat(around)
    names = {link.attributes["rel"]: str(link.attributes["href"]) for link in around.all("a")}
    assert "custom_id=a&" in names["prev"]
    # The links to neighbours and back keep referring to the same table.
    following = get(service, names["next"])
    assert flat(following.root.one("h1")) == "e"
    assert 'rel="next"' not in str(following.root.one("nav", class_="around"))
    crumbs = [link.attributes["href"] for link in following.root.one("p", class_="crumbs").all("a")]
    assert crumbs[-1] == f"/batches/{batch.id}/results?verdict=pass&order=input"
    # A line without a page is passed over.
    unfiltered = get(service, f"/batches/{batch.id}/results", order="input")
    links = {link.text: link for link in unfiltered.root.all("a") if link.text in answers}
    around = get(service, str(links["d"].attributes["href"])).root.one("nav", class_="around")
    assert "custom_id=e&" in str(around.one("a", rel="next").attributes["href"])


def test_a_query_of_a_table_that_is_none_is_ignored(service: HttpServer, shop: Batch) -> None:
    for table in ("order=sideways", "page=0", "a&b&c", "verdict=maybe", "\x00"):
        page = result(service, shop, "shop-stuck-4", "loop", table=table)
        assert page.root.all("h1")


def test_the_running_total_is_drawn_with_its_limit_and_first_breach(
    service: HttpServer, shop: Batch
) -> None:
    page = result(service, shop, "shop-chatty-8", "budget")
    tokens, calls = page.root.all("figure", class_="totals")
    assert flat(tokens.one("figcaption")) == (
        "max_tokens reached 33,118 tokens, limit 30,000; first past it at step 33, where it was 33,118."
    )
    assert calls.one("a").attributes["href"] == "#step-28"
    assert len(calls.all("line", class_="limit")) == len(calls.all("circle", class_="breach")) == 1
    assert "First past the limit at step 28" in calls.one("desc").text


def test_the_chart_of_a_limit_says_what_the_evidence_says(
    service: HttpServer, grade: Callable[..., Batch]
) -> None:
    usage = {"input_tokens": 4000, "output_tokens": 4000}
    call = {"type": "llm", "output": "x", "model": "house-model", "usage": usage}
    case = traced(call, {**call, "model": "gpt-4o"}, {"type": "llm", "output": "y"}, tool())
    case["inputs"]["trace"]["counts"] = {"tool_calls": 9}
    prices = {
        name: {"input": 1 + 499 * big, "output": 0}
        for big, name in enumerate(("house-model", "gpt-4o"))
    }
    limits = {"max_cost_usd": 1, "max_tokens": 9000, "max_tool_calls": 5, "prices": prices}
    batch = grade([case], {"grader": "budget", "config": limits})
    page = result(service, batch, "run")
    told = {
        flat(each.one("strong")): flat(each)
        for each in page.root.all("figcaption")
        if each.all("strong")
    }
    assert told == {
        "max_cost_usd": "max_cost_usd reached at least 2.004 USD, limit 1; past it at step 2 or before, where it was at least 2.004.",
        "max_tokens": "max_tokens reached at least 16,000 tokens, limit 9,000; past it at step 2 or before, where it was at least 16,000.",
        "max_tool_calls": "max_tool_calls reached 9 tool calls, limit 5; the steps add up to 1.",
    }
    tokens, calls, cost = (flat(page.root.one(id=f"evidence-{number}")) for number in (1, 2, 3))
    assert "crossed at step s2 or before, where the running total was at least 16000" in tokens
    assert "9 tool calls, limit 5: it is known only from what the source counts" in calls
    assert "crossed at step s2 or before, where the running total was at least 2.004" in cost
    assert len(page.root.all("line", class_="rest")) == 1
    assert len(page.root.all("circle", class_="breach")) == 2


def test_invalid_arguments_are_marked_at_their_line(service: HttpServer, shop: Batch) -> None:
    page = result(service, shop, "shop-misuse-6", "tool-schema")
    lines = page.root.one(id="step-8").all("div", class_="wrong")
    assert [flat(line.one("code")) for line in lines] == [
        '"amount": "40.00",',
        '"reason": "it came late"',
    ]
    assert "is not of type" in lines[0].text
    assert [each.text for each in page.root.one(id="step-8").all("span", class_="keyword")] == [
        "type",
        "enum",
    ]


def test_arguments_that_are_no_json_show_where_they_break(service: HttpServer, shop: Batch) -> None:
    page = result(service, shop, "shop-unknown-7", "tool-schema")
    broken = page.root.one("pre", **{"aria-label": "Arguments of step 6, broken at the mark"})
    assert broken.text == '{"order_id": "W107100"⟵ it ends here'


def test_a_long_trace_is_shown_around_its_failure_and_paged(
    service: HttpServer, grade: Callable[..., Batch]
) -> None:
    steps = [tool(arguments={"q": n}, output=f"result {n} " + "x" * 5000) for n in range(1000)]
    config = {"grader": "budget", "config": {"max_tool_calls": 700}}
    batch = grade([traced(*steps)], config)
    page = result(service, batch, "run")
    shown = page.root.all("li", class_="step")
    assert len(shown) == 100
    assert page.root.one(id="step-701") in shown
    [first, *_] = page.root.one(id="evidence-1").all("a")
    assert first.attributes["href"] == "#step-701"
    later = next(link for link in page.root.all("a") if link.text == "Later steps")
    assert page.root.all(id="step-800") == []
    beyond = get(service, str(later.attributes["href"]).partition("#")[0])
    assert beyond.root.one(id="step-800").attributes["class"]
    address = page.root.one(id="step-701").all("a")[0].attributes["href"]
    assert address == "#step-701"
    elsewhere = beyond.root.one(id="evidence-1").all("a")[0].attributes["href"]
    assert "step=701#step-701" in elsewhere
    assert "current" in str(
        get(service, elsewhere.partition("#")[0]).root.one(id="step-701").attributes
    )


def test_a_long_text_is_cut_and_leads_to_the_whole(
    service: HttpServer, grade: Callable[..., Batch]
) -> None:
    batch = grade([traced(tool(output="begin " + "x" * 250_000 + ATTACK))], "loop")
    page = result(service, batch, "run")
    assert "x" * 2_000 not in page.root.text
    whole = next(link for link in page.root.all("a") if link.text.startswith("All 25"))
    pages, href = [], str(whole.attributes["href"])
    while href:
        shown = get(service, href)
        pages.append(shown.root.one("pre").text)
        href = next(
            (str(a.attributes["href"]) for a in shown.root.all("a") if a.text == "Next characters"),
            "",
        )
    assert len(pages) == 3
    assert "".join(pages).endswith(f"x{ATTACK}")
    [back] = [a for a in shown.root.all("a") if a.text == "run"]
    assert "label=loop&step=1" in str(back.attributes["href"])  # to the label it came from


def test_a_trace_that_attacks_is_shown_as_text(
    service: HttpServer, grade: Callable[..., Batch]
) -> None:
    evil = tool(
        name=ATTACK, id=ATTACK, arguments={ATTACK: f"\u202e{ATTACK}"}, output=ATTACK, error=ATTACK
    )
    ask = {"type": "llm", "model": ATTACK, "output": f"\x1b[31m{ATTACK}"}
    batch = grade([traced(ask, *[{**evil, "id": f"{ATTACK}{n}"} for n in range(6)])], "loop")
    page = result(service, batch, "run", "loop")
    assert page.root.one("span", class_="stamp").text == "fail"
    assert "\\x1b[31m" in page.root.text
    assert "\\u202e" in page.root.text
    assert "\u202e" not in page.root.text
    step = get(service, f"/batches/{batch.id}/step", custom_id="run", step=2)
    assert ATTACK in step.root.text


def test_a_case_too_large_to_show_keeps_its_evidence(
    service: HttpServer, grade: Callable[..., Batch]
) -> None:
    batch = grade([traced(*[tool(output="x" * 1_000_000 + str(n)) for n in range(9)])], "loop")
    page = result(service, batch, "run")
    assert "a page reads at most 8,388,608" in page.root.one("p", class_="notice").text
    assert page.root.all(id="evidence-1")


def test_results_whose_inputs_are_freed_keep_their_evidence(
    service: HttpServer, grade: Callable[..., Batch], server: EmbeddedServer
) -> None:
    batch = grade([traced(*[tool()] * 6)], "loop")
    with RedisClient(server.url) as client:
        assert client.store.redis.hdel(f"wb:{{{batch.id}}}:chunks", "0 lines") == 1
    page = result(service, batch, "run")
    assert "no longer stored" in page.root.one("p", class_="notice").text
    assert "the same step 6 times" in page.root.one(id="evidence-1").text
    get(service, f"/batches/{batch.id}/case", 404, custom_id="run")


def test_a_case_that_cannot_be_read_within_a_jobs_limits_keeps_its_evidence(
    grade: Callable[..., Batch], server: EmbeddedServer
) -> None:
    # Without memory a process may end in several ways, and look for it until its time is over.
    too_much = re.compile("takes more than|takes more memory|crashed")
    case = traced(*[tool(arguments={"q": n}) for n in range(20_000)])
    batch = grade([case], {"grader": "budget", "config": {"max_tool_calls": 700}})
    limits: tuple[dict[str, object], ...] = (
        {"job_deadline_seconds": 0.01},
        {"child_memory_limit_bytes": 4 << 20, "job_deadline_seconds": 3},
    )
    for each in limits:
        with HttpServer(server.url, **each) as service:
            page = result(service, batch, "run")
            assert too_much.search(page.root.one("p", class_="notice").text), each
            assert page.root.all(id="evidence-1"), each
            step = get(service, f"/batches/{batch.id}/step", custom_id="run", step=3)
            assert too_much.search(step.root.one("p", class_="notice").text), each


@pytest.mark.parametrize("trace", [[], "", {}, [1], {"steps": []}, "{", {"messages": []}])
def test_a_trace_that_cannot_be_read_says_why(
    service: HttpServer, grade: Callable[..., Batch], trace: object
) -> None:
    batch = grade([{"custom_id": "c", "inputs": {"trace": trace}}], "loop")
    page = result(service, batch, "c")
    assert page.root.all("ol", class_="timeline") == []


def test_what_is_not_known_of_a_trace_is_not_said_to_be_none(
    service: HttpServer, grade: Callable[..., Batch]
) -> None:
    missing = {"llm_calls": "line 7 is damaged", "tool_calls": "line 7 is damaged"}
    trace = {"format": "weighbridge", "steps": [{"type": "llm"}], "missing": missing}
    batch = grade([{"custom_id": "c", "inputs": {"trace": trace}}], "loop")
    listed = [each.text for each in result(service, batch, "c").root.all("li")]
    assert "not all model calls: line 7 is damaged" in listed
    assert "tool calls not known: line 7 is damaged" in listed


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ({"custom_id": "shop-stuck-4", "step": 0}, 422),
        ({"custom_id": "shop-stuck-4", "step": "x"}, 422),
        ({"custom_id": "shop-stuck-4", "from": 10**12}, 422),
        ({"custom_id": "shop-stuck-4", "label": "other"}, 404),
        ({"custom_id": "nobody"}, 404),
        ({"custom_id": ""}, 422),
        ({}, 422),
    ],
)
def test_what_is_asked_for_and_is_not_there_is_refused(
    service: HttpServer, shop: Batch, query: dict[str, object], status: int
) -> None:
    get(service, f"/batches/{shop.id}/result", status, **query)


@pytest.mark.parametrize("name", ["step", "from"])
def test_a_step_beyond_the_last_one_leads_to_the_end_of_the_run(
    service: HttpServer, shop: Batch, name: str
) -> None:
    page = result(service, shop, "shop-stuck-4", **{name: 10**9})
    [timeline] = page.root.all("ol", class_="timeline")
    shown = [step.attributes["id"] for step in timeline.all("li") if "id" in step.attributes]
    assert shown[-1] == "step-15"


def test_a_step_is_shown_alone(service: HttpServer, shop: Batch) -> None:
    page = get(service, f"/batches/{shop.id}/step", custom_id="shop-stuck-4", step=4)
    assert "Step 4: tool track_parcel" in page.root.text
    shown = [each.text for each in page.root.all("pre", class_="whole")]
    assert [orjson.loads(text) for text in shown] == [
        {"parcel": "P300417"},
        {"error": "carrier did not answer", "request": "301850c5"},
    ]


def test_a_place_beyond_the_end_of_a_text_shows_nothing_of_it(
    service: HttpServer, shop: Batch
) -> None:
    query = {"custom_id": "shop-stuck-4", "step": 4, "part": "output", "at": 10**9}
    page = get(service, f"/batches/{shop.id}/step", **query)
    assert "carrier" not in page.root.text


@pytest.mark.parametrize(("query", "status"), [({"step": 99}, 404), ({}, 422)])
def test_a_step_that_is_not_there_is_refused(
    service: HttpServer, shop: Batch, query: dict[str, object], status: int
) -> None:
    get(service, f"/batches/{shop.id}/step", status, custom_id="shop-stuck-4", **query)


def test_the_case_is_answered_as_it_was_submitted(service: HttpServer, shop: Batch) -> None:
    answer = requests.get(
        f"{service.url}/batches/{shop.id}/case", params={"custom_id": "shop-stuck-4"}
    )
    assert answer.headers["content-disposition"].startswith("attachment")
    assert orjson.loads(answer.content)["inputs"]["trace"]["id"] == "shop-stuck-4"
