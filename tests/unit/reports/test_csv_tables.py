"""Tables: a row for each job or case that csv reads back, no spreadsheet runs, and no input makes too wide."""

import csv
import io
import random
import re
import time
import tracemalloc

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from weighbridge.grading.line_grader import grade_lines
from weighbridge.jobs.grader_spec import GraderSpec
from weighbridge.settings import MIB
from weighbridge_producer.reports.csv_tables import (
    CELL_CHARACTERS,
    METADATA_COLUMNS,
    csv_table,
    tsv_table,
)
from weighbridge_producer.reports.forms import FORMS
from weighbridge_producer.reports.report import Report

NUMBER = re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
BOTH = (GraderSpec("string-match"), GraderSpec("true-false"))


def case(custom_id, answer, expected="Graz", **fields):
    inputs = {"agent_response": answer, "expected_output": expected}
    return {"custom_id": custom_id, "inputs": inputs, **fields}


def graded(*cases, graders=("string-match",)):
    return list(grade_lines([orjson.dumps(each) for each in cases], graders))


def rows(tmp_path, lines, form="csv", **options):
    path = tmp_path / "results.jsonl"
    path.write_bytes(b"".join(lines))
    text = b"".join(FORMS[form].blocks(Report(path, "cases", **options))).decode()
    dialect = "excel-tab" if form == "tsv" else "excel"
    return list(csv.DictReader(io.StringIO(text, newline=""), dialect=dialect))


@pytest.mark.parametrize("form", ["csv", "tsv"])
def test_a_job_is_a_row_with_what_was_expected_observed_and_why(tmp_path, form):
    [row] = rows(tmp_path, graded(case("q1", 'gr\t"az"\n', metadata={"topic": "towns"})), form)
    assert row["custom_id"] == "q1"
    assert row["verdict"] == "fail"
    assert row["expected"] == "Graz"
    assert row["observed"] == 'gr\t"az"\n'
    assert row["reason"].startswith("Expected 'Graz' but got 'gr␉")
    assert row["cause"] == "string_match: formatting"
    assert row["metadata.topic"] == "towns"


def test_of_a_trace_the_limit_and_the_observed_value_of_the_check_that_failed_are_reported(
    tmp_path,
):
    trace = {"format": "weighbridge", "steps": [{"type": "tool", "name": "a"}] * 3}
    given = {
        "custom_id": "t",
        "inputs": {"trace": trace},
        "grader": "budget",
        "config": {"max_tool_calls": 2},
    }
    [row] = rows(tmp_path, graded(given))
    assert (row["expected"], row["observed"], row["cause"]) == ("2", "3", "max_tool_calls")


def test_a_job_that_errored_tells_its_code(tmp_path):
    [row] = rows(tmp_path, graded({"custom_id": "e", "inputs": {"agent_response": "x"}}))
    assert (row["status"], row["error_code"], row["score"]) == ("errored", "MISSING_FIELD", "")
    assert row["expected"] == row["observed"] == ""


def test_fields_of_the_metadata_have_columns_and_those_beyond_the_limit_one_together(tmp_path):
    metadata = {"a": {"b": 1}, "list": [1, "x"], "yes": True, **{f"k{n}": n for n in range(200)}}
    first, second = rows(
        tmp_path, graded(case("q1", "Graz", metadata=metadata), case("q2", "Graz"))
    )
    assert (first["metadata.a.b"], first["metadata.list"]) == ("1", '[1,"x"]')
    assert first["metadata.yes"] == "true"
    assert sum(name.startswith("metadata.") for name in first) == METADATA_COLUMNS
    assert orjson.loads(first["metadata"])["k199"] == 199
    assert {second[name] for name in second if name.startswith("metadata")} == {""}


def test_a_cell_is_no_longer_than_a_spreadsheet_holds_and_has_no_null_character(tmp_path):
    [row] = rows(tmp_path, graded(case("q", "a\0" + "x" * 100_000)))
    assert len(row["observed"]) == CELL_CHARACTERS
    assert row["observed"].startswith("a\ufffdx")
    assert row["observed"].endswith("…")


@pytest.mark.parametrize("form", ["csv", "tsv"])
@pytest.mark.parametrize(
    "hostile",
    [
        *("=1+1", "\t=1", "@A", "\uff1d1", "+1+1", "-1-1", "-A1", "+1 ", "-5;=1", "-1.2.3", "--1"),
        *("-1e", "-e5", "-", "+.", "-1|cmd!A0", "-1\n", "\uff0d5", "-\u0665", "-1_000", "-0x1F"),
    ],
)
def test_nothing_that_a_stranger_wrote_is_a_formula(tmp_path, form, hostile):
    given = case("@q", hostile, metadata={hostile: hostile})
    for row in rows(tmp_path, graded(given), form):
        cells = [cell for pair in row.items() for cell in pair]
        assert [cell for cell in cells if cell.startswith(tuple("=+-@\t\uff1d"))] == []


