"""`weighbridge run` of rows whose ids repeat: none is lost without a word, and a dry run counts as the run does."""

from __future__ import annotations

import re

import orjson

OWN = "id,trial,output,gold\nq1,1,4,4\nq1,2,4,4\nq1,2,4,4\nq2,1,6,5\n"
MAP = ("--map", "custom_id=id,agent_response=output,expected_output=gold")
LANGSMITH = (
    "example_id,id,outputs,reference_outputs\n"
    'e1,r1,"{""output"": ""4""}","{""output"": ""4""}"\n'
    'e1,r2,"{""output"": ""4""}","{""output"": ""4""}"\n'
    'e1,r3,"{""output"": ""5""}","{""output"": ""4""}"\n'
    'e2,r4,"{""output"": ""6""}","{""output"": ""5""}"\n'
)


def test_rows_that_a_mapping_makes_equal_are_told_in_the_summary_and_in_json(cli, tmp_path):
    (tmp_path / "own.csv").write_text(OWN)
    words = ("own.csv", "-g", "string-match", *MAP)
    ended = cli("run", *words, "-o", "a.jsonl")
    told = (
        "LOST_ROWS: 1 row was left out that the mapping makes equal to an earlier one, though it differs:"
        " 'q1' (line 3) differs from an earlier row in trial\n"
        "  to grade each, put what tells them apart into the id: custom_id={id}/{trial}\n"
        "1 repeated line was left out\n"
    )
    assert told in ended.out
    lost = {"custom_id": "q1", "place": "line 3", "columns": ["trial"]}
    found = orjson.loads(cli("run", *words, "-o", "b.jsonl", "--json").out)
    assert found["lost_rows"] == {"count": 1, "first": lost}
    assert told in cli("run", *words, "--dry-run").out
    dry = orjson.loads(cli("run", *words, "--dry-run", "--json").out)
    jobs = found["batch"]["counts"]["total"]
    assert (dry["jobs"], dry["repeats"], dry["lost_rows"]) == (jobs, 2, found["lost_rows"])


def test_repetitions_of_langsmith_count_each_and_are_paired_in_a_comparison(cli, tmp_path):
    (tmp_path / "a.csv").write_text(LANGSMITH)
    (tmp_path / "b.csv").write_text(re.sub(r"\br(?=\d)", "s", LANGSMITH))
    for name in ("a", "b"):
        ended = cli("run", f"{name}.csv", "-g", "string-match", "-o", f"{name}.jsonl")
        assert "string-match     2/4  50.0%     2/4" in ended.out
        proven = cli("verify", f"{name}.jsonl", f"{name}.csv", "-g", "string-match")
        assert (proven.status, proven.out[:8]) == (0, "4 proven")
    assert "4 results in both" in cli("compare", "a.jsonl", "b.jsonl").out
    repeats = cli("compare", "a.jsonl", "--repeats-by", "custom_id:#")
    assert "flaky in a.jsonl: e1 (2 of 3)" in repeats.out
