"""A new batch: from a file to its failures, and cancelling and deleting it."""

from __future__ import annotations

import os
import random
import re
from typing import TYPE_CHECKING

import orjson
import pyarrow as pa
from playwright.sync_api import expect
from pyarrow import parquet

from support import claude_sessions, databases
from support.browser import PHONE
from support.cases import sleepy_cases, true_false_cases, write_cases
from support.examples import MIXED, SHOP_AGENT
from weighbridge.graders.tool_schema import ToolSchemaGrader

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Locator, Page, Route

    from support.browser import Watch
    from support.served import Served


def config_of(page: Page, grader: str) -> Locator:
    return page.get_by_role("group", name=f"Configuration of {grader}")


def preview(page: Page) -> Locator:
    return page.get_by_role("region", name="Preview", exact=True)


def choose_trace_graders(page: Page) -> None:
    """Choose the graders of the example traces, as their file for the command line has them."""
    page.get_by_label("Budget", exact=True).check()
    config = config_of(page, "Budget")
    config.get_by_label("max_tokens", exact=True).fill("30000")
    config.get_by_label("max_tool_calls", exact=True).fill("12")
    config.get_by_label("missing_usage").select_option("ignore")
    page.get_by_label("Loop", exact=True).check()
    page.get_by_label("Tool Schema", exact=True).check()
    config_of(page, "Tool Schema").get_by_label("blocklist", exact=True).fill("delete_*")


def test_from_the_example_file_to_the_marked_step_of_a_failure(page: Page, watch: Watch) -> None:
    watch.expected_statuses = {422}  # of a preview before the chosen grader has its first limit
    page.goto("/")
    page.get_by_role("navigation", name="Main").get_by_role("link", name="New batch").click()
    expect(page).to_have_title(re.compile("^New batch"))
    page.get_by_label("Or drop files here").set_input_files(SHOP_AGENT)
    expect(preview(page)).to_contain_text("OpenAI")
    expect(preview(page).get_by_text("NO_GRADER").first).to_be_visible()
    choose_trace_graders(page)
    expect(preview(page)).to_contain_text("0 of them")
    expect(preview(page).get_by_role("rowheader", name="shop-refund-1")).to_be_visible()

    page.get_by_role("button", name="Submit the batch").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("shop_agent.jsonl")
    expect(page.locator("#status")).to_have_text("completed")
    expect(page.get_by_text("Why: 5 causes")).to_be_visible()

    page.get_by_role("region", name="Causes").get_by_role("link", name="shop-unknown-7").click()
    verdict = page.get_by_role("region", name="Verdict")
    expect(verdict).to_contain_text("no such tool is in the trace's tools")
    verdict.get_by_role("link", name=re.compile("step call_7_1$")).click()
    expect(page.locator(".step:target.marked")).to_be_in_viewport()
    expect(page.locator(".step:target")).to_contain_text("cancel_order")


def test_a_file_that_is_dropped_on_the_page_is_looked_at(page: Page) -> None:
    page.goto("/new")
    dropped = page.evaluate_handle(
        """(text) => {
          const dropped = new DataTransfer();
          dropped.items.add(new File([text], 'dropped.jsonl'));
          return dropped;
        }""",
        SHOP_AGENT.read_text(),
    )
    page.locator("#drop").dispatch_event("dragover", {"dataTransfer": dropped})
    page.locator("#drop").dispatch_event("drop", {"dataTransfer": dropped})
    expect(page.locator("#file-chosen")).to_have_text("dropped.jsonl, 45,223 bytes")
    expect(preview(page)).to_contain_text("10 cases")


def test_a_preview_tells_what_is_wrong_with_which_line_before_anything_is_submitted(
    page: Page,
) -> None:
    page.goto("/new")
    page.get_by_label("Or drop files here").set_input_files(MIXED)
    faults = preview(page).get_by_role("table", name=re.compile("^Lines that cannot be graded"))
    expect(faults.get_by_text("INVALID_JSON")).to_be_visible()
    expect(faults.get_by_text("UNKNOWN_GRADER")).to_be_visible()
    expect(faults.get_by_role("row").filter(has_text="UNKNOWN_GRADER")).to_contain_text(
        "did you mean"
    )
    expect(preview(page)).to_contain_text("cases, one per line")