@given(
    st.lists(
        st.text("=+-@\uff1d\uff0b\uff0d\uff20;,\t\r\n\"' \xa0\u30001a", max_size=12), max_size=4
    )
)
@pytest.mark.parametrize("skips_spaces", [False, True])
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("write", [csv_table, tsv_table])
def test_no_reading_of_a_table_has_a_formula(write, delimiter, skips_spaces, texts):
    # The first column is plain, because what follows a number there is part of its cell in other readings.
    text = b"".join(write([["c", *texts], ["c", *texts]])).decode()
    file = io.StringIO(text, newline="")
    read = csv.reader(file, delimiter=delimiter, skipinitialspace=skips_spaces)
    cells = [cell.lstrip(" \xa0\u3000\n\r") for row in read for cell in row]
    formulas = [cell for cell in cells if cell.startswith(tuple("=+-@\uff1d\uff0b\uff0d\uff20"))]
    assert [cell for cell in formulas if not NUMBER.fullmatch(cell)] == []


@pytest.mark.parametrize("text", ["\n" * 40_000, ';"' * 20_000, " " * 40_000, " ;" * 20_000 + "x"])
def test_long_runs_of_what_may_precede_a_formula_take_no_time(text):
    start = time.process_time()
    for write in (csv_table, tsv_table):
        assert len(b"".join(write([[text]]))) > CELL_CHARACTERS
    assert time.process_time() - start < 1.0


def test_a_case_that_fails_one_grader_and_errs_in_another_has_failed(tmp_path):
    graders = (GraderSpec("no-such-grader"), GraderSpec("true-false"))
    [row] = rows(tmp_path, graded(case("q1", "no", "yes"), graders=graders), by_case=True)
    assert row["outcome"] == "fail"


def test_by_case_each_label_has_columns_and_the_worst_outcome_is_the_cases(tmp_path):
    found = rows(
        tmp_path,
        graded(case("q1", "yes", "yes"), case("q2", "no", "yes"), graders=BOTH),
        by_case=True,
    )
    assert [row["custom_id"] for row in found] == ["q1", "q2"]
    assert [row["outcome"] for row in found] == ["pass", "fail"]
    assert [row["string-match.verdict"] for row in found] == ["pass", "fail"]
    assert found[1]["true-false.reason"] == "Expected true but got false"
    assert found[1]["cause"] == "string_match: other"


def test_by_case_results_of_a_case_that_stand_apart_are_one_row_in_the_order_of_the_input(tmp_path):
    lines = graded(*(case(f"q{n}", "no", "yes") for n in range(1, 6)), graders=BOTH)
    jobs = [job for line in lines for job in line.splitlines(keepends=True)]
    apart = [*jobs[6:], *jobs[:2], jobs[3], jobs[4], jobs[2], jobs[5]]
    found = rows(tmp_path, apart, by_case=True)
    assert [row["custom_id"] for row in found] == ["q1", "q2", "q3", "q4", "q5"]
    assert all(row["string-match.verdict"] and row["true-false.verdict"] for row in found)


def test_by_case_the_highest_line_number_takes_no_more_memory_than_others(tmp_path):
    row = orjson.loads(graded(case("q", "Graz"))[0])
    lines = [orjson.dumps(row | {"line": line}) + b"\n" for line in (2**53 - 1, 7)]
    tracemalloc.start()
    try:
        found = rows(tmp_path, lines, by_case=True)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert [row["line"] for row in found] == ["7", str(2**53 - 1)]
    assert peak < 16 * MIB


def test_by_case_a_line_that_is_no_case_is_a_row(tmp_path):
    lines = list(grade_lines([b"{", orjson.dumps(case("q", "Graz"))], ["string-match"]))
    first, second = rows(tmp_path, lines, by_case=True)
    assert (first["line"], first["outcome"], first["cause"]) == ("1", "errored", "INVALID_JSON")
    assert second["outcome"] == "pass"


@pytest.mark.parametrize("form", ["csv", "tsv"])
@pytest.mark.parametrize("number", ["-5", "+5", "-0.5", "-.5", "+5.", "-1e-05", "-12E+3", "-007"])
def test_a_text_that_is_wholly_a_number_stays_as_it_is(tmp_path, form, number):
    [row] = rows(tmp_path, graded(case(number, number, metadata={"n": number})), form)
    assert (row["custom_id"], row["observed"], row["metadata.n"]) == (number,) * 3


def test_numbers_stay_numbers_whatever_they_begin_with(tmp_path):
    line = graded(case("q1", "-5", metadata={"n": -5, "x": -0.5}))
    big = line[0].replace(b'"x":-0.5', b'"x":-0.5,"big":{"n":[123456789012345678901234567890]}')
    [row] = rows(tmp_path, [big])
    assert (row["metadata.n"], row["metadata.x"]) == ("-5", "-0.5")
    assert row["metadata.big.n"] == "[123456789012345678901234567890]"


@pytest.mark.parametrize("alphabet", ['a"', 'a", \u00e9\U0001f600', 'b"\u00a0\u2028'])
def test_cells_are_quoted_as_pythons_own_writer_quotes_them(alphabet):
    chosen = random.Random(alphabet)
    table = [
        [
            chosen.choice([None, 1, -2.5, "".join(chosen.choices(alphabet, k=chosen.randrange(6)))])
            for _ in range(5)
        ]
        for _ in range(1_200)
    ]
    expected = io.StringIO(newline="")
    csv.writer(expected, quoting=csv.QUOTE_ALL).writerows(table)
    assert b"".join(csv_table(table)).decode() == expected.getvalue()
