"""How long an HTML report takes to open in a browser, by its number of results.

    python -m benchmarks.report_page [--results 1000 100000] [--rounds 5]

The measurement lasts from the request of the file to the first rows in the table. In each round, the report takes turns with
its reference, a page that only parses the same data. It needs Playwright and a Chromium on the PATH, or
at the path in CHROMIUM.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import tempfile
import time
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from weighbridge.grading.line_grader import grade_lines
from weighbridge.jobs.grader_spec import GraderSpec
from weighbridge_producer.reports.forms import FORMS
from weighbridge_producer.reports.report import Report

ANSWERS = (b"Graz", b"graz", b"The answer is Graz.", b"Oslo")  #: of which one passes
CASE = b'{"custom_id":"case-%d","inputs":{"agent_response":"%s","expected_output":"Graz"}}'
DRAWN = "() => document.querySelector('#table tbody tr') !== null"
PARSED = "() => window.parsed === true"
PARSE = """<!doctype html><script id="data" type="application/json">%s</script>
<script>window.parsed = JSON.parse(document.getElementById("data").textContent) !== null;</script>"""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--results", type=int, nargs="+", default=[1_000, 100_000])
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    chromium = os.environ.get("CHROMIUM") or next(
        filter(None, map(shutil.which, ("chromium-headless-shell", "chromium"))), None
    )
    with (
        tempfile.TemporaryDirectory(prefix="weighbridge-report-") as name,
        sync_playwright() as play,
    ):
        page = play.chromium.launch(executable_path=chromium).new_page()
        for count in given.results:
            report, reference = write(Path(name), count)
            taken: list[tuple[float, float]] = [
                (seconds_to(page, report, DRAWN), seconds_to(page, reference, PARSED))
                for _ in range(given.rounds)
            ]
            opened, parsed = map(statistics.median, zip(*taken, strict=True))
            print(
                f"{count:,} results, {report.stat().st_size / 1e6:.1f} MB: open after {opened:.2f} s, "
                f"{statistics.median(one / other for one, other in taken):.1f} times as long as parsing "
                f"the data ({parsed:.2f} s)"
            )


def write(folder: Path, count: int) -> tuple[Path, Path]:
    """Write a report of so many results, and a page with its data alone."""
    results = folder / "results.jsonl"
    cases = [CASE % (number, ANSWERS[number % len(ANSWERS)]) for number in range(count)]
    results.write_bytes(b"".join(grade_lines(cases, [GraderSpec("string-match")])))
    report, reference = folder / f"{count}.html", folder / f"{count}-data.html"
    report.write_bytes(b"".join(FORMS["html"].blocks(Report(results, "cases.jsonl"))))
    _, _, rest = report.read_text().partition('id="data"')
    data = rest.partition(">")[2].partition("</script>")[0]
    reference.write_text(PARSE % data)
    return report, reference


def seconds_to(page: Page, file: Path, happened: str) -> float:
    """Open the file; return how long it took until that had happened."""
    page.goto("about:blank")
    begun = time.monotonic()
    page.goto(file.as_uri())
    page.wait_for_function(happened)
    return time.monotonic() - begun


if __name__ == "__main__":
    main()
