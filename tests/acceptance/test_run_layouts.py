"""`weighbridge run` on files of other layouts: what a user sees of how they were read."""

from __future__ import annotations

import gzip
import json
import os
import shlex
from zipfile import ZipFile

import pytest

from support.workers import PLUGINS

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


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        (
            "rows.json",
            '[{"id": 1, "answer": "a", "gold": "a"}, {"id": 2,}]',
            "row 2 cannot be read: INVALID_JSON: not JSON: trailing comma",
        ),
        (
            "rows.jsonl",
            '{"id": 1, "answer": "a", "gold": "a"}\n{"id": 2,}\n\n{"id\n',
            "line 2 cannot be read: INVALID_JSON: not JSON: trailing comma",
        ),
    ],
)
def test_a_row_that_cannot_be_read_is_named_beside_the_proposed_mapping(
    cli, tmp_path, name, text, told
):
    (tmp_path / name).write_text(text)
    refused = cli("run", name, "-g", "string-match")
    assert refused.err.startswith("MAPPING_NEEDED")
    assert told in refused.err
    assert ("1 more of the first rows as well" in refused.err) == name.endswith("l")
    assert "its columns suggest --map" in refused.err


def test_rows_without_an_input_can_be_left_out_and_are_counted(cli, tmp_path):
    (tmp_path / "rows.jsonl").write_text(
        '{"id": "a", "answer": "x", "gold": "x"}\n{"id": "b", "answer": "x"}\n'
        '{"id": "c", "answer": "x", "gold": null}\n{"id": "d", "answer": "y", "gold": "y"}\n'
    )
    run = ("run", "rows.jsonl", "-g", "string-match", "--map")
    run = (*run, "custom_id=id,agent_response=answer,expected_output=gold")
    told = cli(*run)
    assert told.status == 1
    assert "--skip-without expected_output leaves such rows out" in told.err
    skipping = (*run, "--skip-without", "expected_output", "-o", "out.jsonl")
    ended = cli(*skipping)
    assert ended.status == 0
    assert "2 rows of other kinds are not graded: 2 without expected_output" in ended.err
    lines = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert {line["custom_id"]: line["line"] for line in lines} == {"a": 1, "d": 4}
    verified = cli("verify", "out.jsonl", *skipping[1:-2])
    assert verified.out == "2 proven, 0 changed, 0 missing, 0 surplus, 0 unproven\n"
    wrong = cli(*run, "--skip-without", "expected")
    assert (wrong.status, "did you mean 'expected_output'?" in wrong.err) == (2, True)
    case = {"custom_id": "q", "inputs": {"agent_response": "a", "expected_output": "a"}}
    write(tmp_path / "cases.jsonl", case)
    cases = cli("run", "cases.jsonl", "-g", "string-match", "--skip-without", "expected_output")
    assert cases.status == 2


