"""Rows without a value for an input: which path leads nowhere, and why."""

from __future__ import annotations

import io
from typing import Any

import orjson
import pytest

from weighbridge.settings import Settings
from weighbridge_producer.input.mapping.absent_values import why_absent
from weighbridge_producer.input.mapping.mapping_text import parse_mapping
from weighbridge_producer.input.source import Source


def reason(source: str, row: dict[str, Any]) -> str:
    value = parse_mapping([f"custom_id=id,agent_response={source}"]).inputs["agent_response"]
    return why_absent(value, row, 1)


@pytest.mark.parametrize(
    ("held", "why"),
    [
        ('```json\n{"a": 1}\n```', "begins with ``` and is not JSON"),
        ('{"a": 1', "is not valid JSON"),
        ("I cannot.", "is not JSON"),
        (" ", "is empty"),
        ('{"b": 1}', "has no 'a'"),
        ({"b": 1}, "has no 'a'"),
        (None, "is null"),
        ([1], "is a list"),
        (3, "is neither an object nor a list"),
    ],
)
@pytest.mark.parametrize("source", ["o.a", "{o.a} {o.c}", "o.a|o.d"])
def test_the_reason_names_the_path_and_what_is_at_the_last_place_that_exists(
    source: str, held: Any, why: str
) -> None:
    assert reason(source, {"o": held}) == f"no 'o.a': 'o' {why}"


def test_the_reason_names_the_level_at_which_a_path_ends() -> None:
    assert reason("o.a.b", {"o": {"a": '{"c": 1}'}}) == "no 'o.a.b': 'o.a' has no 'b'"
    assert reason("o.2", {"o": [1]}) == "no value at 'o.2'"
    assert reason("o.*.a", {"o": [{}]}) == "no value at 'o.*.a'"
    assert reason("x.a", {"o": 1}) == "no 'x'"
    assert reason("{o.a}-{x}", {"o": {"a": 1}}) == "no 'x'"


def test_rows_without_a_needed_input_are_counted_by_reason_with_the_first_of_each() -> None:
    rows = [
        {"id": "q1", "o": "no", "g": 1},
        {"id": "q2", "o": {"a": "x"}, "g": 2},
        {"id": "q3", "o": "none", "g": 3},
        {"id": 4, "o": {}},
    ]
    data = io.BytesIO(b"".join(orjson.dumps(row) + b"\n" for row in rows))
    source = Source(data, Settings(), parse_mapping(["custom_id=id,agent_response=o.a,spare=g"]))
    assert len([*source]) == 4
    [note] = source.notes.notes(needed=["agent_response"])
    assert note == (
        "3 rows have no value for agent_response, and are errored (MISSING_FIELD):"
        " 2: no 'o.a': 'o' is not JSON (first q1, line 1); 1: no 'o.a': 'o' has no 'a' (first 4, line 4);"
        " to have such answers judged as they are, map agent_response=o.a|o"
    )
    assert source.notes.notes() == []


def test_an_alternative_has_a_value_and_no_note() -> None:
    data = io.BytesIO(b'{"id": "q1", "o": "no"}\n')
    source = Source(data, Settings(), parse_mapping(["custom_id=id,agent_response=o.a|o"]))
    [line] = source
    assert orjson.loads(line.raw)["inputs"] == {"agent_response": "no"}
    assert source.notes.notes(needed=["agent_response"]) == []
