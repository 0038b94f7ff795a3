"""A table whose first row is data is told from one with a header, and read without one if that is said."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import pytest

from weighbridge.settings import Settings
from weighbridge_producer.input.files.input_paths import Paths
from weighbridge_producer.input.files.table_form import TableForm
from weighbridge_producer.input.first_rows import Opened, first_rows
from weighbridge_producer.input.mapping.mapping_text import parse_mapping
from weighbridge_producer.input.rows.header_rows import as_data, data_in_header
from weighbridge_producer.input.rows.row_formats import RowReader
from weighbridge_producer.input.source import Source

if TYPE_CHECKING:
    from pathlib import Path


def rows(text: str, *, has_header: bool = True) -> list[dict[str, object]]:
    reader = RowReader("a.csv", Settings(), form=TableForm(has_header=has_header))
    found = list(reader.read(io.BytesIO(text.encode())))
    assert not any(row.fault for row in found)
    return [row.values for row in found]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("1,Paris,Lyon\n2,Rome,Rome\n3,Oslo,Oslo\n", "'1' is a number like all values below it"),
        ("0.5,a,b\n0.75,c,d\n", "'0.5' is a number"),
        ("x,2024-01-31,b\ny,2024-02-01,c\nz,,d\n", "'2024-01-31' is a date"),
        ("x,a,TRUE\ny,b,false\n", "'TRUE' is a boolean"),
        ("qa,Paris,Lyon\nqb,Rome,Rome\nqc,Paris,Oslo\n", "'Paris' is also a value below it"),
        ("q_17,Paris,Lyon\nq_18,Rome,Rome\n", "'q_17' is numbered like all values below it"),
        ("1,said,no\n2,so,no\n3,it,yes\n", "'1' is a number like all values below it"),
    ],
)
def test_a_first_row_that_looks_like_data_is_said_to(text: str, why: str) -> None:
    found = data_in_header(rows(text))
    assert found.startswith("its first row, which is read as a header, looks like data: ")
    assert why in found


@pytest.mark.parametrize(
    "text",
    [
        "id,1,output\n1,2,3\n4,5,6\n",
        "town,2019,2020\nRome,1,2\nOslo,3,4\n",
        "run,0,1,2\na,1,1,0\n",
        "q1,q2,q3\na,b,c\n",
        "key,said\n1,a\n2,b\n",
        "1,said\nx,a\n2,b\n",
        "key,said\n1,a\nkey,said\n2,b\n",
        "question,output\nq,output\n",
        "1,a\n",
    ],
)
def test_a_header_with_names_is_none(text: str) -> None:
    assert data_in_header(rows(text)) == ""


def test_a_first_row_that_has_one_cell_twice_looks_like_data_unless_it_has_usual_names(
    tmp_path: Path,
) -> None:
    path = tmp_path / "a.csv"
    for header, first in (("France,Paris,Paris", "France"), ("question,said,said", "")):
        path.write_text(f"{header}\nPeru,lima,Lima\nCuba,Oslo,Havana\n")
        seen = first_rows(Opened.first_of(Paths([path])), Settings())
        assert ("'Paris' is in it more than once" in seen.header_hint()) == bool(first)
        data = as_data(seen.rows, seen.repeated)
        assert [*data[0].values()] == header.split(",")


@pytest.mark.parametrize("quoted", ["", '3,"c, d",y\n'], ids=["without quotes", "with quotes"])
def test_without_a_header_no_row_is_lost_and_columns_are_numbered(quoted: str) -> None:
    text = f"1,a,x\n2,b,x\n{quoted}"
    found = rows(text, has_header=False)
    assert found[:2] == [{"1": "1", "2": "a", "3": "x"}, {"1": "2", "2": "b", "3": "x"}]
    assert len(found) == 2 + bool(quoted)


def test_a_first_row_that_repeats_a_cell_is_data_if_that_is_said() -> None:
    assert rows("1,a,a\n", has_header=False) == [{"1": "1", "2": "a", "3": "a"}]


def test_the_rows_of_a_headerless_table_have_the_first_one_too() -> None:
    assert as_data(rows("1,a\n2,b\n")) == [{"1": "1", "2": "a"}, {"1": "2", "2": "b"}]


def test_a_mapping_by_names_of_a_doubtful_header_is_used_and_noted() -> None:
    mapping = parse_mapping(["custom_id=1,x=a"])
    for text, doubts in (("1,a\n2,b\n", 1), ("id,a\n2,b\n", 0)):
        stream = io.BytesIO(text.encode())
        stream.name = "a.csv"  # type: ignore[attr-defined]
        source = Source(stream, Settings(), mapping)
        assert len(list(source)) == 2
        notes = [note for note in source.notes.notes() if "if it is data, give --no-header" in note]
        assert len(notes) == doubts


def test_files_with_other_columns_than_the_first_one_leave_its_header_a_header(
    tmp_path: Path,
) -> None:
    (tmp_path / "a.csv").write_text("id,output,expected\n11,x,x\n")
    (tmp_path / "b.csv").write_text("nr,antwort,soll\n21,x,x\n")
    (tmp_path / "c.jsonl").write_text('{"id": "31", "output": "x", "expected": "x"}\n')
    mapping = parse_mapping(["custom_id=id,agent_response=output,expected_output=expected"])
    source = Source(str(tmp_path), Settings(), mapping)
    faults = [line.fault and line.fault.code for line in source]
    assert faults == [None, "MISSING_FIELD", None]
    assert source.notes.notes() == [
        "1 file is read in another way than the first: c.jsonl as JSON Lines"
    ]


def test_the_names_of_the_first_file_are_no_header_that_may_be_data_if_it_is_json(
    tmp_path: Path,
) -> None:
    (tmp_path / "a.jsonl").write_text('{"1": "5", "said": "y"}\n{"1": "6", "said": "y"}\n')
    (tmp_path / "b.csv").write_text("1,said\n7,y\n")
    source = Source(str(tmp_path), Settings(), parse_mapping(["custom_id=@row,x=1,y=said"]))
    assert not any(line.fault for line in source)
    assert not any("header" in note for note in source.notes.notes()[1:])
    assert "b.csv as CSV" in source.notes.notes()[0]