def test_rows_that_are_left_out_do_not_change_the_ids_of_the_others(cli, tmp_path):
    rows = [
        {"example_id": "e1", "id": "r1", "outputs": {"output": "4"}, "reference_outputs": {"output": "4"}},
        {"example_id": "e2", "id": "r2", "outputs": {"output": "5"}, "reference_outputs": {}},
        {"example_id": "e1", "id": "r3", "outputs": {"output": "4"}, "reference_outputs": {"output": "4"}},
    ]  # fmt: skip
    (tmp_path / "runs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    ended = cli("run", "runs.jsonl", "-g", "string-match", "--skip-without", "expected_output", "-o", "out.jsonl")  # fmt: skip
    assert ended.status == 0
    lines = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert {line["custom_id"]: line["line"] for line in lines} == {"e1": 1, "e1#2": 3}


def test_rows_without_a_mapping_and_a_grader_are_refused_for_both_at_once(cli, tmp_path):
    rows = tmp_path / "rows.csv"
    rows.write_text("id,answer,truth\n1,yes,true\n")
    name_one = "\n  name a grader too, with --grader ID: `weighbridge graders` lists them\n"
    refused = cli("run", rows.name)
    assert refused.err.startswith("MAPPING_NEEDED")
    assert refused.err.endswith(name_one)
    assert name_one not in cli("run", rows.name, "-g", "true-false").err
    rows.write_text("id,answer,truth,grader\n1,yes,true,true-false\n")
    assert name_one not in cli("run", rows.name).err


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
    lacking = (
        "traces lack agent_response and expected_output, needed by string-match: give their paths"
    )
    assert lacking in both.err
    assert "read as" not in cli("run", name, "-g", "loop", "--dry-run").err


def test_conversations_alone_are_said_to_be_traces(cli, tmp_path):
    name = write(tmp_path / "t.jsonl", {"messages": CHAT})
    ended = cli("run", name, "-g", "string-match", "--dry-run")
    assert ended.err.startswith("t.jsonl: read as traces (OpenAI chat messages)\n  traces lack ")
    assert "read as" not in cli("run", name, "--dry-run").err
    (tmp_path / "one.json").write_text(json.dumps(ROW, indent=1))
    both = cli("run", "one.json", "-g", "string-match", "-g", "loop", "--dry-run")
    option = "custom_id=@row,agent_response=COLUMN,expected_output=COLUMN"
    assert f"  -g string-match --map {option}\n  -g loop, without a mapping\n" in both.err


def test_rows_with_a_trace_and_answers_get_a_mapping_for_each_kind_of_grader(cli, tmp_path):
    row = {"run_id": "a", "transcript": CHAT, "output": "x", "gold": "y"}
    name = write(tmp_path / "t.jsonl", row)
    refused = cli("run", name, "-g", "string-match", "-g", "loop")
    assert "  -g string-match --map custom_id=run_id,agent_response=output," in refused.err
    assert "  -g loop --map custom_id=run_id,trace=transcript" in refused.err


def test_files_of_known_tools_need_no_mapping_in_a_run_of_their_own(cli, tmp_path):
    sample = {"epoch": 1, "input": "q", "messages": CHAT, "target": "4", "id": "a"}
    log = {"version": 2, "eval": {"task": "t"}, "samples": [sample | {"output": {}}]}
    (tmp_path / "log.json").write_text(json.dumps(log))
    both = cli("run", "log.json", "-g", "loop", "-g", "string-match", "--dry-run")
    assert "  -g loop, without a mapping\n" in both.err
    body = {"object": "chat.completion", "choices": [{"index": 0, "message": CHAT[1]}]}
    row = {"custom_id": "a", "response": {"status_code": 200, "body": body}, "error": None}
    name = write(tmp_path / "b.jsonl", row)
    both = cli("run", name, "-g", "loop", "-g", "string-match")
    assert "  -g loop, without a mapping\n  -g string-match --map custom_id=custom_id," in both.err
    alone = cli("run", name, "-g", "string-match")
    assert "'b.jsonl' is OpenAI batch output, which has no expected_output" in alone.err
    assert "add --map expected_output=COLUMN" in alone.err


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
    answers = {"text": ["Paris, France", "Paris"]}
    row = {"row_id": 1, "model": {"answer": "Paris", "tokens": 3}, "answers": answers}
    name = write(tmp_path / "squad.jsonl", row)
    refused = cli("run", name, "-g", "string-match")
    proposed = "custom_id=row_id,agent_response=model.answer,expected_output=answers.text"
    assert proposed in refused.err
    assert cli("run", name, "-g", "string-match", "--map", proposed).status == 0


def test_an_input_that_no_grader_has_is_refused_with_the_one_that_was_meant(cli, tmp_path):
    (tmp_path / "x.csv").write_text("id,output,gold\n1,a,a\n")
    ended = cli("run", "x.csv", "-g", "string-match", "--map", "custom_id=id,agent_resp=output")
    assert ended.status == 1
    assert ended.err == (
        "INVALID_MAPPING: no grader has an input 'agent_resp'; did you mean 'agent_response'?\n"
        "  inputs of string-match: agent_response, expected_output\n"
    )


def test_a_pipe_is_said_to_be_read_like_a_file(cli):
    mapping = ("--map", "custom_id=id,agent_response=output,expected_output=gold")
    table = "id;output;gold\n1;é;é\n".encode("latin-1")
    for more in (("--dry-run",), ("-o", "o.jsonl"), ("--strict", "-o", "o.jsonl")):
        ended = cli("run", "-", "-g", "string-match", *mapping, *more, stdin=table)
        assert ended.err == (
            "standard input: CSV (CP1252, semicolon-separated)\n"
            "  mapped: custom_id=id,agent_response=output,expected_output=gold\n"
        )


def test_a_table_without_a_header_is_not_proposed_silently_and_can_be_read_whole(cli, tmp_path):
    (tmp_path / "a.tsv").write_text("1\tParis\tLyon\n2\tRome\tRome\n3\tOslo\tOslo\n")
    ended = cli("run", "a.tsv", "-g", "string-match")
    assert "looks like data: '1' is a number like all values below it" in ended.err
    options = "--no-header --map custom_id=1,agent_response=2,expected_output=3"
    assert f"if it is data, give {options}; the columns are numbered" in ended.err
    for case, stdin in (("a.tsv", None), ("-", (tmp_path / "a.tsv").read_bytes())):
        graded = cli(
            "run", case, "-g", "string-match", *options.split(), "-o", "o.jsonl", stdin=stdin
        )
        assert "TSV (UTF-8, tab-separated, no header)" in graded.err
        lines = map(json.loads, (tmp_path / "o.jsonl").read_text().splitlines())
        verdicts = {line["custom_id"]: line["result"]["verdict"] for line in lines}
        assert verdicts == {"1": "fail", "2": "pass", "3": "pass"}


def test_tables_without_headers_are_joined_by_their_rows_and_a_header_of_data_is_noted(
    cli, tmp_path
):
    (tmp_path / "a.csv").write_text("a\nb\nc\n")
    (tmp_path / "gold.csv").write_text("a\nb\nx\n")
    mapping = "custom_id=@row,agent_response=1,expected_output=gold.1"
    given = ["-g", "string-match", "--join", "gold=gold.csv", "--on", "@row", "-o", "o.jsonl"]
    run = cli("run", "a.csv", "--no-header", *given, "--map", mapping)
    assert "string-match     2/3  66.7%" in run.out
    assert "on @row: CSV (UTF-8, comma-separated, no header), 3 rows" in run.err
    (tmp_path / "a.csv").write_text("id,x\n1,a\n2,b\n")
    (tmp_path / "gold.csv").write_text("1,a\n2,b\n3,c\n")
    mapping = "custom_id=id,agent_response=x,expected_output=gold.a"
    run = cli("run", "a.csv", *given, "--map", mapping)
    assert "gold.csv: its first row, which is read as a header, looks like data" in run.err
    (tmp_path / "m.yaml").write_text(
        "custom_id: id\ninputs: {agent_response: x, expected_output: gold.2}\n"
        "join:\n  gold: {file: gold.csv, on: '@row', header: false}\n"
    )
    run = cli("run", "a.csv", "-g", "string-match", "--mapping", "m.yaml", "-o", "o.jsonl")
    assert "string-match     2/2  100.0%" in run.out
    assert "looks like data" not in run.err


def test_the_line_of_the_header_can_be_given(cli, tmp_path):
    text = "x,y\nu,v\nfoo,bar,baz\n1,Paris,Lyon\n2,Rome,Rome\n"
    (tmp_path / "a.csv").write_text(text)
    given = ["--map", "custom_id=foo,agent_response=bar,expected_output=baz", "--header-line", "3"]
    for case, stdin in (("a.csv", None), ("-", text.encode())):
        graded = cli("run", case, "-g", "string-match", *given, "-o", "o.jsonl", stdin=stdin)
        assert "CSV (UTF-8, comma-separated, header in line 3)" in graded.err
        assert "string-match     1/2  50.0%" in graded.out
    assert cli("verify", "o.jsonl", "a.csv", "-g", "string-match", *given).status == 0
    both = cli("run", "a.csv", "-g", "string-match", *given, "--no-header")
    assert (both.status, "there is no header line" in both.err) == (2, True)


def test_an_archive_without_any_row_is_told_as_damaged(cli, tmp_path):
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(b"id,output\n1,a\n")[:5])
    ended = cli("run", "a.csv.gz", "-g", "string-match")
    assert "'a.csv.gz': the compressed input ends early or is damaged here" in ended.err


