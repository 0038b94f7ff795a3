"""JSON documents whose members are rows: their keys are the column @key, and they are read as a stream."""

from __future__ import annotations

import io
import tracemalloc
from typing import TYPE_CHECKING, Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from weighbridge.jobs.grader_spec import GraderSpec
from weighbridge.settings import MIB, Settings
from weighbridge_producer.cli.mapping_hints import suggestion
from weighbridge_producer.input.files.input_paths import Paths
from weighbridge_producer.input.first_rows import Opened
from weighbridge_producer.input.mapping.mapping_text import parse_mapping
from weighbridge_producer.input.mapping_file import read_mapping
from weighbridge_producer.input.recognition import recognise
from weighbridge_producer.input.rows.row_formats import RowReader
from weighbridge_producer.input.source import Source

if TYPE_CHECKING:
    from pathlib import Path

    from weighbridge_producer.input.first_rows import SeenRows
    from weighbridge_producer.input.rows.source_rows import SourceRow

ROWS = {"q1": {"pred": "a", "gold": "a"}, "q2": {"pred": "b", "gold": "c"}}
MAPPING = "custom_id=@key,agent_response=pred,expected_output=gold"
TURNS = [{"role": "HUMAN", "prompt": "Capital of France?"}, {"role": "BOT", "prompt": ""}]
STRING_MATCH = [GraderSpec("string-match")]


def read(data: Any, name: str = "a.json", rows: str = "", added: Any = ("@key",)) -> list[SourceRow]:  # fmt: skip
    text = data if isinstance(data, bytes) else orjson.dumps(data)
    return list(RowReader(name, Settings(), rows, added=added).read(io.BytesIO(text)))


def faults(data: bytes) -> dict[int, tuple[str, str]]:
    rows = read(data)
    return {row.number: (fault.code, fault.message) for row in rows if (fault := row.fault)}


def seen(path: Path, document: Any, option: int = 0) -> SeenRows:
    path.write_bytes(orjson.dumps(document, option=option))
    found = recognise(Opened.first_of(Paths([path])), STRING_MATCH, Settings())
    assert found
    return found


@given(st.dictionaries(st.text(max_size=300), st.dictionaries(st.text(), st.text())), st.booleans())
def test_each_member_is_a_row_with_its_key(document: dict[str, Any], indented: bool) -> None:
    document = {key: row for key, row in document.items() if key != "@key" and "@key" not in row}
    data = orjson.dumps(document, option=orjson.OPT_INDENT_2 if indented else 0)
    assert [row.values for row in read(data)] == [
        {"@key": key, **row} for key, row in document.items()
    ]


@pytest.mark.parametrize("name", ["a.json", "a.jsonl", "-", "a.txt"])
@pytest.mark.parametrize("end", [b"", b"\n", b"\r\n\n"], ids=["", "a line break", "a blank line"])
def test_a_document_on_one_line_has_rows_under_its_keys_whatever_ends_it(
    name: str, end: bytes
) -> None:
    rows = read(orjson.dumps(ROWS) + end, name)
    assert [row.values["@key"] for row in rows] == ["q1", "q2"]


def test_a_member_that_is_no_object_is_the_column_value() -> None:
    document = {"q1": "Paris", "q2": ["Lima", "lima"], "q3": 3, "q4": None}
    assert [row.values for row in read(document)] == [
        {"@key": key, "value": value} for key, value in document.items()
    ]


def test_a_pointer_leads_to_the_object_with_the_rows() -> None:
    document = {"model": {"x": 1}, "answers": ROWS}
    assert [row.values["@key"] for row in read(document, rows="/answers")] == ["q1", "q2"]
    mapping = parse_mapping([MAPPING])
    source = Source(io.BytesIO(orjson.dumps(ROWS)), Settings(), mapping)
    assert [orjson.loads(line.raw)["custom_id"] for line in source] == ["q1", "q2"]


