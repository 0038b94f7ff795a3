"""A comparison as a table: a row for each result that changed."""

from __future__ import annotations

import csv
import html
import io
import json
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import orjson
import pyarrow as pa
import pytest
from google.protobuf import json_format
from opentelemetry.proto.logs.v1.logs_pb2 import LogsData
from pyarrow import parquet

from support.result_lines import case, graded
from weighbridge_producer.comparison.compare import compare_runs
from weighbridge_producer.comparison.runs import Run, run_of_lines
from weighbridge_producer.gating.fields import parse_field
from weighbridge_producer.reports import comparison_forms
from weighbridge_producer.reports.comparison_forms import ComparisonData, blocks_of, change_line
from weighbridge_producer.reports.forms import FORMS

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def written(tmp_path: Path) -> ComparisonData:
    """One result regressed, one is new, one is as it was; the texts are hostile."""
    before = graded([case("=r", "Lisbon"), case("same")])
    after = graded([case("=r", "=1+1\t\n"), case("same"), case("new", "Porto")])
    changes = tmp_path / "changes.jsonl"
    with changes.open("wb") as file:

        def write(run, pair) -> None:
            file.write(change_line(run, pair))

        runs = [run_of_lines("monday", before), run_of_lines("tuesday", after)]
        [found] = compare_runs(runs, on_change=write)
    return ComparisonData([(found, [])], changes)


@pytest.mark.parametrize(
    ("by", "name", "note"),
    [
        ((), "p", "exact test."),
        (("metadata.topic",), "adjusted p", "adjusted for the number of labels, or of slices"),
    ],
)
def test_the_summaries_say_whether_p_is_adjusted(
    tmp_path: Path, by: tuple[str, ...], name: str, note: str
) -> None:
    results = graded([case("a", metadata={"topic": "x"}), case("b", metadata={"topic": "y"})])
    runs = run_of_lines("monday", results), run_of_lines("tuesday", results)
    written = written_in_full(tmp_path, *runs, *by)
    summary = made(written, "md").decode()
    assert f"| difference | {name} |" in " ".join(summary.split())
    assert note in summary
    page = made(written, "html").decode()
    assert f">{name.capitalize() if by else name}</th>" in page
    assert ("adjusted for the number of labels, or of slices" in page) == bool(by)


def written_in_full(tmp_path: Path, before: Run, after: Run, *by: str) -> ComparisonData:
    changes = tmp_path / "changes.jsonl"
    with changes.open("wb") as file:
        [found] = compare_runs(
            [before, after],
            by=tuple(map(parse_field, by)),
            on_change=lambda run, pair: file.write(change_line(run, pair)),
            in_full=True,
        )
    return ComparisonData([(found, [])], changes)


def table_of(written: ComparisonData) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(made(written, "csv").decode())))


def test_both_answers_and_the_metadata_of_a_change_are_in_each_form(tmp_path: Path) -> None:
    metadata = {"topic": "=towns", "tags": ["x", "y"], "agent": {"model": "m1"}}
    before = run_of_lines("monday", graded([case("a", "Lisbon", metadata=metadata)]))
    after = run_of_lines("tuesday", graded([case("a", "=Porto", metadata=metadata)]))
    written = written_in_full(tmp_path, before, after, "metadata.tags.*")
    [row] = table_of(written)
    assert [row[f"before.{name}"] for name in ("expected", "observed")] == ["Lisbon", "Lisbon"]
    assert [row[f"after.{name}"] for name in ("expected", "observed")] == ["Lisbon", "'=Porto"]
    assert {name: row[name] for name in row if name.startswith("metadata")} == {
        "metadata.topic": "'=towns",
        "metadata.tags": '["x","y"]',
        "metadata.agent.model": "m1",
    }
    change = orjson.loads(made(written, "jsonl"))
    assert change["metadata"] == {"topic": "=towns", "tags": '["x","y"]', "agent.model": "m1"}
    assert (change["before"]["observed"], change["after"]["observed"]) == ("Lisbon", "=Porto")
    [typed] = parquet.read_table(io.BytesIO(made(written, "parquet"))).to_pylist()
    assert (typed["after.observed"], typed["metadata.topic"]) == ("=Porto", "=towns")
    for form in ("md", "html"):
        assert "passed: observed 'Lisbon'" in html.unescape(made(written, form).decode())
    assert b"Porto" in made(written, "otel")


def test_metadata_beyond_the_columns_of_a_table_of_changes_is_json_in_one(tmp_path: Path) -> None:
    sides = [
        run_of_lines(name, graded([case(f"c{n}", answer, metadata={f"k{n}": n}) for n in range(9)]))
        for name, answer in (("monday", "Lisbon"), ("tuesday", "Porto"))
    ]
    written = written_in_full(tmp_path, *sides)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(comparison_forms, "METADATA_COLUMNS", 4)
        rows = table_of(written)
        assert len(parquet.read_table(io.BytesIO(made(written, "parquet")))) == 9
    assert [row["metadata"] for row in rows] == [""] * 4 + [
        f'{{"k{n}":"{n}"}}' for n in range(4, 9)
    ]
    assert [row["metadata.k0"] for row in rows] == ["0", *[""] * 8]


