"""`weighbridge run`: one command, one machine, every line accounted for."""

from __future__ import annotations

import csv
import gzip
import os
import pty
import re
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from xml.etree import ElementTree as ET

import orjson
import psutil
import pytest
import zstandard

from support.cases import true_false_cases, write_cases
from support.preloaded import COMMAND_LINE, ForkedProcess
from support.servers import TcpServer, free_port
from support.tool_results import LAYOUTS, LONG
from support.unhurried import graded_here, sorted_lines
from support.waiting import eventually
from weighbridge.store import Store

PASS = {"agent_response": "yes", "expected_output": "true"}
FAIL = {"agent_response": "no", "expected_output": "true"}
UNGRADABLE = {"agent_response": "yes", "expected_output": "perhaps"}


def case(custom_id, inputs, **more):
    return {"custom_id": custom_id, "inputs": inputs, "grader": "true-false"} | more


def begun(cli, *arguments, **options):
    """Start a run and return it in the middle of its work."""
    return in_the_middle(cli, cli.fork("run", *arguments, **options))


def in_the_middle(cli, run):
    """Return a run once there are results of it."""
    eventually(lambda: run.poll() is not None or cli.partial(), 30, "the first results")
    assert run.poll() is None, run.stderr.read()
    return run


# How it ends.


@pytest.mark.parametrize(
    ("lines", "flags", "status"),
    [
        ([PASS, PASS], [], 0),
        ([PASS, FAIL], [], 100),
        ([PASS, FAIL], ["--min-pass-rate", "0.5"], 0),
        ([PASS, UNGRADABLE], [], 1),
        ([PASS, {}], [], 1),
        ([PASS, {}], ["--min-gradable", "0.5"], 0),
    ],
)
def test_the_exit_status_says_whether_all_passed_some_failed_or_it_could_not_be_said(
    cli, tmp_path, lines, flags, status
):
    cases = [case(f"c{number}", inputs) for number, inputs in enumerate(lines)]
    write_cases(tmp_path / "cases.jsonl", cases)
    ended = cli("run", "cases.jsonl", *flags)
    assert ended.status == status
    assert (f"exit status {status}: " in ended.err) == (status > 0)
    assert len((tmp_path / "cases.results.jsonl").read_bytes().splitlines()) == len(lines)


def test_an_empty_file_is_trouble_and_says_so(cli, tmp_path):
    (tmp_path / "cases.jsonl").touch()
    (tmp_path / "kept.jsonl").write_text("kept")
    ended = cli("run", "cases.jsonl", "-o", "kept.jsonl")
    assert ended.status == 1
    assert "NO_CASES: cases.jsonl has no cases; nothing was written" in ended.out
    assert (tmp_path / "kept.jsonl").read_text() == "kept"


# Outputs.


