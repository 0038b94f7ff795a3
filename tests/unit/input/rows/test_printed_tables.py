"""Tables as psql and mysql print them: rows without rules and footers, and a fault for what cannot be told apart."""

from __future__ import annotations

import io

import pytest

from weighbridge.settings import Settings
from weighbridge_producer.input.rows.row_formats import RowReader, layout_of
from weighbridge_producer.input.rows.source_rows import LeftOut, SourceRow

PSQL = """\
 id |  output  | gold
----+----------+-------
 q1 | Paris    | Paris
 q2 | C++      |
 q3 | Ends.    | Ends.
(3 rows)

Time: 0.4 ms
"""
MYSQL = """\
+----+-------+-------+
| id | output| gold  |
+----+-------+-------+
| q1 | Paris | Paris |
| q2 | C++   |       |
| q3 | Ends. | Ends. |
+----+-------+-------+
3 rows in set (0.00 sec)
"""
ROWS = [["q1", "Paris", "Paris"], ["q2", "C++", ""], ["q3", "Ends.", "Ends."]]


def read(text: str, name: str = "a.txt", **settings: int) -> list[SourceRow]:
    return list(RowReader(name, Settings(**settings)).read(io.BytesIO(text.encode())))


def cells(found: list[SourceRow]) -> list[list[str]]:
    return [list(row.values.values()) for row in found if not row.fault]


def faults(found: list[SourceRow]) -> dict[int, str]:
    return {row.number: row.fault.message for row in found if row.fault}


@pytest.mark.parametrize("name", ["a.txt", "a.csv"])
@pytest.mark.parametrize(
    "text",
    [PSQL, MYSQL, PSQL.replace("\n", "\r\n"), f"mydb=# SELECT *\nFROM t;\n{PSQL}", f"mysql> SELECT * FROM t;\n{MYSQL}"],
    ids=["psql", "mysql", "CRLF", "a session of psql", "a session of mysql"],
)  # fmt: skip
def test_rows_are_read_without_rules_padding_and_footers(text: str, name: str) -> None:
    found = read(text, name)
    assert list(found[0].values) == ["id", "output", "gold"]
    assert (cells(found), faults(found)) == (ROWS, {})
    assert "q1" in text.splitlines()[found[0].number - 1]
    layout = str(layout_of(text.encode(), name, is_whole=True))
    assert layout.startswith("a table as psql and mysql print it (UTF-8")


@pytest.mark.parametrize(
    "broken",
    [
        " q3 | Ends    +| x\n    | in two   |\n",
        " q3 | Ends.    | x    +\n    |          | y\n",
        " q3 | Ends.    | xxxxx+\n    |          | y\n",
        " q3 | Ends    +| x\n    | in      +| \n    | three    |\n",
        " q3 | wrapped .| x\n    |. here    |\n",
        " q3 | a | b    | x\n",
    ],
)
def test_a_row_of_psql_with_a_cell_of_several_lines_or_a_bar_is_one_fault(broken: str) -> None:
    text = PSQL.replace(" q3 | Ends.    | Ends.\n", broken + " q4 | a        | b\n")
    found = read(text)
    assert cells(found) == [*ROWS[:2], ["q4", "a", "b"]]
    assert list(faults(found)) == [5]
    assert "psql --csv" in next(row.fault.hint for row in found if row.fault)


@pytest.mark.parametrize(
    "broken",
    [
        "| q3 | Ends.\nin two | x |\n",
        "| q3 | Ends. | x\n |\n",
        "| q3 | Ends.\nin\n\nfour | x |\n",
        "| q3 | a | b | x |\n",
        "| q3 | Ends+| x  |\n",
    ],
)
def test_a_row_of_mysql_with_a_cell_of_several_lines_or_a_bar_is_one_fault(broken: str) -> None:
    text = MYSQL.replace("| q3 | Ends. | Ends. |\n", broken + "| q4 | a     | b     |\n")
    found = read(text)
    assert cells(found) == [*ROWS[:2], ["q4", "a", "b"]]
    assert list(faults(found)) == [6]


@pytest.mark.parametrize("text", [PSQL, MYSQL], ids=["psql", "mysql"])
def test_another_table_is_a_fault_and_is_not_read(text: str) -> None:
    found = read(text + text)
    assert cells(found) == ROWS
    assert list(faults(found).values()) == ["the header of another table, which is not read"]


def test_rows_without_a_value_and_repeated_headers_are_counted_and_long_ones_are_faults() -> None:
    counts: list[str] = []
    left_out = LeftOut(lambda: counts.append("blank"), lambda: counts.append("header"))
    text = "id|x\n--+---\n|\nid|x\nq1|a\n"
    found = list(RowReader("a.txt", Settings(), left_out=left_out).read(io.BytesIO(text.encode())))
    assert (cells(found), counts) == ([["q1", "a"]], ["blank", "header"])
    found = read(text + f"q2|{'x' * 100}\nq3|b\n", line_limit_bytes=80)
    assert (cells(found), list(faults(found))) == ([["q1", "a"], ["q3", "b"]], [6])