def test_a_preview_counts_lines_with_the_id_of_an_earlier_one(page: Page) -> None:
    first, other = true_false_cases(2)
    lines = [first, first, {**other, "custom_id": first["custom_id"]}]
    page.goto("/new")
    page.get_by_label("True/False", exact=True).check()
    page.get_by_label("Paste lines").fill("\n".join(orjson.dumps(each).decode() for each in lines))
    expect(preview(page)).to_contain_text("1 of them")
    faults = preview(page).get_by_role("table", name=re.compile("^Lines that cannot be graded"))
    row = faults.get_by_role("row").filter(has_text="ID_CONFLICT")
    expect(row).to_contain_text("(line 1)")
    expect(row.get_by_role("rowheader")).to_have_text("3")


def test_a_configuration_that_is_not_valid_is_told_beside_its_field(
    page: Page, watch: Watch
) -> None:
    page.goto("/new")
    page.get_by_label("Paste lines").fill(orjson.dumps(next(true_false_cases(1))).decode())
    page.get_by_label("Budget", exact=True).check()
    field = config_of(page, "Budget").get_by_label("max_steps", exact=True)
    field.fill("many")
    watch.expected_statuses = {422}
    page.get_by_role("button", name="Submit the batch").click()
    expect(page.get_by_role("alert")).to_contain_text("budget: max_steps must be")
    expect(field).to_have_attribute("aria-invalid", "true")
    expect(field).to_have_value("many")
    expect(field).to_have_accessible_description(re.compile("whole number|integer"))
    expect(page).to_have_url(re.compile("/new$"))


def test_a_look_says_as_much_of_a_bad_configuration_until_it_is_right(
    page: Page, watch: Watch
) -> None:
    page.goto("/new")
    page.get_by_label("Paste lines").fill(orjson.dumps(next(true_false_cases(1))).decode())
    page.get_by_label("Budget", exact=True).check()
    field = config_of(page, "Budget").get_by_label("max_steps", exact=True)
    field.fill("many")
    watch.expected_statuses = {422}
    page.get_by_role("button", name="Preview").click()
    expect(page.locator("#problem")).to_be_focused()
    expect(page.get_by_role("alert")).to_be_in_viewport()
    expect(field).to_have_attribute("aria-invalid", "true")
    field.fill("7")
    expect(preview(page)).to_contain_text("1 case")
    expect(field).not_to_have_attribute("aria-invalid", "true")
    expect(page.locator("#graders .problem")).to_have_count(0)
    expect(page.get_by_role("alert")).to_have_text("")


def test_a_refused_file_is_told_at_its_field(page: Page, watch: Watch, tmp_path: Path) -> None:
    workbook, cases = tmp_path / "qa.xlsx", tmp_path / "cases.jsonl"
    workbook.write_bytes(b"PK\x03\x04" + b"\0" * 26 + b"[Content_Types].xml" + b"\0" * 99)
    write_cases(cases, true_false_cases(2))
    watch.expected_statuses = {400}
    page.goto("/new")
    field = page.get_by_label("Or drop files here")
    field.scroll_into_view_if_needed()
    field.set_input_files(workbook)
    told = page.locator("#cases-problem").filter(has_text="Excel workbook")
    expect(told).to_be_focused()
    expect(told).to_be_in_viewport()
    expect(field).to_be_in_viewport()
    expect(field).to_have_accessible_description(re.compile("INPUT_UNREADABLE"))
    expect(page.locator("#problem")).to_be_empty()
    page.get_by_label("True/False", exact=True).check()
    page.get_by_role("button", name="Submit the batch").click()
    expect(told).to_be_focused()
    field.set_input_files(cases)
    expect(preview(page)).to_contain_text("2 cases")
    expect(page.locator("#cases-problem")).to_be_empty()


def test_cases_that_nobody_would_judge_are_not_submitted(page: Page, watch: Watch) -> None:
    page.goto("/new")
    page.get_by_label("Or drop files here").set_input_files(SHOP_AGENT)
    expect(preview(page)).to_contain_text("10 cases")
    page.get_by_label("Paste lines").fill(orjson.dumps(next(true_false_cases(1))).decode())
    expect(preview(page)).to_contain_text("both pasted lines and a file: remove one of them")
    page.get_by_label("Paste lines").clear()
    expect(preview(page)).to_contain_text("10 cases")
    watch.expected_statuses = {422}
    page.get_by_role("button", name="Submit the batch").click()
    expect(page.locator("#problem")).to_be_focused()
    expect(page.get_by_role("alert")).to_contain_text("choose a grader")
    expect(page).to_have_url(re.compile("/new$"))


