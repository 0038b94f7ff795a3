"""`weighbridge run` on a folder with traces of several kinds, and with files that are none."""

from __future__ import annotations

import json

import pytest

CHAT = {"messages": [{"role": "user", "content": "2+2?"}, {"role": "assistant", "content": "4"}]}
BODY = {"id": "m1", "object": "chat.completion", "choices": [{"index": 0, "message": {"role": "assistant", "content": "4"}}]}  # fmt: skip
LOGGED = [{"at": number, "event": "tick"} for number in range(40)]


def answered(number):
    response = {"status_code": 200, "request_id": "q", "body": BODY}
    return {"id": f"b{number}", "custom_id": f"r{number}", "response": response, "error": None}


def write(folder, **files):
    folder.mkdir(exist_ok=True)
    for name, rows in files.items():
        path = folder / f"{name}.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def results(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.mark.parametrize("names", [("a", "b"), ("b", "a")], ids=["answers first", "traces first"])
def test_results_of_a_batch_api_are_traces_beside_others_whatever_the_files_are_called(
    cli, tmp_path, names
):
    answers, traces = names
    write(tmp_path / "t", **{answers: [answered(1), answered(2)], traces: [CHAT]})
    ended = cli("run", "t", "-g", "loop", "-o", "o.jsonl")
    assert ended.status == 0
    rows = results(tmp_path / "o.jsonl")
    assert {row["result"]["verdict"] for row in rows} == {"pass"}
    assert {"r1", "r2"} <= {row["custom_id"] for row in rows}


@pytest.mark.parametrize("names", [("a", "b"), ("b", "a")], ids=["log first", "traces first"])
def test_a_log_among_traces_is_one_errored_job_that_tells_of_all_its_lines(cli, tmp_path, names):
    log, traces = names
    write(tmp_path / "t", **{log: LOGGED, traces: [CHAT, CHAT]})
    ended = cli("run", "t", "-g", "loop", "-o", "o.jsonl")
    assert ended.status == 1
    errored = [row for row in results(tmp_path / "o.jsonl") if row["status"] == "errored"]
    [error] = [row["error"] for row in errored]
    assert error["message"] == (
        f"{log}.jsonl, line 1: 40 lines are neither cases nor traces in a known format;"
        " the first of them is an object with at, event"
    )
    assert "--trace-mapping" in error["hint"]
    assert len(results(tmp_path / "o.jsonl")) == 3


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ({"custom_id": "r1", "method": "POST", "url": "/v1/responses", "body": {}}, "custom_id, method, url, body"),
        (["send", {"at": 1}], "a list of 2, the first of them a text"),
    ],
    ids=["requests to a batch API", "arrays"],
)  # fmt: skip
def test_other_lines_among_traces_are_one_errored_job_too(cli, tmp_path, line, told):
    write(tmp_path / "t", a=[CHAT], b=[line] * 9)
    cli("run", "t", "-g", "loop", "-o", "o.jsonl")
    [error] = [row["error"] for row in results(tmp_path / "o.jsonl") if row["error"]]
    assert "9 lines are neither cases nor traces" in error["message"]
    assert error["message"].endswith(told)


def test_a_log_that_has_a_case_is_told_line_by_line(cli, tmp_path):
    case = {"custom_id": "c1", "inputs": {"trace": CHAT}}
    write(tmp_path / "t", a=[CHAT], b=[*LOGGED[:4], case, *LOGGED[4:6]])
    cli("run", "t", "-g", "loop", "-o", "o.jsonl")
    rows = results(tmp_path / "o.jsonl")
    assert sum(row["status"] == "errored" for row in rows) == 6
    assert "c1" in {row["custom_id"] for row in rows if row["status"] == "graded"}


def test_cases_behind_a_thousand_unknown_lines_are_graded(cli, tmp_path):
    case = {"custom_id": "c1", "inputs": {"trace": CHAT}}
    write(tmp_path / "t", a=[CHAT], b=[*LOGGED * 26, case, *LOGGED])
    cli("run", "t", "-g", "loop", "-o", "o.jsonl")
    rows = results(tmp_path / "o.jsonl")
    [error] = [row["error"] for row in rows if row["status"] == "errored"]
    assert "1,080 lines are neither cases nor traces" in error["message"]
    assert "c1" in {row["custom_id"] for row in rows if row["status"] == "graded"}


def test_a_check_says_which_files_of_a_folder_are_not_read(cli, tmp_path):
    write(tmp_path / "t", a=[CHAT])
    (tmp_path / "t" / "notes.md").write_text("# Notes\n")
    checked = cli("trace", "check", "t")
    assert (
        "t: 1 file skipped (notes.md): in a folder, only files are read that end in" in checked.err
    )
    assert checked.out.endswith("1 of 1 file read whole, 1 trace\n")
    assert cli("trace", "check", "t/a.jsonl").err == ""


def test_a_damaged_line_among_unknown_ones_or_behind_a_trace_is_told(cli, tmp_path):
    write(tmp_path / "t", a=[CHAT], b=LOGGED[:4])
    with (tmp_path / "t" / "b.jsonl").open("ab") as file:
        file.write(b'{"at": 4, "event": "\xff"}\n')
    with (tmp_path / "t" / "a.jsonl").open("ab") as file:
        file.write(b'{"custom_id": "x", "y": 1e999}\n')
    cli("run", "t", "-g", "loop", "-o", "o.jsonl")
    errors = [row["error"] for row in results(tmp_path / "o.jsonl") if row["error"]]
    assert "INVALID_UTF8" in {error["code"] for error in errors}
    assert len(errors) == 6
