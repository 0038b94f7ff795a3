"""Repeats in each form of output: all cases, or a summary."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import orjson
import pytest
from google.protobuf import json_format
from opentelemetry.proto.logs.v1.logs_pb2 import LogsData
from pyarrow import parquet

from support.pages import Page
from support.result_lines import case, graded
from weighbridge_producer.comparison.regression_gates import RegressionGates
from weighbridge_producer.comparison.repeats import RepeatKey, compare_repeats
from weighbridge_producer.comparison.runs import run_of_lines
from weighbridge_producer.reports.forms import FORMS, Output
from weighbridge_producer.reports.repeats_forms import RepeatsData, case_line, repeats_blocks

if TYPE_CHECKING:
    from pathlib import Path

#: Repeats by case: `"+-"` is one that passed and one that failed.
MONDAY = {"=1+1": "++", "<b>b</b>": "+-", "c": "--"}
TUESDAY = {"=1+1": "+-", "<b>b</b>": "--", "c": "--"}


def rows(passed: dict[str, str]) -> list[bytes]:
    return graded(
        case(f"{name}#{n}", "Lisbon" if sign == "+" else "Porto")
        for name, signs in passed.items()
        for n, sign in enumerate(signs)
    )


@pytest.fixture
def written(tmp_path: Path) -> RepeatsData:
    runs = [run_of_lines("monday", rows(MONDAY)), run_of_lines("tuesday", rows(TUESDAY))]
    cases = tmp_path / "cases.jsonl"
    with cases.open("wb") as file:
        labels = compare_repeats(
            runs, RepeatKey.parse("custom_id:#"), lambda case: file.write(case_line(case))
        )
    gates = RegressionGates(fail_on_regression=True).check_repeats(labels, 1)
    return RepeatsData(runs, labels, gates, cases)


def made(written: RepeatsData, form: str) -> bytes:
    return b"".join(repeats_blocks(written, Output("-", FORMS[form])))


def test_a_line_and_a_row_are_a_case_of_a_run(written: RepeatsData) -> None:
    lines = [orjson.loads(line) for line in made(written, "jsonl").splitlines()]
    told = {(each["run"], each["case"]): (each["outcome"], each["passed"]) for each in lines}
    assert told == {
        ("monday", "=1+1"): ("pass", 2),
        ("monday", "<b>b</b>"): ("flaky", 1),
        ("monday", "c"): ("fail", 0),
        ("tuesday", "=1+1"): ("flaky", 1),
        ("tuesday", "<b>b</b>"): ("fail", 0),
        ("tuesday", "c"): ("fail", 0),
    }
    table = list(csv.DictReader(io.StringIO(made(written, "csv").decode())))
    assert len(table) == 6
    assert "'=1+1" in {each["case"] for each in table}
    assert parquet.read_table(io.BytesIO(made(written, "parquet"))).to_pylist() == lines
    assert made(written, "tsv").count(b"\n") == 7


def test_the_summary_has_the_estimates_and_the_flaky_cases(written: RepeatsData) -> None:
    text = made(written, "md").decode()
    assert "## Weighbridge: `monday → tuesday`" in text
    assert "| `monday` | 3 | 50.0%" in text
    assert "| `monday` | `<b>b</b>` | 1 of 2 |" in text
    assert "### Gates" in text


def test_the_page_has_the_same_without_scripts(written: RepeatsData) -> None:
    html = made(written, "html").decode()
    assert "<script" not in html
    assert "<b>" not in html
    cells = [cell.text for cell in Page.of(html).root.all("td")]
    assert {"<b>b</b>", "1 of 2", "50.0%", "33.3%"} <= {*cells}


def test_a_case_that_did_not_always_pass_fails_in_junit(written: RepeatsData) -> None:
    root = ET.fromstring(made(written, "junit"))
    suites = {each.get("name"): each for each in root}
    assert suites.keys() == {"repeats 1", "repeats 2", "gates"}
    assert (suites["repeats 1"].get("tests"), suites["repeats 1"].get("failures")) == ("3", "2")
    kinds = {each.get("type") for each in suites["repeats 1"].iter("failure")}
    assert kinds == {"flaky", "fail"}


def test_an_event_is_a_case_of_a_run(written: RepeatsData) -> None:
    lines = made(written, "otel").splitlines()
    records = [
        record
        for line in lines
        for resource in json_format.Parse(line, LogsData()).resource_logs
        for record in resource.scope_logs[0].log_records
    ]
    assert (len(lines), len(records)) == (2, 6)
    values = {each.key: each.value for each in records[0].attributes}
    assert values["weighbridge.repeats.judged"].int_value == 2
    assert values["gen_ai.evaluation.score.label"].string_value in {"pass", "fail", "flaky"}