def test_every_kind_of_output_holds_the_same_results(cli, tmp_path):
    hostile = '=HYPERLINK("http://x","y")'
    inputs = [PASS, FAIL, UNGRADABLE, FAIL | {"agent_response": "\x1b[31m<no>&\x00 ]]>"}]
    lines = [case(f"{hostile}{n}", inputs) for n, inputs in enumerate(inputs)]
    path = write_cases(tmp_path / "cases.jsonl", [*lines, {"custom_id": "@bad"}])
    names = ["a.jsonl", "b.jsonl", "a.jsonl.gz", "a.jsonl.zst", "a.csv", "a.xml"]
    ended = cli("run", "cases.jsonl", "--sort", *(f"-o{name}" for name in names))

    expected = b"".join(graded_here(path))
    plain = (tmp_path / "a.jsonl").read_bytes()
    assert b"".join(sorted(plain.splitlines(keepends=True))) == expected
    assert [orjson.loads(row)["line"] for row in plain.splitlines()] == [1, 2, 3, 4, 5]
    assert (tmp_path / "b.jsonl").read_bytes() == plain
    assert gzip.decompress((tmp_path / "a.jsonl.gz").read_bytes()) == plain
    packed = (tmp_path / "a.jsonl.zst").read_bytes()
    assert zstandard.ZstdDecompressor().stream_reader(packed).read() == plain

    with (tmp_path / "a.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["verdict"] for row in rows] == ["pass", "fail", "ungradable", "fail", ""]
    assert rows[0]["custom_id"] == f"'{hostile}0"
    assert rows[4]["custom_id"] == "'@bad"
    assert [cell for row in rows for cell in row.values() if cell[:1] in {*"=+-@\t\r\n"}] == []

    suites = ET.parse(tmp_path / "a.xml").getroot()
    counts = {"tests": "6", "failures": "3", "errors": "1"}
    assert suites.attrib == counts
    assert [(suite.get("name"), suite.get("skipped")) for suite in suites] == [
        ("weighbridge", "1"),
        ("gates", "0"),
    ]
    kinds = [[child.tag for child in found] for found in suites.iter("testcase")]
    assert kinds == [[], ["failure"], ["skipped"], ["failure"], ["error"], ["failure"]]

    assert ended.status == 1
    assert max(map(len, ended.out.splitlines()[:-1])) <= 120
    assert "\x1b" not in ended.out + ended.err
    cli.await_silence()
    assert cli.left_over() == []


def test_results_stream_to_a_clean_standard_output_from_a_packed_pipe(cli, tmp_path):
    path = write_cases(tmp_path / "cases.jsonl", true_false_cases(300))
    ended = cli("run", "-", "-o", "-", stdin=gzip.compress(path.read_bytes()))
    assert sorted(ended.out.encode().splitlines(keepends=True)) == graded_here(path)
    assert "200/300" in ended.err
    assert ended.status == 100
    cli.await_silence()
    assert cli.left_over() == []


@pytest.mark.parametrize("output", ["pipe.jsonl", "csv=pipe"])
@pytest.mark.parametrize("command", ["run", "results"])
def test_a_pipe_that_no_program_reads_yet_is_waited_for_and_that_is_said(cli, command, output):
    cases = write_cases(cli.folder / "cases.jsonl", true_false_cases(3))
    (cli.folder / "kept.jsonl").write_bytes(b"".join(graded_here(cases)))
    pipe = cli.folder / output.removeprefix("csv=")
    os.mkfifo(pipe)
    source = "cases.jsonl" if command == "run" else "kept.jsonl"
    process = cli.fork(command, source, "-o", output)
    said = process.stderr.readline().decode()
    assert said == f"waiting: no program reads the pipe '{pipe.name}' yet\n"
    written = pipe.read_bytes()
    process.communicate(timeout=20)
    assert process.returncode == (100 if command == "run" else 0)
    assert [name in written for name in (b"c0", b"c1", b"c2")] == [True] * 3

    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    ended = cli(command, source, "-o", output)
    assert "waiting" not in ended.err
    assert os.read(reader, 100_000) == written
    os.close(reader)


def test_json_for_machines_is_all_of_standard_output(cli, tmp_path):
    write_cases(tmp_path / "cases.jsonl", true_false_cases(30))
    ended = cli("run", "cases.jsonl", "--json", "-o", "out.jsonl")
    report = ended.json
    assert report["batch"]["counts"]["total"] == 30
    assert report["batch"]["counts"]["passed"] == 20
    assert report["graders"][0]["causes"] == {"boolean_match: false negative": 10}
    assert report["outputs"] == ["out.jsonl"]
    why = "10 of 30 failed, and none may fail; --min-pass-rate allows some"
    assert (report["exit_reason"], [gate["met"] for gate in report["gates"]]) == (why, [False])
    assert ended.err == f"exit status 100: {why}\n"


def test_results_are_the_same_bytes_whatever_the_workers_chunks_and_hash_seed(cli, tmp_path):
    cases = [
        case(f"c{number}", inputs, grader=None)
        for number, inputs in enumerate([PASS, FAIL, UNGRADABLE, {}] * 20)
    ]
    for line in cases:
        del line["grader"]
    path = write_cases(tmp_path / "cases.jsonl", cases)
    flags = ["-g", "true-false", "-g", "loose=string-match", "-c", "loose.case_sensitive=false"]
    expected = graded_here(
        path,
        [
            "true-false",
            {"grader": "string-match", "label": "loose", "config": {"case_sensitive": False}},
        ],
    )
    # The runs are forked from a process with another random seed than this one.
    for workers, chunk in ((1, 5000), (2, 7)):
        out = tmp_path / f"out{workers}.jsonl"
        cli("run", "cases.jsonl", *flags, "--workers", workers, "-o", out, chunk_limit_jobs=chunk)
        assert sorted_lines(out) == expected
    assert cli("verify", out, "cases.jsonl", *flags).status == 0


def test_sort_restores_the_order_of_the_input(cli, tmp_path):
    write_cases(tmp_path / "cases.jsonl", true_false_cases(60))
    cli("run", "cases.jsonl", "--sort", "-o", "out.jsonl", chunk_limit_jobs=3)
    rows = (tmp_path / "out.jsonl").read_bytes().splitlines()
    assert [orjson.loads(row)["line"] for row in rows] == list(range(1, 61))


# Joined files.


def answered(custom_id, text):
    """Return a line of an OpenAI batch output."""
    message = {"role": "assistant", "content": text}
    body = {"model": "m", "choices": [{"message": message}]}
    return {"custom_id": custom_id, "response": {"status_code": 200, "body": body}}


@pytest.fixture
def batch_output(cli, tmp_path):
    """A batch output, and the options to join it with a table of expected answers."""
    answers = [("7", "Paris"), ("8", "lima"), ("9", "Oslo"), ("8b", "?")]
    write_cases(tmp_path / "output.jsonl", [answered(*answer) for answer in answers])
    (tmp_path / "gold.csv").write_text(
        "id,answer,topic\n7,Paris,north\n8,Lima,south\n9,Oslo,north\n10,Rome,south\n"
    )
    join = ("--join", "gold=gold.csv", "--on", "custom_id=id")
    return (
        *("output.jsonl", "-g", "string-match", *join),
        *("--map", "expected_output=gold.answer,metadata=gold.topic"),
    )


def test_answers_are_graded_against_another_file_and_every_row_of_both_is_accounted_for(
    cli, batch_output
):
    ended = cli("run", *batch_output, "--sort", "-o", "r.jsonl")
    mapped = (
        "custom_id=custom_id,agent_response=response.body (the answer's text),expected_output=gold.answer,"
        "metadata.model=response.body.model,metadata.status_code=response.status_code,metadata.topic=gold.topic"
    )
    assert ended.status == 1
    assert ended.err.splitlines() == [
        "output.jsonl: OpenAI batch output, JSON Lines",
        "  joined: gold=gold.csv on custom_id=id: CSV (UTF-8, comma-separated), 4 rows",
        f"  mapped: {mapped}",
        "gold.csv: 1 of 4 rows unused: without a key, or with one that no row of output.jsonl has",
        "exit status 1: 1 job errored; --min-gradable allows some",
    ]
    *graded, missing = map(orjson.loads, (cli.folder / "r.jsonl").read_bytes().splitlines())
    assert [(row["custom_id"], row["result"]["verdict"]) for row in graded] == [
        ("7", "pass"),
        ("8", "fail"),
        ("9", "pass"),
    ]
    assert graded[1]["metadata"] == {"model": "m", "status_code": 200, "topic": "south"}
    assert (missing["custom_id"], missing["line"], missing["error"]) == (
        "8b",
        4,
        {
            "code": "UNMATCHED_ROW",
            "message": "no row of gold.csv has '8b' in 'id'",
            "hint": "keys in gold.csv: '7', '8', '9', ...",
        },
    )
    assert cli("verify", "r.jsonl", *batch_output).out.startswith("4 proven, 0 changed")
    cli.await_silence()
    assert cli.left_over() == []


def test_a_dry_run_shows_cases_with_their_joined_fields(cli, batch_output):
    ended = cli("run", *batch_output, "--dry-run")
    assert ended.status == 1
    first = orjson.loads(ended.out.splitlines()[0])
    assert first["inputs"] == {"agent_response": "Paris", "expected_output": "Paris"}
    assert first["metadata"]["topic"] == "north"
    assert "3 cases, 3 jobs; 1 line cannot be graded" in ended.out
    assert "line 4: UNMATCHED_ROW: no row of gold.csv has '8b' in 'id'" in ended.err
    assert "gold.csv: 1 of 4 rows unused" in ended.err
    assert not cli.state.exists()


def test_results_with_a_joined_file_are_those_of_cases_with_the_same_values(
    cli, batch_output, tmp_path
):
    cli("run", *batch_output, "-o", "joined.jsonl")
    shown = cli("run", *batch_output, "--dry-run").out.splitlines()[:3]
    (tmp_path / "cases.jsonl").write_text("\n".join(shown))
    cli("run", "cases.jsonl", "-g", "string-match", "-o", "plain.jsonl")
    graded = sorted_lines(tmp_path / "plain.jsonl")
    assert [line for line in sorted_lines(tmp_path / "joined.jsonl") if line in graded] == graded
    assert len(graded) == 3


def test_a_mapping_file_may_name_a_joined_file_beside_it(cli, batch_output, tmp_path):
    folder = tmp_path / "evals"
    folder.mkdir()
    (tmp_path / "gold.csv").rename(folder / "gold.csv")
    (folder / "mapping.yaml").write_text(
        "custom_id: custom_id\n"
        "inputs: {agent_response: response.body.choices.0.message.content, expected_output: gold.answer}\n"
        "join:\n  gold: {file: gold.csv, on: custom_id=id}\n"
    )
    told = ("output.jsonl", "-g", "string-match", "--mapping", "evals/mapping.yaml")
    ended = cli("run", *told, "-o", "r.jsonl")
    assert "joined: gold=evals/gold.csv on custom_id=id" in ended.err
    assert re.search(r"string-match +2/3", ended.out)
    (tmp_path / "other.csv").write_text("id,answer\n8,lima\n")
    ended = cli("run", *told, "--join", "gold=other.csv", "--on", "custom_id=id", "-o", "r.jsonl")
    assert re.search(r"string-match +1/1", ended.out)


def test_a_pipe_is_joined_with_a_packed_file(cli, batch_output, tmp_path):
    (tmp_path / "gold.csv.gz").write_bytes(gzip.compress((tmp_path / "gold.csv").read_bytes()))
    told = "custom_id=custom_id,agent_response=response.body.choices.0.message.content"
    ended = cli(
        *("run", "-", "-g", "string-match", "--join", "gold=gold.csv.gz", "--on", "custom_id=id"),
        *("--map", f"{told},expected_output=gold.answer", "-o", "-"),
        stdin=(tmp_path / "output.jsonl").read_bytes(),
    )
    assert len(ended.out.splitlines()) == 4
    assert (
        "gold.csv.gz: 1 of 4 rows unused: without a key, or with one that no row of standard input has"
        in ended.err
    )


def test_an_interrupted_run_with_a_joined_file_is_continued_if_its_rows_are_the_same(
    cli, many, tmp_path
):
    keys = [f"k{number}" for number in range(100)]
    write_cases(tmp_path / "rows.jsonl", [{"id": key, "text": "go"} for key in keys])
    write_cases(tmp_path / "pauses.jsonl", [{"id": key, "seconds": 0.05} for key in keys])
    told = ("rows.jsonl", "-g", "sleeps", "--join", "pause=pauses.jsonl", "--on", "id")
    fields = "custom_id=id,agent_response=text,expected_output=pause.seconds"
    told += ("--map", fields, "-o", "out.jsonl")
    run = begun(cli, *told)
    run.kill()
    run.communicate(timeout=20)
    os.utime(tmp_path / "pauses.jsonl", (0, 0))
    ended = cli("run", *told)
    assert "continuing the interrupted run" in ended.err
    assert len(sorted_lines(tmp_path / "out.jsonl")) == 100
    cli.await_silence()
    assert cli.left_over() == []


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--join", "gold=none.csv"], "INVALID_JOIN: the file 'none.csv' does not exist"),
        (["--join", "gold=/dev/null"], "INVALID_JOIN: '/dev/null' is a device, which cannot be"),
        (["--join", "response=gold.csv"], "there is a column 'response' already"),
        (
            ["--join", "gold=gold.csv", "-o", "gold.csv"],
            "the output 'gold.csv' is joined with the input",
        ),
        (["--join", "gold=twice.csv"], "twice.csv: lines 2 and 4 have the same key '7' in 'id'"),
        (
            ["--join", "gold=gold.csv", "--map", "metadata=gold.topik"],
            "no row has 'gold.topik', which metadata.topik is mapped to; did you mean 'gold.topic'?",
        ),
        (
            ["--join", "gold=gold.csv", "--map", "metadata=topic"],
            "no row has 'topic', which metadata.topic is mapped to; did you mean 'gold.topic'?",
        ),
    ],
)
def test_a_join_that_cannot_work_is_refused_before_anything_is_done(
    cli, batch_output, tmp_path, options, said
):
    (tmp_path / "twice.csv").write_text("id,answer\n7,a\n8,b\n7,c\n")
    told = ("--on", "custom_id=id", "--map", "expected_output=gold.answer")
    ended = cli("run", "output.jsonl", "-g", "string-match", *told, *options)
    assert ended.status == 1
    assert said in " ".join(ended.err.split())
    assert not cli.state.exists()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--join", "gold.csv"], "--join, --on: 'gold.csv' does not name a file to join"),
        (["--join", "gold=gold.csv", "--on", "=id"], "--join, --on: the numbers of --join and"),
        (
            ["--join", "gold=gold.csv", "--map", "nothing"],
            "--map: 'nothing' is not a valid part of",
        ),
        (
            ["--join", "gold=gold.csv", "--map", "a:={"],
            "--map: 'a:={': what follows := is not JSON",
        ),
        (["--join", "gold=gold.csv", "--sample", "few"], "--sample: 'few' is not a valid sample"),
        (["--join", "gold=gold.csv", "--trace-mapping", "map.yaml"], "traces have no rows to join"),
        ([], "it names the key of --join, which is not given"),
    ],
)
def test_an_option_that_is_not_well_formed_is_a_usage_error(
    cli, batch_output, tmp_path, options, said
):
    (tmp_path / "map.yaml").write_text("steps: /events\nstep: {output: /text}\n")
    told = ("--on", "custom_id=id", "--map", "expected_output=gold.answer")
    ended = cli("run", "output.jsonl", "-g", "string-match", *told, *options)
    assert ended.status == 2
    assert said in " ".join(ended.err.replace("│", " ").split())
    assert not cli.state.exists()


