"""Rows of every form: tables, JSON and Parquet become the lines of cases, one fault for each that cannot."""

from __future__ import annotations

import bz2
import datetime as dt
import decimal
import gzip
import io
import json
import lzma
import math
import random
import tracemalloc
from typing import TYPE_CHECKING, Any
from zipfile import ZipFile

import orjson
import pyarrow as pa
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from weighbridge.errors import InputError
from weighbridge.settings import KIB, MIB, Settings
from weighbridge_producer.input.files.table_form import TableForm
from weighbridge_producer.input.mapping.mapping_text import parse_mapping
from weighbridge_producer.input.proposals.mapping_proposals import propose
from weighbridge_producer.input.rows.row_formats import RowReader, layout_of
from weighbridge_producer.input.rows.source_rows import LeftOut, excerpt_of
from weighbridge_producer.input.rows.text_encodings import HEAD_BYTES
from weighbridge_producer.input.source import Source

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from weighbridge_producer.input.rows.source_rows import SourceRow

MAPPING = parse_mapping(["custom_id=id,x=text,metadata=topic"])


def rows(data: bytes, name: str, **settings: Any) -> list[SourceRow]:
    return list(RowReader(name, Settings(**settings)).read(io.BytesIO(data)))


def values(data: bytes, name: str, **settings: Any) -> list[dict[str, Any]]:
    found = rows(data, name, **settings)
    assert [row.fault for row in found if row.fault] == []
    return [row.values for row in found]


def told(found: list[SourceRow]) -> dict[int, str]:
    """Return the codes of faults by number."""
    return {row.number: fault.code for row in found if (fault := row.fault or row.doubt)}


# Tables

TABLE = 'id,text,topic\n1,"two\nlines, ""quoted""",geo\n2,,math\n'
PARSED = [
    {"id": "1", "text": 'two\nlines, "quoted"', "topic": "geo"},
    {"id": "2", "text": "", "topic": "math"},
]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_a_table_is_read_in_any_encoding_with_a_mark_and_any_line_end(
    encoding: str, newline: str
) -> None:
    text = TABLE.replace("\n", newline)
    expected = [{k: v.replace("\n", newline) for k, v in row.items()} for row in PARSED]
    assert values(text.encode(encoding), "a.csv") == expected


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_separator_is_found(delimiter: str) -> None:
    lines = [("id", "text", "note"), ("1", "a, b; c", "x|y"), ("2", "d, e; f", "z|z")]
    data = "\n".join(delimiter.join(f'"{cell}"' for cell in line) for line in lines)
    assert values(data.encode(), "a.csv")[0] == {"id": "1", "text": "a, b; c", "note": "x|y"}
    told_as = str(layout_of(data.encode(), "a.csv", is_whole=True))
    assert told_as.startswith("TSV" if delimiter == "\t" else "CSV (UTF-8, ")


def test_a_file_that_ends_in_tsv_is_parted_by_tabs_whatever_else_fits() -> None:
    assert values(b"a,b\n1,2\n", "x.tsv") == [{"a,b": "1,2"}]


@pytest.mark.parametrize(
    ("above", "described"),
    [
        ("sep=;\r\n", "CSV (UTF-8, semicolon-separated, header in line 2)"),
        ("# exported\n# by hand\n", "CSV (UTF-8, semicolon-separated, header in line 3)"),
        ("Results of May\n\n", "CSV (UTF-8, semicolon-separated, header in line 3)"),
        ("Results March;\n;\n", "CSV (UTF-8, semicolon-separated, header in line 3)"),
        (";Run of the output model\n", "CSV (UTF-8, semicolon-separated, header in line 2)"),
        ("sep=;\nResults March;\n", "CSV (UTF-8, semicolon-separated, header in line 3)"),
        ('"Results;\nof March";\nModel x;\n', "CSV (UTF-8, semicolon-separated, header in line 4)"),
        ("", "CSV (UTF-8, semicolon-separated)"),
    ],
)
def test_lines_above_the_header_are_skipped_and_that_is_said(above: str, described: str) -> None:
    data = f"{above}id;text\n1;a\n2;b\n".encode()
    assert values(data, "a.csv") == [{"id": "1", "text": "a"}, {"id": "2", "text": "b"}]
    assert str(layout_of(data, "a.csv", is_whole=True)) == described
    assert [row.number for row in rows(data, "a.csv")] == [above.count("\n") + n for n in (2, 3)]


def test_facts_below_a_padded_title_are_skipped_with_it() -> None:
    data = b"Results,,\nModel,gpt-4,\n,,\nid,output,gold\nq1,a,b\n"
    assert values(data, "a.csv") == [{"id": "q1", "output": "a", "gold": "b"}]


@pytest.mark.parametrize(
    ("header", "names"),
    [
        ("id,output,,gold", ["id", "output", "column 3", "gold"]),
        ("id,output,gold,", ["id", "output", "gold", "column 4"]),
        (",output,gold,score", ["column 1", "output", "gold", "score"]),
    ],
)
def test_a_header_below_a_padded_title_may_have_empty_cells(header: str, names: list[str]) -> None:
    data = f"Model eval,,,\n{header}\nq1,a,b,c\n".encode()
    assert values(data, "a.csv") == [dict(zip(names, ("q1", "a", "b", "c"), strict=True))]


