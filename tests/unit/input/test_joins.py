"""Joins: each row of the input gets the row of another file with the same key, or a fault."""

from __future__ import annotations

import gzip
import io
import itertools
import math
import os
import threading
import tracemalloc
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import orjson
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from weighbridge.errors import InputError, JoinError
from weighbridge.jobs.grader_spec import GraderSpec
from weighbridge.settings import KIB, MIB, Settings
from weighbridge_producer.cli.mapping_choice import choose_mapping
from weighbridge_producer.input.files.input_paths import Paths
from weighbridge_producer.input.files.table_form import TableForm
from weighbridge_producer.input.join_index import KeyFormError, key_of
from weighbridge_producer.input.joins import Joins, JoinSpec, parse_joins
from weighbridge_producer.input.mapping.field_mapping import FieldMapping
from weighbridge_producer.input.mapping.mapping_text import parse_mapping
from weighbridge_producer.input.mapping.row_values import Path
from weighbridge_producer.input.mapping_file import read_mapping
from weighbridge_producer.input.proposals.mapping_proposals import propose
from weighbridge_producer.input.rows.source_rows import SourceRow
from weighbridge_producer.input.rows.text_encodings import HEAD_BYTES
from weighbridge_producer.input.sampling import Sample
from weighbridge_producer.input.source import Source

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path as FilePath

    from weighbridge_producer.input.source_lines import SourceLine

MAPPING = parse_mapping(["custom_id=id,x=gold.answer,metadata=gold.topic"])
GOLD = b"key,answer,topic\nq1,Paris,geo\nq2,Lima,geo\n3,4,math\n"


@pytest.fixture
def gold(tmp_path: FilePath) -> FilePath:
    path = tmp_path / "gold.csv"
    path.write_bytes(GOLD)
    return path


def joins(file: object, on: str = "id=key", first: Iterable[dict[str, Any]] = ()) -> Joins:
    return Joins.read([JoinSpec.of("gold", str(file), on)], Settings(), list(first), "rows.jsonl")


def joined(
    rows: Iterable[Any], joins: Joins, mapping: FieldMapping = MAPPING, **settings: Any
) -> list[SourceLine]:
    """Return the lines of JSON rows with joined files."""
    stream = io.BytesIO(b"".join(orjson.dumps(row) + b"\n" for row in rows))
    return list(Source(stream, Settings(**settings), mapping, joins=joins))


def cases(lines: Iterable[SourceLine]) -> list[dict[str, Any]]:
    return [orjson.loads(line.raw) for line in lines if not line.fault]


def faults(lines: Iterable[SourceLine]) -> list[str]:
    return [str(line.fault) for line in lines if line.fault]


def refused(file: FilePath, data: bytes, on: str = "id=key", **settings: Any) -> JoinError:
    """Return the error for a file that cannot be joined."""
    file.write_bytes(data)
    with pytest.raises(JoinError) as caught:
        Joins.read([JoinSpec.of("gold", str(file), on)], Settings(**settings))
    return caught.value


# What is joined.


def test_a_row_gets_the_row_with_its_key_whether_it_is_a_number_or_its_text(gold: FilePath) -> None:
    assert cases(joined([{"id": "q2"}, {"id": 3}], joins(gold))) == [
        {"custom_id": "q2", "inputs": {"x": "Lima"}, "metadata": {"topic": "geo"}},
        {"custom_id": "3", "inputs": {"x": "4"}, "metadata": {"topic": "math"}},
    ]


def test_an_index_out_of_the_choices_of_a_joined_row_is_named_as_such(tmp_path: FilePath) -> None:
    (tmp_path / "gold.jsonl").write_bytes(b'{"key": "q1", "choices": ["a"], "answer": 3}\n')
    mapping = parse_mapping(["custom_id=id,x=gold.choices[gold.answer]"])
    file = joins(tmp_path / "gold.jsonl")
    file.require(mapping, ["x"])
    assert faults(joined([{"id": "q1"}], file, mapping)) == [
        "INVALID_FIELD: gold.choices[gold.answer]: gold.answer is 3, but gold.choices has 1 choice, counted from 0"
    ]


def _as_parquet(rows: list[dict[str, Any]]) -> bytes:
    sink = io.BytesIO()
    parquet.write_table(pa.Table.from_pylist(rows), sink)
    return sink.getvalue()


