"""Parquet tables of spans as input: they need no mapping, and other tables still do."""

from __future__ import annotations

import io
import json

import pytest

from weighbridge.errors import MappingNeededError
from weighbridge.settings import Settings
from weighbridge_producer.input.rows.span_tables import is_span_table
from weighbridge_producer.input.source import Source

parquet = pytest.importorskip("pyarrow.parquet")
pyarrow = pytest.importorskip("pyarrow")

SPANS = [
    {"name": "llm", "span_kind": "LLM", "context.span_id": "a", "context.trace_id": "t1", "attributes.llm.model_name": "m"},
    {"name": "llm", "span_kind": "LLM", "context.span_id": "b", "context.trace_id": "t2", "attributes.llm.model_name": "m"},
]  # fmt: skip


def saved(rows, path):
    parquet.write_table(pyarrow.Table.from_pylist(rows), path)
    return path


def test_each_trace_of_a_saved_dataframe_is_a_case(tmp_path):
    path = saved(SPANS, tmp_path / "spans.parquet")
    cases = [json.loads(line.raw) for line in Source(path, Settings())]
    assert [case["custom_id"] for case in cases] == ["t1", "t2"]
    assert cases[0]["inputs"]["trace"][0]["context"]["span_id"] == "a"


def test_tables_of_other_rows_and_damaged_files_still_need_a_mapping(tmp_path):
    other = saved([{"context.trace_id": 1, "answer": "x"}], tmp_path / "rows.parquet")
    damaged = tmp_path / "damaged.parquet"
    damaged.write_bytes(other.read_bytes()[:-9])
    for path in (other, damaged):
        with pytest.raises(MappingNeededError):
            list(Source(path, Settings()))


def test_a_stream_is_left_at_its_start():
    stream = io.BytesIO()
    saved(SPANS, stream)
    stream.seek(0)
    assert is_span_table(stream)
    assert stream.tell() == 0
