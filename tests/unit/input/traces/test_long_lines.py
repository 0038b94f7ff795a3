"""Lines over the limit: read in the native form where that fits, else refused with what to do."""

from __future__ import annotations

import gzip
import io
import json

from weighbridge.settings import Settings
from weighbridge_producer.input.source import Source
from weighbridge_producer.input.traces import documents

LIMIT = Settings(line_limit_bytes=2_000)
CALL = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
CHAT = [
    {"role": "user", "content": "go"},
    {"role": "assistant", "content": None, "tool_calls": [CALL], "logprobs": [0.25] * 2_000},
    {"role": "tool", "tool_call_id": "c1", "content": "1"},
]


def lines_of(tmp_path, *lines, packed=False):
    data = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
    path = tmp_path / "runs.jsonl"
    path.write_bytes(gzip.compress(data) if packed else data)
    return list(Source(path, LIMIT))


def test_a_trace_over_the_limit_is_read_in_the_native_form(tmp_path):
    for packed in (False, True):
        short = {"id": "b", "messages": CHAT[:1]}
        first, second = lines_of(tmp_path, {"id": "a", "messages": CHAT}, short, packed=packed)
        case = json.loads(first.raw)
        assert (case["custom_id"], first.fault) == ("a", None)
        assert [step["type"] for step in case["inputs"]["trace"]["steps"]] == [
            "user",
            "llm",
            "tool",
        ]
        assert json.loads(second.raw)["inputs"]["trace"] == short
        if not packed:
            assert first.size > 8_000


def test_a_cases_trace_over_the_limit_is_read_so_too(tmp_path):
    case = {"custom_id": "x", "inputs": {"trace": CHAT}, "metadata": {"k": 1}}
    (line,) = lines_of(tmp_path, case)
    told = json.loads(line.raw)
    assert (told["custom_id"], told["metadata"]) == ("x", {"k": 1})
    assert told["inputs"]["trace"]["format"] == "weighbridge"


def test_what_is_too_long_in_the_native_form_as_well_is_refused_with_what_to_do(tmp_path):
    long = {"id": "a", "messages": [{"role": "user", "content": "x" * 3_000}]}
    other = {"what": "x" * 3_000}
    first, second, third = lines_of(tmp_path, long, other, {"id": "c", "messages": CHAT[:1]})
    assert first.fault.code == second.fault.code == "LINE_TOO_LONG"
    assert "in the native form its trace has 3," in first.fault.message
    assert "WEIGHBRIDGE_LINE_LIMIT_BYTES" in first.fault.hint
    assert first.raw == second.raw == b"\n"
    assert third.fault is None


def test_a_line_over_the_limit_in_a_pipe_is_not_kept():
    data = json.dumps({"id": "a", "messages": CHAT}).encode() + b"\n"
    (line,) = Source(io.BytesIO(data), LIMIT)
    assert (line.fault.code, line.raw) == ("LINE_TOO_LONG", b"\n")


def test_a_document_over_its_limit_is_one_error(tmp_path, monkeypatch):
    monkeypatch.setattr(documents, "DOCUMENT_LIMIT_BYTES", 1_000)
    path = tmp_path / "run.json"
    path.write_text(json.dumps({"id": "a", "messages": CHAT}, indent=1))
    (line,) = Source(path, Settings())
    assert line.fault.code == "INPUT_TOO_LARGE"
    assert "one trace per line" in line.fault.hint
