"""The pages without a mouse."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from playwright.sync_api import expect

from support.examples import SHOP_AGENT, TRACE_GRADERS

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

    from support.served import Served

_MOST_TABS = 60
#: The element with the focus if that cannot be seen, else whether it is the wanted one.
_FOCUS = """(wanted) => {
  const focused = document.activeElement;
  const { outlineStyle, outlineWidth } = getComputedStyle(focused);
  const isShown = outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2;
  return isShown ? focused === wanted : focused.outerHTML;
}"""


def tab_to(page: Page, wanted: Locator) -> None:
    """Press Tab until something has the focus, which must be seen wherever it is on the way."""
    expect(wanted).to_be_visible()
    element = wanted.element_handle()
    for _ in range(_MOST_TABS):
        page.keyboard.press("Tab")
        is_reached = element.evaluate(_FOCUS)
        assert is_reached in {True, False}, f"the focus on {is_reached} cannot be seen"
        if is_reached:
            expect(wanted).to_be_in_viewport()
            return
    raise AssertionError(f"{wanted} was not reached")


def test_the_first_tab_leads_past_the_navigation(page: Page) -> None:
    page.goto("/graders")
    skip = page.get_by_role("link", name="Skip to the content")
    expect(skip).not_to_be_in_viewport()
    page.keyboard.press("Tab")
    expect(skip).to_be_focused()
    expect(skip).to_be_in_viewport(ratio=1)
    page.keyboard.press("Enter")
    expect(page.get_by_role("main")).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="String Match")).to_be_focused()


def test_from_the_navigation_to_the_step_of_a_failure(page: Page, served: Served) -> None:
    # A batch that all tests share is on a later page of the list once enough others are newer.
    traces = served.graded(SHOP_AGENT.read_bytes(), *TRACE_GRADERS, source=SHOP_AGENT.name)
    page.goto("/workers")
    tab_to(page, page.get_by_role("navigation", name="Main").get_by_role("link", name="Batches"))
    page.keyboard.press("Enter")
    batch = page.locator(f"a[href='/batches/{traces}']", has_text="shop_agent.jsonl")
    tab_to(page, batch)
    page.keyboard.press("Enter")
    tab_to(page, page.locator("#causes").get_by_role("link", name="shop-chatty-8"))
    page.keyboard.press("Enter")
    tab_to(page, page.locator("#evidence-1").get_by_role("link", name=re.compile("step s33$")))
    page.keyboard.press("Enter")
    step = page.locator("#step-33")
    expect(step).to_be_in_viewport()
    # From there on the focus goes through the step itself.
    tab_to(page, step.get_by_role("link", name="max_tokens"))
    page.keyboard.press("Enter")
    expect(page.locator("#evidence-1")).to_be_in_viewport()


def test_keys_lead_from_failure_to_failure(page: Page, traces: str) -> None:
    page.goto(f"/batches/{traces}/result?custom_id=shop-stuck-4&label=loop")
    heading = page.get_by_role("heading", level=1)
    page.keyboard.press("j")
    expect(heading).to_have_text("shop-pingpong-5")
    page.wait_for_load_state()
    page.keyboard.press("j")
    expect(heading).to_have_text("shop-misuse-6")
    page.wait_for_load_state()
    page.keyboard.press("k")
    expect(heading).to_have_text("shop-pingpong-5")


def test_keys_do_nothing_with_a_modifier_or_once_they_are_turned_off(
    page: Page, traces: str
) -> None:
    page.goto(f"/batches/{traces}/result?custom_id=shop-stuck-4&label=loop")
    heading = page.get_by_role("heading", level=1)
    page.keyboard.press("Control+j")
    expect(heading).to_have_text("shop-stuck-4")
    page.locator("form[action='/shortcuts']").get_by_role("button", name="Off").click()
    expect(page.locator(".around kbd")).to_have_count(0)
    page.keyboard.press("j")
    expect(heading).to_have_text("shop-stuck-4")
    page.locator("form[action='/shortcuts']").get_by_role("button", name="On").click()
    expect(page.locator(".around kbd")).to_have_count(1)
    page.wait_for_load_state()
    page.keyboard.press("j")
    expect(heading).to_have_text("shop-pingpong-5")


def test_a_grader_is_chosen_configured_and_tried(page: Page) -> None:
    page.goto("/graders/budget")
    limit = page.get_by_label("max_tokens", exact=True)
    tab_to(page, limit)
    page.keyboard.press("Control+A")
    page.keyboard.type("1")
    page.keyboard.press("Enter")
    expect(page.locator("#outcome .stamp")).to_have_text("fail")
    expect(limit).to_be_focused()