ROWS = [{"key": 7, "answer": {"text": "a"}}, {"key": 8, "answer": {"text": "b"}}]


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("gold.csv", b'key,answer\n7,"{""text"": ""a""}"\n8,"{""text"": ""b""}"\n'),
        ("gold.tsv", b'key\tanswer\n7\t{"text": "a"}\n8\t{"text": "b"}\n'),
        ("gold.jsonl", b"".join(orjson.dumps(row) + b"\n" for row in ROWS)),
        ("gold.json", orjson.dumps(ROWS, option=orjson.OPT_INDENT_2)),
        ("gold.json", orjson.dumps({"meta": {}, "rows": ROWS})),
        ("gold.parquet", _as_parquet(ROWS)),
        ("gold.jsonl.gz", gzip.compress(b"".join(orjson.dumps(row) + b"\n" for row in ROWS))),
    ],
    ids=["csv", "tsv", "lines", "array", "list in an object", "parquet", "compressed"],
)
@pytest.mark.parametrize("path", ["gold.answer.text", "/gold/answer/text"])
def test_every_form_of_rows_can_be_joined(
    name: str, data: bytes, path: str, tmp_path: FilePath
) -> None:
    file = tmp_path / name
    file.write_bytes(data)
    mapping = parse_mapping([f"custom_id=id,x={path}"])
    assert cases(joined([{"id": "7"}], joins(file), mapping)) == [
        {"custom_id": "7", "inputs": {"x": "a"}}
    ]


def test_two_lists_of_one_document_are_joined(tmp_path: FilePath) -> None:
    document = {"predictions": [{"id": 1, "said": "A"}], "references": [{"id": 1, "ref": "B"}]}
    path = tmp_path / "a.json"
    path.write_bytes(orjson.dumps(document))
    mapping_file = tmp_path / "m.yaml"
    text = "custom_id: id\nrows: /predictions\ninputs: {x: said, y: gold.ref}\n"
    mapping_file.write_text(text + "join: {gold: {file: a.json, on: id, rows: /references}}\n")
    saved = read_mapping(mapping_file)
    found = Joins.read(saved.joins, Settings())
    given = cases(Source(str(path), Settings(), saved.mapping, joins=found))
    assert [case["inputs"] for case in given] == [{"x": "A", "y": "B"}]
    [spec] = saved.joins
    with pytest.raises(JoinError, match="has no 'refs'") as caught:
        Joins.read([replace(spec, rows="/refs")], Settings())
    assert str(caught.value.hint).startswith("correct the pointer to the rows")


def test_rows_of_a_table_are_joined_with_lines_of_json_by_their_numbers(tmp_path: FilePath) -> None:
    (tmp_path / "gold.jsonl").write_bytes(b'{"answer": "x"}\n\n{"answer": "y"}\n')
    found = joins(tmp_path / "gold.jsonl", "@row")
    rows = io.BytesIO(b'text\n"x\nx"\ny\n')
    rows.name = "a.csv"  # type: ignore[attr-defined]
    mapping = parse_mapping(["custom_id=@row,x=text,y=gold.answer"])
    given = cases(
        line for line in Source(rows, Settings(), mapping, joins=found) if line.raw.strip()
    )
    assert [case["inputs"] for case in given] == [{"x": "x\nx", "y": "x"}, {"x": "y", "y": "y"}]