@pytest.mark.parametrize(
    "data", [b'[{"@key": "a", "x": "1"}]', b'{"@key": "a", "x": "1"}\n{"@key": "b", "x": "2"}\n']
)
def test_a_column_of_that_name_in_other_files_is_only_a_column(data: bytes) -> None:
    assert read(data)[0].values == {"@key": "a", "x": "1"}


def test_rows_and_keys_that_cannot_be_used_are_faults_and_the_others_are_read() -> None:
    long = b'"%b": {"x": 1}' % (b"k" * 5000)
    members = [
        b'"q1": {"x": 1}', long, b'"\xff": {"x": 1}', b'"\\ud800": {"x": 1}', b'"q5": {"@key": 1}', b'"@key": {"x": 1}',
        b'"q7": {"x": 1, "x": 2}', b'"q8": %b' % (b"[" * 300 + b"]" * 300), b'"q9": {"x": 9}',
    ]  # fmt: skip
    data = b"{" + b",\n".join(members) + b"}"
    no_key = ("INVALID_ROW", "the key of the row has more than 4,096 bytes, or is not Unicode")
    own_key = ("INVALID_ROW", "there is a '@key' besides the row's key")
    found = faults(data)
    assert [found[number] for number in (2, 3, 4, 5, 6)] == [no_key] * 3 + [own_key] * 2
    assert [found[7][0], found[8][0]] == ["DUPLICATE_KEY", "TOO_DEEP"]
    assert [row.values for row in read(data) if not row.fault] == [
        {"@key": "q1", "x": 1},
        {"@key": "q9", "x": 9},
    ]


def test_a_key_that_occurs_twice_gives_two_rows() -> None:
    assert [row.values["x"] for row in read(b'{"a": {"x": 1}, "a": {"x": 2}}')] == [1, 2]


def test_a_document_that_breaks_off_is_truncated_behind_its_rows() -> None:
    rows = read(orjson.dumps(ROWS)[:-8])
    assert [row.fault and row.fault.code for row in rows] == [None, "INPUT_TRUNCATED"]


def test_memory_does_not_grow_with_the_document() -> None:
    row = b'"q%d": {"pred": "' + b"a" * 2000 + b'"},\n'
    data = b"{" + b"".join(row % number for number in range(2_000)) + b'"end": {}}'
    stream = io.BytesIO(data)
    tracemalloc.start()
    try:
        assert sum(1 for _ in RowReader("a.json", Settings(), added=["@key"]).read(stream)) == 2_001
        assert tracemalloc.get_traced_memory()[1] < 1.5 * MIB
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("option", [0, orjson.OPT_INDENT_2])
@pytest.mark.parametrize(
    ("document", "mapping"),
    [
        (ROWS, MAPPING),
        (
            {"0": {"origin_prompt": TURNS, "prediction": "a", "gold": "a"}, "1": {"origin_prompt": TURNS, "prediction": "b", "gold": "b"}},
            "custom_id=@key,agent_response=prediction,expected_output=gold",
        ),
        (
            {"q1": {"id": "x", "output": "a", "gold": "a"}, "q2": {"id": "y", "output": "b", "gold": "c", "note": [1]}},
            "custom_id=@key,agent_response=output,expected_output=gold",
        ),
        ({"q1": "Paris", "q2": "Lima"}, "custom_id=@key,agent_response=value,expected_output=COLUMN"),
    ],
    ids=["rows", "opencompass", "fields that some lack", "texts"],
)  # fmt: skip
def test_a_mapping_with_the_key_is_proposed_and_not_used_unasked(
    document: Any, mapping: str, option: int, tmp_path: Path
) -> None:
    found = seen(tmp_path / "a.json", document, option)
    assert found.proposal
    assert (found.mapping, found.proposal.text) == (None, mapping)
    assert str(found.layout) == "JSON, a row under each key"


