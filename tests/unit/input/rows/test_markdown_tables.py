"""Tables in Markdown: cells without their padding, no case from the rule, and faults for rows that do not fit."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import pytest

from weighbridge.jobs.grader_spec import GraderSpec
from weighbridge.settings import Settings
from weighbridge_producer.input.files.input_paths import Paths
from weighbridge_producer.input.first_rows import Opened
from weighbridge_producer.input.recognition import recognise
from weighbridge_producer.input.rows.row_formats import RowReader

if TYPE_CHECKING:
    from pathlib import Path

    from weighbridge_producer.input.rows.source_rows import SourceRow

TABLE = "| id | output   | gold |\n|----|:--------:|-----:|\n| 1  | Paris    | Paris |\n| 2  | a \\| b |  |\n"
BARE = "id | output | gold\n--- | --- | ---\n1 | Paris | Paris\n2 | a \\| b | \n"
FOUND = [
    {"id": "1", "output": "Paris", "gold": "Paris"},
    {"id": "2", "output": "a | b", "gold": ""},
]


def read(text: str, encoding: str = "utf-8", **settings: int) -> list[SourceRow]:
    reader = RowReader("a.txt", Settings(**settings))
    return list(reader.read(io.BytesIO(text.encode(encoding))))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize(
    "text",
    [
        TABLE,
        BARE,
        TABLE.replace("\n", "\r\n"),
        f"# Results, all of them\n\nOf, today.\n\n{TABLE}\n",
    ],
    ids=["bars at both ends", "bars between", "CRLF", "text above"],
)
def test_cells_are_read_without_bars_and_padding(text: str, encoding: str) -> None:
    rows = read(text, encoding)
    assert [row.values for row in rows] == FOUND
    assert text.splitlines()[rows[0].number - 1].lstrip("| ").startswith("1")


def test_a_row_that_does_not_fit_is_a_fault_and_the_others_are_read() -> None:
    rows = read(
        f"{TABLE}| 3 | x |\n| | | |\n| 4 | {'x' * 90} | y |\n| 5 | x | y |", line_limit_bytes=80
    )
    faults = {row.number: row.fault.code for row in rows if row.fault}
    assert faults == {5: "INVALID_ROW", 7: "LINE_TOO_LONG"}
    assert [row.values["id"] for row in rows if not row.fault] == ["1", "2", "5"]


def test_text_that_leaves_its_encoding_ends_the_table_with_an_error() -> None:
    data = TABLE.encode("utf-16") + b"\x00\xd8| 4 | x | y |\n"
    rows = list(RowReader("a.md", Settings()).read(io.BytesIO(data)))
    assert [row.fault.code for row in rows if row.fault] == ["INPUT_TRUNCATED"]
    assert [row.values for row in rows if not row.fault] == FOUND[: len(rows) - 1]


def test_a_table_with_bars_and_no_rule_stays_a_table_of_text() -> None:
    assert [row.values for row in read("a|b\n-|x\n")] == [{"a": "-", "b": "x"}]


@pytest.mark.parametrize("name", ["a.txt", "a.md"])
def test_a_mapping_is_proposed_for_its_columns(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(TABLE)
    opened = Opened.first_of(Paths([tmp_path / name]))
    found = recognise(opened, [GraderSpec("string-match")], Settings())
    assert found
    assert found.proposal
    assert str(found.layout) == "a Markdown table (UTF-8)"
    assert found.proposal.text == "custom_id=id,agent_response=output,expected_output=gold"


@pytest.mark.parametrize("apart", ["", "\n", "\nAnd now the others:\n\n"])
def test_a_table_that_goes_on_with_its_header_again_is_read_to_its_end(apart: str) -> None:
    rows = read(f"{TABLE}{apart}{TABLE}\nThat is all.\nReally.\n")
    assert [row.fault for row in rows] == [None] * 4
    assert [row.values for row in rows] == FOUND * 2


def test_another_table_is_a_fault_and_not_read() -> None:
    rows = read(f"{TABLE}\n| 3 | x | y |\n\n| a | b | c |\n|---|---|---|\n| 1 | 2 | 3 |\n")
    assert [row.values.get("id") for row in rows] == ["1", "2", "3", None]
    assert rows[-1].fault
    assert (rows[-1].number, rows[-1].fault.code) == (8, "INVALID_ROW")
    assert "another table" in rows[-1].fault.message