def test_long_answers_are_cut_and_values_that_are_no_text_are_json(tmp_path: Path) -> None:
    sides = [graded([case("a", "Lisbon")]), graded([case("a", "x" * 9_000)])]
    row = orjson.loads(sides[0][0])
    row["result"]["details"] = {}
    row["result"]["evidence"][0] |= {"limit": {"max": 10**30}, "observed": [1, "é"]}
    sides[0] = [json.dumps(row).encode() + b"\n"]
    runs = (run_of_lines(f"run {n}", lines) for n, lines in enumerate(sides))
    [found] = table_of(written_in_full(tmp_path, *runs))
    assert (found["before.expected"], found["before.observed"]) == (
        '{"max":1000000000000000000000000000000}',
        '[1,"é"]',
    )
    assert len(found["after.observed"]) == 500
    assert found["after.observed"].endswith("…")


def made(written: ComparisonData, form: str) -> bytes:
    return b"".join(blocks_of(written, FORMS[form]))


def test_a_regression_in_junit_names_the_steps_only_of_checks_that_have_some(
    written: ComparisonData,
) -> None:
    [failure] = ET.fromstring(made(written, "junit")).iter("failure")
    assert failure.text == "string_match"
    change = orjson.loads(written.changes.read_bytes().splitlines()[0])
    change["checks"][0]["steps_after"] = ["s1", "s2"]
    written.changes.write_bytes(orjson.dumps(change) + b"\n")
    [failure] = ET.fromstring(made(written, "junit")).iter("failure")
    assert failure.text == "string_match: steps s1, s2"


def test_results_that_are_judged_no_longer_are_errors_in_junit(tmp_path: Path) -> None:
    before = graded([case("a", "Lisbon"), case("b"), case("same")])
    broken = {"custom_id": "a", "inputs": {"expected_output": "Lisbon"}}
    after = graded([*map(orjson.dumps, (broken, {**broken, "custom_id": "new"})), case("same")])
    changes = tmp_path / "changes.jsonl"
    with changes.open("wb") as file:
        runs = [run_of_lines("monday", before), run_of_lines("tuesday", after)]
        [found] = compare_runs(runs, on_change=lambda run, pair: file.write(change_line(run, pair)))
    root = ET.fromstring(made(ComparisonData([(found, [])], changes), "junit"))
    messages = {each.get("name"): each[0].get("message", "") for each in root.iter("testcase")}
    assert set(messages) == {"a", "b"}
    assert "errored" in messages["a"]
    assert messages["b"].endswith("before, gone")
    suite = next(root.iter("testsuite"))
    assert [suite.get(name) for name in ("tests", "failures", "errors")] == ["2", "0", "2"]
    assert len([*root.iter("error")]) == 2


@pytest.mark.parametrize(("form", "dialect"), [("csv", "excel"), ("tsv", "excel-tab")])
def test_a_table_has_a_row_for_each_change_and_runs_no_formula(
    written: ComparisonData, form: str, dialect: str
) -> None:
    text = made(written, form).decode()
    found = {row["change"]: row for row in csv.DictReader(io.StringIO(text), dialect=dialect)}
    assert found.keys() == {"regressed", "new"}
    regressed = found["regressed"]
    assert regressed["custom_id"] == "'=r"
    assert (regressed["run"], regressed["label"]) == ("tuesday", "string-match")
    assert (regressed["before.outcome"], regressed["after.outcome"]) == ("passed", "failed")
    assert regressed["checks"] == "string_match"
    assert regressed["after.reason"].startswith("Expected 'Lisbon' but got")
    assert found["new"]["before.outcome"] == ""
    assert found["new"]["after.line"] == "3"


def test_parquet_has_the_same_with_types(written: ComparisonData) -> None:
    table = parquet.read_table(io.BytesIO(made(written, "parquet")))
    rows = {row["change"]: row for row in table.to_pylist()}
    assert rows["regressed"]["custom_id"] == "=r"
    assert table.schema.field("after.line").type == pa.int64()
    assert rows["new"]["before.line"] is None


def test_an_event_has_each_change_with_both_sides(written: ComparisonData) -> None:
    [line] = made(written, "otel").splitlines()
    [resource] = json_format.Parse(line, LogsData()).resource_logs
    [scope] = resource.scope_logs
    events = [{each.key: each.value for each in record.attributes} for record in scope.log_records]
    assert {record.event_name for record in scope.log_records} == {"gen_ai.evaluation.result"}
    found = {event["weighbridge.change"].string_value: event for event in events}
    assert found.keys() == {"regressed", "new"}
    regressed = found["regressed"]
    assert regressed["gen_ai.evaluation.score.label"].string_value == "fail"
    assert regressed["weighbridge.custom_id"].string_value == "=r"
    assert regressed["weighbridge.before.outcome"].string_value == "passed"
    assert regressed["weighbridge.after.outcome"].string_value == "failed"
    assert regressed["weighbridge.checks"].string_value == "string_match"
    assert "weighbridge.before.outcome" not in found["new"]