@pytest.mark.parametrize(
    "text",
    [
        ",pred\n0,Paris\n",
        ",foo\nq1,Paris\n",
        ",dialog act\nu1,question\nu2,statement\n",
        "Ask all of them,,\nu1,answer,gold\nu2,x,x\n",
        "id,,\nq1,name,answer\n",
        "foo,,\n1,a,b\n",
        "foo,,\nq1,a,b\n",
        "foo,,\n,,\n1,a,b\n",
        "foo,,\n,,\na,b,b\n",
        "foo,,\n" + "x,,\n" * 10 + "id,output,gold\n",
    ],
)
def test_a_header_with_empty_cells_is_no_title(text: str) -> None:
    assert str(layout_of(text.encode(), "a.csv", is_whole=True)) == "CSV (UTF-8, comma-separated)"


def test_a_ragged_row_below_a_header_of_one_column_moves_no_header() -> None:
    found = rows(b"id\n1\n2,3\n", "a.csv")
    assert [row.values for row in found] == [{"id": "1"}, {}]
    assert told(found) == {3: "INVALID_ROW"}


def test_text_that_is_not_utf8_is_read_as_western_and_that_is_said() -> None:
    data = "id;text\n1;Grüße aus Köln\n".encode("cp1252")
    assert values(data, "a.csv") == [{"id": "1", "text": "Grüße aus Köln"}]
    assert "CP1252" in str(layout_of(data, "a.csv", is_whole=True))


def test_text_in_another_script_is_found_out() -> None:
    words = ["Привет", "мир,", "как", "дела", "сегодня?", "Это", "проверка", "кодировки", "текста."]
    lines = [f"{n};{' '.join(random.Random(n).sample(words, 6))}" for n in range(200)]
    data = "\n".join(["id;text", *lines]).encode("cp1251")
    assert values(data, "a.csv")[0]["text"] == lines[0].split(";")[1]