def test_a_pipe_that_nothing_writes_to_is_not_waited_for_for_ever(cli, batch_output, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    ended = cli("run", *batch_output[:4], "gold=pipe", *batch_output[5:])
    assert ended.status == 1
    assert ended.err.splitlines() == [
        "INVALID_JOIN: the pipe 'pipe' has had no writer for 5 s",
        "  start the program that writes to it first, or write the rows to a file and join that",
    ]
    assert not cli.state.exists()


def test_a_row_whose_joined_row_lacks_the_expected_field_is_an_error_that_names_both(
    cli, batch_output, tmp_path
):
    rows = [{"id": "7", "answer": "Paris"}, {"id": "8", "topic": "south"}]
    rows += [{"id": "9", "answer": None, "topic": "north"}, {"id": "8b", "answer": "?"}]
    write_cases(tmp_path / "gold.jsonl", rows)
    told = (*batch_output[:4], "gold=gold.jsonl", *batch_output[5:])
    ended = cli("run", *told, "--sort", "-o", "r.jsonl")
    assert ended.status == 1
    results = list(map(orjson.loads, (cli.folder / "r.jsonl").read_bytes().splitlines()))
    assert [row["result"]["verdict"] for row in results if row["result"]] == [
        "pass",
        "ungradable",
        "pass",
    ]
    [lacking] = [row for row in results if row["error"]]
    assert (lacking["custom_id"], lacking["error"]) == (
        "8",
        {
            "code": "MISSING_FIELD",
            "message": "the row of gold.jsonl with '8' in 'id' lacks 'gold.answer', which expected_output is mapped to",
            "hint": "its fields: gold.id, gold.topic",
        },
    )


def test_a_joined_field_that_only_one_of_the_graders_needs_is_an_error_of_its_jobs_alone(
    cli, batch_output, tmp_path
):
    write_cases(tmp_path / "gold.jsonl", [{"id": "7", "answer": "Paris"}, {"id": "8"}])
    (tmp_path / "traces.jsonl").write_text('{"id": "8", "run": "text"}\n')
    told = ("--map", "custom_id=id,agent_response=run,trace=run,expected_output=gold.answer")
    graders = ("-g", "string-match", "-g", "budget", "-c", "budget.max_steps=3")
    ended = cli("run", "traces.jsonl", *graders, "--join", "gold=gold.jsonl", "--on", "id", *told)
    assert "MISSING_FIELD: the inputs lack 'expected_output'" in ended.out


def test_without_a_mapping_the_fields_to_take_from_the_joined_file_are_suggested(
    cli, batch_output, tmp_path
):
    join = ("-g", "string-match", "--join", "gold=gold.csv", "--on")
    ended = cli("run", "output.jsonl", *join, "custom_id=id")
    assert ended.err.startswith(
        "MAPPING_NEEDED: 'output.jsonl' is OpenAI batch output, which has no expected_output, and"
    )
    assert ended.err.splitlines()[1] == "  add --map expected_output=gold.answer"
    (tmp_path / "table.csv").write_text("id,output\n7,Paris\n8,lima\n")
    ended = cli("run", "table.csv", *join, "id")
    assert "custom_id=id,agent_response=output,expected_output=gold.answer" in ended.err
    ended = cli("run", "table.csv", *join, "id", "--map", "expected_output=gold.answer")
    assert "add --map custom_id=id,agent_response=output" in ended.err
    (tmp_path / "named.csv").write_text("custom_id,agent_response\n7,Paris\n8,Lima\n")
    ended = cli("run", "named.csv", *join, "custom_id=id", "--map", "expected_output=gold.answer")
    assert ended.status == 0, ended.err


def test_a_data_set_is_told_how_to_join_the_answers_and_not_to_take_its_own(cli, tmp_path):
    rows = [{"id": "e1", "inputs": {"q": "?"}, "outputs": {"answer": "Paris"}, "dataset_id": "d"}]
    write_cases(tmp_path / "examples.jsonl", rows)
    ended = cli("run", "examples.jsonl", "-g", "string-match")
    assert ended.status == 1
    assert "LangSmith examples, which has no agent_response" in ended.err
    assert "--join answers=FILE --on id=ID --map agent_response=answers.COLUMN" in ended.err
    assert "=outputs" not in ended.err
    mapped = ("--map", "agent_response=outputs.answer")
    ended = cli("run", "examples.jsonl", "-g", "string-match", *mapped)
    assert "INVALID_MAPPING" in ended.err
    assert "an answer would be compared with itself" in ended.err


# Errors that are reported before any work.


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["none.jsonl"], "INPUT_UNREADABLE: the input 'none.jsonl' does not exist"),
        (["folder.jsonl"], "has no file to read"),
        (["cases.jsonl", "-o", "out.docx"], "OUTPUT_UNWRITABLE"),
        (["cases.jsonl", "-o", "none/out.jsonl"], "folder of the output 'none/out.jsonl' does not"),
        (["cases.jsonl", "-o", "folder.jsonl"], "is a folder"),
        (["cases.jsonl", "-o", "./cases.jsonl"], "is the input"),
        (
            ["cases.jsonl", "-g", "true-fasle"],
            "UNKNOWN_GRADER: no grader 'true-fasle'; did you mean",
        ),
        (["cases.jsonl", "-g", "true-false", "-c", "case_sensitiv=1"], "case_sensitive"),
        (["cases.jsonl", "-g", "true-false", "-c", "case_sensitive=1"], "INVALID_CONFIG"),
        (["cases.jsonl", "-c", "case_sensitive=1"], "names no grader"),
        (["cases.jsonl", "--strict"], "line 2"),
        (["\x1b[31m\u202e[red].jsonl"], "'\\x1b[31m\\u202e[red].jsonl'"),
    ],
)
def test_what_cannot_work_is_refused_before_anything_is_done(cli, tmp_path, arguments, said):
    lines = [case("good", PASS), {"custom_id": "bad"}]
    write_cases(tmp_path / "cases.jsonl", lines)
    (tmp_path / "folder.jsonl").mkdir()
    ended = cli("run", *arguments)
    assert ended.status == 1
    assert said in ended.err.replace("\n", " ")
    assert ended.out == ""
    assert "Traceback" not in ended.err
    assert not re.search("[\x00-\x09\x0b-\x1f\u202e]", ended.err)
    assert not cli.state.exists()


