"""Every kind of page for those who do not see it, or use no mouse."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import axe_core_python
import pytest
from playwright.sync_api import expect

from support.browser import DESK, PHONE, visitor
from support.examples import MIXED, SHOP_AGENT, TRACE_GRADERS

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

    from support.served import Served

AXE = Path(axe_core_python.__file__).with_name("axe.min.js").read_text(encoding="utf-8")
SERIOUS = {"serious", "critical"}


def serious_faults(page: Page) -> list[str]:
    """Return what axe-core finds on a page that keeps somebody from using it."""
    # By hand: a script element with it would be stopped by the content policy.
    page.evaluate(f"{AXE}; 0")
    found: dict[str, Any] = page.evaluate("() => axe.run(document, { resultTypes: ['violations'] })")
    return [
        f"{page.url}: {fault['id']}: {node['html'][:200]} {node['failureSummary']}"
        for fault in found["violations"]
        if fault["impact"] in SERIOUS
        for node in fault["nodes"]
    ]


def assert_fits(page: Page) -> None:
    """Make sure that nothing sticks out of the screen's side."""
    widths = "[document.documentElement.scrollWidth, innerWidth]"
    content, screen = page.evaluate(widths)
    assert content <= screen, page.url


@pytest.fixture(scope="session")
def mixed(served: Served) -> str:
    """The batch of the examples that are wrong on purpose."""
    return served.graded(MIXED.read_bytes(), source=MIXED.name)


@pytest.mark.parametrize("colours", ["light", "dark"])
@pytest.mark.parametrize("size", [DESK, PHONE], ids=["desk", "phone"])
def test_no_page_has_a_serious_accessibility_fault_or_sticks_out(
    browser: Browser, served: Served, traces: str, mixed: str, size: dict[str, int], colours: str
) -> None:
    result = f"/batches/{traces}/result?custom_id="
    pages = (
        "/",
        "/graders",
        "/graders/budget",
        "/graders/tool-schema",
        "/new",
        "/workers",
        "/sign-in",
        f"/batches/{traces}",
        f"/batches/{mixed}",
        f"/batches/{mixed}/results?status=errored",
        f"/batches/{traces}/results?verdict=ungradable",
        f"/batches/{traces}/delete/confirm",
        f"{result}shop-chatty-8&label=budget&step=28",
        f"{result}shop-pingpong-5&label=loop",
        f"{result}shop-misuse-6&label=tool-schema",
        f"/batches/{mixed}/result?custom_id=both-right",
        f"/batches/{traces}/step?custom_id=shop-chatty-8&step=4",
        "/no-such-page",
    )
    with visitor(browser, served.url, viewport=size, color_scheme=colours) as (page, watch):
        watch.expected_statuses = {404}
        faults = []
        for path in pages:
            page.goto(path)
            page.wait_for_load_state("networkidle")
            faults += serious_faults(page)
            assert_fits(page)
        assert faults == []


@pytest.mark.parametrize("colours", ["light", "dark"])
def test_what_forms_answer_has_no_serious_accessibility_fault(
    browser: Browser, served: Served, colours: str
) -> None:
    with visitor(browser, served.url, viewport=PHONE, color_scheme=colours) as (page, watch):
        watch.expected_statuses = {422}
        page.goto("/new")
        page.get_by_label("Or drop a file here").set_input_files(SHOP_AGENT)
        page.get_by_label("Budget", exact=True).check()
        expect(page.get_by_role("table", name="First cases")).to_be_visible()
        expect(page.get_by_role("alert")).to_contain_text("at least one limit")
        faults = serious_faults(page)
        assert_fits(page)
        page.goto("/graders/budget")
        page.get_by_label("max_steps", exact=True).fill("none")
        page.get_by_role("button", name="Weigh it").first.click()
        expect(page.locator(".problem").first).to_be_visible()
        faults += serious_faults(page)
        page.get_by_label("max_steps", exact=True).fill("1")
        page.get_by_role("button", name="Weigh it").first.click()
        expect(page.locator("#outcome .stamp")).to_have_text("fail")
        faults += serious_faults(page)
        assert_fits(page)
        assert faults == []
