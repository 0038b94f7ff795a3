"""Empty cells of tables: no answers of a case, unlike empty texts in JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson
import pytest

from weighbridge.settings import Settings
from weighbridge_producer.input.joins import Joins, JoinSpec
from weighbridge_producer.input.mapping.mapping_text import parse_mapping
from weighbridge_producer.input.source import Source

if TYPE_CHECKING:
    from pathlib import Path

MAPPING = "custom_id=id,agent_response=answer,expected_output=gold"
UNFILLED = "1 row has an empty cell for both answers"


def read(path: Path, mapping: str, joins: Joins | None = None) -> tuple[list[Any], list[str]]:
    source = Source(str(path), Settings(), parse_mapping([mapping]), joins=joins)
    inputs = [orjson.loads(line.raw)["inputs"] for line in source if line.raw.strip()]
    return inputs, source.notes.counts()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("id,answer,gold\n1,a,a\nLegend: a = yes,,\n", None),
        ("id\tanswer\tgold\n1\ta\ta\n2\t\t\n", None),
        ("|id|answer|gold|\n|---|---|---|\n|1|a|a|\n|2|||\n", None),
        ('{"id": 1, "answer": "a", "gold": "a"}\n{"id": 2, "answer": "", "gold": ""}\n', ""),
    ],
    ids=["CSV", "TSV", "Markdown", "JSON Lines"],
)
def test_a_row_with_two_empty_answers_has_no_expected_one_if_they_are_cells(
    text: str, expected: str | None, tmp_path: Path
) -> None:
    (tmp_path / "a.txt").write_text(text)
    inputs, notes = read(tmp_path / "a.txt", MAPPING)
    assert inputs[1] == {"agent_response": "", "expected_output": expected}
    assert [note.startswith(UNFILLED) for note in notes] == ([True] if expected is None else [])


def test_one_empty_answer_stays_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,answer,gold\n1,,a\n2,a,\n")
    inputs, notes = read(tmp_path / "a.csv", MAPPING)
    assert inputs == [
        {"agent_response": "", "expected_output": "a"},
        {"agent_response": "a", "expected_output": ""},
    ]
    assert notes == []


def test_an_empty_text_within_json_and_a_constant_are_meant(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text('id,answer,gold\n1,,"{""text"": """"}"\n')
    for mapping in (f"{MAPPING}.text", 'custom_id=id,agent_response=answer,expected_output:=""'):
        assert read(tmp_path / "a.csv", mapping) == (
            [{"agent_response": "", "expected_output": ""}],
            [],
        )


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("gold.csv", "id,gold\n1,\n2,b\n", None),
        ("gold.jsonl", '{"id": 1, "gold": ""}\n{"id": 2, "gold": "b"}\n', ""),
    ],
)
def test_an_empty_cell_of_a_joined_table_is_no_expected_answer_either(
    name: str, text: str, expected: str | None, tmp_path: Path
) -> None:
    (tmp_path / name).write_text(text)
    (tmp_path / "a.csv").write_text("id,answer\n1,\n2,b\n")
    joins = Joins.read([JoinSpec.of("gold", str(tmp_path / name), "id")], Settings())
    mapping = "custom_id=id,agent_response=answer,expected_output=gold.gold"
    inputs, _ = read(tmp_path / "a.csv", mapping, joins)
    assert [each["expected_output"] for each in inputs] == [expected, "b"]


def test_alternatives_of_an_input_skip_empty_cells_but_not_empty_texts_of_json(
    tmp_path: Path,
) -> None:
    mapping = "custom_id=id,agent_response=v1|v2,expected_output=gold"
    (tmp_path / "a.csv").write_text("id,v1,v2,gold\n1,,b,b\n2,a,b,a\n3,,,c\n")
    inputs, _ = read(tmp_path / "a.csv", mapping)
    assert [each["agent_response"] for each in inputs] == ["b", "a", ""]
    (tmp_path / "a.jsonl").write_text('{"id": 1, "v1": "", "v2": "b", "gold": ""}\n')
    inputs, _ = read(tmp_path / "a.jsonl", mapping)
    assert [each["agent_response"] for each in inputs] == [""]


def test_alternatives_skip_empty_cells_of_a_joined_table(tmp_path: Path) -> None:
    (tmp_path / "gold.csv").write_text("id,new,old\n1,,b\n")
    (tmp_path / "a.jsonl").write_text('{"id": 1, "answer": "b"}\n')
    joins = Joins.read([JoinSpec.of("gold", str(tmp_path / "gold.csv"), "id")], Settings())
    mapping = "custom_id=id,agent_response=answer,expected_output=gold.new|gold.old"
    inputs, _ = read(tmp_path / "a.jsonl", mapping, joins)
    assert inputs == [{"agent_response": "b", "expected_output": "b"}]