@pytest.mark.parametrize(
    ("on", "name", "has_header", "found"),
    [
        ("id=1", "gold.csv", None, {"1": "q1", "2": "Paris"}),
        ("@row", "gold.csv", None, {"1": "q1", "2": "Paris"}),
        ("id=q1", "gold.csv", None, None),
        ("id=q1", "gold.csv", False, "no row has 'q1'"),
        ("@row", "gold.csv", True, {"q1": "q2", "Paris": "Lima"}),
        ("id=1", "gold.jsonl", None, {"1": "q1", "2": "x"}),
    ],
)
def test_what_is_said_of_the_inputs_header_counts_for_a_table_joined_by_a_number(
    on: str,
    name: str,
    has_header: bool | None,
    found: dict[str, str] | str | None,
    tmp_path: FilePath,
) -> None:
    (tmp_path / "gold.csv").write_text("q1,Paris\nq2,Lima\n")
    (tmp_path / "gold.jsonl").write_text('{"1": "q1", "2": "x"}\n')
    spec = JoinSpec.of("gold", str(tmp_path / name), on, has_header=has_header)
    assert spec.beside(TableForm()).has_header in {has_header, True}
    spec = spec.beside(TableForm(has_header=False))
    if isinstance(found, str):
        with pytest.raises(JoinError, match=found):
            Joins.read([spec], Settings())
        return
    [row] = Joins.read([spec], Settings()).of([SourceRow(1, {"id": "q1"}, place=1)])
    assert row.values.get("gold") == found


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("1,a\n2,b\n3,c\n", "'1' is a number like all values below it"),
        ("id,answer\n1,a\n2,b\n", ""),
    ],
)
def test_a_first_row_of_a_joined_table_that_looks_like_data_is_told(
    text: str, why: str, tmp_path: FilePath
) -> None:
    (tmp_path / "gold.csv").write_text(text)
    [join] = joins(tmp_path / "gold.csv", "@row")
    assert why in join.index.header_note()
    assert bool(join.index.header_note()) == bool(why)


def test_a_key_may_be_nested_in_both_files_and_lie_in_a_file_joined_before(
    tmp_path: FilePath,
) -> None:
    (tmp_path / "runs.jsonl").write_bytes(b'{"run": {"id": 1}, "question": "q1"}\n')
    (tmp_path / "gold.jsonl").write_bytes(b'{"item": {"id": "q1"}, "answer": "Paris"}\n')
    specs = [
        JoinSpec.of("run", str(tmp_path / "runs.jsonl"), "of/1=run.id".replace("of/1", "/of.run")),
        JoinSpec.of("gold", str(tmp_path / "gold.jsonl"), "run.question=/item/id"),
    ]
    row = {"id": "r", "of.run": "1"}
    both = Joins.read(specs, Settings(), [row])
    assert cases(joined([row], both))[0]["inputs"] == {"x": "Paris"}


def test_a_table_of_columns_is_joined_by_one_that_the_mapping_does_not_use(
    gold: FilePath, tmp_path: FilePath
) -> None:
    rows = tmp_path / "rows.parquet"
    rows.write_bytes(_as_parquet([{"id": "a", "question": "q1", "unused": "x"}]))
    source = Source(rows, Settings(), MAPPING, joins=joins(gold, "question=key"))
    assert [case["inputs"] for case in cases(source)] == [{"x": "Paris"}]


def test_the_same_file_is_found_again_in_every_reading_and_thread(gold: FilePath) -> None:
    both = joins(gold)
    read: list[Any] = []
    thread = threading.Thread(target=lambda: read.extend(joined([{"id": "q1"}], both)))
    thread.start()
    thread.join()
    assert cases(read) == cases(joined([{"id": "q1"}], both))


def test_rows_that_are_never_used_are_counted_once(gold: FilePath) -> None:
    both = joins(gold)
    [join] = both
    assert (join.index.rows, join.index.unused) == (3, 3)
    joined([{"id": "q1"}, {"id": "q1"}, {"id": "q2"}, {"id": "none"}], both)
    assert join.index.unused == 1


def test_a_row_without_a_key_in_the_joined_file_is_only_unused(tmp_path: FilePath) -> None:
    (tmp_path / "gold.csv").write_bytes(b"key,answer\n,a\nq1,b\n,c\n")
    both = joins(tmp_path / "gold.csv")
    [join] = both
    assert cases(joined([{"id": "q1"}], both))[0]["inputs"] == {"x": "b"}
    assert (join.index.rows, join.index.unused) == (3, 2)


def test_what_identifies_a_join_changes_with_its_rows_only(gold: FilePath) -> None:
    before = joins(gold).fingerprint()
    os.utime(gold, (0, 0))
    assert joins(gold).fingerprint() == before
    gold.write_bytes(GOLD.replace(b"Lima", b"lima"))
    assert joins(gold).fingerprint() != before


