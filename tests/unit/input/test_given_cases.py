"""What is given as cases in Python: tables by their rows, and lists of paths."""

from __future__ import annotations

from math import nan
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from weighbridge.settings import Settings
from weighbridge_producer import Source, parse_mapping
from weighbridge_producer.input.given_cases import are_paths, rows_of_table


class NAType:
    """What stands for a missing value in pandas, which is not installed with the tests."""


class Frame:
    """The part of a pandas data frame that is read of it."""

    columns = ("id", 1)
    iloc = None

    def __init__(self, *rows: dict[Any, Any]) -> None:
        self._rows = rows

    def to_dict(self, orient: str) -> list[dict[Any, Any]]:
        assert orient == "records"
        return list(self._rows)


def test_a_frame_is_read_by_its_rows_with_null_for_missing_values() -> None:
    rows = rows_of_table(Frame({"id": "a", 1: nan}, {"id": NAType(), 1: 0.5}))
    assert rows == [{"id": "a", "1": None}, {"id": None, "1": 0.5}]


def test_a_table_of_arrow_is_read_by_its_rows() -> None:
    rows = [{"id": "a", "of": ["x", "y"]}, {"id": None, "of": []}]
    assert rows_of_table(pa.Table.from_pylist(rows)) == rows


def test_other_cases_are_no_table() -> None:
    assert [rows_of_table(cases) for cases in ([], {"columns": 1}, Path("x"), None)] == [None] * 4


@pytest.mark.parametrize(
    ("cases", "expected"),
    [
        ([Path("nowhere.jsonl")], True),
        ([__file__, "nowhere.jsonl"], True),
        (['{"custom_id": "a"}'], False),
        (["no JSON, and no path"], False),
        (["x" * 10_000], False),
        (["\0"], False),
        ([Path(__file__), {}], False),
        ([], False),
    ],
)
def test_a_list_of_paths_is_told_from_lines(cases: list[Any], *, expected: bool) -> None:
    assert are_paths(cases) is expected


def test_objects_that_are_no_rows_are_faults_beside_the_others() -> None:
    mapping = parse_mapping(["custom_id=id,agent_response=a,expected_output=b"])
    given: Any = [{"id": 1, "a": "x", "b": "y"}, b"{}", {"id": 2, "a": "x", "b": "z"}]
    lines = list(Source(given, Settings(), mapping))
    assert (
        lines[0].raw == b'{"custom_id":"1","inputs":{"agent_response":"x","expected_output":"y"}}\n'
    )
    assert lines[1].fault
    assert "the row is of the type bytes" in lines[1].fault.message
    assert [line.size for line in lines] == [len(line.raw) for line in lines]