@pytest.mark.parametrize("option", [0, orjson.OPT_INDENT_2])
@pytest.mark.parametrize(
    ("beside", "note"),
    [
        ({"accuracy": 0.5}, "1 member of the document is not a row and is left out: 'accuracy'"),
        (
            {"_meta": {"date": "x"}},
            "1 member of the document is not a row and is left out: '_meta'",
        ),
        (
            {"accuracy": 0.5, "summary": {"n": 3}},
            "2 members of the document are not rows and are left out: 'accuracy', 'summary'",
        ),
        (
            {"errors": [{"id": "x"}]},
            "1 member of the document is not a row and is left out: 'errors'",
        ),
    ],
)
def test_members_beside_the_rows_are_left_out_and_noted(
    beside: dict[str, Any], note: str, option: int, tmp_path: Path
) -> None:
    file = tmp_path / "a.json"
    found = seen(file, {**ROWS, "q3": {"pred": "d", "gold": "d"}, **beside}, option)
    assert found.proposal
    assert (found.proposal.text, found.hints()) == (MAPPING, [note])
    source = Source(file, Settings(), parse_mapping([MAPPING]))
    lines = [line for line in source if line.raw.strip() or line.fault]
    assert [orjson.loads(line.raw)["custom_id"] for line in lines] == ["q1", "q2", "q3"]
    assert source.notes.counts() == [note]


def test_a_row_without_an_answer_is_no_member_beside_the_rows(tmp_path: Path) -> None:
    failed = {"question": "?", "error": "timeout"}
    answered = {"question": "?", "pred": "a", "gold": "a"}
    document = {"n": 4, "q1": failed, "q2": answered, "q3": failed, "q4": answered, "_": {"x": 1}}
    found = seen(tmp_path / "a.json", document)
    assert [row["@key"] for row in found.rows] == ["q1", "q2", "q3", "q4"]
    source = Source(tmp_path / "a.json", Settings(), parse_mapping([MAPPING]))
    ids = [orjson.loads(line.raw)["custom_id"] for line in source if line.raw.strip()]
    assert ids == ["q1", "q2", "q3", "q4"]
    [note] = source.notes.counts()
    assert note == "2 members of the document are not rows and are left out: 'n', '_'"


@pytest.mark.parametrize("count", [3, 250])
def test_members_of_which_none_has_an_input_are_errors_not_nothing(
    count: int, tmp_path: Path
) -> None:
    file = tmp_path / "a.json"
    file.write_bytes(orjson.dumps({f"q{at}": {"output": "a"} for at in range(count)}))
    source = Source(file, Settings(), parse_mapping([MAPPING]))
    lines = [line for line in source if line.raw.strip()]
    assert orjson.loads(lines[-1].raw) == {"custom_id": f"q{count - 1}", "inputs": {}}
    assert len(lines) == (3 if count == 3 else 50)