# Rows of the input that have no match.


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"id": "q9"}, "no row of gold.csv has 'q9' in 'key'"),
        ({"id": "q9", "gold": 1}, "the row has a field 'gold' of its own"),
        ({"id": ""}, "the row has no key in 'id'"),
        ({"id": None}, "the row has no key in 'id'"),
        ({}, "the row has no key in 'id'"),
        ({"id": {"a": 1}}, "the key in 'id' is of the JSON type object, not text or a number"),
        ({"id": ["q1"]}, "the key in 'id' is of the JSON type array, not text or a number"),
        ({"id": True}, "the key in 'id' is of the JSON type boolean, not text or a number"),
        ({"id": "x" * 5_000}, f"no row of gold.csv has '{'x' * 59}…' in 'key'"),
        ({"id": "q\x00"}, "no row of gold.csv has 'q\\x00' in 'key'"),
        ({"id": "q1' OR '1'='1"}, "no row of gold.csv has \"q1' OR '1'='1\" in 'key'"),
    ],
)
def test_a_row_without_a_match_is_an_error_of_its_own(
    row: dict[str, Any], said: str, gold: FilePath
) -> None:
    lines = joined([{"id": "q1"}, row, {"id": "q2"}], joins(gold))
    assert [case["custom_id"] for case in cases(lines)] == ["q1", "q2"]
    [fault] = [line.fault for line in lines if line.fault]
    assert (fault.code, fault.hint) == (
        "UNMATCHED_ROW",
        "give the joined file another name"
        if "gold" in row
        else "keys in gold.csv: 'q1', 'q2', '3'",
    )
    assert said in fault.message


def test_a_row_without_a_match_keeps_its_id_and_so_its_place_in_a_sample(gold: FilePath) -> None:
    [line] = joined([{"id": "q9"}], joins(gold))
    assert (line.raw, line.custom_id) == (b'{"custom_id":"q9"}\n', "q9")
    stream = io.BytesIO(b'{"id":"q9"}\n')
    [sampled] = Source(stream, Settings(), MAPPING, Sample.parse("100%"), joins=joins(gold))
    assert sampled.fault == line.fault


def test_an_unreadable_row_stays_the_error_that_it_is(gold: FilePath) -> None:
    lines = list(Source(io.BytesIO(b'{"id":\n'), Settings(), MAPPING, joins=joins(gold)))
    assert faults(lines)[0].startswith("INVALID_JSON")


def test_a_joined_value_that_json_lacks_is_the_error_of_the_case_with_it(
    tmp_path: FilePath,
) -> None:
    rows = [{"key": "q1", "answer": math.nan, "topic": "a"}, {"key": "q2", "answer": 1.5}]
    (tmp_path / "gold.parquet").write_bytes(_as_parquet(rows))
    lines = joined([{"id": "q1"}, {"id": "q2"}], joins(tmp_path / "gold.parquet"))
    assert [case["inputs"] for case in cases(lines)] == [{"x": 1.5}]
    assert faults(lines)[0].startswith("NUMBER_OUT_OF_RANGE")
    harmless = parse_mapping(["custom_id=id,x=gold.topic"])
    assert len(cases(joined([{"id": "q1"}], joins(tmp_path / "gold.parquet"), harmless))) == 1


def test_bytes_that_are_not_text_are_an_error_only_of_the_case_with_them(
    tmp_path: FilePath,
) -> None:
    rows = [{"key": "q1", "answer": b"\xff\xfe", "topic": b"text"}]
    (tmp_path / "gold.parquet").write_bytes(_as_parquet(rows))
    both = joins(tmp_path / "gold.parquet")
    assert faults(joined([{"id": "q1"}], both))[0].startswith("LONE_SURROGATE")
    harmless = parse_mapping(["custom_id=id,x=gold.topic"])
    assert cases(joined([{"id": "q1"}], both, harmless))[0]["inputs"] == {"x": "text"}


def test_a_case_that_is_too_long_with_its_joined_row_is_an_error(tmp_path: FilePath) -> None:
    (tmp_path / "gold.csv").write_text(f"key,answer\nq1,{'x' * 900}\n")
    [line] = joined([{"id": "q1"}], joins(tmp_path / "gold.csv"), line_limit_bytes=500)
    assert line.fault
    assert line.fault.code == "LINE_TOO_LONG"