@pytest.mark.parametrize("quoted", ["", '3;"c";z\n'], ids=["without quotes", "with quotes"])
def test_rows_without_any_value_are_left_out_and_counted(quoted: str, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(f"id;text;topic\n1;a;x\n;;\n ;\t; \n;;;;\n2;b;y\n;;\n{quoted}")
    source = Source(str(tmp_path / "a.csv"), Settings(), MAPPING)
    for _ in range(2):  # the number is that of the last reading
        found = [number for number, line in enumerate(source, 1) if line.raw.strip()]
    assert found == ([2, 6, 8] if quoted else [2, 6])
    assert source.notes.blank_rows_note() == "4 rows without any value were skipped"


@pytest.mark.parametrize("quoted", ["", '3;"c";z\n'], ids=["without quotes", "with quotes"])
def test_repeated_headers_of_appended_files_are_left_out_and_counted(
    quoted: str, tmp_path: Path
) -> None:
    table = f"id;text;topic\n1;a;x\n{quoted}"
    (tmp_path / "a.csv").write_text(table * 3)
    source = Source(str(tmp_path / "a.csv"), Settings(), MAPPING)
    assert sum(bool(line.raw.strip()) for line in source) == 3 * table.count("\n") - 3
    assert source.notes.counts() == ["2 rows that repeat the header were skipped"]


def test_rows_of_totals_are_left_out_and_counted_if_they_have_neither_answer(
    tmp_path: Path,
) -> None:
    below = (
        "Total,,,9\n,,,\n,Average:,,\nGesamtergebnis,,,\nSum,a,,\nTotal,,b,\nTotals of May,,,\n4,,,"
    )
    (tmp_path / "a.csv").write_text(f"id,x,gold,output\n1,y,a,a\n{below}\n")
    mapping = parse_mapping(
        ["custom_id=@row,agent_response=gold,expected_output=x,metadata=output"]
    )
    source = Source(str(tmp_path / "a.csv"), Settings(), mapping)
    found = [number for number, line in enumerate(source, 1) if line.raw.strip()]
    assert found == [2, 5, 7, 8, 9, 10]
    mapping = parse_mapping(["custom_id=@row,agent_response=gold,expected_output=output"])
    source = Source(str(tmp_path / "a.csv"), Settings(), mapping)
    for _ in range(2):
        found = [number for number, line in enumerate(source, 1) if line.raw.strip()]
    assert found == [2, 3, 8, 9, 10]
    assert "3 rows of totals without answers were skipped" in source.notes.counts()


def test_rows_whose_answers_are_both_a_word_for_no_value_are_counted(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,a,b\n1,nan,nan\n2,x,NULL\n3,\\N,\\N\n4,no,no\n")
    mapping = parse_mapping(["custom_id=id,agent_response=a,expected_output=b"])
    source = Source(str(tmp_path / "a.csv"), Settings(), mapping)
    assert sum(bool(line.raw.strip()) for line in source) == 4
    [note] = source.notes.counts()
    assert note.startswith("2 rows have a word such as 'nan' as both answers, which are equal")


def test_numbers_are_no_repeated_header_of_a_table_without_one() -> None:
    reader = RowReader("a.csv", Settings(), form=TableForm(has_header=False))
    found = list(reader.read(io.BytesIO(b"1,2\n1,2\n")))
    assert [row.values for row in found] == [{"1": "1", "2": "2"}] * 2


def test_a_row_without_any_value_above_the_header_is_no_header() -> None:
    assert values(b";;\nid;text;topic\n1;a;x\n", "a.csv") == [
        {"id": "1", "text": "a", "topic": "x"}
    ]


@pytest.mark.parametrize("columns", [None, ["id"]], ids=["all columns", "one column"])
@pytest.mark.parametrize("name", ["a.parquet", "a.arrow"])
def test_rows_of_nulls_alone_are_left_out_whichever_columns_are_read(
    name: str, columns: list[str] | None
) -> None:
    given = [("1", "a"), (None, None), (None, "b"), (None, None), ("2", None)]
    table = pa.Table.from_pylist([{"id": id_, "text": text} for id_, text in given])
    data = parquet_bytes(table) if name == "a.parquet" else arrow(table, has_index=True)
    blank: list[None] = []
    reader = RowReader(name, Settings(), left_out=LeftOut(lambda: blank.append(None)))
    found = list(reader.read(io.BytesIO(data), columns))
    assert [row.number for row in found] == [1, 3, 5]
    assert len(blank) == 2


@pytest.mark.parametrize("name", ["a.parquet", "a.arrow"])
def test_maps_with_keys_that_are_texts_are_objects(name: str) -> None:
    of_texts = pa.map_(pa.string(), pa.string())
    schema = pa.schema(
        {
            "attrs": of_texts,
            "within": pa.struct({"a": pa.list_(of_texts), "b": pa.int64()}),
            "nested": pa.map_(pa.string(), of_texts),
            "numbers": pa.map_(pa.int64(), pa.string()),
        }
    )
    topic = [("topic", "geo"), ("lang", None)]
    given = [
        {"attrs": topic, "within": {"a": [topic, None], "b": 1}, "nested": [("x", topic)], "numbers": [(1, "a")]},
        {"attrs": [("a", "x"), ("a", "y")], "within": {"a": None, "b": 2}, "nested": [], "numbers": []},
        {"attrs": None, "within": None, "nested": None, "numbers": [(2, "b")]},
    ]  # fmt: skip
    table = pa.Table.from_pylist(given, schema)
    data = parquet_bytes(table) if name == "a.parquet" else arrow(table, has_index=True)
    made = {"topic": "geo", "lang": None}
    assert values(data, name) == [
        {"attrs": made, "within": {"a": [made, None], "b": 1}, "nested": {"x": made}, "numbers": [(1, "a")]},
        {"attrs": [("a", "x"), ("a", "y")], "within": {"a": None, "b": 2}, "nested": {}, "numbers": {}},
        {"attrs": None, "within": None, "nested": None, "numbers": [(2, "b")]},
    ]  # fmt: skip


def test_ragged_rows_and_stray_quotes_are_faults_of_their_own_lines() -> None:
    data = b'id,text\n1,a\n2\n3,c,d\n4,"e"f\n5,g\n\n6,h\n'
    found = rows(data, "a.csv")
    assert told(found) == dict.fromkeys((3, 4, 5), "INVALID_ROW")
    assert [row.values["id"] for row in found if not row.fault] == ["1", "5", "6"]
    assert "1 cell, and the header 2" in str(found[1].fault)
    hints = [row.fault.hint.split(":")[0] for row in found if row.fault]
    assert hints[:2] == ["add the missing cells", "put quotes around cells that hold the separator"]


def test_a_quote_that_is_never_closed_is_a_fault_of_the_row_that_opens_it() -> None:
    found = rows(b'id,text\n1,a\n2,"b\n3,c\n', "a.csv")
    assert told(found) == {3: "INPUT_TRUNCATED"}
    assert "never closed; because of its quotes, the row covers 2 lines" in str(found[-1].fault)


@pytest.mark.parametrize("end", [b'3,"c"\n4,d', b'3,c",e\n4,d'], ids=["not CSV", "ragged"])
def test_a_row_that_a_quote_made_of_several_lines_says_of_how_many(end: bytes) -> None:
    bad, good = rows(b'id,text\n2,"b\nx\n' + end, "a.csv")
    assert bad.fault
    assert (bad.number, bad.fault.code) == (2, "INVALID_ROW")
    assert bad.fault.message.endswith("; because of its quotes, the row covers 3 lines")
    assert good.values == {"id": "4", "text": "d"}


def test_a_quote_left_open_does_not_swallow_more_than_a_line_may_have() -> None:
    data = b'id,text\n1,"' + b"x" * 100 + b"\n" + b"2,b\n" * 100 + b"3,c\n"
    found = rows(data, "a.csv", line_limit_bytes=200)
    assert told(found)[2] == "INVALID_ROW"
    assert found[-1].values == {"id": "3", "text": "c"}


def test_a_line_that_is_too_long_is_skipped() -> None:
    data = b"id,text\n1," + b"x" * 5000 + b"\n2,b\n"
    found = rows(data, "a.csv", line_limit_bytes=1000)
    assert told(found) == {2: "LINE_TOO_LONG"}
    assert found[-1].values == {"id": "2", "text": "b"}


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("x.csv", b" a ,b,a,a_1,a\n1,2,3,4,5\n a ,b,a,a_1,a\n"),
        ("x.csv", b' a ,b,a,a_1,a\n1,2,3,4,"5"\n a ,b,a,a_1,a\n'),
        ("x.md", b"|a|b|a|a_1|a|\n|---|---|---|---|---|\n|1|2|3|4|5|\n|a|b|a|a_1|a|\n"),
    ],
    ids=["without quotes", "with quotes", "Markdown"],
)
def test_columns_of_one_name_are_numbered_beside_names_that_are_taken(
    name: str, data: bytes
) -> None:
    assert values(data, name) == [{"a_2": "1", "b": "2", "a_3": "3", "a_1": "4", "a_4": "5"}]


