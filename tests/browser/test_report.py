"""The report in one file, in a browser that is offline: it opens, filters, and leads to the evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson
import pytest
from playwright.sync_api import expect

from support.axe import serious_faults
from support.browser import PHONE, watched
from support.examples import SHOP_AGENT
from weighbridge.grading.line_grader import grade_lines
from weighbridge.jobs.grader_spec import GraderSpec
from weighbridge.settings import Settings
from weighbridge_producer.input.source import Source
from weighbridge_producer.reports.forms import FORMS
from weighbridge_producer.reports.report import Report
from weighbridge_producer.run.cases_of_results import cases_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path
    from typing import Any

    from playwright.sync_api import Browser, BrowserContext, Page

    from support.browser import Watch

MANY = 100_000


@pytest.fixture(scope="module")
def context_and_watch(browser: Browser) -> Iterator[tuple[BrowserContext, Watch]]:
    with watched(browser, "file://", offline=True) as opened:
        yield opened


def report(folder: Path, lines: Iterable[bytes], **options: Any) -> Path:
    (folder / "results.jsonl").write_bytes(b"".join(lines))
    made = Report(folder / "results.jsonl", "cases.jsonl", **options)
    (folder / "report.html").write_bytes(b"".join(FORMS["html"].blocks(made)))
    return folder / "report.html"


def answers(count: int) -> Iterator[bytes]:
    for number in range(count):
        answer = ("Graz", "graz", "The answer is Graz.", "Oslo")[number % 4]
        inputs = {"agent_response": answer, "expected_output": "Graz"}
        yield orjson.dumps({"custom_id": f"case-{number}", "inputs": inputs})


def test_results_that_did_not_pass_are_first_each_kind_in_the_order_of_the_input(
    page: Page, tmp_path: Path
) -> None:
    lines = [*grade_lines(answers(6), ["string-match"]), *grade_lines([b"no case"], [])]
    page.goto(report(tmp_path, lines).as_uri())
    expect(page.locator("#shown-range")).to_have_text("1 to 7 of 7")
    ids = [row.split("\t")[0] for row in page.locator("#table tbody tr").all_inner_texts()]
    assert ids[:4] == ["case-1", "case-2", "case-3", "case-5"]
    assert ids[5:] == ["case-0", "case-4"]


def test_results_are_filtered_by_cause_and_text_and_lead_to_their_evidence(
    page: Page, tmp_path: Path
) -> None:
    page.goto(report(tmp_path, grade_lines(answers(400), ["string-match"])).as_uri())
    expect(page.locator("#shown-range")).to_have_text("1 to 100 of 400")
    page.get_by_role("button", name="Later").click()
    expect(page.locator("#shown-range")).to_have_text("101 to 200 of 400")
    page.locator("#causes").get_by_role("link", name="100 jobs").first.click()
    expect(page.locator("#shown-range")).to_have_text("1 to 100 of 100")
    page.get_by_label("Case or reason").fill("case-1")
    rows = page.locator("#table tbody tr")
    expect(rows.first).to_contain_text("case-1")
    rows.first.get_by_role("link").click()
    expect(page.locator("details.evidence-card[open]")).to_have_count(1)
    expect(page.locator("details.evidence-card[open] .difference")).to_be_visible()
    page.get_by_label("Case or reason").fill("no such")
    expect(page.locator("#shown-range")).to_have_text("No matching results")


def test_a_failed_trace_has_its_timeline_and_a_step_opens(page: Page, tmp_path: Path) -> None:
    source = Source(SHOP_AGENT, Settings())
    lines = grade_lines([line.raw for line in source], [GraderSpec("loop")])
    page.goto(report(tmp_path, lines, cases_of=cases_in(source)).as_uri())
    first = page.locator("details.evidence-card").first
    first.locator("summary").first.click()
    first.locator(".steps-named a").first.click()
    expect(first.locator(".step details[open]").first).to_be_visible()


def test_nothing_in_it_keeps_somebody_from_using_it(page: Page, tmp_path: Path) -> None:
    source = Source(SHOP_AGENT, Settings())
    lines = grade_lines([line.raw for line in source], [GraderSpec("loop")])
    page.goto(report(tmp_path, lines, cases_of=cases_in(source)).as_uri())
    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    assert serious_faults(page) == []


def test_it_fits_a_phone(page: Page, tmp_path: Path) -> None:
    page.set_viewport_size(PHONE)
    page.goto(report(tmp_path, grade_lines(answers(40), ["string-match"])).as_uri())
    expect(page.locator("#shown-range")).to_have_text("1 to 40 of 40")
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    for name in ("Pass rates", "Table of results"):
        region = page.get_by_role("region", name=name)
        assert region.evaluate("shown => shown.scrollWidth <= shown.clientWidth")


@pytest.mark.slow
def test_a_report_of_100_000_results_is_small_and_draws_few_of_them(
    page: Page, tmp_path: Path
) -> None:
    # Graded once each: the report takes no less for results that differ only by the case's name.
    kinds = list(grade_lines(answers(4), ["string-match"]))
    lines = (
        kinds[number % 4].replace(b'"case-%d"' % (number % 4), b'"case-%d"' % number)
        for number in range(MANY)
    )
    file = report(tmp_path, lines)
    assert file.stat().st_size < 20_000_000
    page.goto(file.as_uri())
    expect(page.locator("#shown-range")).to_have_text("1 to 100 of 100,000")
    expect(page.locator("#table tbody tr")).to_have_count(100)
    assert page.locator("details.evidence-card").count() == 500