@pytest.mark.parametrize("number", ["NaN", "[-Infinity]", "123456789012345678901"])
def test_a_number_that_json_lacks_is_an_error_only_of_the_rows_whose_mapping_uses_it(
    number: str, tmp_path: FilePath
) -> None:
    file = tmp_path / "gold.jsonl"
    file.write_text(
        f'{{"key": "a", "answer": "x", "score": {number}}}\n{{"key": "b", "answer": "y", "score": 1}}\n'
    )
    rows = [{"id": "a"}, {"id": "b"}]
    unused = parse_mapping(["custom_id=id,x=gold.answer"])
    assert [case["inputs"] for case in cases(joined(rows, joins(file), unused))] == [
        {"x": "x"},
        {"x": "y"},
    ]
    used = parse_mapping(["custom_id=id,x=gold.answer,y=gold.score"])
    faulty, whole = joined(rows, joins(file), used)
    assert faulty.fault.code == "NUMBER_OUT_OF_RANGE"
    assert f"{file}, line 1: " in faulty.fault.message
    assert whole.fault is None


def test_a_number_that_json_lacks_is_blamed_on_the_file_that_has_it(tmp_path: FilePath) -> None:
    file = tmp_path / "gold.jsonl"
    file.write_text('{"key": "a", "answer": "x", "score": NaN}\n')
    own = b'{"id": "a", "loss": Infinity}\n'
    for field, is_of_gold in (("gold.score", True), ("loss", False)):
        mapping = parse_mapping([f"custom_id=id,x=gold.answer,y={field}"])
        [line] = Source(io.BytesIO(own), Settings(), mapping, joins=joins(file))
        assert line.fault
        assert (f"{file}, line 1: " in line.fault.message) is is_of_gold
    unused = parse_mapping(["custom_id=id,x=gold.answer"])
    assert next(iter(Source(io.BytesIO(own), Settings(), unused, joins=joins(file)))).fault is None


# Files that cannot be joined.


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("g.csv", b"key,a\nq1,x\nq2,y\nq1,z\n", "lines 2 and 4 have the same key 'q1' in 'key'"),
        ("g.csv", b'key,a\nq1,"x\ny"\nq1,z\n', "lines 2 and 4 have the same key"),
        ("g.jsonl", b'{"key":1}\n\n{"key":"1"}\n', "lines 1 and 3 have the same key '1'"),
        ("g.json", b'[{"key":1},{"key":"1"}]', "rows 1 and 2 have the same key '1'"),
        ("g.csv", b"key,a\nq1,x\nq2\n", "line 3: the row has 1 cell, and the header 2"),
        (
            "g.jsonl",
            b'{"key":"a"}\n{"key":NaN}\n',
            "line 2: the key in 'key' is not a finite number",
        ),
        ("g.jsonl", b'{"key":"a"}\n{"key":\n', "line 2: "),
        ("g.jsonl", b'{"key":"a"}\n[1]\n', "line 2: the line is a JSON array, not an object"),
        ("g.jsonl", b'{"key":{"a":1}}\n', "line 1: the key in 'key' is of the JSON type object"),
        (
            "g.csv",
            b"key,a\n" + (b"k" * 2_000 + b",x\n") * 2,
            "lines 2 and 3 have the same key 'kkk",
        ),
        ("g.csv", b"key,a\n", "has no rows"),
        ("g.csv", b"", "has no rows"),
        (
            "g.csv",
            b"kye,a\nq1,x\n",
            "no row has 'key', the field named by --on; did you mean 'kye'?",
        ),
        ("g.csv", b"key,a\n,x\n,y\n", "no row has 'key'"),
        ("g.csv.gz", gzip.compress(GOLD)[:-9], "the compressed input ends early"),
    ],
    ids=itertools.count(),
)
def test_a_file_that_cannot_be_joined_is_refused_with_the_row(
    name: str, data: bytes, said: str, tmp_path: FilePath
) -> None:
    error = refused(tmp_path / name, data)
    assert said in error.message
    assert str(tmp_path / name) in error.message
    assert error.code == "INVALID_JOIN"


def test_a_row_that_is_too_long_is_refused(tmp_path: FilePath) -> None:
    data = b"key,a\nq1," + b"x" * 500 + b"\n"
    error = refused(tmp_path / "g.csv", data, line_limit_bytes=200)
    assert "line 2: the line has 504 characters" in error.message


