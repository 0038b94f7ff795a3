"""Mapping files: YAML that maps values to fields, and errors with line numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from weighbridge.errors import MappingError
from weighbridge_producer.input.mapping_file import read_mapping

if TYPE_CHECKING:
    from pathlib import Path

GOOD = """
custom_id: "{topic}-{id}"
grader: judge
inputs:
  agent_response: output.text
  expected_output: [expected, gold]
  note: "{topic}|id"
  k: {value: 3}
metadata: [topic, model.name]
rows: /results
"""

JOIN = "custom_id: id\ninputs: {{x: gold.y}}\njoin:\n  gold: {}\n"


def read(tmp_path: Path, text: str) -> str:
    path = tmp_path / "m.yaml"
    path.write_text(text)
    return str(read_mapping(path).mapping)


def test_a_file_says_what_the_option_says(tmp_path: Path) -> None:
    assert read(tmp_path, GOOD) == (
        "custom_id={topic}-{id},grader=judge,agent_response=output.text,expected_output=expected|gold,note={topic}|id,k:=3,"
        "metadata=topic,metadata=model.name"
    )
    assert read_mapping(tmp_path / "m.yaml").mapping.rows == "/results"


@pytest.mark.parametrize(
    ("metadata", "told"),
    [
        ('"*"', "metadata=*"),
        ("topic", "metadata=topic"),
        ("{t: topic, kind: {value: new}}", 'metadata.t=topic,metadata.kind:="new"'),
        ('{t: topic, "*": [more, extra]}', "metadata.t=topic,metadata.*=more|extra"),
    ],
)
def test_metadata_may_be_one_path_names_or_everything(
    tmp_path: Path, metadata: str, told: str
) -> None:
    text = f"custom_id: id\ninputs: {{x: y}}\nmetadata: {metadata}\n"
    assert read(tmp_path, text) == f"custom_id=id,x=y,{told}"


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("- a\n", "line 1: the mapping is not an object"),
        ("custom_id: id\ninput: {x: y}\n", "line 2: unknown key 'input'; did you mean 'inputs'"),
        ("custom_id: id\ninputs: x\n", "line 2: 'inputs' is not an object"),
        ("custom_id: id\ninputs:\n  x: 3\n", "line 3: 'x' is not mapped to anything"),
        ("custom_id: id\ninputs: {x: y}\nmetadata: 3\n", "line 3: 'metadata' is neither"),
        ("custom_id: id\ninputs: {x: y}\nrows: results\n", "line 3: 'rows' is not a JSON Pointer"),
        ("custom_id: id\ninputs: {x: y}\njoin: gold.csv\n", "line 3: 'join' is not an object"),
        (JOIN.format("{file: gold.csv}"), "line 4: the join 'gold' does not have a file and a"),
        (JOIN.format("{file: gold.csv, on: [id]}"), "line 4: the join 'gold' does not have a file"),
        (
            JOIN.format("{file: gold.csv, on: id, row: /a}"),
            "line 4: the join 'gold' has an unknown key 'row'",
        ),
        (
            JOIN.format("{file: gold.csv, on: id, header: x}"),
            "line 4: the join 'gold' does not have a file",
        ),
        (
            JOIN.format("{file: gold.csv, on: id, rows: a}"),
            "line 4: 'rows' of 'gold' is not a JSON Pointer",
        ),
        (JOIN.format("{file: gold.csv, on: =id}"), "line 4: '=id' does not name a field to join"),
        ("inputs: {x: y}\n", "does not say what the custom_id"),
        ("custom_id: !!python/name:os.system x\n", "is not allowed"),
        ("custom_id: [\n", "not YAML"),
    ],
)
def test_a_mistake_is_told_with_its_line(tmp_path: Path, text: str, what: str) -> None:
    with pytest.raises(MappingError, match=r"m\.yaml") as caught:
        read(tmp_path, text)
    assert what in caught.value.message


def test_a_joined_file_is_named_relative_to_the_mapping_file(tmp_path: Path) -> None:
    path = tmp_path / "m.yaml"
    for file, found in (
        ("gold.csv", tmp_path / "gold.csv"),
        ("/data/gold.csv", "/data/gold.csv"),
        ("s3://data/gold.csv", "s3://data/gold.csv"),
    ):
        path.write_text(JOIN.format(f"{{file: {file}, on: custom_id=id}}"))
        assert [str(join) for join in read_mapping(path).joins] == [f"gold={found} on custom_id=id"]


@pytest.mark.parametrize(("written", "has_header"), [("", None), (", header: false", False)])
def test_a_joined_table_may_be_said_to_have_no_header(
    written: str, has_header: bool | None, tmp_path: Path
) -> None:
    (tmp_path / "m.yaml").write_text(JOIN.format(f"{{file: gold.csv, on: '1'{written}}}"))
    [join] = read_mapping(tmp_path / "m.yaml").joins
    assert join.has_header is has_header


def test_a_file_that_is_not_there_is_reported(tmp_path: Path) -> None:
    with pytest.raises(MappingError, match="cannot be read: No such file"):
        read_mapping(tmp_path / "none.yaml")