def test_a_batch_is_watched_to_its_end_without_loading_the_page_again(
    page: Page, tmp_path: Path
) -> None:
    page.goto("/new")
    cases = write_cases(tmp_path / "sleepy.jsonl", sleepy_cases(48, 0.1))
    page.get_by_label("Or drop files here").set_input_files(cases)
    expect(preview(page)).to_contain_text("48 cases")
    page.get_by_role("button", name="Submit the batch").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("sleepy.jsonl")
    expect(page.locator("#status")).to_have_text("in progress")
    page.evaluate("window.isTheSame = true")
    progress = page.get_by_role("progressbar", name="Jobs done")
    expect(progress).to_have_attribute("value", re.compile("^([1-9]|[1-4][0-9])$"))
    expect(page.locator("#pace")).to_contain_text(
        re.compile(r"jobs a second;\s+(about .*|less than a second) left")
    )
    page.get_by_label("Text anywhere").fill("half a wor")
    page.get_by_label("Verdict").select_option("fail")
    expect(page.locator("#status")).to_have_text("completed", timeout=30_000)
    expect(page.locator("#done")).to_have_text("48")
    expect(progress).to_have_count(0)
    # The table, which was read when there was little in it, is read again.
    expect(page.locator("table.results tbody tr")).to_have_count(48)
    # But the text typed meanwhile is still there, and the available actions are updated.
    expect(page.get_by_label("Text anywhere")).to_have_value("half a wor")
    expect(page.get_by_label("Verdict")).to_have_value("fail")
    causes = page.get_by_role("region", name="Causes")
    expect(causes.get_by_role("heading")).to_have_text("No failures")
    expect(page.get_by_role("button", name="Cancel")).to_be_disabled()
    expect(page.get_by_role("region", name="About this batch")).to_contain_text("ended")
    assert page.evaluate("window.isTheSame")


def test_a_batch_with_failures_is_not_said_to_have_none_until_its_causes_are_read(
    page: Page, served: Served
) -> None:
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route(re.compile("/causes"), hold)
    wrong = {"agent_response": "no", "expected_output": "yes"}
    late = {"custom_id": "late", "grader": "true-false", "inputs": wrong}
    batch = served.submit([*sleepy_cases(60, 0.1), late])
    page.goto(f"/batches/{batch}")
    causes = page.get_by_role("region", name="Causes")
    expect(causes.get_by_role("heading")).to_have_text("No failures so far")
    expect(page.locator("#some-not-passed")).to_be_attached(timeout=30_000)
    expect(causes.get_by_text("No failures")).to_be_hidden()
    expect(causes.get_by_text("The causes are being read.")).to_be_visible()
    for route in held:
        route.continue_()
    page.unroute_all()
    expect(causes.get_by_role("heading")).to_have_text("Why: 1 cause")
    expect(causes.get_by_text("are being read")).to_have_count(0)


def test_a_batch_that_would_run_long_is_cancelled_retried_and_deleted(
    page: Page, watch: Watch, served: Served
) -> None:
    batch = served.submit(sleepy_cases(400, 0.2), source="long.jsonl")
    page.goto(f"/batches/{batch}")
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Cancel this batch?")
    page.get_by_role("link", name="Go back").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("long.jsonl")
    page.get_by_role("button", name="Cancel").click()
    page.get_by_role("button", name="Cancel the batch").click()
    expect(page.locator("#status")).to_have_text("cancelled")
    cancelled = page.get_by_role("link", name=re.compile("of 400 jobs cancelled"))
    expect(cancelled.first).to_be_visible()
    expect(page.get_by_role("button", name="Cancel")).to_be_disabled()

    page.get_by_role("button", name="Retry jobs").click()
    expect(page.get_by_role("status").filter(has_text="will be graded again")).to_be_visible()
    expect(page.locator("#status")).to_have_text("in progress")
    page.get_by_role("button", name="Cancel").click()
    page.get_by_role("button", name="Cancel the batch").click()
    expect(page.locator("#status")).to_have_text("cancelled")

    page.get_by_role("button", name="Delete").click()
    page.get_by_role("button", name="Delete the batch").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Batches")
    expect(page.get_by_role("link", name="long.jsonl")).to_have_count(0)
    watch.expected_statuses = {404}
    page.goto(f"/batches/{batch}")
    expect(page.get_by_role("main")).to_contain_text("404")