def test_a_wrong_setting_is_an_error_with_its_variables_name(cli, tmp_path):
    write_cases(tmp_path / "cases.jsonl", [case("c", PASS)])
    ended = cli("run", "cases.jsonl", chunk_limit_jobs="many")
    assert ended.status == 1
    assert ended.err.startswith("INVALID_SETTING: WEIGHBRIDGE_CHUNK_LIMIT_JOBS")


def test_a_server_that_does_not_answer_is_given_up_within_seconds(cli, tmp_path):
    write_cases(tmp_path / "cases.jsonl", [case("c", PASS)])
    url = f"redis://:hunter2@127.0.0.1:{free_port()}/0"
    ended = cli("run", "cases.jsonl", seconds=15, redis_url=url)
    assert ended.status == 1
    assert "REDIS_UNAVAILABLE" in ended.err
    assert "stopped before any work was finished" in ended.err
    assert "hunter2" not in ended.err
    cli.await_silence()
    assert cli.left_over() == []


# Terminal output.


def test_a_terminal_shows_a_bar_with_rate_and_time_left(cli, many):
    leader, follower = pty.openpty()
    run = cli.fork("run", many.name, stderr=follower)
    os.close(follower)
    screen = b""
    while block := _read(leader):
        screen += block
    os.close(leader)
    assert run.wait(60) == 100
    text = re.sub(rb"\x1b\[[0-9;?]*[a-zA-Z]", b"", screen).decode()
    assert re.search(r"[\d,]+ of (about )?[\d,]+ jobs, [\d,]+/s, \d+:\d\d left", text), text
    assert b"\x1b" not in run.stdout.read()


