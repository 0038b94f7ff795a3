"""Repeats in each form of output: all cases, or a summary."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import orjson
import pytest
from google.protobuf import json_format
from opentelemetry.proto.logs.v1.logs_pb2 import LogsData
from pyarrow import parquet

from support.markdown import unpadded
from support.pages import Page
from support.result_lines import case, graded
from weighbridge_producer.comparison.regression_gates import RegressionGates
from weighbridge_producer.comparison.repeat_key import RepeatKey
from weighbridge_producer.comparison.repeats import compare_repeats
from weighbridge_producer.comparison.runs import run_of_lines
from weighbridge_producer.reports.forms import FORMS, Output
from weighbridge_producer.reports.repeats_forms import RepeatsData, case_line, repeats_blocks

if TYPE_CHECKING:
    from pathlib import Path

#: Repeats by case: `"+-"` is one that passed and one that failed, `"?"` one that was not judged.
MONDAY = {"=1+1": "++", "<b>b</b>": "+-", "c": "--"}
TUESDAY = {"=1+1": "+-", "<b>b</b>": "--", "c": "--"}


def rows(passed: dict[str, str]) -> list[bytes]:
    return graded(
        case(f"{name}#{n}", "Lisbon" if sign == "+" else "Porto", None if sign == "?" else "Lisbon")
        for name, signs in passed.items()
        for n, sign in enumerate(signs)
    )


def data_of(folder: Path, *named: tuple[str, dict[str, str]]) -> RepeatsData:
    runs = [run_of_lines(name, rows(passed)) for name, passed in named]
    cases = folder / "cases.jsonl"
    with cases.open("wb") as file:
        labels = compare_repeats(
            runs, RepeatKey.parse("custom_id:#"), lambda case: file.write(case_line(case))
        )
    gate = RegressionGates(fail_on_regression=True)
    gates = gate.check_repeats(labels, 1) if len(runs) > 1 else []
    return RepeatsData(runs, labels, gates, cases)


@pytest.fixture
def written(tmp_path: Path) -> RepeatsData:
    return data_of(tmp_path, ("monday", MONDAY), ("tuesday", TUESDAY))


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
    text = unpadded(made(written, "md").decode())
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


def test_the_summaries_count_lost_and_unjudged_repeats(tmp_path: Path) -> None:
    written = data_of(tmp_path, ("monday", {"a": "+--", "b": "+"}), ("tuesday", {"a": "+??"}))
    text = unpadded(made(written, "md").decode())
    assert "| flaky | ungradable | errored |" in text
    assert "| 0 | 2 | 0 |" in text
    assert "| 3 in 2 cases |" in text
    cells = [cell.text for cell in Page.of(made(written, "html").decode()).root.all("td")]
    assert "3 in 2 cases" in cells
    assert "no lost results" in text


def test_the_p_values_of_several_labels_are_named_adjusted(tmp_path: Path) -> None:
    one = data_of(tmp_path, ("monday", MONDAY), ("tuesday", TUESDAY))
    several = replace(one, labels=[*one.labels, *one.labels])
    for written, name in ((one, "p"), (several, "adjusted p")):
        assert f"| better | {name} | lost" in unpadded(made(written, "md").decode())
        head = [cell.text for cell in Page.of(made(written, "html").decode()).root.all("th")]
        assert ("Adjusted p" in head) == (written is several)


def test_a_case_that_did_not_always_pass_fails_in_junit(written: RepeatsData) -> None:
    root = ET.fromstring(made(written, "junit"))
    suites = {each.get("name"): each for each in root}
    assert suites.keys() == {"repeats of monday", "repeats of tuesday", "gates"}
    monday = suites["repeats of monday"]
    assert (monday.get("tests"), monday.get("failures")) == ("3", "2")
    assert {each.get("type") for each in monday.iter("failure")} == {"flaky", "fail"}


def events_of(written: RepeatsData) -> list[list[dict[str, Any]]]:
    """Return the attributes of the events in each line."""
    return [
        [
            {each.key: each.value for each in record.attributes}
            for resource in json_format.Parse(line, LogsData()).resource_logs
            for record in resource.scope_logs[0].log_records
        ]
        for line in made(written, "otel").splitlines()
    ]


def outcomes_in(events: list[dict[str, Any]]) -> dict[str, str]:
    """Return the outcome of each case."""
    return {
        each["weighbridge.case"].string_value: each["gen_ai.evaluation.score.label"].string_value
        for each in events
    }


def test_an_event_is_a_case_of_a_run(written: RepeatsData) -> None:
    monday, tuesday = events_of(written)
    assert (len(monday), len(tuesday)) == (3, 3)
    assert {each["weighbridge.repeats.judged"].int_value for each in monday + tuesday} == {2}
    assert outcomes_in(monday) == {"=1+1": "pass", "<b>b</b>": "flaky", "c": "fail"}
    assert outcomes_in(tuesday) == {"=1+1": "flaky", "<b>b</b>": "fail", "c": "fail"}


def test_runs_of_one_name_are_kept_apart(tmp_path: Path) -> None:
    written = data_of(tmp_path, ('a "b"', MONDAY), ('a "b"', TUESDAY))
    suites = [each for each in ET.fromstring(made(written, "junit")) if each.get("name") != "gates"]
    assert [each.get("name") for each in suites] == ['repeats of a "b"'] * 2
    counts = [(each.get("tests"), each.get("failures"), len(each)) for each in suites]
    assert counts == [("3", "2", 3), ("3", "3", 3)]
    first, second = map(outcomes_in, events_of(written))
    assert first == {"=1+1": "pass", "<b>b</b>": "flaky", "c": "fail"}
    assert second == {"=1+1": "flaky", "<b>b</b>": "fail", "c": "fail"}


def test_a_case_of_which_no_repeat_was_judged_is_skipped_and_has_no_score(tmp_path: Path) -> None:
    written = data_of(tmp_path, ("monday", {"d": "??"}))
    [line] = map(orjson.loads, made(written, "jsonl").splitlines())
    assert (line["outcome"], line["judged"], line["unjudged"]) == ("unjudged", 0, 2)
    [suite] = ET.fromstring(made(written, "junit"))
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("1", "0", "1")
    [skipped] = suite.iter("skipped")
    assert skipped.get("message") == "0 of 0 repeats passed in monday, 2 were not judged"
    [[event]] = events_of(written)
    assert event["gen_ai.evaluation.score.label"].string_value == "unjudged"
    assert "gen_ai.evaluation.score.value" not in event