def test_a_guessed_encoding_is_overridden_by_the_one_that_is_given(cli, tmp_path):
    (tmp_path / "a.csv").write_bytes(
        "custom_id,agent_response,expected_output\n1,ő,ő\n".encode("cp1250")
    )
    assert "CP1252" in cli("run", "a.csv", "-g", "string-match", "--dry-run").err
    given = cli("run", "a.csv", "-g", "string-match", "--dry-run", "--encoding", "windows-1250")
    assert "CP1250" in given.err
    assert '"agent_response":"ő"' in given.out
    unknown = cli("run", "a.csv", "-g", "string-match", "--encoding", "nope")
    assert unknown.status == 2
    assert "the encoding 'nope' is unknown" in unknown.err
    (tmp_path / "a.jsonl").write_text('{"custom_id":"a","inputs":{}}\n')
    other = cli("run", "a.jsonl", "-g", "string-match", "--encoding", "cp1252")
    assert "--encoding, --no-header and --header-line are for CSV and TSV" in other.err


@pytest.mark.parametrize("grader", ["string-match", "loop"])
def test_a_workbook_is_named_whichever_graders_there_are(cli, tmp_path, grader):
    with ZipFile(tmp_path / "a.xlsx", "w") as book:
        book.writestr("docProps/app.xml", "<x/>" * 3000)
        book.writestr("[Content_Types].xml", "<x/>")
    ended = cli("run", "a.xlsx", "-g", grader, "--dry-run")
    assert "an Excel workbook or another Office document" in ended.err
    assert "save the sheet as CSV UTF-8" in ended.err


