"""Reading results: from a batch to the step that its verdict rests on."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from playwright.sync_api import expect

from support.cases import true_false_cases

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

    from support.browser import Watch
    from support.served import Served


def result_of(batch: str, custom_id: str, label: str) -> str:
    return f"/batches/{batch}/result?{urlencode({'custom_id': custom_id, 'label': label})}"


def verdict(page: Page) -> Locator:
    return page.get_by_role("region", name="Verdict")


def test_a_failure_leads_by_its_cause_and_evidence_to_the_marked_step(
    page: Page, traces: str
) -> None:
    page.goto(f"/batches/{traces}")
    expect(page.get_by_text("Why: 5 causes")).to_be_visible()
    causes = page.get_by_role("region", name="Causes")
    causes.get_by_role("link", name="shop-chatty-8").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("shop-chatty-8")
    expect(verdict(page)).to_contain_text("used 33118/30000 tokens = 110.39%")

    step = page.locator("#step-33")
    expect(step).not_to_be_in_viewport()
    verdict(page).get_by_role("link", name=re.compile("^33")).click()
    expect(step).to_be_in_viewport()
    expect(step).to_have_class(re.compile(r"\bmarked\b"))
    expect(step.get_by_text("Five orders are late.").last).to_be_visible()
    expect(step.get_by_role("link", name="max_tokens")).to_be_visible()
    expect(page).to_have_url(re.compile("#step-33$"))

    step.get_by_role("link", name="max_tokens").click()
    expect(page.locator("#evidence-1")).to_be_in_viewport()


def test_a_mark_stands_in_the_row_of_its_step(page: Page, traces: str) -> None:
    page.goto(result_of(traces, "shop-pingpong-5", "loop"))
    step = page.locator("#step-6")
    mark = step.locator(".marks").bounding_box()
    summary = step.locator("summary").bounding_box()
    assert mark
    assert summary
    assert summary["x"] + summary["width"] <= mark["x"]
    assert summary["y"] - 5 <= mark["y"] < summary["y"] + summary["height"]


def test_a_long_label_takes_one_line_among_the_others(page: Page, served: Served) -> None:
    long = {"grader": "true-false", "label": "a label of many words " * 8 + "end"}
    case = {"custom_id": "c", "inputs": {"agent_response": "yes", "expected_output": "no"}}
    batch = served.graded([case], "true-false", long)
    page.goto(result_of(batch, "c", "true-false"))
    short, other = (
        page.get_by_role("navigation", name="Labels of this case").get_by_role("link").all()
    )
    expect(other).to_have_attribute("title", str(long["label"]))
    expect(other).to_contain_text(str(long["label"]))
    heights = [tab.bounding_box() for tab in (short, other)]
    assert heights[0]
    assert heights[1]
    assert heights[0]["height"] == heights[1]["height"]


def test_a_steps_address_opens_it_in_view(page: Page, traces: str) -> None:
    page.goto(f"{result_of(traces, 'shop-chatty-8', 'budget')}&step=20#step-20")
    step = page.locator("#step-20")
    expect(step).to_be_in_viewport()
    expect(step.locator("details").first).to_have_attribute("open", "")
    expect(step.get_by_text("id call_8_9")).to_be_visible()


def test_the_running_total_is_drawn_with_its_limit_and_the_first_breach(
    page: Page, traces: str
) -> None:
    page.goto(result_of(traces, "shop-chatty-8", "budget"))
    consumed = page.get_by_role("region", name="What the run consumed")
    chart = consumed.locator("figure").filter(has_text="max_tool_calls")
    expect(chart).to_contain_text("reached 15 tool calls, limit 12")
    limit, breach = chart.locator(".limit"), chart.locator(".breach")
    course = chart.locator(".course")
    for drawn in (limit, breach, course):
        expect(drawn).to_have_count(1)
    # The breach lies above the line of the limit, and the course begins below it.
    limit_y = float(limit.get_attribute("y1") or "nan")
    assert float(breach.get_attribute("cy") or "nan") < limit_y
    assert float((course.get_attribute("points") or "").split()[0].split(",")[1]) > limit_y

    chart.get_by_role("link", name="step 28").click()
    expect(page.locator("#step-28")).to_be_in_viewport()


def test_a_loop_is_drawn_as_its_repeats(page: Page, traces: str) -> None:
    page.goto(result_of(traces, "shop-pingpong-5", "loop"))
    loop = page.locator(".loop-head")
    expect(loop).to_contain_text(re.compile("Loop 1: the same 2 steps in the same order, . 4"))
    expect(loop.locator("rect.box")).to_have_count(8)
    expect(loop.locator(".letter")).to_have_text(list("ABABABAB"))
    expect(loop.locator(".bracket")).to_have_count(4)
    expect(page.locator(".step.in-loop.marked")).to_have_count(8)


def test_an_invalid_argument_is_marked_where_it_stands(page: Page, traces: str) -> None:
    page.goto(result_of(traces, "shop-misuse-6", "tool-schema"))
    arguments = page.get_by_role("region", name="Arguments of step 8, with what is wrong")
    wrong = arguments.locator(".wrong")
    expect(wrong).to_have_text(
        [
            re.compile(r'"amount": "40\.00",\s+Wrong: "40\.00" is not of type "number" type'),
            re.compile(r'"reason": "it came late"\s+Wrong: "it came late" is not one of .* enum'),
        ]
    )
    expect(arguments.locator(".line:not(.wrong)")).to_contain_text(["{", "order_id", "}"])


def test_what_a_tool_was_judged_by_is_told_in_words_with_the_json_folded(
    page: Page, traces: str
) -> None:
    page.goto(result_of(traces, "shop-unknown-7", "tool-schema"))
    [unknown, broken] = page.locator(".evidence > li").all()
    expect(unknown).to_contain_text(
        "a tool that is defined: find_order, list_orders, refund, track_parcel"
    )
    expect(unknown).to_contain_text("cancel_order, 1 call")
    expect(broken).to_contain_text("a JSON object")
    json = unknown.locator("pre")
    expect(json).to_be_hidden()
    unknown.get_by_text("As JSON").click()
    expect(json).to_be_visible()
    expect(json).to_contain_text('"observed": {"tool": "cancel_order", "calls": 1}')


def test_invisible_characters_are_shown_by_symbols_of_every_font_with_their_names(
    page: Page, served: Served
) -> None:
    inputs = {"agent_response": "Graz\n ", "expected_output": "Graz"}
    case = {"custom_id": "space", "inputs": inputs}
    batch = served.graded([case], "string-match", source="spaces.jsonl")
    page.goto(result_of(batch, "space", "string-match"))
    evidence = page.locator(".evidence")
    expect(evidence.get_by_role("img", name="space").first).to_have_text("·")
    expect(evidence.get_by_role("img", name="line break").first).to_have_attribute(
        "title", "line break"
    )
    for path in (f"/batches/{batch}", f"/batches/{batch}/results"):
        page.goto(path)
        reason = page.locator(".of-why").filter(has_text="Expected 'Graz'")
        expect(reason.get_by_role("img", name="space")).to_be_visible()


def test_filters_stand_in_the_address_and_show_the_same_to_others(page: Page, traces: str) -> None:
    page.goto(f"/batches/{traces}/results")
    rows = page.locator("table.results tbody tr")
    expect(rows).to_have_count(10)
    page.get_by_label("Verdict").select_option("fail")
    page.get_by_label("Label").select_option("loop")
    page.get_by_label("Order").select_option("input")
    page.get_by_role("button", name="Apply").click()
    expect(rows).to_have_count(2)
    expect(page).to_have_url(re.compile(r"verdict=fail\b.*label=loop\b.*order=input\b"))

    other = page.context.new_page()
    other.goto(page.url)
    same = other.locator("table.results tbody tr")
    expect(same).to_have_text(rows.all_inner_texts(), use_inner_text=True)
    expect(other.get_by_label("Verdict")).to_have_value("fail")
    expect(other.get_by_label("Label")).to_have_value("loop")

    page.go_back()
    expect(rows).to_have_count(10)
    page.go_forward()
    expect(rows).to_have_count(2)


def test_a_filter_that_nothing_passes_says_so_and_one_that_is_none_names_what_would_work(
    page: Page, watch: Watch, traces: str
) -> None:
    page.goto(f"/batches/{traces}/results?verdict=ungradable")
    expect(page.get_by_text("No matching results.")).to_be_visible()
    watch.expected_statuses = {422}
    page.goto(f"/batches/{traces}/results?verdict=perhaps")
    expect(page.get_by_role("alert")).to_contain_text("INVALID_FILTER")
    expect(page.get_by_role("alert")).to_contain_text("ungradable")


def test_the_table_goes_from_page_to_page_and_back(page: Page, served: Served) -> None:
    batch = served.graded(true_false_cases(120))
    page.goto(f"/batches/{batch}/results?order=input")
    rows = page.locator("table.results tbody tr")
    seen: list[str] = []
    for expected in (50, 50, 20):
        expect(rows).to_have_count(expected)
        seen += rows.locator("td:first-child").all_inner_texts()
        if expected == 50:
            before = page.url
            page.get_by_role("link", name="Next").click()
            page.wait_for_url(lambda url, before=before: url != before)
    assert seen == [f"c{number}" for number in range(120)]

    page.go_back()
    expect(rows.first).to_contain_text(seen[50])
    page.go_back()
    expect(rows.first).to_contain_text(seen[0])


def test_a_batch_is_broken_down_by_a_metadata_field_that_the_address_keeps(
    page: Page, served: Served
) -> None:
    cases = (
        {**case, "metadata": {"topic": f"t{number % 2}"}}
        for number, case in enumerate(true_false_cases(6))
    )
    batch = served.graded(cases)
    page.goto(f"/batches/{batch}")
    expect(page.locator("#results table")).to_be_visible()
    offered = page.locator("datalist#fields option")
    assert offered.evaluate_all("all => all.map(each => each.value)") == ["metadata.topic"]
    page.get_by_label("Break down by").fill("metadata.topic")
    page.get_by_role("form", name="Break down").get_by_role("button", name="Show").click()
    expect(page).to_have_url(re.compile(r"[?]by=metadata[.]topic"))
    table = page.get_by_role("region", name="Pass rates by metadata.topic")
    expect(table.get_by_role("row")).to_have_count(3)
    expect(table.get_by_role("cell", name="t1")).to_be_visible()
    page.reload()
    expect(table.get_by_role("row")).to_have_count(3)
    page.get_by_role("link", name="Clear").first.click()
    expect(table).to_have_count(0)


def test_the_filter_by_cause_has_the_name_of_the_field_that_results_have(
    page: Page, traces: str
) -> None:
    page.goto(f"/batches/{traces}/results")
    page.get_by_label("Cause").select_option("tool_known: cancel_order")
    page.get_by_role("button", name="Apply").click()
    expect(page).to_have_url(re.compile(r"[?&]cause=tool_known"))
    expect(page.get_by_label("Cause")).to_have_value("tool_known: cancel_order")
    expect(page.locator("table.results tbody tr")).to_have_count(1)
