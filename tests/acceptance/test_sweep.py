"""`weighbridge sweep`: the table, its JSON, and errors."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from weighbridge.grading.line_grader import grade_lines
from weighbridge.settings import read_settings
from weighbridge_producer.input.graders_file import read_graders
from weighbridge_producer.input.source import Source

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The path of the results of the example traces."""
    path = tmp_path_factory.mktemp("results") / "results.jsonl"
    lines = (line.raw for line in Source(EXAMPLES / "traces", read_settings()))
    graders = read_graders(EXAMPLES / "trace_graders.yaml")
    path.write_bytes(b"".join(grade_lines(lines, graders)))
    return str(path)


def test_each_limit_has_a_row_with_its_pass_rate(cli, results) -> None:
    asked = ("sweep", results, "--label", "budget", "--param", "max_tool_calls")
    misspelt = cli(*asked[:-1], "max_tokns")
    assert "did you mean 'max_tokens'?" in " ".join(misspelt.err.split())
    ended = cli(*asked, "--limit", "0", "--limit", "12")
    assert (ended.status, ended.err) == (0, "")
    assert [line.split()[0] for line in ended.out.splitlines()] == ["max_tool_calls", "0", "12"]
    assert "in force" in ended.out.splitlines()[2]
    told = cli(*asked, "--json").json
    assert told["limits_in_force"] == [12]
    assert [each["limit"] for each in told["candidates"]] == sorted(
        {each["limit"] for each in told["candidates"]}
    )


def test_a_limit_gives_its_row_when_it_is_given_as_it_is_shown(cli, tmp_path) -> None:
    case = {"custom_id": "q", "inputs": {"agent_response": "x", "expected_output": "x"}}
    row = orjson.loads(b"".join(grade_lines([orjson.dumps(case)], ["string-match"])))
    scores = [0.25, 0.8999999999999998, 0.8999999999999999, 0.9, 1 / 3]
    lines = [{**row, "result": {**row["result"], "score": score}} for score in scores]
    path = tmp_path / "scored.jsonl"
    path.write_bytes(b"".join(orjson.dumps(line) + b"\n" for line in lines))
    asked = ("sweep", str(path), "--param", "score")
    _, *rows = cli(*asked).out.splitlines()
    shown = [line.split()[:2] for line in rows]
    assert [passed for _, passed in shown] == ["5/5", "4/5", "3/5", "2/5", "1/5"]
    again = cli(*asked, *(f"--limit={limit}" for limit, _ in shown)).out.splitlines()[1:]
    assert [line.split()[:2] for line in again] == shown


def test_what_cannot_be_swept_is_refused(cli, results) -> None:
    ended = cli("sweep", results, "--label", "loop", "--param", "max_repeats")
    assert ended.status == 1
    assert (
        "results of 'loop' do not show what other values of 'max_repeats' would give" in ended.err
    )
    ended = cli("sweep", results, "--label", "none", "--param", "score")
    assert "labels: budget, loop, tool-schema" in ended.err


def test_an_impossible_limit_is_refused_and_a_tool_that_no_run_calls_is_noted(cli, results) -> None:
    asked = ("sweep", results, "--label", "budget", "--param")
    for value, told in (("nan", "NaN"), ("1e400", "Infinity"), ("-1", "-1"), ("100.5", "100.5")):
        ended = cli(*asked, "max_tokens", f"--limit={value}", "--json")
        assert ended.status == 1
        assert ended.json["error"]["code"] == "INVALID_CONFIG"
        assert ended.json["error"]["message"].endswith(f"not {told}")
    ended = cli(*asked, "max_tool_calls_per_tool.nosuchtool", "--limit=3", "--json")
    assert ended.status == 0
    assert "no run calls a tool 'nosuchtool'" in " ".join(ended.err.split())
    assert ended.json["candidates"][0]["limit"] == 3


def test_the_label_is_needed_only_where_several_qualify(cli, results) -> None:
    named = cli("sweep", results, "--label", "budget", "--param", "max_tokens")
    assert cli("sweep", results, "--param", "max_tokens").out == named.out
    ended = cli("sweep", results, "--param", "score")
    assert ended.status == 1
    assert "choose one with --label" in ended.err
    assert "labels: budget, loop, tool-schema" in ended.err
    ended = cli("sweep", results, "--param", "max_repeats")
    assert "do not show what other values of 'max_repeats' would give" in " ".join(
        ended.err.split()
    )


def test_without_a_result_that_has_limits_the_labels_are_listed(cli, tmp_path) -> None:
    cli("run", str(EXAMPLES / "support_answers.jsonl"), "-o", "answers.jsonl")
    ended = cli("sweep", "answers.jsonl", "--param", "max_tokens")
    assert ended.status == 1
    assert "no graded result of 'budget'" in ended.err