def test_rows_under_their_ids_are_graded_with_the_mapping_that_is_proposed(cli, tmp_path):
    rows = {"q1": {"output": "a", "gold": "a"}, "q2": {"output": "b", "gold": "c"}}
    (tmp_path / "a.json").write_text(json.dumps(rows, indent=4))
    ended = cli("run", "a.json", "-g", "string-match")
    assert "'a.json' is JSON, a row under each key with the columns @key, output, gold" in ended.err
    mapping = "custom_id=@key,agent_response=output,expected_output=gold"
    assert f"its columns suggest --map {mapping}\n" in ended.err
    graded = cli("run", "a.json", "-g", "string-match", "--map", mapping, "-o", "o.jsonl")
    assert graded.err.startswith("a.json: JSON, a row under each key\n")
    lines = map(json.loads, (tmp_path / "o.jsonl").read_text().splitlines())
    verdicts = {line["custom_id"]: line["result"]["verdict"] for line in lines}
    assert verdicts == {"q1": "pass", "q2": "fail"}


BATCH = {"custom_id": "b1", "response": {"body": {"choices": [{"message": {"content": "a"}}]}}}


@pytest.mark.parametrize(
    ("name", "text", "joining", "mapping"),
    [
        ("a.csv", "id,output\nq1,a\n", "--on id=", "custom_id=id,agent_response=output,"),
        ("a.csv", "output\na\n", "--on FIELD=", "custom_id=@row,agent_response=output,"),
        ("a.csv", "model,id,output\nm1,q1,a\nm2,q1,b\n", "--on id=", "'custom_id={id}/{model},agent_response=output,"),
        ("a.json", '{"q1": "a", "q2": "b"}', "--on @key=", "custom_id=@key,agent_response=value,"),
        ("a.jsonl", json.dumps(BATCH) + "\n", "--on custom_id=", ""),
    ],
)  # fmt: skip
def test_expected_outputs_that_a_file_lacks_are_said_to_be_joined(
    cli, tmp_path, name, text, joining, mapping
):
    (tmp_path / name).write_text(text)
    ended = cli("run", name, "-g", "string-match")
    assert f"--join gold=FILE {joining}ID --map {mapping}expected_output=gold.COLUMN" in ended.err


def test_a_file_is_joined_as_the_message_says(cli, tmp_path):
    (tmp_path / "a.csv").write_text("id,output\nq1,a\nq2,b\n")
    (tmp_path / "gold.csv").write_text("key,answer\nq1,a\nq2,c\n")
    said = cli("run", "a.csv", "-g", "string-match").err.splitlines()[2]
    options = said.strip().partition(", if")[0].split()
    given = [
        text.replace("FILE", "gold.csv").replace("ID", "key").replace("COLUMN", "answer")
        for text in options
    ]
    cli("run", "a.csv", "-g", "string-match", *given, "-o", "o.jsonl")
    lines = map(json.loads, (tmp_path / "o.jsonl").read_text().splitlines())
    assert [line["result"]["verdict"] for line in lines] == ["pass", "fail"]