def test_a_column_without_a_name_is_called_by_its_position() -> None:
    assert values(b",id\n0,a\n", "x.csv") == [{"column 1": "0", "id": "a"}]


@pytest.mark.slow
def test_a_byte_that_is_not_utf8_beyond_the_beginning_is_its_rows_fault() -> None:
    data = b"id,text,topic\n" + b"1,%b,b\n" % (b"a" * 1_000) * 300 + b"2,\xff,c\n3,d,e\n"
    source = Source(io.BytesIO(data), Settings(), MAPPING)
    *_, bad, good = source
    assert bad.fault is not None
    assert bad.fault.code == "INVALID_UTF8"
    assert orjson.loads(good.raw)["custom_id"] == "3"


@given(
    st.lists(
        st.tuples(
            *[st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))] * 3
        ),
        max_size=5,
    )
)
def test_whatever_the_csv_module_writes_is_read_but_for_rows_without_any_value(
    written: list[tuple[str, str, str]],
) -> None:
    import csv

    file = io.StringIO(newline="")
    writer = csv.writer(file, quoting=csv.QUOTE_ALL)
    writer.writerows([("id", "text", "topic"), *written])
    expected = [
        dict(zip(("id", "text", "topic"), row, strict=True))
        for row in written
        if "".join(row).strip()
    ]
    assert values(file.getvalue().encode(), "a.csv") == expected


@pytest.mark.slow
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("ends", [True, False])
def test_long_tables_with_quotes_in_some_places_are_read_as_the_csv_module_does(
    newline: str, ends: bool
) -> None:
    import csv

    chosen = random.Random(3)
    cells = ["", "a", "two words", '"a, b"', f'"two{newline}lines"', '"a ""quote"""', "ü" * 40]
    lines = ["id,text,topic"]
    for number in range(20_000):
        # Blocks with and without quotes alternate.
        some = cells if number // 4_000 % 2 else [cells[0], cells[1], cells[2], cells[6]]
        lines.append(f"{number},{chosen.choice(some)},{chosen.choice(some)}")
        if chosen.random() < 0.01:
            lines.append("")
    text = newline.join(lines) + (newline if ends else "")
    reader = csv.reader(io.StringIO(text, newline=""))
    header = next(reader)
    expected = []
    line = reader.line_num + 1
    for row in reader:
        if row:
            expected.append((line, dict(zip(header, row, strict=True))))
        line = reader.line_num + 1
    found = rows(text.encode(), "a.csv")
    assert [(row.number, row.values) for row in found] == expected


def test_ragged_rows_far_below_the_header_are_faults_of_their_own_lines() -> None:
    data = b"id,text\n" + b"1,a\n" * 30_000 + b"2\n3,b,c\n\n4,d\n" + b"5,e\n" * 30_000
    found = rows(data, "a.csv")
    assert told(found) == {30_002: "INVALID_ROW", 30_003: "INVALID_ROW"}
    assert found[30_002].number == 30_005
    assert sum(row.size for row in found) == len(data) - len(b"id,text\n\n")


def test_a_long_line_between_blocks_is_skipped() -> None:
    data = b"id,text\n" + b"1,a\n" * 20_000 + b"2," + b"x" * 3 * MIB + b"\n" + b"3,b\n" * 20_000
    found = rows(data, "a.csv", line_limit_bytes=MIB)
    assert told(found) == {20_002: "LINE_TOO_LONG"}
    assert len(found) == 40_001


# JSON

RECORDS = [{"id": 1, "text": "a"}, {"id": 2, "text": {"b": [1.5, None]}}]


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.jsonl", b"\n".join(map(orjson.dumps, RECORDS))),
        ("a.json", orjson.dumps(RECORDS)),
        ("a.json", orjson.dumps(RECORDS, option=orjson.OPT_INDENT_2)),
        ("a.json", orjson.dumps({"data": RECORDS})),
        ("a.json", orjson.dumps({"meta": {"n": [1, 2]}, "results": {"rows": RECORDS}})),
        ("a.jsonl", b"\xef\xbb\xbf" + b"\n".join(map(orjson.dumps, RECORDS))),
    ],
)
def test_json_rows_are_lines_or_the_first_list_of_objects(name: str, data: bytes) -> None:
    assert values(data, name) == RECORDS


@pytest.mark.parametrize(
    "document",
    [
        {"columns": ["id", "text"], "data": [["1", "a"], ["2", {"b": 1}]], "nrows": 2},
        {"columns": ["id", "text"], "index": [0, 1], "data": [["1", "a"], ["2", {"b": 1}]]},
        {"columns": ["id", "text"], "rows": [["1", "a"], ["2", {"b": 1}]]},
    ],
    ids=["W&B", "pandas", "rows"],
)
@pytest.mark.parametrize("pretty", [0, orjson.OPT_INDENT_2])
def test_rows_that_are_lists_have_the_names_of_the_documents_columns(
    document: dict[str, Any], pretty: int
) -> None:
    data = orjson.dumps(document, option=pretty)
    assert values(data, "a.table.json") == [
        {"id": "1", "text": "a"},
        {"id": "2", "text": {"b": 1}},
    ]


