"""A file whose JSON is written as a JSON string is read as that JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from support.trace_examples.agent_frameworks import LLAMA_INDEX_CHATS
from weighbridge.settings import Settings
from weighbridge.traces import read_trace
from weighbridge_producer.input.source import Source

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("end", ["", "\n"])
@pytest.mark.parametrize("indent", [None, 1])
def test_a_document_in_a_json_string_is_read(indent: int | None, end: str, tmp_path: Path) -> None:
    path = tmp_path / "chat_store.json"
    path.write_text(json.dumps(json.dumps(LLAMA_INDEX_CHATS, indent=indent)) + end)
    lines = list(Source(path, Settings()))
    assert [line.custom_id for line in lines] == ["anna", "ben"]
    assert lines[0].size == path.stat().st_size
    traces = [read_trace(json.loads(line.raw)["inputs"]["trace"]) for line in lines]
    assert [len(trace.steps) for trace in traces] == [2, 4]


@pytest.mark.parametrize("text", ['"{1}"\n', '"[x"\n', '"{}" "{}"\n', '"{}"\n"{}"\n', '"{\n'])
def test_other_lines_that_begin_like_one_are_left_as_they_are(text: str, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(text)
    assert b"".join(line.raw for line in Source(path, Settings())) == text.encode()