def test_workers_are_told_with_what_they_do(page: Page) -> None:
    page.goto("/workers")
    expect(page.get_by_role("main")).to_contain_text("No chunk is stuck.")
    expect(page.get_by_role("region", name="Running workers").get_by_role("row")).to_have_count(2)
    expect(page.get_by_role("region", name="Running workers")).to_contain_text(
        f"tool-schema {ToolSchemaGrader.version}"
    )


def test_tables_of_workers_and_of_a_preview_are_whole_on_a_phone(page: Page) -> None:
    page.set_viewport_size(PHONE)
    page.goto("/workers")
    check_is_whole(page.get_by_role("region", name="Running workers"))
    page.goto("/new")
    page.get_by_label("Loop", exact=True).check()
    page.get_by_label("Paste lines").fill('{"custom_id": "a", "inputs": {"trace": []}}\nno case\n')
    page.get_by_role("button", name="Preview").click()
    check_is_whole(page.get_by_role("region", name="First cases"))
    check_is_whole(page.get_by_role("region", name="Lines that cannot be graded"))


def test_a_folder_becomes_one_batch_without_the_files_that_are_no_input(
    page: Page, tmp_path: Path
) -> None:
    answer = {"agent_response": "Graz", "expected_output": "Graz"}
    for name in (
        "runs/b.jsonl",
        "runs/deeper/a.jsonl",
        "runs/notes.docx",
        "runs/old.results.jsonl",
        "runs/.c.jsonl",
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        write_cases(tmp_path / name, [{"custom_id": name, "inputs": answer}])
    page.goto("/new")
    page.get_by_label("String Match", exact=True).check()
    page.get_by_label("Or choose a folder").set_input_files(tmp_path / "runs")
    expect(page.locator("#file-chosen")).to_contain_text("2 files")
    expect(page.locator("#left-out")).to_have_text("1 file left out: runs/notes.docx")
    expect(preview(page)).to_contain_text("This is the first of 2 files")
    page.get_by_role("button", name="Submit the batch").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("runs")
    expect(page.locator("#status")).to_have_text("completed")
    results = page.get_by_role("region", name="Table of results")
    expect(results).to_contain_text("runs/b.jsonl")
    expect(results).to_contain_text("runs/deeper/a.jsonl")


def test_a_session_in_a_folder_is_read_with_its_sub_agent_and_databases_are_read(
    page: Page, tmp_path: Path
) -> None:
    agents = tmp_path / "runs" / claude_sessions.SESSION / "subagents"
    agents.mkdir(parents=True)
    session = tmp_path / "runs" / f"{claude_sessions.SESSION}.jsonl"
    write_cases(session, claude_sessions.MAIN)
    write_cases(agents / "agent-a1.jsonl", claude_sessions.lines_of("a1"))
    write_cases(tmp_path / "runs" / "sessions-index.json", [{"version": 1, "entries": []}])
    databases.write(tmp_path / "runs" / "a.db", databases.STORES["LangGraph"][0])
    databases.write(tmp_path / "runs" / "other.db", {"things": [{"id": 1}]})
    page.goto("/new")
    page.get_by_label("Loop", exact=True).check()
    page.get_by_label("Or choose a folder").set_input_files(tmp_path / "runs")
    expect(page.locator("#file-chosen")).to_contain_text("5 files")
    expect(page.locator("#left-out")).to_be_empty()
    page.get_by_role("button", name="Submit the batch").click()
    expect(page.locator("#status")).to_have_text("completed")
    expect(page.get_by_role("main")).to_contain_text("All jobs: 2 passed")
    expect(page.get_by_role("main")).to_contain_text("2 files skipped (other.db, sessions-index")


def dropped(page: Page, *paths: Path) -> None:
    """Drop files and folders of the machine on the page, as a user does."""
    page.locator("#drop").scroll_into_view_if_needed()
    box = page.locator("#drop").bounding_box()
    assert box
    at = {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2}
    data = {"items": [], "files": list(map(str, paths)), "dragOperationsMask": 1}
    session = page.context.new_cdp_session(page)
    for kind in ("dragEnter", "dragOver", "drop"):
        session.send("Input.dispatchDragEvent", {"type": kind, "data": data, **at})
    session.detach()


def test_a_dropped_folder_is_read_with_its_folders(page: Page, tmp_path: Path) -> None:
    answer = {"agent_response": "Graz", "expected_output": "Graz"}
    # A browser hands over at most a hundred entries at a time.
    names = [f"runs/deep/er/{number:03}.jsonl" for number in range(120)]
    for name in ("runs/b.jsonl", "runs/notes.docx", "runs/.hidden/c.jsonl", *names):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        write_cases(tmp_path / name, [{"custom_id": name, "inputs": answer}])
    page.goto("/new")
    page.get_by_label("String Match", exact=True).check()
    page.get_by_label("Or drop files here").set_input_files(SHOP_AGENT)
    dropped(page, tmp_path / "runs")
    expect(page.locator("#file-chosen")).to_contain_text("122 files")
    expect(preview(page)).to_contain_text("This is the first of 122 files")
    page.get_by_role("button", name="Submit the batch").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("runs")
    expect(page.locator("#status")).to_have_text("completed")
    expect(page.get_by_role("main")).to_contain_text("All jobs: 122 passed")


def test_dropped_folders_and_files_are_one_batch_and_are_replaced_by_what_is_chosen(
    page: Page, tmp_path: Path
) -> None:
    answer = {"agent_response": "Graz", "expected_output": "Graz"}
    for name in ("one/a.jsonl", "two/a.jsonl", "c.jsonl"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        write_cases(tmp_path / name, [{"custom_id": name, "inputs": answer}])
    page.goto("/new")
    dropped(page, tmp_path / "one", tmp_path / "two", tmp_path / "c.jsonl")
    expect(page.locator("#file-chosen")).to_contain_text("3 files")
    dropped(page, tmp_path / "c.jsonl")
    expect(page.locator("#file-chosen")).to_contain_text("c.jsonl")
    dropped(page, tmp_path / "one", tmp_path / "two")
    expect(page.locator("#file-chosen")).to_contain_text("2 files")
    page.get_by_label("Or drop files here").set_input_files(SHOP_AGENT)
    expect(page.locator("#file-chosen")).to_contain_text("shop_agent.jsonl")


def test_a_dropped_folder_without_input_or_out_of_bounds_is_refused_in_words(
    page: Page, tmp_path: Path
) -> None:
    for folder in ("empty", "other", "many", "deep/" + "x/" * 21):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "other" / "notes.docx").touch()
    (tmp_path / "many" / "first.jsonl").touch()
    for number in range(10_000):  # links take less time than files
        os.link(tmp_path / "many" / "first.jsonl", tmp_path / "many" / f"{number}.jsonl")
    page.goto("/new")
    said = page.locator("#file-chosen")
    for folder, what in (
        ("empty", "The folder has no file to read."),
        ("other", "The folder has no file to read."),
        ("many", "There are more than 10,000 files and folders in it. Drop one of its folders, or"),
        (
            "deep",
            "It has folders nested more than 20 deep. Drop one of its folders, or submit it with",
        ),
    ):
        dropped(page, tmp_path / folder)
        expect(said).to_contain_text(what)
    expect(preview(page)).to_be_empty()


def check_is_whole(region: Locator) -> None:
    expect(region).to_be_visible()
    assert region.evaluate("shown => shown.scrollWidth <= shown.clientWidth")


def test_columns_of_ones_own_are_picked_over_the_preview(page: Page, tmp_path: Path) -> None:
    table = tmp_path / "answers.csv"
    table.write_text("id,again,response,gold\nq1,Paris,Paris,Paris\nq2,Milan,Rome,Milan\n")
    page.goto("/new")
    page.get_by_label("String Match", exact=True).check()
    page.get_by_label("Or drop files here").set_input_files(table)
    columns = page.get_by_role("group", name="Columns of your rows")
    expect(columns.get_by_label("custom_id")).to_have_value("id")
    titles = page.locator("#new-batch > fieldset > legend").all_text_contents()
    assert titles == ["1 \u00b7 Graders", "2 \u00b7 Cases", "Columns of your rows"]
    expect(columns.get_by_label("agent_response")).to_have_value("response")
    gold = columns.get_by_label("expected_output").locator("option[value=gold]")
    expect(gold).to_have_text("gold: Paris")
    expect(preview(page).get_by_role("rowheader", name="q1")).to_be_visible()
    columns.get_by_label("agent_response").select_option("again")
    expect(preview(page)).to_contain_text('"agent_response":"Milan"')
    page.get_by_role("button", name="Submit the batch").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("answers.csv")
    expect(page.locator("#status")).to_have_text("completed")
    expect(page.get_by_role("main")).to_contain_text("All jobs: 2 passed")


def test_batch_output_is_recognised_and_its_missing_answers_are_said_to_be_joined(
    page: Page, tmp_path: Path
) -> None:
    said = {"role": "assistant", "content": "Paris"}
    body = {"choices": [{"index": 0, "message": said}]}
    row = {"id": "b", "custom_id": "r1", "response": {"status_code": 200, "body": body}}
    (tmp_path / "batch_output.jsonl").write_bytes(orjson.dumps(row) + b"\n")
    page.goto("/new")
    page.get_by_label("String Match", exact=True).check()
    page.get_by_label("Or drop files here").set_input_files(tmp_path / "batch_output.jsonl")
    expect(preview(page)).to_contain_text("OpenAI batch output, which has no expected_output")
    columns = page.get_by_role("group", name="Columns of your rows")
    expect(columns.get_by_text("weighbridge submit --join NAME=FILE")).to_be_visible()
    assert not columns.get_by_label("expected_output").input_value()


def test_rows_that_are_too_large_to_preview_are_submitted_with_a_mapping_as_text(
    page: Page, watch: Watch, tmp_path: Path
) -> None:
    watch.expected_statuses = {422}  # of a preview while the mapping is written
    row = {"id": "q1", "output": "Graz", "gold": "Graz", "context": "x" * 400_000}
    (tmp_path / "large.jsonl").write_bytes(orjson.dumps(row) + b"\n")
    page.goto("/new")
    page.get_by_label("String Match", exact=True).check()
    page.get_by_label("Or drop files here").set_input_files(tmp_path / "large.jsonl")
    expect(preview(page)).to_contain_text("need a mapping, as text, above")
    written = page.get_by_label("Mapping", exact=True)
    written.fill("custom_id=id,agent_response=output,expected_output=")
    expect(page.locator("#problem")).to_contain_text("is not a valid part of a mapping")
    written.press("End")
    written.press_sequentially("gold")  # the field is not replaced while it is filled in
    expect(preview(page)).not_to_contain_text("need a mapping")
    expect(preview(page)).to_contain_text("longer than 256 KiB")
    page.get_by_role("button", name="Submit the batch").click()
    expect(page.locator("#status")).to_have_text("completed")
    expect(page.get_by_role("main")).to_contain_text("All jobs: 1 passed")


def test_the_first_rows_of_a_large_parquet_file_are_previewed(page: Page, tmp_path: Path) -> None:
    noise = random.Random(1)
    rows = [
        {
            "uid": f"r{n}",
            "completion": "Graz",
            "gold": "Graz",
            "context": noise.randbytes(800).hex(),
        }
        for n in range(6_000)
    ]
    table = tmp_path / "rows.parquet"
    parquet.write_table(pa.Table.from_pylist(rows), table, row_group_size=1_000)
    assert table.stat().st_size > 5_000_000
    page.goto("/new")
    page.get_by_label("String Match", exact=True).check()
    page.get_by_label("Or drop files here").set_input_files(table)
    columns = page.get_by_role("group", name="Columns of your rows")
    expect(columns.get_by_label("custom_id")).to_have_value("uid")
    expect(columns.get_by_label("agent_response")).to_have_value("completion")
    expect(preview(page).get_by_role("rowheader", name="r4")).to_be_visible()
    expect(preview(page)).to_contain_text("200 cases, the first ones")


def test_pasted_rows_of_a_table_get_columns_to_pick_and_guesses_are_said_to_be(page: Page) -> None:
    page.goto("/new")
    page.get_by_label("String Match", exact=True).check()
    page.get_by_label("Paste lines").fill(
        "c1;c2;c3;c4\nk7;Paris;Paris;a\nk8;lima;Lima;b\nk9;Rome;Oslo;c\n"
    )
    columns = page.get_by_role("group", name="Columns of your rows")
    expect(columns).to_contain_text("guessed from the values")
    expect(columns.get_by_label("agent_response")).to_have_value("c2")
    columns.get_by_label("agent_response").select_option("c4")
    expect(preview(page)).to_contain_text('"agent_response":"b"')


def test_graders_may_be_chosen_after_the_file_and_changed_and_another_file_has_its_own_columns(
    page: Page, tmp_path: Path
) -> None:
    answers, others = tmp_path / "answers.parquet", tmp_path / "others.csv"
    row = {"key": "q1", "out": "Graz", "response": "Paris", "gold": "Paris"}
    parquet.write_table(pa.Table.from_pylist([row]), answers)
    others.write_text("uid,completion,label\nr1,Rome,Rome\n")
    page.goto("/new")
    columns = page.get_by_role("group", name="Columns of your rows")
    page.get_by_label("Or drop files here").set_input_files(answers)
    expect(columns.get_by_label("agent_response")).to_have_value("response")
    page.get_by_label("String Match", exact=True).check()
    expect(preview(page)).to_contain_text("0 of them")
    expect(columns.get_by_label("expected_output")).to_have_value("gold")

    columns.get_by_label("agent_response").select_option("out")
    page.get_by_label("Loop", exact=True).check()
    expect(columns.get_by_label("trace")).to_have_value("")
    expect(columns.get_by_label("agent_response")).to_have_value("out")
    page.get_by_label("Loop", exact=True).uncheck()
    expect(columns.get_by_label("trace")).to_have_count(0)
    expect(columns.get_by_label("agent_response")).to_have_value("out")
    expect(preview(page)).to_contain_text('"agent_response":"Graz"')

    page.get_by_label("Or drop files here").set_input_files(others)
    expect(columns.get_by_label("custom_id")).to_have_value("uid")
    expect(columns.get_by_label("agent_response")).to_have_value("completion")
    expect(columns.get_by_label("expected_output")).to_have_value("label")
    page.get_by_role("button", name="Submit the batch").click()
    expect(page.locator("#status")).to_have_text("completed")
    expect(page.get_by_role("main")).to_contain_text("All jobs: 1 passed")


def test_pasted_rows_with_other_columns_get_pickers_of_their_own(page: Page) -> None:
    page.goto("/new")
    page.get_by_label("String Match", exact=True).check()
    page.get_by_label("Paste lines").fill("id,response,gold\nq1,Paris,Paris\n")
    columns = page.get_by_role("group", name="Columns of your rows")
    expect(columns.get_by_label("agent_response")).to_have_value("response")
    page.get_by_label("Paste lines").fill("uid,completion,label\nr1,Rome,Rome\n")
    expect(columns.get_by_label("custom_id")).to_have_value("uid")
    expect(columns.get_by_label("agent_response")).to_have_value("completion")
    page.get_by_label("Paste lines").fill(orjson.dumps(next(true_false_cases(1))).decode())
    expect(columns).to_be_hidden()
    expect(preview(page)).to_contain_text("cases, one per line")


def test_the_reference_of_a_known_dataset_is_not_preselected_as_the_agents_answer(
    page: Page, watch: Watch, tmp_path: Path
) -> None:
    watch.expected_statuses = {422}  # of the submission without the agent's answer
    rows = [
        {
            "id": f"e{number}",
            "inputs": {"question": "Paris"},
            "outputs": {"answer": text},
            "metadata": {"dataset_split": ["base"]},
            "dataset_id": "d",
        }
        for number, text in enumerate(("Paris", "Rome"))
    ]
    page.goto("/new")
    page.get_by_label("String Match", exact=True).check()
    path = write_cases(tmp_path / "examples.jsonl", rows)
    page.get_by_label("Or drop files here").set_input_files(path)
    columns = page.get_by_role("group", name="Columns of your rows")
    expect(columns.get_by_label("expected_output")).to_have_value("outputs.answer")
    expect(columns.get_by_label("agent_response")).to_have_value("")
    page.get_by_role("button", name="Submit the batch").click()
    expect(page.get_by_role("alert")).to_contain_text("agent_response")
    columns.get_by_label("agent_response").select_option("inputs.question")
    expect(preview(page)).to_contain_text('"agent_response":"Paris"')
    page.get_by_role("button", name="Submit the batch").click()
    expect(page.locator("#status")).to_have_text("completed")
    expect(page.get_by_role("main")).to_contain_text("1 passed")