def test_rows_with_an_empty_expected_output_are_counted_and_those_without_an_answer_ungradable(
    cli, tmp_path
):
    (tmp_path / "a.csv").write_text("id,answer,gold\n1,,\n2,x,\n3,x,x\n")
    mapping = "custom_id=id,agent_response=answer,expected_output=gold"
    run = cli("run", "a.csv", "-g", "string-match", "-o", "o.jsonl", "--map", mapping)
    assert (
        "1 row of a.csv has an empty expected_output, which only an empty answer matches"
        " (leave out rows without an expected answer): line 3\n" in run.err
    )
    assert "a.csv: 1 row has an empty cell for both answers" in run.err
    assert "string-match     1/2  50.0%     1/2         1/3" in run.out
    mapping = mapping.replace("gold", "id")
    full = cli("run", "a.csv", "-g", "string-match", "-o", "o.jsonl", "--map", mapping)
    assert "empty expected_output" not in full.err


def test_notes_on_what_an_equal_text_needs_are_for_graders_of_texts(cli, tmp_path):
    cli.environment["PYTHONPATH"] = str(PLUGINS)
    rows = "".join(f"{n},{n / 10},{10 * n} %\n" for n in range(1, 9))
    (tmp_path / "a.csv").write_text(f"id,answer,gold\n{rows}9,x,\n")
    mapping = "custom_id=id,agent_response=answer,expected_output=gold"
    said = {
        grader: cli("run", "a.csv", "-g", grader, "-o", "o.jsonl", "--map", mapping).err
        for grader in ("string-match", "exits")
    }
    assert "write both columns in one notation" in said["string-match"]
    assert "notation" not in said["exits"]
    assert "1 row of a.csv has an empty expected_output: line 10\n" in said["exits"]


def test_booleans_with_a_decimal_point_have_one_note(cli, tmp_path):
    (tmp_path / "a.csv").write_text("id,is_spam,predicted\n1,1.0,1\n2,0.0,0\n3,1.0,1\n4,,0\n")
    proposed = cli("run", "a.csv", "-g", "true-false", "-o", "o.jsonl")
    assert (
        "expected_output: 'is_spam' is left out because 1.0 and 0.0 are not booleans"
        in proposed.err
    )
    mapping = "custom_id=id,agent_response=predicted,expected_output=is_spam"
    run = cli("run", "a.csv", "-g", "true-false", "-o", "o.jsonl", "--map", mapping)
    assert "save them as integers" in run.err
    assert "aliases" not in run.out + run.err
    assert "an empty expected_output, which is not a boolean, so true-false" in run.err


@pytest.mark.parametrize("piped", [False, True], ids=["a file", "a pipe"])
def test_answers_in_another_notation_than_the_expected_ones_are_noted(cli, tmp_path, piped):
    text = 'id,output,gold\n1,Paris,"""Paris"""\n2,Lima,"""Lima"""\n'
    (tmp_path / "a.csv").write_text(text)
    mapping = "custom_id=id,agent_response=output,expected_output={}"
    given = ["-g", "string-match", "-o", "o.jsonl", "--map"]
    cases, stdin = ("-", text.encode()) if piped else ("a.csv", b"")
    run = cli("run", cases, *given, mapping.format("gold"), stdin=stdin)
    assert (
        ": expected_output has texts in the notation of JSON or Python such as '\"Paris\"'"
        in run.err
    )
    assert "write expected_output=json(gold)\n" in run.err
    again = cli("run", cases, *given, mapping.format("json(gold)"), stdin=stdin)
    assert "string-match     2/2  100.0%" in again.out
    assert "notation" not in again.err


@pytest.mark.parametrize("piped", [False, True], ids=["a file", "a pipe"])
def test_a_mapping_without_what_a_grader_requires_is_refused(cli, tmp_path, piped):
    text = "id,output,gold\n1,x,x\n"
    (tmp_path / "a.csv").write_text(text)
    cases, stdin = ("-", text.encode()) if piped else ("a.csv", b"")
    given = [cases, "-g", "string-match", "--map", "custom_id=id,agent_response=output"]
    alone = cli("run", *given, stdin=stdin)
    assert alone.status == 1
    assert (
        "INVALID_MAPPING: the mapping has no expected_output, which string-match needs" in alone.err
    )
    joining = "--join gold=FILE --on id=ID --map expected_output=gold.COLUMN"
    assert (
        f"add --map expected_output=COLUMN, or take it from another file: {joining}\n" in alone.err
    )
    both = cli("run", *given, "--map", "expected_output=gold", "-g", "loop", stdin=stdin)
    assert "the mapping has no trace, which loop needs" in both.err
    assert "run graders that need other inputs separately" in both.err