def test_a_terminal_named_as_a_file_is_not_controlled_by_answers(cli, tmp_path):
    path = tmp_path / "cases.jsonl"
    hostile = "\x9b31m\x1b]0;title\x07"
    inputs = FAIL | {"agent_response": hostile}
    write_cases(path, [case("a", inputs) | {"metadata": {"note": hostile}}])
    terminals = {form: pty.openpty() for form in ("jsonl", "csv", "md")}
    outputs = [f"-o{form}={os.ttyname(theirs)}" for form, (_, theirs) in terminals.items()]
    ended = cli("run", path.name, *outputs)
    assert ended.status == 100, ended.err
    for form, (leader, follower) in terminals.items():
        os.close(follower)
        screen = b""
        while block := _read(leader):
            screen += block
        os.close(leader)
        text = re.sub(r"\r+\n", "\n", screen.decode())
        assert "31m" in text, form
        assert not [char for char in text if not (char.isprintable() or char in "\n\t")], form


def _read(terminal):
    try:
        return os.read(terminal, 65536)
    except OSError:  # on Linux, the other side has been closed
        return b""


def test_a_name_that_is_no_utf_8_is_no_obstacle(cli, tmp_path):
    name = os.fsdecode(b"\xff.jsonl")
    write_cases(tmp_path / name, [case("c", PASS)])
    ended = cli("run", name)
    assert ended.status == 0
    assert "\\udcff.results.jsonl" in ended.out
    assert (tmp_path / os.fsdecode(b"\xff.results.jsonl")).exists()


def test_the_users_own_server_is_used_named_without_its_password_and_left_as_it_was(cli, tmp_path):
    write_cases(tmp_path / "cases.jsonl", true_false_cases(30))
    folder = tmp_path / "server"
    folder.mkdir()
    with TcpServer(folder, requirepass="hunter2") as server:
        url = server.url.replace("redis://", "redis://:hunter2@")
        ended = cli("run", "cases.jsonl", redis_url=url)
        store = Store(url)
        assert store.batches() == []
        store.close()
    assert ended.status == 100
    assert f"redis://:***@127.0.0.1:{server.port}/0" in ended.out
    assert "hunter2" not in ended.out + ended.err
    cli.await_silence()
    assert cli.left_over() == []


# What becomes of it when it is interrupted.


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_an_interrupted_run_leaves_no_process_and_the_same_command_finishes_it(cli, many, how):
    run = begun(cli, many.name, "-o", "out.jsonl")
    run.send_signal(how)
    _, said = run.communicate(timeout=20)
    cli.await_silence()
    kept = list(cli.state.iterdir())
    assert len(kept) == 1
    assert not (cli.folder / "out.jsonl").exists()
    if how != signal.SIGKILL:
        assert run.returncode == 1
        assert f"interrupted; the finished work is kept in {kept[0]}" in said.decode()
    assert list(cli.temporary.iterdir()) == []

    ended = cli("run", many.name, "-o", "out.jsonl", "--workers", "1")
    assert "continuing the interrupted run" in ended.err
    assert "resumed" in ended.out
    assert ended.status == 100
    assert sorted_lines(cli.folder / "out.jsonl") == graded_here(many)
    cli.await_silence()
    assert cli.left_over() == []