def test_a_file_whose_first_rows_have_no_key_is_not_read_to_its_end(tmp_path: FilePath) -> None:
    data = b"id,a\n" + b"1,x\n" * 100 + b"unreadable\n"
    error = refused(tmp_path / "g.csv", data)
    assert "no row has 'key'" in error.message
    assert error.hint == "columns: id, a"


@pytest.mark.parametrize("name", ["none.csv", "folder", "empty", "*.csv"])
def test_a_file_that_is_not_one_is_refused(name: str, tmp_path: FilePath, gold: FilePath) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "empty").mkdir()
    (tmp_path / "folder" / "a.csv").write_bytes(GOLD)
    with pytest.raises(JoinError, match=r"does not exist|is a folder or a pattern"):
        joins(tmp_path / name)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read_is_refused(gold: FilePath) -> None:
    gold.chmod(0)
    with pytest.raises(InputError, match="cannot be read: Permission denied"):
        joins(gold)


def test_a_link_to_a_file_and_a_pipe_are_read_like_files(
    gold: FilePath, tmp_path: FilePath
) -> None:
    (tmp_path / "link.csv").symlink_to(gold)
    pipe = tmp_path / "pipe.csv"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(GOLD,))
    writer.start()
    for file in (tmp_path / "link.csv", pipe):
        assert len(cases(joined([{"id": "q1"}], joins(file)))) == 1
    writer.join()


def test_a_key_within_a_list_of_the_joined_file_says_to_swap_the_files(tmp_path: FilePath) -> None:
    row = {"title": "t", "paragraphs": [{"qas": []}, {"qas": [{"id": "q1", "answer": "a"}]}]}
    (tmp_path / "dev.json").write_bytes(orjson.dumps({"data": [row, row]}))
    with pytest.raises(JoinError, match=r"leads into the list 'paragraphs\.qas'") as caught:
        joins(tmp_path / "dev.json", "@key=paragraphs.qas.id")
    assert "@each=paragraphs.qas in --map" in caught.value.hint
    assert "--on paragraphs.qas.id=FIELD" in caught.value.hint
    with pytest.raises(JoinError, match=r"no row has 'paragraphs\.qas\.key'"):
        joins(tmp_path / "dev.json", "@key=paragraphs.qas.key")


def test_rows_under_keys_are_joined_by_their_keys(tmp_path: FilePath) -> None:
    path = tmp_path / "gold.json"
    path.write_bytes(orjson.dumps({"q1": "Paris", "q2": {"value": "Lima"}}))
    mapping = parse_mapping(["custom_id=id,x=gold.value"])
    lines = joined([{"id": "q1"}, {"id": "q2"}], joins(path, "id=@key"), mapping)
    assert [orjson.loads(line.raw)["inputs"] for line in lines] == [{"x": "Paris"}, {"x": "Lima"}]
    path.write_bytes(orjson.dumps({"q1": "Paris", "q2": "Lima"}))
    with pytest.raises(JoinError) as caught:
        joins(path, "id")
    assert caught.value.hint.endswith("@key names the key: --on id=@key, or --on @key=id")


def test_the_key_of_a_row_in_a_document_is_joined(gold: FilePath) -> None:
    stream = io.BytesIO(b'{"q1": "Paris", "q9": "x"}')
    mapping = parse_mapping(["custom_id=gold.topic,x=gold.answer"])
    found = list(Source(stream, Settings(), mapping, joins=joins(gold, "@key=key")))
    assert orjson.loads(found[0].raw) == {"custom_id": "geo", "inputs": {"x": "Paris"}}
    assert found[1].fault
    assert found[1].fault.code == "UNMATCHED_ROW"


def test_what_the_first_rows_of_the_input_rule_out_is_refused(gold: FilePath) -> None:
    with pytest.raises(JoinError, match=r"there is a column 'gold' already, so '.*gold.csv'"):
        joins(gold, first=[{"id": "q1", "gold": "x"}])
    with pytest.raises(JoinError, match=r"no row has 'idd', .*--on; did you mean 'id'\?") as caught:
        joins(gold, "idd=key", first=[{"id": "q1", "a": "x"}])
    assert caught.value.hint == "columns: id, a"
    with pytest.raises(JoinError, match=r"no row has 'a.c', .*; did you mean 'a.b'\?"):
        joins(gold, "a.c=key", first=[{"id": "q1", "a": {"b": "x"}}])