def test_answers_that_are_in_another_file_are_joined_as_the_message_says(cli, tmp_path):
    (tmp_path / "gold.csv").write_text("id,target\nq1,Paris\nq2,Rome\n")
    (tmp_path / "answers.csv").write_text("ID,said\nq1,Paris\nq2,Oslo\n")
    told = cli("run", "gold.csv", "-g", "string-match").err
    line = next(line for line in told.splitlines() if line.startswith("  --join answers=FILE"))
    options = line.removesuffix(", if it is in another file").replace("FILE", "answers.csv")
    joined = shlex.split(options.replace("COLUMN", "said"))
    run = cli("run", "gold.csv", "-g", "string-match", *joined, "-o", "o.jsonl")
    assert "string-match     1/2  50.0%" in run.out


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("id;output;gold\n", "'a.csv' is CSV (UTF-8, semicolon-separated) and has no rows"),
        (";;\n", "'a.csv' is CSV (UTF-8, semicolon-separated) and has no rows"),
        ("", "'a.csv' is CSV (UTF-8, comma-separated) and has no rows"),
        (
            "a,b\n\n1\n2\n",
            "and its first 2 rows cannot be read: line 3, the row has 1 cell, and the header 2\n  add the missing cells",
        ),
        (
            'id,output,expected\n1,"unclosed,x\n2,a,a\n3,b,b\n',
            "its first row cannot be read: line 2, a quote that opens in this row is never closed; because of",
        ),
    ],
    ids=["only a header", "no header", "empty", "ragged", "an open quote"],
)
@pytest.mark.parametrize("more", [[], ["--map", "metadata=topic"]], ids=["", "with metadata"])
def test_a_table_without_rows_is_said_to_have_none(cli, tmp_path, text, said, more):
    (tmp_path / "a.csv").write_text(text)
    run = cli("run", "a.csv", "-g", "string-match", *more)
    assert run.status == 1
    assert said in run.err


def test_a_field_that_the_first_rows_lack_is_looked_for_in_the_next(cli, tmp_path):
    rows = [{"id": n, "error": "timeout", "gold": "4"} for n in range(150)]
    name = write(tmp_path / "a.jsonl", *rows, {"id": 150, "output": "4", "gold": "4"})
    mapping = "custom_id=id,agent_response=output,expected_output=gold"
    graded = cli("run", name, "-g", "string-match", "-o", "o.jsonl", "--map", mapping)
    assert "1/1" in graded.out
    assert "150/151" in graded.out
    wrong = cli("run", name, "-g", "string-match", "--map", mapping.replace("output,", "outptu,"))
    assert "a.jsonl: no row has 'outptu', which agent_response is mapped to" in wrong.err
    name = write(tmp_path / "long.jsonl", *rows * 70)
    many = cli("run", name, "-g", "string-match", "--map", mapping)
    assert "long.jsonl: none of the first 10,000 rows has 'output', which" in many.err


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv", 'id,answer,gold\n1,x,x\n2,y,y\n3,z,"z\n4,x,x\n'),
        (
            "a.json",
            '[{"id": 1, "answer": "x", "gold": "x"},\n{"id": 2, "answer": "y", "gold": "y"},',
        ),
    ],
    ids=["a quote that is never closed", "a list that is cut off"],
)
def test_an_input_that_breaks_off_meets_no_gate(cli, tmp_path, name, text):
    (tmp_path / name).write_text(text)
    mapping = "custom_id=id,agent_response=answer,expected_output=gold"
    run = cli(
        *("run", name, "-g", "string-match", "-o", "o.jsonl", "--map", mapping),
        "--min-gradable",
        "0.5",
    )
    assert run.status == 1
    assert "exit status 1: the input was not read to its end (INPUT_TRUNCATED)" in run.err