def test_a_row_with_fewer_values_than_the_documents_columns_is_its_own_fault() -> None:
    data = orjson.dumps({"columns": ["id", "text"], "data": [["1", "a"], ["2"]]})
    assert told(rows(data, "a.json")) == {2: "INVALID_ROW"}


def test_a_line_that_is_not_strict_json_is_its_own_fault() -> None:
    data = b'{"id": 1}\n{"id": 1, "id": 2}\n[1]\n\n{"id": NaN}\n{"id": 3}\n'
    found = rows(data, "a.jsonl")
    assert told(found).keys() == {2, 3, 5}
    assert found[-1].number == 6


def test_a_document_that_ends_early_keeps_the_rows_before() -> None:
    found = rows(orjson.dumps(RECORDS)[:-12], "a.json")
    assert found[0].values == RECORDS[0]
    assert told(found) == {2: "INPUT_TRUNCATED"}


def test_an_item_that_is_no_object_is_its_own_fault() -> None:
    found = rows(b'[{"id": 1}, 3, {"id": 2}]', "a.json")
    assert told(found) == {2: "NOT_AN_OBJECT"}
    assert found[2].values == {"id": 2}


def test_a_document_without_the_end_of_a_row_is_not_read_for_ever() -> None:
    data = b'[{"id": 1}, {"id": "' + b"x" * (3 * MIB) + b'"}]'
    found = rows(data, "a.json", line_limit_bytes=MIB)
    assert told(found) == {2: "LINE_TOO_LONG"}


# Parquet

ARROW = pa.table(
    {
        "id": [1, 2],
        "text": [{"a": "b", "n": [1]}, None],
        "topic": [dt.date(2026, 1, 2), None],
        "cost": [decimal.Decimal("1.50"), None],
        "raw": [b"bytes", None],
    }
)


def parquet_bytes(table: Any, **options: Any) -> bytes:
    file = io.BytesIO()
    parquet.write_table(table, file, **options)
    return file.getvalue()


def test_parquet_rows_are_nested_objects_and_plain_values(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    path.write_bytes(parquet_bytes(ARROW))
    mapping = parse_mapping(["custom_id=id,x=text,metadata=*"])
    first, second = (orjson.loads(line.raw) for line in Source(path, Settings(), mapping))
    assert first == {
        "custom_id": "1",
        "inputs": {"x": {"a": "b", "n": [1]}},
        "metadata": {"topic": "2026-01-02", "cost": "1.50", "raw": "bytes"},
    }
    assert second["inputs"] == {"x": None}


def test_parquet_from_a_pipe_or_an_archive_is_read_too() -> None:
    found = rows(gzip.compress(parquet_bytes(ARROW)), "a.parquet.gz")
    assert [row.values["id"] for row in found] == [1, 2]


@pytest.mark.parametrize("cut", [0, 100, 3])
def test_a_damaged_parquet_file_is_one_fault(cut: int) -> None:
    data = parquet_bytes(ARROW)
    assert list(told(rows(data[:cut], "a.parquet")).values()) == ["INPUT_TRUNCATED"]


# All

FORMS: dict[str, Callable[[list[dict[str, Any]]], bytes]] = {
    "a.csv": lambda r: "\n".join(["id,text", *(f"{x['id']},{x['text']}" for x in r)]).encode(),
    "a.jsonl": lambda r: b"\n".join(map(orjson.dumps, r)),
    "a.json": orjson.dumps,
    "a.parquet": lambda r: parquet_bytes(pa.Table.from_pylist(r), row_group_size=5_000),
}


@pytest.mark.parametrize("packed", ["", ".gz", ".zst"])
@pytest.mark.parametrize("name", FORMS)
def test_every_form_gives_the_same_cases_plain_and_compressed(
    name: str, packed: str, tmp_path: Path
) -> None:
    records = [{"id": f"c{n}", "text": f"text {n}"} for n in range(50)]
    pack = {"": bytes, ".gz": gzip.compress, ".zst": zstandard.ZstdCompressor().compress}[packed]
    path = tmp_path / f"{name}{packed}"
    path.write_bytes(pack(FORMS[name](records)))
    lines = [line.raw for line in Source(path, Settings(), MAPPING) if line.raw.strip()]
    assert [orjson.loads(line) for line in lines] == [
        {"custom_id": row["id"], "inputs": {"x": row["text"]}} for row in records
    ]


def test_a_line_number_is_that_of_the_file() -> None:
    data = b'id,text,topic\n1,"a\nb",x\n\n2,c,x\n'
    numbered = {
        number: orjson.loads(line.raw)["custom_id"]
        for number, line in enumerate(Source(named(data, "a.csv"), Settings(), MAPPING), 1)
        if line.raw.strip()
    }
    assert numbered == {2: "1", 5: "2"}


def test_rows_of_several_files_name_their_file_and_line(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / f"{name}.csv").write_bytes(b"id,text,topic\n1,a,b\n2,c\n")
    lines = list(Source(tmp_path, Settings(), MAPPING))
    assert [line.origin for line in lines] == [
        (f"{name}.csv, line", number) for name in "ab" for number in (2, 3)
    ]


def test_a_damaged_archive_is_a_fault_after_the_rows_before() -> None:
    data = gzip.compress(b"id,text,topic\n" + random.Random(1).randbytes(40 * KIB).hex().encode())
    *_, last = rows(data[:-2000], "a.csv.gz")
    assert last.fault is not None
    assert last.fault.code == "INPUT_TRUNCATED"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["a.csv", "a.json", "a.jsonl"])
