"""`weighbridge run` of folders that hold results of earlier runs, and of inputs that are refused."""

from __future__ import annotations

import pytest

from support.cases import write_cases

CASE = {
    "custom_id": "q",
    "inputs": {"agent_response": "a", "expected_output": "a"},
    "grader": "string-match",
}
REFUSED = "stopped; the finished work is not kept, because the input would be refused again"


@pytest.fixture
def graded(cli, tmp_path):
    """A folder with a case, and results of it under a name of their own."""
    folder = tmp_path / "evals"
    folder.mkdir()
    write_cases(folder / "cases.jsonl", [CASE])
    assert cli("run", "evals/cases.jsonl", "-o", "evals/results.jsonl").status == 0
    return folder


@pytest.mark.parametrize("cases", ["evals", "evals/*.jsonl"])
def test_results_among_the_files_of_a_folder_or_a_pattern_are_skipped_with_a_note(
    cli, graded, cases
):
    ended = cli("run", cases, "-o", "again.jsonl")
    assert ended.status == 0
    assert "1 job in" in ended.out
    note = "1 file skipped (results.jsonl): results of earlier runs, without their cases\n"
    assert f"{cases}: {note}" in ended.err


def test_results_with_their_cases_are_graded_again(cli, graded, tmp_path):
    (tmp_path / "more").mkdir()
    assert cli("run", "evals", "--with-cases", "-o", "more/with.jsonl").status == 0
    ended = cli("run", "more", "-o", "again.jsonl")
    assert (ended.status, ended.err) == (0, "")


def test_a_folder_with_nothing_but_results_is_refused(cli, graded):
    (graded / "cases.jsonl").unlink()
    ended = cli("run", "evals")
    assert ended.status == 1
    assert "the folder 'evals' has only results without their cases" in ended.err


def test_an_input_that_is_refused_leaves_no_interrupted_run_behind(cli, graded):
    words = ("run", "evals/cases.jsonl", "evals/results.jsonl", "-o", "again.jsonl")
    refused = cli(*words)
    assert refused.status == 1
    assert refused.err.endswith(f"{REFUSED}\n")
    next_run = cli("run", "evals/cases.jsonl", "-o", "again.jsonl")
    assert (next_run.status, next_run.err) == (0, "")