def test_a_column_that_results_are_grouped_by_is_said_to_need_a_mapping(cli, tmp_path):
    table = "id,answer,gold,filter,topic,x.model\n1,x,x,a,b,m\n2,y,y,b,b,n\n"
    (tmp_path / "a.csv").write_text(table)
    mapping = "custom_id=id,agent_response=answer,expected_output=gold"
    given = ("run", "a.csv", "-g", "string-match", "-o", "o.jsonl", "--map", mapping)
    dotted = cli(*given, "--map", "metadata=x.model", "--by", "metadata.x.model")
    assert "no result has metadata.x.model; did you mean 'metadata.model'?" in dotted.err
    named = dotted.err.rstrip().rpartition(" map ")[2]
    assert named == "metadata.x.model=x.model"
    assert "no result" not in cli(*given, "--map", named, "--by", "metadata.x.model").err
    given += ("--by", "metadata.filter", "--by", "metadata.topic.part")
    run = cli(*given, "--map", "metadata=topic")
    for name in ("filter", "topic.part"):
        assert f"no result has metadata.{name}; " in run.err
    hint = "to copy a column 'filter' to the results, add --map metadata=filter\n"
    assert run.err.endswith(f"'metadata.topic'?\n  {hint}")
    whole = cli(*given, "--map", "metadata=*")
    assert "no result has metadata.topic.part; " in whole.err
    assert "to copy a column" not in whole.err


