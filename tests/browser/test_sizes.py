"""The pages at the widths of a phone, a tablet, a laptop and a large screen: nothing is cut off or missing."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import orjson
import pytest
from playwright.sync_api import expect

from support.browser import DESK, PHONE
from support.cases import true_false_cases
from support.examples import MIXED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Page, ViewportSize

    from support.served import Served

TABLET: ViewportSize = {"width": 768, "height": 1024}
LARGE: ViewportSize = {"width": 1920, "height": 1080}
LONG = "evaluations/2026-11/customer-support/answers-of-a-model-with-retrieval-and-a-long-context"


@pytest.fixture(scope="module")
def long_names(served: Served) -> tuple[str, str]:
    """Two batches whose long names differ at the end only."""
    before, after = (
        served.graded(true_false_cases(3), source=f"{LONG}-{end}.jsonl") for end in ("old", "new")
    )
    return before, after


def each_size(page: Page, *sizes: ViewportSize) -> Iterator[int]:
    """Show the page in each size, and yield its width; the layout depends on style sheets only, not on scripts."""
    for size in sizes:
        page.set_viewport_size(size)
        yield size["width"]


def test_no_page_is_wider_than_the_screen(
    page: Page, traces: str, long_names: tuple[str, str]
) -> None:
    before, after = long_names
    result = f"/batches/{traces}/result?custom_id"
    for path in (
        "/",
        "/new",
        "/graders/tool-schema",
        "/workers",
        f"/batches/{traces}",
        f"{result}=shop-pingpong-5&label=loop",
        f"{result}=shop-misuse-6&label=tool-schema",
        f"{result}=shop-chatty-8&label=budget",
        f"/compare?before={before}&after={after}",
    ):
        page.goto(path)
        for width in each_size(page, DESK, LARGE, TABLET, PHONE):
            wide = page.evaluate("document.documentElement.scrollWidth")
            assert wide <= width, path


def test_the_list_of_batches_says_when_each_was_created_and_what_errored(
    page: Page, served: Served
) -> None:
    batch = served.graded(MIXED.read_bytes(), source=MIXED.name)
    page.goto("/")
    row = page.get_by_role("row").filter(has_text=batch)
    date = re.compile(r"^20\d\d-\d\d-\d\d \d\d:\d\d UTC, ")
    for width in each_size(page, DESK, TABLET, PHONE):
        expect(row.locator("time")).to_be_visible()
        expect(row.locator("time")).to_have_text(re.compile(" ago$"), use_inner_text=True)
        if width < DESK["width"]:
            expect(row.locator("time")).to_have_text(date, use_inner_text=True)
        expect(row.locator('[data-name="errored"]')).to_be_visible()


def test_the_whole_name_of_a_chosen_batch_is_shown_below_its_select(
    page: Page, long_names: tuple[str, str]
) -> None:
    before, after = long_names
    page.goto("/compare")
    names = page.locator(".chosen")
    for _ in each_size(page, PHONE, DESK):
        expect(names.first).to_be_hidden()
    page.get_by_label("Before").select_option(before)
    page.get_by_label("After").select_option(after)
    for _ in each_size(page, DESK, PHONE):
        for name, end in ((names.first, "old"), (names.last, "new")):
            expect(name).to_contain_text(f"{LONG}-{end}.jsonl, 20")
            expect(name).to_contain_text("3 jobs")
            assert name.evaluate("shown => shown.scrollWidth <= shown.clientWidth")
    page.get_by_role("button", name="Compare").click()
    for _ in each_size(page, PHONE, DESK):
        expect(page.locator(".chosen").first).to_contain_text(f"{LONG}-old.jsonl, 20")


def test_captions_take_the_whole_width_of_a_phone(page: Page) -> None:
    page.set_viewport_size(PHONE)
    page.goto("/new")
    page.get_by_label("Or drop files here").set_input_files(MIXED)
    caption = page.locator("caption", has_text="Lines that cannot be graded")
    box = caption.bounding_box()
    assert box
    assert box["width"] > 300
    assert box["height"] < 40


def test_the_filters_of_results_are_one_row_on_a_laptop(page: Page, traces: str) -> None:
    for path in (f"/batches/{traces}", f"/batches/{traces}/results"):
        page.goto(path)
        filters = page.get_by_role("form", name="Filter")
        expect(filters).to_be_visible()
        bottoms = filters.locator("> div, > button").evaluate_all(
            "parts => parts.map(part => Math.round(part.getBoundingClientRect().bottom))"
        )
        assert len(bottoms) == 9
        assert max(bottoms) - min(bottoms) <= 2, path


def test_a_nested_step_has_its_tool_and_label_on_one_line(page: Page, served: Served) -> None:
    def step(number: int, **facts: object) -> dict[str, object]:
        took = {f"{end}_at": f"2026-11-30T10:00:0{number}Z" for end in ("started", "ended")}
        return {"id": f"s{number}", "type": "tool", "output": "20 C, light wind", **took, **facts}

    nested = [
        step(
            n,
            name="mcp__travel__get_weather",
            parent_id=f"s{n - 1}",
            arguments={"city": "Lisbon", "units": "C"},
        )
        for n in range(2, 5)
    ]
    steps = [
        step(1, name="Task"),
        *nested,
        {"id": "m", "type": "llm", "usage": {"total_tokens": 9000}},
    ]
    trace = {"format": "weighbridge", "steps": steps}
    budget = {"grader": "budget", "config": {"max_steps": 50}}
    case = {"custom_id": "n", "inputs": {"trace": trace}, "graders": [budget]}
    batch = served.graded(orjson.dumps(case), source="nested.jsonl")
    page.goto(f"/batches/{batch}/result?custom_id=n&label=budget")
    summary = page.locator(".depth-3 summary")
    for width in each_size(page, DESK, LARGE):
        label, name = (summary.locator(part).bounding_box() for part in (".kind", "strong"))
        assert label, width
        assert name, width
        assert abs(label["y"] + label["height"] - name["y"] - name["height"]) < 8, width
        assert name["height"] < 30, "the name is on one line"