def test_a_large_file_is_read_at_constant_memory(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(FORMS[name]([{"id": f"c{n}", "text": "x" * 4_000} for n in range(1_500)]))
    tracemalloc.start()
    try:
        for _ in Source(path, Settings(), MAPPING):
            pass
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 3.4 * MIB


def named(data: bytes, name: str) -> io.BytesIO:
    stream = io.BytesIO(data)
    stream.name = name  # type: ignore[attr-defined]
    return stream


# Arrow


def arrow(table: pa.Table, *, has_index: bool) -> bytes:
    sink = pa.BufferOutputStream()
    new = pa.ipc.new_file if has_index else pa.ipc.new_stream
    with new(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=2)
    return sink.getvalue().to_pybytes()


@pytest.mark.parametrize("has_index", [True, False])
def test_arrow_files_and_streams_are_read_batch_by_batch(has_index: bool) -> None:
    table = pa.Table.from_pylist([{"id": n, "a": {"b": [n]}} for n in range(5)])
    data = arrow(table, has_index=has_index)
    assert values(data, "data.arrow") == table.to_pylist()
    assert values(gzip.compress(data), "data.arrow.gz") == table.to_pylist()
    only = list(RowReader("data.arrow", Settings()).read(io.BytesIO(data), ["id"]))
    assert [row.values for row in only] == [{"id": n} for n in range(5)]


@pytest.mark.parametrize("has_index", [True, False])
def test_a_damaged_arrow_file_is_reported(has_index: bool) -> None:
    data = arrow(pa.Table.from_pylist([{"id": n} for n in range(5)]), has_index=has_index)
    found = rows(data[: len(data) // 2], "data.arrow")
    assert set(told(found).values()) == {"INPUT_TRUNCATED"}


def test_a_dataset_saved_to_disk_is_read_from_its_folder(tmp_path: Path) -> None:
    table = pa.Table.from_pylist([{"id": "a", "text": "x", "topic": "t"}])
    (tmp_path / "data-00000-of-00001.arrow").write_bytes(arrow(table, has_index=False))
    (tmp_path / "state.json").write_text('{"_split": "test"}')
    (tmp_path / "dataset_info.json").write_text('{"features": {}}')
    lines = [orjson.loads(line.raw) for line in Source(tmp_path, Settings(), MAPPING)]
    assert lines == [{"custom_id": "a", "inputs": {"x": "x"}, "metadata": {"topic": "t"}}]


@pytest.mark.parametrize("form", ['{\n"rows": [%s]}', "%s\n"])
@pytest.mark.parametrize("number", ["NaN", "-Infinity", "[1e999]", "123456789012345678901"])
def test_a_number_that_json_lacks_is_an_error_only_if_the_mapping_grades_it(
    form: str, number: str
) -> None:
    data = (form % f'{{"id": "q", "answer": "x", "score": {number}}}').encode()
    for mapped, faulty in (
        ("answer", False),
        ("answer,metadata=score", False),
        ("answer,metadata=*", False),
        ("{answer} {score}", True),
        ("score", True),
    ):
        mapping = parse_mapping([f"custom_id=id,agent_response={mapped}"])
        [line] = [
            each for each in Source(io.BytesIO(data), Settings(), mapping) if each.raw.strip()
        ]
        assert bool(line.fault) is faulty, mapped
        assert not line.fault or line.fault.code == "NUMBER_OUT_OF_RANGE"


@pytest.mark.parametrize("written", ["metadata=score", "metadata=*", "metadata.*=all"])
@pytest.mark.parametrize("form", [".jsonl", ".json", ".parquet"])
def test_numbers_that_json_lacks_become_null_or_text_in_metadata_and_are_counted(
    form: str, written: str, tmp_path: Path
) -> None:
    numbers: list[Any] = [math.nan, 1.5, -math.inf, None]
    rows = [
        {"id": f"k{n}", "answer": "x", "score": each, "all": {"score": each}}
        for n, each in enumerate(numbers)
    ]
    path = tmp_path / f"a{form}"
    if form == ".parquet":
        parquet.write_table(pa.Table.from_pylist(rows), path)
    else:
        large = {"id": "k4", "answer": "x", "score": 2**70, "all": {"score": 2**70}}
        texts = [json.dumps(row) for row in [*rows, large]]
        path.write_text("\n".join(texts) if form == ".jsonl" else f"[{','.join(texts)}]")
    mapping = parse_mapping([f"custom_id=id,agent_response=answer,{written}"])
    source = Source(path, Settings(), mapping)
    lines = [line for line in source if line.raw.strip()]
    assert [line.fault for line in lines] == [None] * len(lines)
    found = [orjson.loads(line.raw)["metadata"]["score"] for line in lines]
    assert found == [None, 1.5, None, None, *([] if form == ".parquet" else [str(2**70)])]
    count = 2 if form == ".parquet" else 3
    [note] = source.notes.notes()
    assert note.startswith(f"{count} rows have numbers in metadata that JSON lacks: NaN and ")


def test_an_object_on_many_lines_is_one_row_and_several_are_one_fault() -> None:
    one = orjson.dumps({"id": 1, "n": [1]}, option=orjson.OPT_INDENT_2) + b"\n"
    [row] = rows(one, "a.json")
    assert row.values == {"id": 1, "n": [1]}
    [fault] = rows(one * 3, "a.jsonl")
    assert fault.fault
    assert "several JSON values over many lines" in fault.fault.message
    [line] = Source(io.BytesIO(one * 3), Settings())
    assert line.fault == fault.fault


@pytest.mark.parametrize("beginning", [b"\xef\xbb\xbf1,a\n", "1,é\n".encode()])
def test_a_table_that_begins_as_utf8_is_not_read_in_another_encoding(beginning: bytes) -> None:
    mark = beginning[:3] if beginning.startswith(b"\xef") else b""
    data = mark + b"id,text\n" + beginning.removeprefix(mark) + b"2,caf\xe9\n"
    mapping = parse_mapping(["custom_id=id,agent_response=text"])
    *_, good, bad = Source(io.BytesIO(data), Settings(), mapping)
    assert not good.fault
    assert bad.fault
    assert bad.fault.code == "INVALID_UTF8"
    assert "0xe9" in bad.fault.message


def test_an_archive_of_other_files_is_named_with_them() -> None:
    with io.BytesIO() as file:
        with ZipFile(file, "w") as archive:
            archive.writestr("cases.jsonl", b"{}")
        with pytest.raises(InputError, match=r"a ZIP archive, but not .* but cases.jsonl"):
            rows(file.getvalue(), "a.zip")
    with pytest.raises(InputError, match="is YAML"):
        rows(b"- id: 1\n", "a.yaml")


# Tables in damaged archives


@pytest.mark.slow
@pytest.mark.parametrize("cell", ["a", '"a, b"', '"a\nb"'], ids=["plain", "quoted", "two lines"])
@pytest.mark.parametrize("count", [2_000, 25_000], ids=["short", "longer than the first bytes"])
@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress], ids=["gzip", "zstd"])
def test_the_whole_rows_before_the_end_of_a_cut_archive_are_read(
    pack: Callable[[bytes], bytes], count: int, cell: str
) -> None:
    draw = random.Random(7)
    lines = [f"{number},{cell},{draw.random()}\n" for number in range(count)]
    packed = pack("".join(["id,text,topic\n", *lines]).encode())
    assert (len(packed) > HEAD_BYTES) is (count > 2_000)
    found = rows(packed[:-200], "a.csv.x")
    assert [row.fault.code for row in found if row.fault] == ["INPUT_TRUNCATED"]
    assert "ends early or is damaged" in str(found[-1].fault)
    read = [row.values for row in found[:-1]]
    # Of zstd, blocks of 128 KiB can be read.
    assert count - (100 if pack is gzip.compress else 10_000) < len(read) < count
    assert [f"{row['id']},{cell},{row['topic']}\n" for row in read] == lines[: len(read)]


def test_the_lines_of_rows_as_json_before_the_end_of_a_cut_archive_are_read_too() -> None:
    draw = random.Random(7)
    lines = [b'{"id": "%d", "text": "%f"}\n' % (number, draw.random()) for number in range(2_000)]
    found = rows(gzip.compress(b"".join(lines))[:-200], "a.jsonl.gz")
    assert len(found) > 1_900
    assert [row.number for row in found if row.fault] == [len(found)]


@pytest.mark.parametrize("pack", [bz2.compress, lzma.compress], ids=["bzip2", "xz"])
@pytest.mark.parametrize("name", ["a.csv", "a.csv.xz", "a.bz2", "a"])
def test_an_archive_that_cannot_be_read_is_told_as_what_it_is(
    name: str, pack: Callable[[bytes], bytes]
) -> None:
    what = "bzip2" if pack is bz2.compress else "xz"
    with pytest.raises(InputError, match=rf"'{name}' is compressed with {what}.*gzip or zstd"):
        layout_of(pack(b"id,text\n1,a\n"), name, is_whole=True)


def test_text_may_begin_like_an_archive() -> None:
    assert values(b"BZh,text\n1,a\n", "a.csv") == [{"BZh": "1", "text": "a"}]


# Binary values


def test_binary_metadata_are_left_out_of_their_rows_and_counted(tmp_path: Path) -> None:
    image = b"\x89PNG\xff"
    given = [
        {"id": "1", "text": "a", "raw": image, "file": {"bytes": image, "path": "a.png"}, "n": 1.0},
        {
            "id": "2",
            "text": "b",
            "raw": b"b",
            "file": {"bytes": None, "path": "b.png"},
            "n": math.nan,
        },
    ]
    parquet.write_table(pa.Table.from_pylist(given), tmp_path / "a.parquet")
    mapping = parse_mapping(["custom_id=id,x=text,metadata=*"])
    source = Source(str(tmp_path / "a.parquet"), Settings(), mapping)
    lines = list(source)
    assert [line.fault for line in lines] == [None, None]
    assert [orjson.loads(line.raw)["metadata"] for line in lines] == [
        {"file": {"path": "a.png"}, "n": 1.0},
        {"raw": "b", "file": {"bytes": None, "path": "b.png"}, "n": None},
    ]
    notes = "; ".join(source.notes.notes())
    assert "1 row has binary values in metadata, which are left out: raw, file" in notes
    assert "1 row has a number in metadata that JSON lacks" in notes


def test_a_binary_input_is_a_fault_of_its_row() -> None:
    table = pa.Table.from_pylist([{"id": "1", "text": b"\xff"}, {"id": "2", "text": b"b"}])
    source = Source(io.BytesIO(parquet_bytes(table)), Settings(), MAPPING)
    assert [line.fault is None for line in source] == [False, True]


def test_binary_columns_are_not_proposed_as_metadata_and_can_be_shown() -> None:
    given = [
        {"id": f"{n}", "output": "a", "expected": "a", "raw": b"\xff", "topic": "x"} for n in "12"
    ]
    proposed = propose(given, ("agent_response", "expected_output"))
    assert proposed.text.endswith("expected_output=expected,metadata=topic")
    assert excerpt_of(given[0]["raw"]) == repr(b"\xff")


_EMPTY = {"a": None, "b": None}


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.csv", b"a,b\nx,1\n\n,\ny,2\nz,3\n"),
        ("a.csv", b'# a\n# title\na,b\nx,1\n"y\n\ny",2\na,b\nz,3\n'),
        ("a.tsv", b"a\tb\r\nx\t1\r\n\r\ny\t2\r\nz\t3\r\n"),
        ("a.md", b"| a | b |\n|---|---|\n| x | 1 |\n|  |  |\n| y | 2 |\n| z | 3 |\n"),
        ("a.jsonl", b'{"a": "x"}\n\n{"a": "y"}\n{"a": "z"}\n'),
        ("a.json", b'{"n": 1, "rows": [{"a": "x"},\n\n {"a": "y"}, {"a": "z"}]}'),
        ("a.parquet", [{"a": "x", "b": "1"}, _EMPTY, {"a": "y", "b": "2"}, {"a": "z", "b": "3"}]),
        ("a.arrow", [{"a": "x", "b": "1"}, _EMPTY, {"a": "y", "b": "2"}, {"a": "z", "b": "3"}]),
    ],
)
def test_the_number_of_a_row_is_its_place_among_the_rows_in_every_format(
    name: str, data: Any
) -> None:
    if isinstance(data, list):
        table = pa.Table.from_pylist(data)
        data = parquet_bytes(table) if name == "a.parquet" else arrow(table, has_index=True)
    stream = io.BytesIO(data)
    stream.name = name  # type: ignore[attr-defined]
    mapping = parse_mapping(["custom_id=@row,x=a"])
    lines = [line for line in Source(stream, Settings(), mapping) if line.raw.strip()]
    cases = [orjson.loads(line.raw) for line in lines]
    assert [case["custom_id"] for case in cases] == ["1", "2", "3"]
    assert [case["inputs"]["x"].partition("\n")[0] for case in cases] == ["x", "y", "z"]


