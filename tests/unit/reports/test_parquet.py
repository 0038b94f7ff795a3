"""Parquet: typed, in row groups, read back by pyarrow with all evidence."""

import csv
import io

import orjson
import pytest

from weighbridge.errors import OutputError
from weighbridge.grading.line_grader import grade_lines
from weighbridge_producer.reports import parquet as forms
from weighbridge_producer.reports.forms import FORMS, output_of
from weighbridge_producer.reports.report import Report
from weighbridge_producer.run.outputs import check_targets

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")


def table(tmp_path, *cases, graders=("string-match",)):
    path = tmp_path / "results.jsonl"
    path.write_bytes(b"".join(grade_lines(map(orjson.dumps, cases), graders)))
    written = b"".join(FORMS["parquet"].blocks(Report(path, "cases")))
    return parquet.ParquetFile(io.BytesIO(written))


def case(number, answer="Graz", **metadata):
    inputs = {"agent_response": answer, "expected_output": "Graz"}
    return {"custom_id": f"q{number}", "inputs": inputs, "metadata": metadata}


def test_every_field_has_its_type_and_its_value(tmp_path):
    file = table(
        tmp_path,
        case(1, n=1, share=1, yes=True, mixed="a", nested={"a": "x"}),
        case(2, "graz", n=2, share=0.5, yes=False, mixed=3, nested={"a": None}),
        {"custom_id": "e", "inputs": {}},
    )
    types = {field.name: str(field.type) for field in file.schema_arrow}
    assert types["line"] == types["metadata.n"] == "int64"
    assert types["score"] == types["metadata.share"] == "double"
    assert types["metadata.yes"] == "bool"
    assert types["metadata.mixed"] == types["metadata.nested.a"] == "string"
    first, second, errored = file.read().to_pylist()
    assert (first["verdict"], first["score"], first["reason"], first["cause"]) == (
        "pass",
        1,
        None,
        None,
    )
    assert (first["metadata.mixed"], second["metadata.mixed"]) == ("a", "3")
    assert (second["expected"], second["observed"]) == ("Graz", "graz")
    assert second["cause"] == "string_match: case"
    [check] = second["evidence"]
    assert (check["check"], check["passed"], check["cause"]) == ("string_match", False, "case")
    assert (errored["error_code"], errored["score"], errored["evidence"]) == (
        "MISSING_FIELD",
        None,
        [],
    )
    assert errored["metadata.n"] is None


@pytest.mark.parametrize("form", ["csv", "tsv"])
def test_the_columns_are_those_of_the_other_tables_and_the_evidence(tmp_path, form):
    cases = case(1, n=1), case(2, "graz", n=2), {"custom_id": "e", "inputs": {}, "metadata": {}}
    file = table(tmp_path, *cases)
    text = b"".join(FORMS[form].blocks(Report(tmp_path / "results.jsonl", "cases"))).decode()
    dialect = "excel-tab" if form == "tsv" else "excel"
    rows = list(csv.DictReader(io.StringIO(text, newline=""), dialect=dialect))
    names = [name for name in file.schema_arrow.names if name != "evidence"]
    assert names == list(rows[0])
    for row, typed in zip(rows, file.read().to_pylist(), strict=True):
        assert row == {name: "" if typed[name] is None else str(typed[name]) for name in names}


def test_rows_are_written_in_groups(tmp_path, monkeypatch):
    monkeypatch.setattr(forms, "ROWS_AT_ONCE", 10)
    file = table(tmp_path, *map(case, range(25)))
    assert [file.metadata.row_group(n).num_rows for n in range(file.num_row_groups)] == [10, 10, 5]
    monkeypatch.setattr(forms, "BYTES_AT_ONCE", 300)
    assert table(tmp_path, *map(case, range(25))).num_row_groups > 5


def test_odd_values_are_written(tmp_path):
    [row] = (
        table(tmp_path, case(1, "\0", big=2**63, deep={"a": {"b": {"c": {"d": {}}}}}))
        .read()
        .to_pylist()
    )
    assert row["metadata.big"] == str(2**63)
    assert row["metadata.deep.a.b.c"] == '{"d":{}}'
    assert row["observed"] == "\0"


def test_a_file_without_results_has_its_columns(tmp_path):
    file = table(tmp_path)
    assert file.metadata.num_rows == 0
    assert "evidence" in file.schema_arrow.names


def test_without_pyarrow_the_form_is_refused_before_anything_is_run(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(OutputError) as refusal:
        check_targets(["r.parquet"])
    assert refusal.value.hint == "pip install 'weighbridge[parquet]'"
    assert output_of("r.parquet").form.name == "parquet"