def test_derivations_in_a_joined_file_are_said_to_be_corrected_there(cli, tmp_path):
    (tmp_path / "in.csv").write_text("id,out\na,4\nb,7\n")
    rows = [{"id": "a", "answer": "2+2 #### 4"}, {"id": "b", "answer": "3+4 #### 7"}]
    (tmp_path / "gold.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    mapping = "custom_id=id,agent_response=out,expected_output=gold.answer"
    given = ("--join", "gold=gold.jsonl", "--on", "id", "--map", mapping)
    run = cli("run", "in.csv", "-g", "string-match", *given, "-o", "o.jsonl")
    assert """jq -c '.answer |= (split("#### ") | last)' gold.jsonl > COPY""" in run.err


@pytest.mark.parametrize(
    ("grader", "wrapped", "whole"),
    [("string-match", "It is Lima.", "Lima"), ("true-false", "So yes it is", "yes")],
)
def test_answers_of_which_most_are_inside_longer_text_are_said_to_need_taking_out(
    cli, tmp_path, grader, wrapped, whole
):
    def summary_of(*answers):
        rows = [f"{number},{answer},{whole}\n" for number, answer in enumerate(answers)]
        (tmp_path / "a.csv").write_text("id,answer,gold\n" + "".join(rows))
        mapping = "custom_id=id,agent_response=answer,expected_output=gold"
        return cli("run", "a.csv", "-g", grader, "-o", "o.jsonl", "--map", mapping).out

    told = f"{grader}: 2 of 3 judged answers are inside other text, as after a chain of thought"
    assert told in summary_of(wrapped, wrapped, whole)
    assert "inside other text, as" not in summary_of(wrapped, whole)


@pytest.mark.parametrize(
    ("rows", "true", "false"),
    [("1,WAHR,WAHR\n2,Ja,Nein\n", ["wahr", "ja"], ["falsch", "nein"]), ("1,1.0,1.0\n2,1.0,0.0\n", ["1.0"], ["0.0"])],
    ids=["words", "numbers with a decimal point"],
)  # fmt: skip
def test_expected_answers_in_other_words_are_said_to_need_aliases(cli, tmp_path, rows, true, false):
    (tmp_path / "a.csv").write_text("id,answer,gold\n" + rows)
    mapping = "custom_id=id,agent_response=answer,expected_output=gold"
    given = ("run", "a.csv", "-g", "true-false", "-o", "o.jsonl", "--map", mapping)
    aliases = f"aliases={json.dumps({'true': true, 'false': false})}"
    hint = (
        "true-false: no expected value is a known word for true or false; name yours with --config"
    )
    assert hint in cli(*given).out
    known = cli(*given, "--config", aliases)
    assert "1/2" in known.out
    assert hint not in known.out


def test_a_list_as_the_expected_value_is_said_to_need_expected_any(cli, tmp_path):
    inputs = {"agent_response": "x", "expected_output": ["y", "x"]}
    case = {"custom_id": "a", "inputs": inputs}
    (tmp_path / "a.jsonl").write_text(json.dumps(case))
    given = ("run", "a.jsonl", "-g", "string-match", "-o", "o.jsonl")
    assert "string-match: an expected value is a list; to accept several answers" in cli(*given).out
    more = {"grader": "string-match", "config": {"expected_any": ["x"]}}
    case |= {"inputs": inputs | {"expected_output": "y"}, "graders": [more]}
    number = {"custom_id": "b", "inputs": inputs | {"expected_output": 1.5}}
    write(tmp_path / "a.jsonl", case, number)
    ended = cli(*given)
    assert "1/2" in ended.out
    assert "expected_any" not in ended.out
    write(tmp_path / "a.jsonl", {"custom_id": "c", "inputs": inputs | {"expected_output": []}})
    empty = cli(*given).out
    assert "string-match: an expected value is an empty list, by which no answer is" in empty


def test_an_object_as_the_expected_value_is_said_to_need_its_values_compared(cli, tmp_path):
    rows = [{"id": n, "output": '{"a": 1}', "gold": {"a": n, "kind": "k"}} for n in range(3)]
    write(tmp_path / "a.jsonl", *rows)
    given = ("run", "a.jsonl", "-g", "string-match", "-o", "o.jsonl", "--map")
    whole = "custom_id=id,agent_response=output,expected_output=gold,metadata=gold.kind"
    ended = cli(*given, whole)
    assert "string-match: an expected value is an object, and text is compared; in the repository, docs/" in ended.out  # fmt: skip
    assert "metadata.kind=gold.kind\n" in ended.err, "the name that --by takes"
    fields = "custom_id=id,agent_response={output.a},expected_output={gold.a}"
    assert "an object" not in cli(*given, fields).out


def test_rows_without_any_value_are_not_graded_but_counted(cli, tmp_path):
    rows = "".join(f"Was ist {n}?;{n};{n + n % 2}\n" for n in range(20))
    (tmp_path / "a.csv").write_text("Frage;Antwort;Soll\n" + rows + ";;\n" * 30)
    mapping = "custom_id=@row,agent_response=Antwort,expected_output=Soll"
    for more in ([], ["--dry-run"]):
        run = cli("run", "a.csv", "-g", "string-match", "-o", "o.jsonl", "--map", mapping, *more)
        assert "a.csv: 30 rows without any value were skipped\n" in run.err
        assert ("20 cases, 20 jobs." if more else "10/20") in run.out


@pytest.mark.parametrize(
    ("columns", "status", "said"),
    [("id,output,expected", 0, "[Y/n]"), ("id,one,other", 1, "[y/N]")],
    ids=["by names", "by values"],
)
def test_enter_accepts_a_proposal_unless_it_is_guessed_from_values(
    cli, tmp_path, columns, status, said
):
    rows = "".join(f"{n},The answer is {n}.,The answer is {n}.\n" for n in range(6))
    (tmp_path / "a.csv").write_text(f"{columns}\n{rows}")
    screen, terminal = os.openpty()
    run = cli.fork("run", "a.csv", "-g", "string-match", stdin=terminal, stderr=terminal)
    os.write(screen, b"\n")
    assert run.wait(60) == status
    os.close(terminal)
    assert said.encode() in os.read(screen, 100_000)
    os.close(screen)


def test_rows_of_an_evals_log_that_are_no_cases_are_named(cli, tmp_path):
    event = {"event_id": 1, "sample_id": "s.0", "data": {"expected": "4", "sampled": "4"}}
    rows = [{"spec": {}}, event | {"type": "sampling"}, event | {"type": "match"}]
    name = write(tmp_path / "log.jsonl", *rows)
    note = "log.jsonl: 2 rows of other kinds are not graded: 1 spec, 1 sampling\n"
    run = cli("run", name, "-g", "string-match", "-o", "o.jsonl")
    assert "log.jsonl: OpenAI Evals match events, JSON Lines\n" in run.err
    assert note in run.err
    assert "1/1" in run.out
    assert note in cli("run", name, "-g", "string-match", "--dry-run").err
    assert "1 proven" in cli("verify", "o.jsonl", name, "-g", "string-match").out
