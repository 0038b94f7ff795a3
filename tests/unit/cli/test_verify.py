"""`weighbridge verify` on files, without a server."""

from __future__ import annotations

import json

import pytest

from weighbridge.grading.line_grader import grade_lines
from weighbridge.settings import Settings
from weighbridge_producer.cli.commands import run_app
from weighbridge_producer.input.source import Source
from weighbridge_producer.input.traces.trace_mapping_file import read_trace_mapping

MAPPING = "id: /run\nsteps: /events\nstep: {type: /kind, types: {model: llm}, output: /text}\n"


@pytest.fixture
def traces(tmp_path):
    """Traces in a house format, with their results and the mapping file."""
    runs = [{"run": f"r{n}", "events": [{"kind": "model", "text": "a" * n}]} for n in range(1, 4)]
    (tmp_path / "map.yaml").write_text(MAPPING)
    (tmp_path / "runs.jsonl").write_text("".join(json.dumps(run) + "\n" for run in runs))
    mapping = read_trace_mapping(str(tmp_path / "map.yaml"))
    cases = Source(tmp_path / "runs.jsonl", Settings(), trace_mapping=mapping)
    results = grade_lines((line.raw for line in cases), ["loop"])
    (tmp_path / "results.jsonl").write_bytes(b"".join(results))
    return tmp_path


def test_results_of_traces_of_your_own_format_are_proven_with_their_mapping(
    traces, monkeypatch, capsys
):
    monkeypatch.chdir(traces)
    options = ["-g", "loop", "--trace-mapping", "map.yaml"]
    with pytest.raises(SystemExit) as ended:
        run_app(["verify", "results.jsonl", "runs.jsonl", *options])
    assert capsys.readouterr().out.startswith("3 proven, 0 changed, 0 missing, 0 surplus")
    assert ended.value.code == 0


def test_the_json_has_the_first_problems_and_how_many_more_there_are(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    cases = [
        {"custom_id": f"q{n}", "inputs": {"agent_response": "a", "expected_output": "a"}}
        for n in range(30)
    ]
    (tmp_path / "cases.jsonl").write_text("".join(json.dumps(case) + "\n" for case in cases))
    rows = grade_lines((json.dumps(case).encode() for case in cases[:5]), ["string-match"])
    (tmp_path / "results.jsonl").write_bytes(b"".join(rows))
    with pytest.raises(SystemExit) as ended:
        run_app(["verify", "results.jsonl", "cases.jsonl", "-g", "string-match", "--json"])
    told = json.loads(capsys.readouterr().out)
    problems = told.pop("problems")
    assert problems[0] == "line 6, label 'string-match': no result"
    assert len(problems) == 20
    assert told == {
        "ok": False,
        "proven": 5,
        "changed": 0,
        "unproven": 0,
        "missing": 25,
        "surplus": 0,
        "more_problems": 5,
    }
    assert ended.value.code == 1