def test_a_row_that_cannot_be_read_has_a_number_too_and_its_error_the_line_of_the_file(
    tmp_path: Path,
) -> None:
    table = tmp_path / "a.csv"
    table.write_text('a,b\n"x\nx",1\ny\nz,3\n')
    mapping = parse_mapping(["custom_id=@row,x=a"])
    lines = list(Source(str(table), Settings(), mapping))
    assert [number for number, line in enumerate(lines, 1) if line.fault] == [4]
    ids = [orjson.loads(line.raw)["custom_id"] for line in lines if line.raw.strip()]
    assert ids == ["1", "3"]


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.csv.gz"])
@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b'{"id": 0, "output": "a"}\n{"id": 1, "output": "b"}\n', "JSON Lines, not like CSV"),
        (b'\xef\xbb\xbf \n{"id": 0}', "JSON Lines"),
        (b'[{"id": 0}]', "a JSON document"),
        (b'{\n "rows": []}', "a JSON document"),
        (b'[\n {"id": 0}]', "a JSON document"),
    ],
)
def test_json_in_a_file_with_the_name_of_a_table_is_said_to_be_json(
    data: bytes, kind: str, name: str
) -> None:
    with pytest.raises(InputError, match=f"'{name}' looks like {kind}") as caught:
        rows(gzip.compress(data) if name.endswith(".gz") else data, name)
    assert str(caught.value.hint).startswith("rename it to end in .json")