def test_a_member_with_nothing_in_it_stays_a_row(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    file.write_bytes(orjson.dumps({**ROWS, "q3": {}, "q4": None, "q5": {"gold": "x"}}))
    source = Source(file, Settings(), parse_mapping([MAPPING]))
    assert [orjson.loads(line.raw)["custom_id"] for line in source] == [
        f"q{n}" for n in range(1, 6)
    ]
    assert source.notes.counts() == []


def test_a_path_into_one_of_several_like_objects_is_noted(tmp_path: Path) -> None:
    found = seen(tmp_path / "a.json", {**ROWS, "accuracy": 0.5, "n": 2, "date": "x"})
    assert str(found.layout) == "JSON, one object"
    [hint] = found.hints()
    assert "only 'q1' of 2 objects with the same names is graded: 'q1', 'q2'" in hint
    assert hint.endswith("to make each a row, map custom_id=@key and the names within the objects")
    beside = {"accuracy": 50.0, "details": {"type": "GEN", **ROWS}}
    [hint] = seen(tmp_path / "b.json", beside).hints()
    assert hint.startswith(
        "only the first of 2 objects under the keys of /details is graded; to make each a row, give a mapping file"
    )


def test_cases_within_each_row_of_which_one_is_graded_are_noted(tmp_path: Path) -> None:
    sections = {name: {"0": dict(ROWS["q1"]), "1": dict(ROWS["q2"])} for name in ("math", "law")}
    [hint] = seen(tmp_path / "a.json", sections).hints()
    assert hint == (
        "in each row: only '0' of 2 objects with the same names is graded: '0', '1'; write a row for each, with its key in"
        " the custom_id: jq -c"
        " 'to_entries[] | {run: .key} + (.value | objects | to_entries[] | {id: .key} + (.value | objects))' FILE > COPY"
    )
    in_rows = [{"run": name, **section} for name, section in sections.items()]
    [hint] = seen(tmp_path / "c.json", in_rows).hints()
    assert hint.endswith("with its key in the custom_id")
    compared = {"a": {"gold": "x", "m1": {"pred": "x"}, "m2": {"pred": "y"}}}
    assert not any(
        "in each row" in each
        for each in seen(tmp_path / "b.json", compared | {"b": compared["a"]}).hints()
    )


def test_a_document_that_is_too_large_for_one_row_is_known_too(tmp_path: Path) -> None:
    rows = {f"q{number}": {"pred": "a" * 1000, "gold": "a"} for number in range(3000)}
    found = seen(tmp_path / "a.json", rows, orjson.OPT_INDENT_2)
    assert found.proposal
    assert found.proposal.text.startswith(MAPPING)


@pytest.mark.parametrize(
    "document",
    [
        {"run1": {"results": [{"id": 1, "output": "a", "expected": "a"}]}, "run2": {"results": []}},
        {"config": {"model": "m"}, "results": {"samples": [{"id": 1, "output": "a", "gold": "a"}]}},
    ],
)
def test_a_list_of_rows_within_objects_stays_the_rows(document: Any, tmp_path: Path) -> None:
    found = seen(tmp_path / "a.json", document)
    assert found.layout
    assert not found.layout.by_key
    assert found.layout.rows


def test_rows_under_keys_of_an_object_within_the_document_are_named(tmp_path: Path) -> None:
    [hint] = seen(tmp_path / "a.json", {"model": "m", "answers": ROWS}).hints()
    assert hint.startswith(
        "only the first of 2 objects under the keys of /answers is graded; to make each a row, give a mapping file"
    )
    (tmp_path / "m.yaml").write_text(hint.partition("(--mapping): ")[2])
    saved = read_mapping(tmp_path / "m.yaml").mapping
    cases = [orjson.loads(line.raw) for line in Source(tmp_path / "a.json", Settings(), saved)]
    assert [case["custom_id"] for case in cases] == ["q1", "q2"]
    one_row = {"models": {"m1": {"output": "a"}, "m2": {"output": "b"}}, "gold": "a"}
    [hint] = seen(tmp_path / "b.json", one_row).hints()
    assert hint == (
        "agent_response: only 'm1' of 2 objects with the same names is graded: 'm1', 'm2'"
    )


def test_how_to_take_each_of_several_objects_is_said_before_how_to_take_the_first(
    tmp_path: Path,
) -> None:
    within = {"model": "m", "answers": ROWS}
    in_each = {name: {"0": dict(ROWS["q1"]), "1": dict(ROWS["q2"])} for name in ("math", "law")}
    beside = {"models": {"m1": {"output": "a"}, "m2": {"output": "b"}}, "gold": "a"}
    for document in (within, in_each, beside):
        found = seen(tmp_path / "a.json", document)
        assert found.proposal
        first, second, *others = suggestion(found)[0].split("\n  ")
        assert first == found.inner_hint()
        assert second.startswith("for the first alone, --map custom_id=")
        assert not others
        assert first not in suggestion(found)[1:]


def test_a_mapping_without_the_key_is_told_how_to_read_rows_under_keys(tmp_path: Path) -> None:
    row = RowReader("a.json", Settings()).read(io.BytesIO(orjson.dumps(ROWS)))
    assert [each.values for each in row] == [ROWS]
    found = seen(tmp_path / "a.jsonl", {"q1": {"x": 1}, "q2": {"x": 2}})
    assert "write @key for the key, as in custom_id=@key" in found.document_hint()
