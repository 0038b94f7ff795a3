"""`weighbridge run` on files of other layouts: what a user sees of how they were read."""

from __future__ import annotations

import json

import pytest

CHAT = [{"role": "user", "content": "2+2?"}, {"role": "assistant", "content": "4"}]
ROW = {"id": 0, "messages": CHAT, "prediction": "4", "ground_truth": "4"}


def write(path, *rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path.name


def test_answers_beside_a_conversation_need_a_mapping_which_is_suggested(cli, tmp_path):
    name = write(tmp_path / "t.jsonl", ROW)
    refused = cli("run", name, "-g", "string-match", "--dry-run")
    option = "custom_id=id,agent_response=prediction,expected_output=ground_truth"
    assert f"its columns suggest --map {option}\n" in refused.err
    assert "MAPPING_NEEDED" in refused.err
    run = cli("run", name, "-g", "string-match", "--dry-run", "--map", option)
    assert "1 case, 1 job." in run.out


def test_graders_of_traces_and_of_answers_are_told_to_take_turns(cli, tmp_path):
    name = write(tmp_path / "t.jsonl", ROW)
    both = cli("run", name, "-g", "string-match", "-g", "loop", "-o", "o.jsonl")
    assert "t.jsonl: read as traces (OpenAI chat messages)\n" in both.err
    option = "custom_id=id,agent_response=prediction,expected_output=ground_truth"
    assert f"  -g string-match --map {option}\n  -g loop, without a mapping\n" in both.err
    rows = [json.loads(line) for line in (tmp_path / "o.jsonl").read_text().splitlines()]
    assert {row["label"]: row["status"] for row in rows} == {
        "string-match": "errored",
        "loop": "graded",
    }
    alone = cli("run", name, "-g", "loop", "-o", "o.jsonl")
    assert "read as" not in alone.err


def test_rows_with_a_trace_and_answers_get_a_mapping_for_each_kind_of_grader(cli, tmp_path):
    row = {"run_id": "a", "transcript": CHAT, "output": "x", "gold": "y"}
    name = write(tmp_path / "t.jsonl", row)
    refused = cli("run", name, "-g", "string-match", "-g", "loop")
    assert "  -g string-match --map custom_id=run_id,agent_response=output," in refused.err
    assert "  -g loop --map custom_id=run_id,trace=transcript" in refused.err


@pytest.mark.parametrize("first", [True, False])
def test_an_expired_request_of_a_batch_is_one_errored_job_that_says_so(cli, tmp_path, first):
    body = {"object": "chat.completion", "choices": [{"index": 0, "message": CHAT[1]}]}
    answered = {"custom_id": "a", "response": {"status_code": 200, "body": body}, "error": None}
    expired = {
        "custom_id": "x",
        "response": None,
        "error": {"code": "batch_expired", "message": "too late"},
    }
    name = write(tmp_path / "b.jsonl", *([expired, answered] if first else [answered, expired]))
    (tmp_path / "gold.csv").write_text("id,answer\na,4\nx,4\n")
    run = cli(
        *("run", name, "-g", "string-match", "-o", "o.jsonl"),
        *(
            "--join",
            "gold=gold.csv",
            "--on",
            "custom_id=id",
            "--map",
            "expected_output=gold.answer",
        ),
    )
    assert "b.jsonl: OpenAI batch output, JSON Lines\n" in run.err
    rows = [json.loads(line) for line in (tmp_path / "o.jsonl").read_text().splitlines()]
    errors = {row["custom_id"]: row["error"] for row in rows}
    assert errors["a"] is None
    assert errors["x"]["code"] == "NO_ANSWER"
    assert errors["x"]["message"].endswith("batch_expired: too late")