def test_a_table_whose_header_begins_like_json_is_a_table() -> None:
    assert values(b"{id},[x]\n1,2\n", "a.csv") == [{"{id}": "1", "[x]": "2"}]
    assert values(b'"{""id"": 0}",x\n1,2\n', "a.csv") == [{'{"id": 0}': "1", "x": "2"}]
    assert values(b"[a],b\n1,2\n", "a.csv") == [{"[a]": "1", "b": "2"}]


def test_files_that_are_read_otherwise_than_the_first_are_named(tmp_path: Path) -> None:
    for name, text in (("b.csv", "id,text,topic\n1,a,b\n"), ("a.csv", "id,text,topic\n")):
        (tmp_path / name).write_text(text)
    for number in range(4):
        (tmp_path / f"c{number}.csv").write_bytes("id;text;topic\n1;Grüße;b\n".encode("cp1252"))
    (tmp_path / "d.csv").write_text("id,text,topic\n1,a,b\n")
    source = Source(str(tmp_path), Settings(), MAPPING)
    assert not any(line.fault for line in source)
    named = ", ".join(f"c{n}.csv as CSV (CP1252, semicolon-separated)" for n in range(3))
    said = f"4 files are read in another way than the first: {named}, ..."
    assert said in source.notes.counts()
    assert not any(line.fault for line in source)
    assert said in source.notes.counts()
