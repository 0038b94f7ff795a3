"""A lost quote that makes rows part of a cell is an error of its row, and answers with tables in them are none."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weighbridge.settings import Settings
from weighbridge_producer.input.rows.row_formats import RowReader

HEADER = "id,question,output,gold\n"
SAID = "a cell has {} line breaks, after each of which a row of the table seems to begin: its closing quote may be missing"


def faults(text: str) -> dict[int, str]:
    rows = RowReader("a.csv", Settings()).read(io.BytesIO(text.encode()))
    return {row.number: row.fault.message for row in rows if row.fault}


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize(
    ("rows", "breaks"),
    [
        (['q1,"What,a,a', "q2,How,b,b", 'q3,5",c,c', "q4,x,d,d"], 2),
        (['q1,What,"a,a', "q2,How,b,b", 'q3,How,5",c', "q4,x,d,d"], 2),
        (['q1,What,a,"a', "q2,How,b,b", 'q3,How,c,5"', "q4,x,d,d"], 2),
        (['"q1,What,a,yes', "q2,How,b,yes", 'q3",How,c,yes', "q4,x,d,d"], 2),
        (['7,"What,a,a', "8,How,b,b", '12,5",c,c', "13,x,d,d"], 2),
        (['a b,"What,a,yes', "c d,How,b,yes", 'e f,5",c,yes', "g,x,d,d"], 2),
        (['7,What,a,"a', "8,How,b,b", '9,How,c,5"', "10,x,d,d"], 2),
        (['a b,"What,a,s', "c d,How,b,t", "e f,Who,b,u", 'g h,5",c,v', "i,x,d,w"], 3),
        (['0,How,x,"a', "1,How,x,b", '2,How,x,"', "3,How,x,d"], 2),
        (['a,How,x,"a', "b,How,x,b", 'c,How,x,"', "d,How,x,d"], 2),
        (['q1,"What,a,a', *(f"q{n},How,b,b" for n in range(2, 900)), 'q900,5",c,c'], 899),
    ],
    ids=[
        "second",
        "third",
        "last",
        "first",
        "numbers",
        "one value",
        "numbers before the last",
        "dense",
        "numbers from 0 on before the last",
        "names before the last",
        "many rows",
    ],
)
def test_rows_in_a_cell_are_an_error_of_its_row(rows: list[str], breaks: int, newline: str) -> None:
    text = newline.join([HEADER.strip(), *rows, ""])
    assert faults(text) == {2: SAID.format(breaks)}


ANSWERS = [
    "id,question,output,gold\n2,How,b,b\n3,How,c,c",
    "Here it is:\nid,question,output,gold\n2,How,b,b\n3,How,c,c",
    "id,question,output,gold\n2,How,b,b\n3,How,c,c\nThat is all.",
    "Here it is:\n2,How,b,b\n3,How,c,c\nThat is all.",
    "Well, yes\nand no, sure\na, b, c",
    "Yes,\nno,",
    "Step 1, a, b, c\nStep 2, a, b, c\nStep 3",
    "Yes, no, b\na, b, c, d\na, b, c, d\nno, b",
    "Ranks:\n1,Paris,a,x\n2,Lima,b,y",
    "one\n\n\ntwo",
    "def f(a, b, c, d):\n    return g(a, b, c, d)\n",
    ",,\n,,,\n,",
]


@pytest.mark.parametrize("column", range(4))
@pytest.mark.parametrize("custom_id", ["q1", "1", "0", "name"])
def test_an_answer_with_a_table_of_as_many_columns_is_none(column: int, custom_id: str) -> None:
    for answer in ANSWERS:
        cells = [custom_id, "How", "b", "b"]
        cells[column] = answer
        written = io.StringIO(HEADER)
        written.seek(0, io.SEEK_END)
        csv.writer(written).writerow(cells)
        assert faults(written.getvalue()) == {}, answer


@pytest.mark.parametrize(
    "row",
    ['7,"year,population\n2020,5",x', 'alpha,"answer,Paris\ncountry,France",Paris'],
    ids=["a larger number", "one cell that agrees"],
)
def test_an_answer_with_two_short_lines_of_a_table_is_none(row: str) -> None:
    assert faults(f"id,output,gold\n{row}\n") == {}


@given(st.lists(st.sampled_from(["Step 1, do it", "a", "b, c", ""]), min_size=1, max_size=6))
def test_lists_in_a_table_of_two_columns_are_none(answer: list[str]) -> None:
    written = io.StringIO()
    rows = csv.writer(written)
    rows.writerows([["output", "gold"], ["\n".join(answer), "x"], ["x", "\n".join(answer)]])
    assert faults(written.getvalue()) == {}


def test_a_column_of_texts_on_many_lines_has_no_rows_in_its_cells() -> None:
    assert faults('output\n"Step 1\nStep 2\nStep 3"\n') == {}
