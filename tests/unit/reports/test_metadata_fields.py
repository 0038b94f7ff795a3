"""Metadata fields: every form has the same fields with the same values, also where names contain dots or are empty."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from weighbridge.grading.line_grader import grade_lines
from weighbridge_producer.gating.fields import all_leaves, field_name, value_at
from weighbridge_producer.reports.forms import FORMS
from weighbridge_producer.reports.metadata_fields import flat
from weighbridge_producer.reports.report import Report

if TYPE_CHECKING:
    from pathlib import Path

names = st.text("ab.", max_size=4)
values = st.none() | st.integers(0, 99)
#: Three entries at each level, so that a case has no more fields than a comparison keeps.
level = st.dictionaries(names, values, min_size=1, max_size=3)
inner = st.dictionaries(names, values | level, min_size=1, max_size=3)
nested = st.dictionaries(names, values | inner, max_size=3)


@given(nested)
def test_a_field_has_one_value_in_all_forms(metadata: dict[str, Any]) -> None:
    fields = {field_name((path,)): value for path, value in flat(metadata).items()}
    leaves = all_leaves(metadata)
    assert {name: "" if value is None else str(value) for name, value in fields.items()} == leaves
    for path, value in flat(metadata).items():
        found = value_at(metadata, tuple(path.split(".")))
        assert found == (None if value is None else str(value))


@pytest.mark.parametrize(
    ("metadata", "columns"),
    [
        ({"m.x": "p", "m": {"x": "q"}}, {"metadata.m.x": "p"}),
        ({"m": {"x": "q"}, "m.x": "p"}, {"metadata.m.x": "p"}),
        ({"m.x": None, "m": {"x": "q"}}, {"metadata.m.x": "q"}),
        ({"m.x": "p", "m": {"x": {"y": "q"}}}, {"metadata.m.x": "p", "metadata.m.x.y": "q"}),
        ({"": "v", "m": {"": "w", "x": "q"}}, {"metadata.": "v", "metadata.m.": "w", "metadata.m.x": "q"}),
        ({"": {"x": "v"}, "x": "w"}, {"metadata..x": "v", "metadata.x": "w"}),
    ],
)  # fmt: skip
def test_a_table_has_the_value_that_a_slice_counts(
    tmp_path: Path, metadata: dict[str, Any], columns: dict[str, str]
) -> None:
    inputs = {"agent_response": "a", "expected_output": "a"}
    case = {"custom_id": "c", "inputs": inputs, "metadata": metadata}
    results = tmp_path / "results"
    results.write_bytes(b"".join(grade_lines([orjson.dumps(case)], ["string-match"])))
    text = b"".join(FORMS["csv"].blocks(Report(results, "cases"))).decode()
    [row] = csv.DictReader(io.StringIO(text, newline=""))
    assert {name: cell for name, cell in row.items() if name.startswith("metadata")} == columns
    for name, cell in columns.items():
        assert value_at(metadata, tuple(name.split(".")[1:])) == cell