# How they are written.


def test_one_key_is_for_all_joins_or_there_is_one_for_each() -> None:
    texts = ["gold=a.csv", "more=b=c.csv"]
    same = parse_joins(texts, ["id"])
    assert list(map(str, same)) == ["gold=a.csv on id", "more=b=c.csv on id"]
    assert list(map(str, parse_joins(texts, ["id", "x.y=/z/a"]))) == [
        "gold=a.csv on id",
        "more=b=c.csv on x.y=/z/a",
    ]


@pytest.mark.parametrize(
    ("texts", "keys", "said"),
    [
        (["gold.csv"], ["id"], "'gold.csv' does not name a file to join"),
        (["gold="], ["id"], "'gold=' does not name a file to join"),
        (["=gold.csv"], ["id"], "'=gold.csv' does not name a file to join"),
        (["a.b=gold.csv"], ["id"], "'a.b' cannot be the name of a joined file"),
        (["@row=gold.csv"], ["id"], "'@row' cannot be the name of a joined file"),
        (["\udcff=gold.csv"], ["id"], "cannot be the name of a joined file"),
        ([f"{'x' * 65}=gold.csv"], ["id"], "cannot be the name of a joined file"),
        (["gold=gold.csv"], [], "'gold=gold.csv' is joined on no field"),
        (["gold=gold.csv"], ["id="], "'id=' does not name a field to join on"),
        (["gold=gold.csv"], ["=id"], "'=id' does not name a field to join on"),
        (["gold=gold.csv"], [" "], "' ' does not name a field to join on"),
        (["gold=gold.csv"], ["id", "id"], "the numbers of --join and --on differ: 1 and 2"),
        (["gold=a.csv", "gold=b.csv"], ["id"], "two files are joined as 'gold'"),
    ],
)
def test_a_join_that_is_not_well_formed_is_refused(
    texts: list[str], keys: list[str], said: str
) -> None:
    with pytest.raises(JoinError) as caught:
        parse_joins(texts, keys)
    assert said in caught.value.message
    assert caught.value.hint


# Keys of any kind.


@given(
    st.one_of(st.integers(), st.floats(), st.text(), st.none(), st.booleans(), st.lists(st.text()))
)
def test_a_key_is_the_text_of_a_value_none_or_an_error(value: object) -> None:
    with suppress(KeyFormError):
        key = key_of({"id": value}, Path("id"), 1)
        assert key is None or (key == str(value) and key)


@pytest.mark.parametrize("length", [300, 100_000])
def test_a_key_may_be_a_prompt_of_any_length_and_several_lines(
    length: int, tmp_path: FilePath
) -> None:
    prompts = [f"Answer\nin\tone word: {'x' * length} {end}" for end in "ab"]
    lines = [{"prompt": prompt, "answer": prompt[-1]} for prompt in prompts]
    (tmp_path / "gold.jsonl").write_bytes(b"".join(orjson.dumps(line) + b"\n" for line in lines))
    both = joins(tmp_path / "gold.jsonl", "q=prompt")
    mapping = parse_mapping(["custom_id=@row,x=gold.answer"])
    found = joined([{"q": prompts[1]}, {"q": prompts[0]}, {"q": prompts[0] + "c"}], both, mapping)
    assert [case["inputs"]["x"] for case in cases(found)] == ["b", "a"]
    assert found[2].fault
    assert len(str(found[2].fault)) < 600


def test_text_that_is_not_utf8_is_a_key_like_any_other(tmp_path: FilePath) -> None:
    # Beyond what is looked at to find the encoding.
    data = (
        b"key,answer\n"
        + b"".join(b"%d,%b\n" % (n, b"x" * 1_000) for n in range(500))
        + b"q\xff,y\n"
    )
    assert len(data) > HEAD_BYTES
    for name in ("gold.csv", "rows.csv"):
        (tmp_path / name).write_bytes(data)
    mapping = parse_mapping(["custom_id=gold.answer,x=gold.answer"])
    both = joins(tmp_path / "gold.csv", "key")
    *_, last = Source(tmp_path / "rows.csv", Settings(), mapping, joins=both)
    assert cases([last]) == [{"custom_id": "y", "inputs": {"x": "y"}}]


