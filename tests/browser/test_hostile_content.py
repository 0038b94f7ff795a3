"""Hostile content of cases is displayed as text and never executed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode

import pytest
from playwright.sync_api import expect

from support.cases import write_cases

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Page

    from support.browser import Watch
    from support.served import Served

#: Each does harm in a page that forgets to escape in one place or another, and sets `pwned` where it can.
HOSTILE = {
    "script": "<script>pwned='script'</script>",
    "closing": "</script></textarea></title></style></pre><script>pwned='closing'</script>",
    "image": "<img src=x onerror=\"pwned='image'\">",
    "svg": "<svg onload=\"pwned='svg'\"><animate onbegin=pwned='animate' attributeName=x dur=1s>",
    "attribute": "\" onmouseover=pwned='attribute' autofocus onfocus=pwned='focus' x=\"",
    "quote": "' onfocus=pwned='quote' autofocus x='",
    "address": "javascript:pwned='address'",
    "link": "<a href=\"javascript:pwned='link'\" class=evil>click</a>",
    "style": "<style>body{display:none}</style><link rel=stylesheet href=//evil.example/a.css>",
    "frame": "<iframe srcdoc=\"<script>parent.pwned='frame'</script>\"></iframe>",
    "stranger": "<img src=http://evil.example/a.png><base href=http://evil.example/>",
    "template": "{{7*7}}${7*7}{% include 'base.html' %}#{7*7}<%= 7*7 %>",
    "htmx": "<div hx-get=/workers hx-trigger=load hx-on:htmx:load=pwned='htmx' hx-on::load=pwned='htmx'></div>",
    "htmx-attribute": "\" hx-get=/workers hx-trigger=load hx-on::load=pwned='htmx' x=\"",
    "form": "</form><form action=http://evil.example/><button autofocus>x</button>",
    "refresh": "<meta http-equiv=refresh content='0;url=http://evil.example/'>",
    "path": "../../../etc/passwd?a=b&c=d#e",
}
EVERYTHING = " ".join(HOSTILE.values())
#: In pairs, because each page takes its time; what ends an attribute or is an address comes first.
PAIRS = (
    ("closing", "frame"),
    ("quote", "script"),
    ("attribute", "image"),
    ("htmx-attribute", "svg"),
    ("address", "link"),
    ("template", "style"),
    ("path", "form"),
    ("stranger", "htmx"),
    ("refresh",),
)
TEXTS = [" ".join(HOSTILE[kind] for kind in pair) for pair in PAIRS]
assert sorted(kind for pair in PAIRS for kind in pair) == sorted(HOSTILE)
REVERSED = "\u202egpj.exe\u2066\u200b"
#: Elements that a page would contain if it treated text as markup.
TAKEN_FOR_MARKUP = (
    "[onload], [onerror], [onfocus], [onmouseover], [autofocus], [srcdoc], .evil, base, iframe, "
    "[http-equiv=refresh], [src*='//'], [href*='//'], [action*='//'], [href^='javascript:'], [hx-on\\:\\:load], "
    "main style, main link, main script, main svg animate, [hx-get='/workers']"
)


def hostile_trace(text: str) -> dict[str, Any]:
    """Return a trace with a text in every place that a trace has."""
    arguments = {text: text, "more": [text, {text: text}]}
    call = {"type": "tool", "name": text, "arguments": arguments, "output": text, "error": text}
    usage = {"total_tokens": 900}
    return {
        "format": "weighbridge",
        "id": text,
        "metadata": {text: text},
        "tools": [
            {
                "name": text,
                "description": text,
                "parameters": {
                    "type": "object",
                    "properties": {text: {"type": "integer", "description": text}},
                    "required": [text, f"{text} too"],
                },
            }
        ],
        "steps": [
            {"id": f"a{text}", "type": "system", "output": text},
            {"id": f"b{text}", "type": "llm", "model": text, "output": text, "usage": usage},
            *({"id": f"{number}{text}", **call} for number in range(6)),
            {"id": f"c{text}", "type": "other", "name": text, "input": text, "output": text},
        ],
    }


def hostile_cases() -> list[dict[str, Any]]:
    metadata = dict.fromkeys(("note", *HOSTILE.values()), EVERYTHING)
    answers = [
        {
            "custom_id": text,
            "inputs": {"agent_response": text, "expected_output": EVERYTHING},
            "graders": [
                {"grader": "string-match", "label": text[:100], "config": {"expected_any": [text]}},
                {"grader": text, "label": "no such grader"},
                {"grader": "string-match", "label": "bad config", "config": {text: text}},
                {"grader": "raises", "label": "raises"},
            ],
            "metadata": metadata,
        }
        for text in (*TEXTS, REVERSED)
    ]
    traces = [
        {
            "custom_id": f"trace {text}",
            "inputs": {"trace": hostile_trace(text)},
            "graders": [
                {
                    "grader": "tool-schema",
                    "label": f"schema {text}"[:100],
                    "config": {"blocklist": [text]},
                },
                {"grader": "loop", "label": f"loop {text}"[:100]},
                {
                    "grader": "budget",
                    "label": f"budget {text}"[:100],
                    "config": {"max_tool_calls_per_tool": {text: 2}, "max_tokens": 500},
                },
            ],
        }
        for text in (EVERYTHING[:200], REVERSED, f"{EVERYTHING}\x1b[31m")
    ]
    return answers + traces


@pytest.fixture(scope="session")
def hostile(served: Served) -> str:
    """A batch with hostile content in every field."""
    return served.graded(hostile_cases(), source=HOSTILE["image"])


def assert_nothing_was_taken_for_markup(page: Page) -> None:
    expect(page.locator(TAKEN_FOR_MARKUP)).to_have_count(0)


def results_of(served: Served, batch: str) -> list[dict[str, Any]]:
    listed: list[dict[str, Any]] = served.ask("GET", f"/api/batches/{batch}/results?limit=200")[
        "results"
    ]
    return listed


def result_of(batch: str, custom_id: str, label: str) -> str:
    return f"/batches/{batch}/result?{urlencode({'custom_id': custom_id, 'label': label})}"


def test_the_watch_notices_what_it_watches_for(page: Page, watch: Watch) -> None:
    page.goto("/graders")
    page.evaluate("pwned = 'by a test'")
    page.evaluate("document.body.insertAdjacentHTML('beforeend', '<p style=color:red>')")
    page.evaluate(
        "document.body.insertAdjacentHTML('beforeend', '<img src=http://evil.example/a.png>')"
    )
    page.evaluate("alert('hello')")
    page.evaluate("setTimeout(() => { throw new Error('thrown') })")
    page.evaluate("console.warn('careful')")
    with pytest.raises(AssertionError):
        watch.assert_clean()
    noted = "\n".join(watch.faults)
    for kind in (
        "pwned: by a test",
        "stopped: style-src-attr",
        "stopped: img-src",
        "a dialog: hello",
    ):
        assert kind in noted
    assert "script error: " in noted
    assert "console warning: careful" in noted
    watch.faults.clear()


def test_lists_show_hostile_texts_as_they_are(page: Page, hostile: str) -> None:
    page.goto(f"/?{urlencode({'text': HOSTILE['image']})}")
    expect(page.get_by_role("link", name=HOSTILE["image"])).to_be_visible()
    assert_nothing_was_taken_for_markup(page)

    page.goto(f"/batches/{hostile}")
    expect(page.get_by_role("heading", level=1)).to_have_text(HOSTILE["image"])
    expect(page.locator("table.results tbody tr")).to_have_count(len(hostile_cases()))
    expect(page.locator("#causes a").first).to_be_visible()
    assert_nothing_was_taken_for_markup(page)

    page.goto(f"/batches/{hostile}/results?{urlencode({'text': HOSTILE['attribute']})}")
    expect(page.get_by_label("Text anywhere")).to_have_value(HOSTILE["attribute"])
    assert_nothing_was_taken_for_markup(page)

    page.goto(f"/batches/{hostile}/results?{urlencode({'status': 'errored'})}")
    expect(page.locator("main")).to_contain_text(f"line {len(hostile_cases())}")
    assert_nothing_was_taken_for_markup(page)


def test_each_result_shows_hostile_texts_as_they_are(
    page: Page, served: Served, hostile: str
) -> None:
    labels: dict[str, list[str]] = {}
    for result in results_of(served, hostile):
        if result["custom_id"]:
            labels.setdefault(result["custom_id"], []).append(result["label"])
    assert len(labels) == len(hostile_cases()) - 1
    for number, (custom_id, known) in enumerate(labels.items()):
        page.goto(result_of(hostile, custom_id, known[number % len(known)]))
        shown = custom_id.encode("ascii", "backslashreplace").decode()
        expect(page.get_by_role("heading", level=1)).to_have_text(shown)
        assert_nothing_was_taken_for_markup(page)


def test_a_hostile_traces_timeline_can_be_read_and_its_links_followed(
    page: Page, served: Served, hostile: str
) -> None:
    results = results_of(served, hostile)
    for grader in ("schema", "loop", "budget"):
        found = next(
            result for result in results if (result["label"] or "").startswith(f"{grader} <script>")
        )
        page.goto(result_of(hostile, found["custom_id"], found["label"]))
        expect(page.locator(".timeline")).to_contain_text(HOSTILE["closing"])
        assert_nothing_was_taken_for_markup(page)
        page.get_by_role("region", name="Verdict").get_by_role("link").first.click()
        expect(page).to_have_url(re.compile(r"#step-\d+$"))

    closed = page.locator(".step details:not([open]) > summary")
    for left in reversed(range(closed.count())):
        closed.first.click()
        expect(closed).to_have_count(left)
    assert_nothing_was_taken_for_markup(page)

    page.goto(f"/batches/{hostile}/step?{urlencode({'custom_id': found['custom_id'], 'step': 3})}")
    expect(page.get_by_role("heading", level=1)).to_contain_text("Step 3: tool")
    assert_nothing_was_taken_for_markup(page)


# Short, because problems quote their beginnings only; one with a slash does not reach what has another address.
@pytest.mark.parametrize(
    "text",
    [
        '" onfocus=pwned=1 autofocus x="><img src=x onerror=pwned=2>',
        f"</title></textarea>{HOSTILE['script']}{HOSTILE['path']}",
    ],
)
def test_addresses_that_lead_nowhere_are_refused_without_being_taken_for_markup(
    page: Page, watch: Watch, traces: str, text: str
) -> None:
    watch.expected_statuses = {404, 410, 422}
    there = quote(text, safe="")
    for path in (
        f"/{there}",
        f"/batches/{there}",
        f"/graders/{there}",
        f"/batches/{traces}/results?verdict={there}",
        f"/batches/{traces}/results?cursor={there}",
        f"/batches/{traces}/result?custom_id={there}",
        f"/batches/{traces}/result?custom_id=shop-chatty-8&label={there}",
        f"/batches/{traces}/result?custom_id=shop-chatty-8&step={there}",
        f"/?from={there}",
    ):
        answer = page.goto(path)
        assert answer
        assert answer.status in watch.expected_statuses, path
        assert_nothing_was_taken_for_markup(page)


def test_what_is_downloaded_is_no_page(page: Page, served: Served, hostile: str) -> None:
    custom_id = TEXTS[0]
    result = page.request.get(f"/api/batches/{hostile}/results/{quote(custom_id, safe='')}")
    case = page.request.get(f"/batches/{hostile}/case?{urlencode({'custom_id': custom_id})}")
    for answer in (result, case):
        assert answer.status == 200
        assert answer.headers["content-type"].startswith("application/json")
        assert answer.headers["x-content-type-options"] == "nosniff"
    assert case.headers["content-disposition"].startswith("attachment")


def test_a_preview_shows_a_hostile_file_as_it_is(page: Page, tmp_path: Path) -> None:
    image = "<img src=x onerror=pwned=1>"
    cases = write_cases(
        tmp_path / f"{image}{REVERSED}.jsonl", [*hostile_cases(), {EVERYTHING: EVERYTHING}]
    )
    page.goto("/new")
    page.get_by_label("Or drop files here").set_input_files(cases)
    expect(page.get_by_role("table", name="First cases")).to_contain_text(HOSTILE["closing"])
    expect(page.get_by_role("table", name="Lines that")).to_contain_text(HOSTILE["script"])
    expect(page.locator("#file-chosen")).to_contain_text(image)
    assert_nothing_was_taken_for_markup(page)
    page.get_by_role("button", name="Submit the batch").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(
        f"{image}\ufffdgpj.exe\ufffd\ufffd.jsonl"
    )
    expect(page.locator("#status")).to_have_text("completed")
    assert_nothing_was_taken_for_markup(page)


def test_a_hostile_try_is_shown_as_it_is(page: Page, watch: Watch) -> None:
    page.goto("/graders/string-match")
    page.get_by_label("agent_response").fill(EVERYTHING)
    page.get_by_label("expected_output").fill(HOSTILE["closing"])
    page.get_by_role("button", name="Grade").first.click()
    expect(page.locator("#outcome")).to_contain_text("fail")
    expect(page.locator("#outcome")).to_contain_text("<script>")
    assert_nothing_was_taken_for_markup(page)

    watch.expected_statuses = {422}
    page.goto("/graders/budget")
    page.get_by_label("max_tokens").fill(HOSTILE["attribute"])
    page.get_by_role("button", name="Grade").first.click()
    expect(page.locator(".problem").first).to_be_visible()
    expect(page.get_by_label("max_tokens")).to_have_value(HOSTILE["attribute"])
    assert_nothing_was_taken_for_markup(page)