def test_a_run_that_is_interrupted_before_its_first_result_does_not_say_that_work_is_finished(
    cli, many
):
    run = cli.fork("run", many.name, "-o", "out.jsonl")
    saved = eventually(lambda: list(cli.state.glob("*/run.json")), 20, "the folder of the run")
    eventually(lambda: orjson.loads(saved[0].read_bytes())["batch"], 20, "the batch")
    run.send_signal(signal.SIGINT)
    _, said = run.communicate(timeout=20)
    cli.await_silence()
    kept = f"interrupted; the run is kept in {saved[0].parent}, without a result so far"
    assert kept in said.decode()
    assert "continuing the interrupted run" in cli("run", many.name, "-o", "out.jsonl").err


def test_a_terminated_run_writes_its_end_as_json_too_and_a_command_that_discards_it_alone(
    cli, many
):
    run = begun(cli, many.name, "--json")
    run.send_signal(signal.SIGTERM)
    out, said = run.communicate(timeout=20)
    cli.await_silence()
    assert run.returncode == 1
    (folder,) = cli.state.iterdir()
    error = orjson.loads(out)["error"]
    assert error["code"] == "INTERRUPTED"
    assert error["message"].startswith(f"interrupted; the finished work is kept in {folder}")
    assert error["message"] in said.decode()
    assert "run the same command again" in error["hint"]
    assert f"to discard it, weighbridge run {many.name} --clean" in said.decode()
    (many.parent / "sub").mkdir()
    otherwise = f"sub/../{many.name}"
    assert cli("run", otherwise, "--clean", "--json").json == {"removed": [str(folder)]}
    assert cli.left_over() == []


def test_another_command_mentions_an_interrupted_run_and_clean_removes_it(cli, many):
    run = begun(cli, many.name)
    run.kill()
    run.communicate(timeout=20)
    write_cases(cli.folder / "few.jsonl", true_false_cases(3))
    ended = cli("run", "few.jsonl")
    assert "another interrupted run is kept in" in ended.err
    assert "resumed" not in ended.out
    assert len(cli.left_over()) > 1
    (folder,) = cli.state.iterdir()
    of_others = cli("run", "few.jsonl", "--clean")
    assert (of_others.status, of_others.out) == (0, "0 interrupted runs of few.jsonl removed\n")
    assert list(cli.state.iterdir()) == [folder]
    removed, total = cli("run", "--clean").out.splitlines()
    output = cli.folder / "many.results.jsonl"
    assert removed.startswith(f"removed {folder}: {many} to {output}, ")
    assert removed.endswith(" results")
    assert total == "1 interrupted run removed"
    assert cli.left_over() == []


def test_an_interrupted_pipe_leaves_nothing(cli, many):
    source, sink = os.pipe()
    run = cli.fork("run", "-", "-o", "out.jsonl", stdin=source)
    os.close(source)
    with os.fdopen(sink, "wb") as pipe:
        pipe.write(many.read_bytes())
        pipe.flush()
        eventually(cli.partial, 30, "the first results")
        run.send_signal(signal.SIGINT)  # while it waits for more
        _, said = run.communicate(timeout=10)
    assert run.returncode == 1
    assert "the input cannot be read a second time" in said.decode()
    cli.await_silence()
    assert cli.left_over() == []


def test_a_pipe_that_is_silent_is_left_in_order_however_often_one_interrupts(cli, many):
    source, sink = os.pipe()
    run = cli.start("run", "-", "-o", "out.jsonl", stdin=source)
    os.close(source)

    def has_ended():
        for _ in range(
            500
        ):  # without a pause, so that some arrive wherever an ending could break off
            run.send_signal(signal.SIGINT)
        return run.poll() is not None

    with os.fdopen(sink, "wb") as pipe:
        pipe.write(many.read_bytes())
        pipe.flush()
        eventually(cli.partial, 30, "the first results")
        eventually(has_ended, 20, "the end")
    _, said = run.communicate(timeout=10)
    assert run.returncode == 1
    assert said.decode().splitlines()[-1].startswith("interrupted")
    assert b"Fatal Python error" not in said
    cli.await_silence()


def test_a_reader_that_leaves_early_ends_the_run_and_leaves_it_to_be_resumed(cli, many):
    run = cli.start("run", many.name, "-o", "-")
    eventually(lambda: run.poll() is not None or cli.saved_bytes(), 30, "the first results")
    run.stdout.close()
    said = run.stderr.read().decode()
    assert run.wait(20) == 1
    assert "the finished work is kept in" in said
    assert "Traceback" not in said
    assert "Exception" not in said
    cli.await_silence()
    assert f"{many.name} to -, " in cli("run", "--clean").out


def test_a_reader_that_leaves_before_a_result_is_saved_leaves_no_interrupted_run(cli, many):
    run = cli.start("run", many.name, "-o", "-")
    run.stdout.close()
    said = run.stderr.read().decode()
    assert run.wait(20) == 1
    assert said.endswith("; the finished work is not kept, because no result was saved yet\n")
    cli.await_silence()
    assert cli.left_over() == []


def test_a_run_goes_on_when_its_worker_is_killed(cli, many):
    run = begun(cli, many.name, "-o", "out.jsonl")
    worker = cli.worker()
    assert isinstance(worker, psutil.Process)
    worker.kill()
    run.communicate(timeout=60)
    assert run.returncode == 100
    assert sorted_lines(cli.folder / "out.jsonl") == graded_here(many)
    cli.await_silence()
    assert cli.left_over() == []


def test_two_runs_of_one_command_at_once_do_not_disturb_each_other(cli, tmp_path):
    write_cases(tmp_path / "cases.jsonl", true_false_cases(100))
    runs = [cli.fork("run", "cases.jsonl", stdin=subprocess.DEVNULL) for _ in range(2)]
    for run in runs:
        _, said = run.communicate(timeout=60)
        assert run.returncode == 100, said
    assert sorted_lines(tmp_path / "cases.results.jsonl") == graded_here(tmp_path / "cases.jsonl")
    cli.await_silence()
    assert cli.left_over() == []


