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


def test_samples_of_inspect_are_judged_by_all_targets_and_errors_are_not_failures(cli, tmp_path):
    sample = {"epoch": 1, "input": "q", "messages": CHAT}
    samples = [
        {**sample, "id": "a", "target": ["four", "4"], "output": {"completion": "4"}},
        {**sample, "id": "b", "target": ["four"], "output": {"completion": "4"}},
        {**sample, "id": "c", "target": "4", "output": {}, "error": {"message": "no sandbox"}},
    ]
    (tmp_path / "log.json").write_text(json.dumps({"version": 2, "eval": {}, "samples": samples}))
    run = cli("run", "log.json", "-g", "string-match", "--sort", "-o", "o.jsonl")
    assert "log.json: Inspect samples, JSON, rows at /samples\n" in run.err
    assert "Inspect recorded an error in place of an answer: no sandbox" in run.out
    rows = [json.loads(line) for line in (tmp_path / "o.jsonl").read_text().splitlines()]
    assert [(row["result"] or {}).get("verdict") for row in rows] == ["pass", "fail", None]
    verified = cli("verify", "o.jsonl", "log.json", "-g", "string-match")
    assert verified.out.startswith("3 proven, 0 changed")


def test_a_data_set_of_squads_layout_gets_a_proposal_that_is_not_reversed(cli, tmp_path):
    row = {"row_id": 1, "model": {"answer": "Paris", "tokens": 3}, "answers": {"text": ["Paris"]}}
    name = write(tmp_path / "squad.jsonl", row)
    refused = cli("run", name, "-g", "string-match")
    assert "agent_response=model.answer,expected_output=answers.text.0" in refused.err