# Memory and disk.


def test_memory_does_not_grow_with_the_joined_file(tmp_path: FilePath) -> None:
    file = tmp_path / "gold.csv"
    with file.open("w") as out:
        out.write("key,answer\n")
        out.writelines(f"q{number},{'x' * 4000}\n" for number in range(1_500))
    tracemalloc.start()
    both = joins(file)
    assert len(cases(joined([{"id": "q1499"}], both))) == 1
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert file.stat().st_size > 5 * MIB
    assert peak < 2.5 * MIB, f"{peak / KIB:,.0f} KiB"


def test_long_keys_take_no_space_beside_their_rows(tmp_path: FilePath) -> None:
    file = tmp_path / "gold.jsonl"
    lines = (orjson.dumps({"key": f"{'x' * 100_000}{number}"}) + b"\n" for number in range(100))
    file.write_bytes(b"".join(lines))
    [join] = joins(file, "key")
    with join.index._base as base:
        pages, size = (base.execute(f"PRAGMA page_{of}").fetchone()[0] for of in ("count", "size"))
    assert pages * size < 1.2 * file.stat().st_size


def test_the_index_leaves_no_file_behind(
    gold: FilePath, tmp_path: FilePath, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setenv("SQLITE_TMPDIR", str(folder))
    both = joins(gold)
    assert list(folder.iterdir()) == []
    both.close()
    assert list(folder.iterdir()) == []


def test_standard_input_is_not_joined() -> None:
    with pytest.raises(JoinError, match="standard input cannot be joined"):
        Joins.read(parse_joins(["gold=-"], ["id"]), Settings())


def test_a_join_without_a_key_has_that_of_the_saved_one_with_its_name() -> None:
    saved = {"gold": JoinSpec.of("gold", "old.csv", "id=key")}
    assert list(map(str, parse_joins(["gold=new.csv"], [], saved))) == ["gold=new.csv on id=key"]
    with pytest.raises(JoinError, match="is joined on no field"):
        parse_joins(["other=new.csv"], [], saved)


def test_only_keys_that_are_left_out_are_said_to_be(tmp_path: FilePath) -> None:
    (tmp_path / "gold.csv").write_bytes(b"key,answer\nq1,Paris\n,Lima\n")
    [row] = joined([{"id": "q9"}], joins(tmp_path / "gold.csv"))
    assert row.fault
    assert row.fault.hint.endswith("gold.csv: 'q1'")


def test_the_proposed_id_is_not_that_of_a_joined_file() -> None:
    rows = [
        {"id": name, "answer": name, "gold": {"question_id": name, "expected": name}}
        for name in ("q1", "q2")
    ]
    needed = ("agent_response", "expected_output")
    assert propose(rows, needed, joined=("gold",)).fields["custom_id"] == "id"
    without_own = [{"answer": row["answer"], "gold": row["gold"]} for row in rows]
    found = propose(without_own, needed, joined=("gold",)).fields["custom_id"]
    assert not found.startswith("gold.")


def test_rows_that_are_not_where_the_mapping_says_are_not_blamed_on_their_fields(
    tmp_path: FilePath,
) -> None:
    (tmp_path / "a.json").write_text('{"data": [{"qas": [{"id": "q1"}]}]}')
    (tmp_path / "p.csv").write_text("id,output\nq1,Paris\n")
    (tmp_path / "m.yaml").write_text(
        "{rows: /data/0/qas, custom_id: id, inputs: {agent_response: p.output, expected_output: id}}"
    )
    mapping = read_mapping(tmp_path / "m.yaml").mapping
    mapping, joins = choose_mapping(
        Paths([tmp_path / "a.json"]),
        [GraderSpec("string-match")],
        Settings(),
        texts=[],
        saved=mapping,
        joins=parse_joins([f"p={tmp_path / 'p.csv'}"], ["id"]),
    )
    [line] = Source(Paths([tmp_path / "a.json"]), Settings(), mapping, joins=joins)
    assert line.fault
    assert line.fault.message.startswith("no rows at '/data/0/qas'")