def test_only_what_failed_in_an_earlier_run_is_graded_again(cli, tmp_path):
    cases = list(true_false_cases(9))
    write_cases(tmp_path / "old.jsonl", cases)
    cli("run", "old.jsonl", "-o", "old.out.jsonl")
    for case in cases:
        case["inputs"]["agent_response"] = "yes"
    write_cases(tmp_path / "new.jsonl", cases[:-1])
    ended = cli(
        "run", "new.jsonl", "--only-failed", "old.out.jsonl", "--sort", "-o", "new.out.jsonl"
    )
    assert ended.status == 0, ended.err
    rows = list(map(orjson.loads, (tmp_path / "new.out.jsonl").read_bytes().splitlines()))
    assert [(row["custom_id"], row["line"]) for row in rows] == [("c0", 1), ("c3", 4), ("c6", 7)]
    again = cli("run", "new.jsonl", "--only-failed", "new.out.jsonl")
    assert (again.status, again.err) == (
        0,
        "every job in new.out.jsonl passed or was ungradable: there is nothing to grade\n",
    )


@pytest.mark.parametrize("option", ["--graders", "--mapping", "--trace-mapping"])
def test_a_file_that_says_how_to_read_or_grade_is_not_overwritten(cli, tmp_path, option):
    write_cases(tmp_path / "cases.jsonl", [case("good", PASS)])
    text = {
        "--graders": "graders: [true-false]\n",
        "--mapping": "custom_id: custom_id\ngrader: grader\ninputs: {agent_response: inputs.agent_response,"
        " expected_output: inputs.expected_output}\n",
        "--trace-mapping": "steps: /steps\nstep: {type: /type}\n",
    }[option]
    settings = tmp_path / "settings.yaml"
    settings.write_text(text)
    ended = cli("run", "cases.jsonl", option, "settings.yaml", "-o", "md=settings.yaml")
    assert (ended.status, settings.read_text()) == (1, text)
    assert f"OUTPUT_UNWRITABLE: the output 'settings.yaml' is the file of {option}" in ended.err


def test_the_run_of_only_failed_is_not_overwritten_with_a_part_of_it(cli, tmp_path):
    write_cases(tmp_path / "cases.jsonl", [case("good", PASS), case("bad", FAIL)])
    cli("run", "cases.jsonl")  # to cases.results.jsonl
    ended = cli("run", "cases.jsonl", "--only-failed", "cases.results.jsonl")
    assert ended.status == 1
    assert "OUTPUT_UNWRITABLE" in ended.err
    assert "is the run of --only-failed" in ended.err
    assert len((tmp_path / "cases.results.jsonl").read_bytes().splitlines()) == 2


def test_what_a_run_that_failed_fast_did_not_grade_is_graded_again_or_told(cli, tmp_path):
    cases = [case(f"c{n}", FAIL if n % 2 else PASS) for n in range(9)]
    write_cases(tmp_path / "cases.jsonl", cases)
    cli("run", "cases.jsonl", "-o", "old.jsonl", "--sort")
    rows = [orjson.loads(line) for line in (tmp_path / "old.jsonl").read_bytes().splitlines()]
    for row in rows[4:6]:
        row |= {"status": "cancelled", "result": None, "receipt": None}
    (tmp_path / "old.jsonl").write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in rows[:6]))
    with (tmp_path / "cases.jsonl").open("ab") as file:
        file.write(b"nonsense\n")
    told = (
        "3 cases were left out, because they are not in old.jsonl\n"
        "1 line was left out, without a custom_id to find in old.jsonl\n"
    )
    again = ("run", "cases.jsonl", "--only-failed", "old.jsonl")
    tried = cli(*again, "--dry-run")
    assert (tried.status, tried.err) == (0, told)
    assert tried.out.endswith("4 cases, 4 jobs. Nothing was graded.\n")
    ended = cli(*again, "-o", "new.jsonl", "--sort")
    assert told in ended.err
    graded = [orjson.loads(line) for line in (tmp_path / "new.jsonl").read_bytes().splitlines()]
    assert [row["custom_id"] for row in graded] == ["c1", "c3", "c4", "c5"]
    sampled = cli(*again, "--sample", "4", "--dry-run")
    assert "4 cases, 4 jobs." in sampled.out
    small = ("--sample", "0.0001%", "-o", "none.jsonl")
    assert (
        "the sample of 0.0001% has none of the 4 cases of 'old.jsonl' to grade again; nothing"
        in cli(*again, *small).err
    )
    # A line that is no case is in each sample.
    assert cli("run", "cases.jsonl", *small).status == 1
    cases = (tmp_path / "cases.jsonl").read_bytes()
    (tmp_path / "cases.jsonl").write_bytes(cases.removesuffix(b"nonsense\n"))
    ended = cli("run", "cases.jsonl", *small)
    assert "NO_CASES: the sample of 0.0001% of cases.jsonl has no cases; nothing" in ended.out


def test_a_run_without_any_case_that_failed_earlier_is_refused_and_writes_nothing(cli, tmp_path):
    write_cases(tmp_path / "old.jsonl", [case("a", FAIL)])
    cli("run", "old.jsonl", "-o", "old.out.jsonl")
    write_cases(tmp_path / "new.jsonl", [case("b", FAIL)])
    for output in ("kept.jsonl", "kept.csv"):
        (tmp_path / output).write_text("kept")
    before = set(tmp_path.iterdir())
    run = (
        "run",
        "new.jsonl",
        "--only-failed",
        "old.out.jsonl",
        "-o",
        "kept.jsonl",
        "-o",
        "kept.csv",
    )
    refused = cli(*run, "--json")
    assert refused.status == 1
    assert refused.json["error"]["code"] == "INPUT_UNREADABLE"
    assert (
        "'old.out.jsonl' has 1 case to grade again, and 'new.jsonl' has none of them" in refused.err
    )
    assert (tmp_path / "kept.jsonl").read_text() == (tmp_path / "kept.csv").read_text() == "kept"
    assert set(tmp_path.iterdir()) == before


