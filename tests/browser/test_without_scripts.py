"""The pages in a browser that runs no scripts: slower to use, but nothing is out of reach."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from support.browser import watched
from support.examples import MIXED
from support.waiting import eventually

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, BrowserContext, Page

    from support.browser import Watch
    from support.served import Served


@pytest.fixture(scope="module")
def context_and_watch(browser: Browser, served: Served) -> Iterator[tuple[BrowserContext, Watch]]:
    with watched(browser, served.url, java_script_enabled=False) as opened:
        yield opened


def test_pasted_lines_are_looked_at_submitted_and_their_results_read(
    page: Page, served: Served
) -> None:
    page.goto("/new")
    page.get_by_label("Paste lines").fill(MIXED.read_text())
    page.get_by_label("True/False", exact=True).check()
    page.get_by_role("button", name="Preview").click()
    expect(page.get_by_role("table", name="First cases")).to_be_visible()
    expect(page.get_by_label("True/False", exact=True)).to_be_checked()
    page.get_by_role("button", name="Submit the batch").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("pasted lines")
    batch = page.url.rpartition("/")[2]
    eventually(lambda: served.status(batch) == "completed", what="the end of the batch")

    page.reload()
    expect(page.locator("#status")).to_have_text("completed")
    page.get_by_role("link", name="The table of results").click()
    page.get_by_label("Verdict").select_option("fail")
    page.get_by_role("button", name="Apply").click()
    page.get_by_role("link", name="triage-003").first.click()
    expect(page.get_by_role("region", name="Verdict")).to_contain_text("fail")


def test_the_step_that_evidence_names_is_gone_to_and_opened(page: Page, traces: str) -> None:
    page.goto(f"/batches/{traces}/result?custom_id=shop-misuse-6&label=tool-schema")
    page.locator("#evidence-2").get_by_role("link").first.click()
    step = page.locator("#step-8")
    expect(step).to_be_in_viewport()
    expect(step.locator(".wrong").first).to_be_visible()


def test_a_grader_is_tried(page: Page) -> None:
    page.goto("/graders/true-false")
    page.get_by_label("agent_response").fill("no")
    page.get_by_label("expected_output").fill("true")
    page.get_by_role("button", name="Grade").first.click()
    expect(page.locator("#outcome .stamp")).to_have_text("fail")


def test_a_batch_is_deleted(page: Page, served: Served) -> None:
    batch = served.graded(MIXED.read_bytes(), source="unwanted.jsonl")
    page.goto(f"/batches/{batch}")
    page.get_by_role("button", name="Delete").click()
    page.get_by_role("button", name="Delete the batch").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Batches")
    expect(page.get_by_role("link", name="unwanted.jsonl")).to_have_count(0)
