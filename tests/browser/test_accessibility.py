"""Accessibility of every kind of page: for screen readers, and with the keyboard only."""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson
import pytest
from playwright.sync_api import expect

from support.axe import serious_faults
from support.examples import MIXED, SHOP_AGENT, TRACE_GRADERS

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from support.browser import Watch
    from support.served import Served


#: Some of the examples, which have all outcomes and causes: each rule takes its time for each row.
OF_MIXED = (1, 3, 5, 7, 9, 14, 15, 19, 21)
OF_TRACES = ("shop-stuck-4", "shop-pingpong-5", "shop-misuse-6", "shop-chat-10")
BUDGET = {
    "grader": "budget",
    "config": {"max_tokens": 500, "max_tool_calls": 2, "missing_usage": "ignore"},
}


@pytest.fixture(scope="module")
def mixed(served: Served) -> str:
    """A batch of examples that are wrong on purpose."""
    lines = MIXED.read_bytes().splitlines()
    return served.graded(b"\n".join(lines[number - 1] for number in OF_MIXED), source=MIXED.name)


@pytest.fixture(scope="module")
def traces(served: Served) -> str:
    """A batch of traces with three graders; each fails."""
    lines = SHOP_AGENT.read_bytes().splitlines()
    chosen = (line for line in lines if orjson.loads(line)["id"] in OF_TRACES)
    return served.graded(b"\n".join(chosen), BUDGET, *TRACE_GRADERS[1:], source=SHOP_AGENT.name)


#: Each kind of page, and an element that is present when the page is complete. The pages of a new batch, of a grader for
#: traces and of a batch with errors are not checked apart, because others below have all of their elements and more.
PAGES = {
    "batches": ("/", "table"),
    "graders": ("/graders", ".card"),
    "grader with outputs": ("/graders/string-match", "#try"),
    "workers": ("/workers", "table"),
    "batch of traces": ("/batches/{traces}", "table.results"),
    "batch with errors by a field": (
        "/batches/{mixed}?by=metadata.queue",
        "body:has(table.results) #slices table",
    ),
    "results": ("/batches/{mixed}/results?status=errored", "table.results"),
    "no results": ("/batches/{traces}/results?verdict=ungradable", ".notice"),
    "deletion": ("/batches/{traces}/delete/confirm", "form"),
    "budget": ("/batches/{traces}/result?custom_id=shop-stuck-4&label=budget&step=8", ".totals"),
    "loop": ("/batches/{traces}/result?custom_id=shop-pingpong-5&label=loop", ".strip"),
    "tools": ("/batches/{traces}/result?custom_id=shop-misuse-6&label=tool-schema", ".wrong"),
    "outputs": ("/batches/{mixed}/result?custom_id=triage-003&label=exact", "pre"),
    "error": ("/batches/{mixed}/result?custom_id=lang-004", ".problem"),
    "step": ("/batches/{traces}/step?custom_id=shop-misuse-6&step=4", "pre"),
    "comparison": ("/compare?before={mixed}&after={traces}", "table"),
    "comparison of a batch with itself": ("/compare?before={mixed}&after={mixed}", "table"),
    "case in two batches": (
        "/compare/case?before={mixed}&after={mixed}&custom_id=triage-003&label=exact",
        "pre",
    ),
    "traces of a case in two batches": (
        "/compare/case?before={traces}&after={traces}&custom_id=shop-stuck-4&label=loop",
        "#steps",
    ),
    "nothing": ("/batches/{traces}/result?custom_id=nobody", "#problem"),
}


@pytest.mark.parametrize("kind", PAGES)
def test_the_page_has_no_serious_accessibility_fault_and_fits_every_screen(
    page: Page, watch: Watch, traces: str, mixed: str, kind: str
) -> None:
    path, whole = PAGES[kind]
    watch.expected_statuses = {404}
    page.goto(path.format(traces=traces, mixed=mixed))
    expect(page.locator(whole).first).to_be_visible()
    assert serious_faults(page) == []


def test_the_preview_and_what_keeps_a_batch_from_it_have_no_serious_accessibility_fault(
    page: Page, watch: Watch
) -> None:
    watch.expected_statuses = {422}
    page.goto("/new")
    page.get_by_label("Or drop files here").set_input_files(SHOP_AGENT)
    expect(page.get_by_role("table", name="First cases")).to_be_visible()
    assert serious_faults(page) == []
    page.get_by_label("Budget", exact=True).check()
    expect(page.get_by_role("alert")).to_contain_text("at least one limit")
    assert serious_faults(page) == []
    page.get_by_label("Budget", exact=True).uncheck()
    watch.expected_statuses = {400, 422}
    workbook = b"PK\x03\x04" + b"\0" * 26 + b"[Content_Types].xml" + b"\0" * 99
    refused = {"name": "qa.xlsx", "mimeType": "application/zip", "buffer": workbook}
    page.get_by_label("Or drop files here").set_input_files(refused)
    expect(page.locator("#cases-problem")).to_contain_text("INPUT_UNREADABLE")
    assert serious_faults(page) == []


def test_what_trying_a_grader_answers_has_no_serious_accessibility_fault(
    page: Page, watch: Watch
) -> None:
    watch.expected_statuses = {422}
    page.goto("/graders/budget")
    page.get_by_label("max_steps", exact=True).fill("none")
    page.get_by_role("button", name="Grade").first.click()
    expect(page.locator(".problem").first).to_be_visible()
    assert serious_faults(page) == []
    page.get_by_label("max_steps", exact=True).fill("1")
    page.get_by_role("button", name="Grade").first.click()
    expect(page.locator("#outcome .stamp")).to_have_text("fail")
    assert serious_faults(page) == []