def test_a_log_without_any_case_is_refused_and_writes_nothing(cli, tmp_path):
    event = {"event_id": 0, "sample_id": "c.0", "type": "sampling", "data": {"sampled": ["Rome"]}}
    (tmp_path / "log.jsonl").write_bytes(b'{"spec": {}}\n' + orjson.dumps(event))
    (tmp_path / "kept.jsonl").write_text("kept")
    refused = cli("run", "log.jsonl", "-g", "string-match", "-o", "kept.jsonl")
    assert refused.status == 1
    assert "no row of 'log.jsonl' is a case; nothing is written: 2 rows of other" in refused.err
    assert (tmp_path / "kept.jsonl").read_text() == "kept"


def test_a_run_that_fails_fast_cancels_the_rest_and_keeps_what_was_graded(cli, many):
    ended = cli("run", many.name, "--fail-fast", "3", "-o", "r.jsonl", "-o", "r.md", "-o", "r.xml")
    assert ended.status == 100
    assert "failed, and --fail-fast cancelled " in ended.err
    assert "❌ not met | `--fail-fast 3`" in (cli.folder / "r.md").read_text()
    assert 'name="--fail-fast 3"><failure' in (cli.folder / "r.xml").read_text()
    rows = [orjson.loads(line) for line in (cli.folder / "r.jsonl").read_bytes().splitlines()]
    assert len({row["custom_id"] for row in rows}) == len(rows)
    failed = [row for row in rows if row["result"] and row["result"]["verdict"] == "fail"]
    assert len(failed) >= 3
    assert {row["status"] for row in rows} == {"graded", "cancelled"}
    cli.await_silence()


def test_a_run_of_quick_jobs_that_fails_fast_ends_after_a_few_small_chunks(cli, tmp_path):
    inputs = {"agent_response": "a", "expected_output": "b"}
    write_cases(
        tmp_path / "c.jsonl", [{"custom_id": f"c{n}", "inputs": inputs} for n in range(8_000)]
    )
    ended = cli("run", "c.jsonl", "-g", "string-match", "--fail-fast", "3", "--json")
    assert ended.status == 100, ended.err
    assert 3 <= ended.json["batch"]["counts"]["failed"] < 2_000


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--cases"], "--cases: no output is a .csv or .tsv file"),
        (["--cases", "-o", "a.md"], "--cases: no output is a .csv or .tsv file"),
        (["--cases", "-o", "a.csv", "-o", "a.parquet"], "Parquet has no rows of cases"),
        (["--with-cases", "-o", "a.csv"], "--with-cases: no output is a .jsonl file"),
    ],
)
@pytest.mark.parametrize("command", ["run", "results"])
def test_options_for_forms_that_no_output_has_are_refused(cli, tmp_path, command, options, said):
    write_cases(tmp_path / "cases.jsonl", true_false_cases(3))
    (tmp_path / "r.jsonl").write_bytes(b"".join(graded_here(tmp_path / "cases.jsonl")))
    ended = cli(command, "cases.jsonl" if command == "run" else "r.jsonl", *options)
    assert ended.status == 2
    assert said in " ".join(ended.err.replace("\u2502", " ").split())
    assert {path.name for path in tmp_path.iterdir()} == {"cases.jsonl", "r.jsonl"}


def test_a_selection_of_whole_cases_is_written_in_any_form(cli, tmp_path):
    graders = [{"grader": "true-false"}, {"grader": "string-match"}]
    inputs = {"agent_response": "true", "expected_output": "yes"}
    write_cases(
        tmp_path / "cases.jsonl", [{"custom_id": "c", "inputs": inputs, "graders": graders}]
    )
    cli("run", "cases.jsonl", "-o", "r.jsonl")
    ended = cli("results", "r.jsonl", "--failed", "--cases")
    assert len(ended.out.splitlines()) == 2


# Documents.


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("what", [what for what in LONG if "much" in what])
def test_rows_of_other_tools_are_graded_whatever_is_before_them(cli, tmp_path, what, layout):
    (tmp_path / "a.json").write_bytes(orjson.dumps(LONG[what], option=LAYOUTS[layout]))
    ended = cli("run", "a.json", "-g", "string-match", "-o", "z.jsonl")
    assert ended.status == 0, ended.err
    assert f"JSON, rows at {what[0]}" in ended.err
    assert len((tmp_path / "z.jsonl").read_bytes().splitlines()) == 3


def peak_bytes(process):
    """Wait for the end of a process, and return the most that it had resident."""
    peak = 0
    while process.poll() is None:
        with suppress(OSError, TypeError):  # it has ended
            status = Path(f"/proc/{process.pid}/status").read_text("ascii")
            peak = int(re.search(r"VmHWM:\s+(\d+)", status)[1]) * 1024
        with suppress(subprocess.TimeoutExpired):
            process.wait(0.02)
    return peak


@pytest.mark.skipif(sys.platform != "linux", reason="what is resident is read from /proc")
@pytest.mark.parametrize("document", ["%s", '{"rows": [{"id": "1", "a": %s, "b": 1}]}', '{"deep": %s, "rows": [{"id": "1"}]}'])  # fmt: skip
def test_a_deep_document_is_an_error_of_its_lines_and_takes_little_memory(cli, tmp_path, document):
    deep = '[{"a":' * 50_000 + "1" + "}]" * 50_000
    (tmp_path / "deep.json").write_text(document % deep, "utf-8")
    mapping = "custom_id=id,agent_response=a,expected_output=b"
    words = ("run", "deep.json", "-g", "string-match", "--map", mapping, "-o", "z.jsonl")
    printed = tmp_path / "out", tmp_path / "err"
    run = ForkedProcess(COMMAND_LINE, words, cli.environment, tmp_path, printed)
    peak = peak_bytes(run)
    assert run.poll() == 1, printed[1].read_text()
    (result,) = map(orjson.loads, (tmp_path / "z.jsonl").read_bytes().splitlines())
    assert result["error"]["code"] == "TOO_DEEP"
    assert 10_000_000 < peak < 200_000_000
