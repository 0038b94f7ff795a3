"""Traces through the real command line: files and folders as they are, graded by real workers, shown and converted."""

from __future__ import annotations

import csv
import gzip
import io
import json
import sqlite3
from contextlib import closing
from pathlib import Path

import orjson
import pytest

from support.trace_examples.editor_agents import SPECSTORY_HISTORY
from support.trace_examples.model_apis import BATCH_RESULT
from support.trace_examples.vendor_sdks import GOOGLE_ADK_ROWS
from weighbridge.grading.line_grader import grade_lines
from weighbridge.settings import read_settings
from weighbridge_producer.input.graders_file import read_graders
from weighbridge_producer.input.source import Source

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
TRACES, GRADERS = EXAMPLES / "traces", EXAMPLES / "trace_graders.yaml"
REAL = EXAMPLES.parents[1] / "shared" / "data" / "traces"


def rows(path):
    return [orjson.loads(line) for line in path.read_bytes().splitlines()]


def verdicts(path):
    return {(row["custom_id"], row["label"]): row["result"]["verdict"] for row in rows(path)}


def test_a_folder_of_traces_in_several_formats_is_graded_as_it_is(cli, tmp_path):
    ended = cli("run", str(TRACES), "--graders", str(GRADERS), "-o", "out.jsonl")
    assert ended.status == 100, ended.err
    found = verdicts(tmp_path / "out.jsonl")
    assert len(found) == 39
    assert {key for key, verdict in found.items() if verdict != "pass"} == {
        ("shop-stuck-4", "loop"),
        ("shop-pingpong-5", "loop"),
        ("shop-misuse-6", "tool-schema"),
        ("shop-unknown-7", "tool-schema"),
        ("shop-chatty-8", "budget"),
    }
    assert ("5b8aa5a2d2c872e8321cf37308d69df2", "budget") in found  # spread over two lines
    assert "tool-schema: vacuous passes (nothing to check): 1/11 (9.1%)" in ended.out
    assert (
        "tool-schema: passes by names alone (no schema for the tools called): 2/11 (18.2%)"
        in ended.out
    )


def test_graders_are_named_and_configured_on_the_command_line(cli, tmp_path):
    graders = ("--grader", "budget", "--config", "budget.max_tokens=5000", "--grader", "loop")
    ended = cli("run", str(TRACES / "shop_agent.jsonl"), *graders, "-g", "tool-schema", "--sort")
    assert ended.status == 100
    results = rows(tmp_path / "shop_agent.results.jsonl")
    assert [row["label"] for row in results[:3]] == ["budget", "loop", "tool-schema"]
    [breach] = results[0]["result"]["evidence"]
    assert (breach["limit"], breach["passed"]) == (5000, True)
    again = cli("verify", "shop_agent.results.jsonl", str(TRACES / "shop_agent.jsonl"), *graders, "-g", "tool-schema")  # fmt: skip
    assert again.status == 0
    assert "30 proven" in again.out


def test_converted_traces_are_judged_like_those_they_came_from(cli, tmp_path):
    ended = cli("trace", "convert", str(TRACES), "-o", "native.jsonl")
    assert ended.status == 0, ended.err
    assert all("steps" in row for row in rows(tmp_path / "native.jsonl"))
    for source, out in ((str(TRACES), "one.jsonl"), ("native.jsonl", "two.jsonl")):
        assert cli("run", source, "--graders", str(GRADERS), "-o", out).status == 100
    assert verdicts(tmp_path / "one.jsonl") == verdicts(tmp_path / "two.jsonl")


def test_converted_traces_have_the_ids_that_they_are_graded_under_and_no_two_have_one(
    cli, tmp_path
):
    """Whether the id is the trace's own, of a field that only its importer reads, or its file's name."""
    ask = {"role": "user", "content": "2+2?"}
    body = {"format": "weighbridge", "id": "same", "steps": []}
    folder = tmp_path / "runs"
    for name in ("a", "b"):
        (folder / name).mkdir(parents=True)
        replay = {"instance_id": "task-1", "trajectory": [], "messages": [ask | {"name": name}]}
        (folder / name / "task-1.traj").write_text(json.dumps(replay))
        steps = [{"type": "user", "output": name}]
        (folder / name / "native.jsonl").write_text(json.dumps(body | {"steps": steps}) + "\n")
        case = {"custom_id": f"case-{name}", "inputs": {"trace": body}}
        (folder / name / "cases.jsonl").write_text(json.dumps(case) + "\n")
    assert cli("trace", "convert", "runs", "-o", "native.jsonl").status == 0
    for source, out in (("runs", "one.jsonl"), ("native.jsonl", "two.jsonl")):
        cli("run", source, "-g", "budget", "-c", "max_steps=9", "--sort", "-o", out)
    before, after = (
        [row["custom_id"] for row in rows(tmp_path / f"{n}.jsonl")] for n in ("one", "two")
    )
    assert before == after == [row["id"] for row in rows(tmp_path / "native.jsonl")]
    assert len(set(before)) == 6
    for trace_id in before:
        assert cli("trace", "show", "runs", "--id", trace_id, "--json").json["id"] == trace_id


def test_a_trace_is_found_by_its_id_in_its_source_where_it_is_named_after_its_file(cli, tmp_path):
    names = {"s-1.md": "ses_1", "s-2.md": "ses_2"}
    (tmp_path / "runs").mkdir()
    for name, session in names.items():
        text = SPECSTORY_HISTORY.replace("1f-2a", session)
        (tmp_path / "runs" / name).write_text(text)
    assert cli("trace", "convert", "runs", "-o", "native.jsonl").status == 0
    for source in ("runs", "native.jsonl"):
        cli("run", source, "-g", "budget", "-c", "max_steps=99", "-o", "out.jsonl")
        found = {
            row["custom_id"]: row["metadata"]["trace_id"] for row in rows(tmp_path / "out.jsonl")
        }
        assert found == {f"{name}:1": session for name, session in names.items()}
        assert cli("trace", "show", source, "--id", "ses_2").out.startswith("s-2.md:1 ")
        several = cli("trace", "show", source, "--id", "ses_")
        assert "2 traces whose id begins with 'ses_'" in several.err


def test_of_several_files_the_one_of_a_trace_is_named(cli, tmp_path):
    (tmp_path / "runs").mkdir()
    trace = {"steps": [{"type": "user", "output": "hi"}]}
    (tmp_path / "runs/a.jsonl").write_text(json.dumps(trace | {"id": "t1"}) + "\n")
    (tmp_path / "runs/b.jsonl").write_text("\n" + json.dumps(trace | {"id": "t2"}) + "\n")
    assert cli("trace", "show", "runs", "--id", "t1").out.splitlines()[1] == "a.jsonl, line 1"
    assert cli("trace", "show", "runs", "--id", "t2").out.splitlines()[1] == "b.jsonl, line 2"
    assert cli("trace", "show", "runs/a.jsonl").out.splitlines()[1] == ""


def test_different_cases_with_one_id_are_converted_to_traces_with_two(cli, tmp_path):
    lines = [
        {"custom_id": "a", "inputs": {"trace": {"steps": [{"type": "user", "output": text}]}}}
        for text in ("x", "y", "x")
    ]
    (tmp_path / "cases.jsonl").write_bytes(b"\n".join(map(orjson.dumps, lines)))
    assert cli("trace", "convert", "cases.jsonl", "-o", "out.jsonl").status == 0
    written = [row["id"] for row in rows(tmp_path / "out.jsonl")]
    assert written == ["a", "a (line 2)", "a"], "the third is the first once more"


def test_a_trace_is_shown_with_its_steps_and_what_its_format_does_not_tell(cli):
    shown = cli("trace", "show", str(TRACES), "--id", "desk-rebook-11")
    assert shown.status == 0
    assert "\n6  toolu_11_2  tool   book" in shown.out
    assert "✗ RJ 49 is full" in shown.out
    assert "no timing: Anthropic messages carry no times" in shown.out
    data = cli("trace", "show", str(TRACES), "--id", "desk-rebook-11", "--json").json
    assert data["steps"][3]["id"] == "toolu_11_1"
    missing = cli("trace", "show", str(TRACES), "--id", "none")
    assert (missing.status, missing.out) == (1, "")
    assert "has no trace 'none'" in missing.err
    assert "it has desk-rebook-11, 5b8aa5a2" in missing.err
    assert missing.err.endswith(" and 8 more\n")


def test_the_beginning_of_an_id_is_enough_if_no_other_id_has_it(cli, tmp_path):
    show = ("trace", "show", str(TRACES))
    whole = cli(*show, "--id", "5b8aa5a2d2c872e8321cf37308d69df2")
    assert cli(*show, "--id", "5b8aa").out == whole.out != ""
    several = cli(*show, "--id", "shop-")
    assert (several.status, several.out) == (1, "")
    assert "has 10 traces whose id begins with 'shop-'\n  it has shop-refund-1, " in several.err
    assert "has no trace ''" in cli(*show, "--id", "").err

    steps = [{"id": name, "type": "llm", "output": name} for name in ("s1", "s11", "t1")]
    rows_ = [{"format": "weighbridge", "id": name, "steps": steps} for name in ("a1", "a1b", "a1")]
    (tmp_path / "few.jsonl").write_bytes(b"\n".join(map(orjson.dumps, rows_)))
    assert cli("trace", "show", "few.jsonl", "--id", "a1", "--json").json["id"] == "a1"
    few = ("trace", "show", "few.jsonl", "--id", "a1b")
    shown = cli(*few, "--step", "s1", "--step", "t", "--json").json["steps"]
    assert [step["id"] for step in shown] == ["s1", "t1"]
    missing = cli(*few, "--step", "s")
    assert (missing.status, missing.out) == (1, "")
    assert "'a1b' has 2 steps whose id begins with 's'\n  it has s1, s11\n" in missing.err


def test_a_step_may_be_named_by_its_number_if_no_step_has_that_id(cli, tmp_path):
    ids = ("3", "s2", "41", *(f"s{n}" for n in range(4, 12)))
    steps = [{"id": name, "type": "llm", "output": name} for name in ids]
    (tmp_path / "few.json").write_bytes(orjson.dumps({"format": "weighbridge", "steps": steps}))

    def shown(text):
        found = cli("trace", "show", "few.json", "--step", text, "--json").json["steps"]
        return [step["id"] for step in found]

    assert shown("2") == ["s2"]
    assert shown("11") == ["s11"]
    assert shown("3") == ["3"]
    assert shown("4") == ["s4"], "a number comes before the beginning of an id"
    assert shown("41") == ["41"]
    for text in ("12", "0", "02", "-1"):
        missing = cli("trace", "show", "few.json", "--step", text)
        assert f"has no step '{text}'" in missing.err
    lines = cli("trace", "show", "few.json").out.splitlines()
    assert [line[:2] for line in lines[2:13]] == [f"{n:>2}" for n in range(1, 12)]


def test_steps_are_shown_in_full(cli, tmp_path):
    said = "a line\n" * 400
    call = {
        "id": "call_1",
        "type": "tool",
        "name": "write",
        "arguments": {"text": said, "to": "x\x1b"},
    }
    steps = [{"id": "s1", "type": "llm", "output": said}, {**call, "output": "done\x1b[2J"}]
    (tmp_path / "long.json").write_bytes(orjson.dumps({"format": "weighbridge", "steps": steps}))
    show = ("trace", "show", "long.json")
    shown = cli(*show, "--step", "s1")
    assert shown.out == "s1  llm\noutput\n" + "  a line\n" * 400 + "  \n"
    shown = cli(*show, "--step", "call_1", "--step", "s1").out
    assert shown.startswith("s1  llm\n")
    assert '\ncall_1  tool write\narguments\n  {\n    "text": "a line\\na line' in shown
    assert shown.endswith('    "to": "x\\u001b"\n  }\noutput\n  done\\x1b[2J\n')
    assert [step["id"] for step in cli(*show, "--step", "call_1", "--json").json["steps"]] == [
        "call_1"
    ]

    missing = cli(*show, "--step", "call_2")
    assert (missing.status, missing.out) == (1, "")
    assert "has no step 'call_2'" in missing.err
    assert (
        "did you mean 'call_1'? the steps' numbers and ids are in the first columns without --step"
        in missing.err
    )


def test_whoever_is_shown_the_first_of_several_traces_is_told_so(cli, tmp_path):
    for arguments in ((), ("--json",)):
        first = cli("trace", "show", str(TRACES), *arguments)
        assert (first.status, first.err) == (0, "1 of 13 traces; --id picks another\n")
    assert cli("trace", "show", str(TRACES), "--id", "shop-chat-10").err == ""
    assert cli("trace", "show", str(TRACES / "desk_agent.json")).err == ""
    piped = (TRACES / "shop_agent.jsonl").read_bytes()
    assert cli("trace", "show", "-", stdin=piped).err == ""  # a pipe's length is unknown

    (tmp_path / "many.jsonl").write_bytes(
        piped.splitlines()[0] + b"\n" + b'{"steps":[]}\n' * 20_000
    )
    assert "1 of more than 10,001 traces" in cli("trace", "show", "many.jsonl").err


def test_a_line_without_a_trace_is_told_in_the_words_of_run(cli, tmp_path):
    lines = (
        b'{"id": "a", "steps": []}',
        b"",
        b'{"id": "b", "steps": [{"type": "user", "outp',
        b'"text"',
        b'{"custom_id": "k", "inputs": {"agent_response": "x"}}',
        b'{"custom_id": 7, "inputs": {"trace": {"steps": []}}}',
    )
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "cut.json").write_bytes(b"\n".join(lines))
    for source, told in (
        (
            "runs/cut.json",
            "line 3: INVALID_JSON: the JSON ends too early at byte 44\n  the line may",
        ),
        (
            "runs",
            "INVALID_JSON: cut.json, line 3: the JSON ends too early at byte 44\n  the line may",
        ),
    ):
        converted = cli("trace", "convert", source, "-o", "out.jsonl")
        assert converted.status == 1
        assert converted.err.startswith(told)
        ran = cli("run", source, "-g", "loop", "-o", "results.jsonl")
        assert converted.err in ran.out
    assert [row["id"] for row in rows(tmp_path / "out.jsonl")] == ["a"]


def test_a_damaged_line_of_a_session_is_told_by_its_own_number(cli, tmp_path):
    said = [{"role": role, "content": "Hi"} for role in ("user", "assistant", "user")]
    lines = [json.dumps({"type": m["role"], "sessionId": "S", "message": m}) for m in said]
    (tmp_path / "session.jsonl").write_text("\n".join([lines[0], '{"torn', *lines[1:]]))
    told = "INVALID_JSON: line 2 of the session is not JSON\n"
    converted = cli("trace", "convert", "session.jsonl", "-o", "out.jsonl")
    assert (converted.status, converted.err.startswith(told)) == (1, True)
    assert [len(row["steps"]) for row in rows(tmp_path / "out.jsonl")] == [3]
    assert told in cli("run", "session.jsonl", "-g", "loop", "-o", "results.jsonl").out
    assert "at least 1 model call" in cli("trace", "check", "session.jsonl").out


def test_a_trace_that_cannot_be_read_is_told_with_its_code_and_its_place(cli, tmp_path):
    (tmp_path / "odd.jsonl").write_bytes(b'{"steps": []}\n\n{"steps": [{"type": "odd"}]}\n')
    ended = cli("trace", "convert", "odd.jsonl")
    assert ended.status == 1
    assert ended.err.startswith("line 3: UNKNOWN_TRACE_FORMAT: not a recognised trace format")


def test_answers_are_told_once_where_traces_are_wanted(cli, tmp_path):
    lines = [
        orjson.dumps({"custom_id": f"q{n}", "inputs": {"agent_response": "a"}}) for n in range(9)
    ]
    (tmp_path / "answers.jsonl").write_bytes(b"\n".join(lines))
    for more in ((), ("--id", "q1")):
        ended = cli("trace", "show", "answers.jsonl", *more)
        assert ended.status == 1
        assert ended.err.startswith("INPUT_UNREADABLE: 'answers.jsonl': 9 cases have no trace")
        assert ended.err.count("\n") == 2
    assert cli("trace", "check", "answers.jsonl").out.count("have no trace") == 1
    trace = {"custom_id": "t", "inputs": {"trace": {"format": "weighbridge", "steps": []}}}
    (tmp_path / "answers.jsonl").write_bytes(b"\n".join([*lines, orjson.dumps(trace)]))
    ended = cli("trace", "show", "answers.jsonl", "--id", "t")
    assert ended.status == 0
    assert ended.err.endswith("... and 4 more lines without a trace\n")


def test_what_is_no_trace_is_told_by_what_it_looks_like(cli, tmp_path):
    (tmp_path / "odd.jsonl").write_bytes(
        orjson.dumps({"custom_id": "odd", "inputs": {"trace": {"what": 1, "\x1b[31mthis": 2}}})
    )
    for command in ("show", "convert"):
        ended = cli("trace", command, "odd.jsonl")
        assert ended.status == 1
        assert "UNKNOWN_TRACE_FORMAT" in ended.err
        assert "an object with what" in ended.err
        assert "\x1b" not in ended.err
    ran = cli("run", "odd.jsonl", "-g", "loop", "-o", "out.jsonl")
    assert ran.status == 1
    [row] = rows(tmp_path / "out.jsonl")
    assert row["result"]["verdict"] == "ungradable"
    assert "weighbridge trace formats" in row["result"]["evidence"][0]["description"]


@pytest.mark.parametrize(
    ("command", "printed"),
    [("show", "Hello"), ("check", "2 traces, 4 steps, 2 model calls"), ("convert", '"Hello"')],
)
def test_traces_in_a_column_of_a_table_are_read_as_its_columns_suggest_or_as_mapped(
    cli, tmp_path, command, printed
):
    messages = json.dumps(
        [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]
    )
    table = io.StringIO()
    csv.writer(table).writerows([["run", "messages"], ["r1", messages], ["r2", messages]])
    (tmp_path / "a.csv").write_text(table.getvalue())
    mapped = cli("trace", command, "a.csv", "--map", "custom_id=run,trace=messages")
    assert (mapped.status, printed in mapped.out) == (0, True)
    assert "mapped: custom_id=run,trace=messages" in mapped.err
    guessed = cli("trace", command, "a.csv")
    assert (guessed.status, printed in guessed.out) == (0, True)
    assert "trace=messages" in guessed.err


def test_a_table_without_a_column_of_traces_is_refused_with_how_to_name_it(cli, tmp_path):
    (tmp_path / "a.csv").write_text('id,topic,log\n1,ferries,"{""a"": 1}"\n')
    ended = cli("trace", "check", "a.csv")
    assert ended.status == 1
    assert "MAPPING_NEEDED: 'a.csv' is CSV" in ended.err
    assert "--map custom_id=id,trace=COLUMN" in ended.err
    (tmp_path / "b.csv").write_text('id,topic,tags\n1,ferries,"[""a""]"\n')
    for ended in (cli("trace", "check", "b.csv"), cli("run", "b.csv", "-g", "loop")):
        assert (ended.status, "COLUMN" in ended.err) == (1, False)
        assert "none of these columns has traces, which are JSON" in ended.err
    (tmp_path / "m.yaml").write_text("steps: /steps\n")
    both = cli("trace", "check", "a.csv", "--map", "trace=topic", "--trace-mapping", "m.yaml")
    assert (both.status, "traces have no rows to map" in both.err) == (2, True)


OWN_TRACE = {
    "run": "r1",
    "events": [{"kind": "model", "ts": 1, "text": "I look."}, {"kind": "tool", "fn": "search"}],
    "tools": [{"name": "search"}],
}


def test_pointers_of_a_trace_mapping_that_lead_to_nothing_are_named(cli, tmp_path):
    mapping = "{id: /run, steps: /events, step: {type: /kind, types: {model: llm}, name: /fn, started_at: /time}}"
    (tmp_path / "m.yaml").write_text(mapping)
    (tmp_path / "runs.jsonl").write_text(json.dumps(OWN_TRACE) + "\n")
    note = "no trace has anything at these pointers of the trace mapping: step.started_at: /time"
    checked = cli("trace", "check", "runs.jsonl", "--trace-mapping", "m.yaml")
    assert (checked.status, note in checked.out) == (0, True)
    ran = cli("run", "runs.jsonl", "-g", "loop", "--trace-mapping", "m.yaml")
    assert (ran.status, f"runs.jsonl: {note}" in ran.err) == (0, True)
    (tmp_path / "m.yaml").write_text(mapping.replace("time", "ts"))
    checked = cli("trace", "check", "runs.jsonl", "--trace-mapping", "m.yaml")
    assert "pointers" not in checked.out


def test_traces_in_a_format_of_ones_own_are_refused_with_the_option_that_describes_it(
    cli, tmp_path
):
    (tmp_path / "main.json").write_text(json.dumps(OWN_TRACE, indent=1))
    (tmp_path / "runs.jsonl").write_text(json.dumps({**OWN_TRACE, "tools": 1}) + "\n")
    for file in ("main.json", "runs.jsonl"):
        ended = cli("run", file, "-g", "loop")
        assert (ended.status, "--trace-mapping FILE reads them" in ended.err) == (1, True)
    rows = [{"id": n, "log": [{"role": "user", "content": "Hi"}]} for n in (1, 2)]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    ended = cli("run", "rows.jsonl", "-g", "loop")
    assert "--map custom_id=id,trace=log" in ended.err
    assert "--trace-mapping" not in ended.err


def test_a_mapping_is_drafted_for_a_format_that_is_not_known_and_read_with_what_it_gives(
    cli, tmp_path
):
    (tmp_path / "my runs.json").write_text(json.dumps(OWN_TRACE))
    command = "weighbridge trace map 'my runs.json'"
    for words in (
        ("run", "my runs.json", "-g", "loop"),
        ("submit", "my runs.json", "-g", "loop"),
        ("trace", "convert", "my runs.json"),
    ):
        assert f"`{command}` drafts" in cli(*words).err
    refused = cli("trace", "check", "my runs.json", "--json")
    assert f"`{command}` drafts" in json.loads(refused.out)["files"][0]["errors"][0]["hint"]
    drafted = cli("trace", "map", "my runs.json", "-o", "map.yaml")
    assert (drafted.status, "1 trace, 2 steps, 1 model call, 1 tool call" in drafted.out) == (
        0,
        True,
    )
    next_step = drafted.out.split("weighbridge ")[1].splitlines()[0]
    assert next_step == "trace check 'my runs.json' --trace-mapping map.yaml"
    checked = cli("trace", "check", "my runs.json", "--trace-mapping", "map.yaml")
    assert (checked.status, "1 model call, 1 tool call" in checked.out) == (0, True)
    (tmp_path / "-runs.json").write_text(json.dumps(OWN_TRACE))
    assert "trace check ./-runs.json --trace-mapping" in cli("trace", "map", "--", "-runs.json").err
    before = (tmp_path / "map.yaml").read_bytes()
    again = cli("trace", "map", "my runs.json", "-o", "map.yaml")
    assert (again.status, "exists already" in again.err) == (1, True)
    printed = cli("trace", "map", "my runs.json")
    assert (printed.out.encode(), (tmp_path / "map.yaml").read_bytes()) == (before, before)
    assert "1 model call, 1 tool call" in printed.err


def test_no_mapping_is_drafted_for_a_known_format_nor_for_what_has_no_steps(cli, tmp_path):
    messages = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]
    (tmp_path / "chat.json").write_text(json.dumps({"messages": messages}))
    known = cli("trace", "map", "chat.json", "-o", "map.yaml")
    assert (known.status, "known format, openai-chat" in known.out) == (0, True)
    assert json.loads(cli("trace", "map", "chat.json", "--json").out)["format"] == "openai-chat"
    (tmp_path / "scores.json").write_text(json.dumps({"rows": [{"score": 1}]}))
    (tmp_path / "case.jsonl").write_text(
        json.dumps({"custom_id": "1", "inputs": {"agent_response": "x"}}) + "\n"
    )
    (tmp_path / "text.log").write_text("hello\n")
    (tmp_path / "damaged.json").write_text(
        '{"format": "weighbridge", "steps": [{"type": "magic"}]}'
    )
    for file, why in (
        ("scores.json", "nothing in its 1 object, the entries of /rows, tells calls"),
        ("case.jsonl", "no trace, but the inputs agent_response"),
        ("text.log", "not JSON"),
        ("damaged.json", "magic"),
        ("none.json", "is not a file"),
    ):
        ended = cli("trace", "map", file, "-o", "map.yaml")
        assert (ended.status, why in ended.err, file in ended.err) == (1, True, True)
    assert not (tmp_path / "map.yaml").exists()


def test_a_mapping_is_drafted_for_a_known_format_only_if_that_does_not_read_all(cli, tmp_path):
    call = {"tool": "f", "args": {"q": 1}}
    messages = [
        {"role": "user", "content": "Find it."},
        {"role": "assistant", "content": "", "invocations": [call]},
        {"role": "assistant", "content": "It is here."},
    ]
    (tmp_path / "calls.jsonl").write_text(json.dumps({"messages": messages}) + "\n")
    drafted = cli("trace", "map", "calls.jsonl")
    assert "# Without a mapping it would be read as openai-chat, and its tool calls are not known." in drafted.out  # fmt: skip
    assert "2 model calls, 1 tool call" in drafted.err
    own = {"goal": "x", "steps": [{"kind": "llm", "text": "I look."}, {"kind": "tool", **call}]}
    chat = {"messages": messages[::2]}
    (tmp_path / "mixed.jsonl").write_text(f"{json.dumps(chat)}\n{json.dumps(own)}\n")
    assert (
        "1 would be read as openai-chat without a mapping" in cli("trace", "map", "mixed.jsonl").out
    )
    (tmp_path / "no_draft.jsonl").write_text(f'{json.dumps(chat)}\n{{"x": 1}}\n{{"x": 2}}\n')
    ended = cli("trace", "map", "no_draft.jsonl")
    assert (ended.status, "no draft can be made" in ended.err) == (1, True)


def test_a_table_of_spans_in_text_is_refused_with_how_to_map_it(cli, tmp_path):
    (tmp_path / "a.csv").write_text("context.trace_id,context.span_id,name,span_kind\nt,s,x,LLM\n")
    ended = cli("trace", "check", "a.csv")
    assert (ended.status, "MAPPING_NEEDED: 'a.csv' is CSV" in ended.err) == (1, True)
    assert "--map custom_id=@row,trace=COLUMN" in ended.err


def test_several_paths_are_checked_at_once(cli, tmp_path):
    (tmp_path / "runs").mkdir()
    for name in ("runs/a.json", "b.json"):
        (tmp_path / name).write_bytes(
            orjson.dumps({"messages": [{"role": "user", "content": "go"}]})
        )
    files = json.loads(cli("trace", "check", "runs", "b.json", "--json").out)["files"]
    assert [(each["file"], len(each["traces"])) for each in files] == [
        ("runs/a.json", 1),
        ("b.json", 1),
    ]


def test_tables_in_a_folder_are_checked_with_a_mapping(cli, tmp_path):
    (tmp_path / "d").mkdir()
    messages = json.dumps([{"role": "user", "content": "Hi"}])
    for name in ("a", "b"):
        with (tmp_path / "d" / f"{name}.csv").open("w") as file:
            csv.writer(file).writerows([["run", "said"], ["r1", messages]])
    checked = cli("trace", "check", "d", "--map", "custom_id=run,trace=said", "--json")
    assert [len(file["traces"]) for file in checked.json["files"]] == [1, 1]


def test_sessions_in_a_database_are_checked_converted_and_graded(cli, tmp_path):
    store = tmp_path / "project" / ".adk" / "session.db"
    store.parent.mkdir(parents=True)
    columns = list(GOOGLE_ADK_ROWS[0])
    with closing(sqlite3.connect(store)) as base, base:
        base.execute(f"CREATE TABLE events ({', '.join(columns)})")
        values = [list(row.values()) for row in GOOGLE_ADK_ROWS]
        base.executemany(f"INSERT INTO events VALUES ({', '.join('?' * len(columns))})", values)
    checked = cli("trace", "check", "project")
    assert "google-adk  2 traces, 8 steps, 2 model calls, 4 tool calls, 20 tokens" in checked.out
    assert cli("trace", "convert", str(store), "-o", "native.jsonl").status == 0
    for source in ("project", "native.jsonl"):
        ended = cli("run", source, "--grader", "loop", "-o", "out.jsonl")
        assert ended.status == 0, ended.err
        assert verdicts(tmp_path / "out.jsonl") == {("s", "loop"): "pass", ("s2", "loop"): "pass"}
    assert [each.name for each in store.parent.iterdir()] == [store.name]


def test_a_file_beside_logged_calls_is_checked_once(cli, tmp_path):
    for number in (1, 2):
        call = {
            "messages": [{"role": "user", "content": str(number)}],
            "kwargs": {},
            "response": {"choices": [{"message": {"role": "assistant", "content": "Yes."}}]},
            "timestamp": 1757015020 + number,
            "latency_sec": 0.5,
        }
        (tmp_path / f"m-175701502{number}.5.json").write_text(json.dumps(call))
    (tmp_path / "other.json").write_text(json.dumps({"id": "t", "steps": []}))
    checked = cli("trace", "check", ".", "--json")
    assert sum(len(file["traces"]) for file in checked.json["files"]) == 3


def test_lines_in_no_known_format_are_one_error_for_the_file(cli, tmp_path):
    lines = [{"ts": 1, "event": "start"}, *[{"ts": at, "event": "act"} for at in range(98)]]
    (tmp_path / "log.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    checked = cli("trace", "check", "log.jsonl", "--json")
    [error] = checked.json["files"][0]["errors"]
    assert error["code"] == "UNKNOWN_TRACE_FORMAT"
    assert error["message"].endswith(": 99 lines, the first of them an object with ts, event")
    assert "--trace-mapping" in error["hint"]
    # With a trace, or a line that is wrong in another way, each line is an error of its own.
    (tmp_path / "log.jsonl").write_text(
        "".join(json.dumps(line) + "\n" for line in lines) + "oops\n"
    )
    assert len(cli("trace", "check", "log.jsonl", "--json").json["files"][0]["errors"]) == 100


def test_spans_in_no_known_format_are_no_cases_although_they_have_inputs(cli, tmp_path):
    span = {"ts": 2, "event": "span", "inputs": {"q": "x"}}
    lines = [{"ts": 1, "event": "start"}, span, {"ts": 3, "event": "end"}]
    (tmp_path / "log.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    [error] = cli("trace", "check", "log.jsonl", "--json").json["files"][0]["errors"]
    assert error["code"] == "UNKNOWN_TRACE_FORMAT"
    # With a line that is wrong in another way, each line is an error of its own.
    (tmp_path / "log.jsonl").write_text(json.dumps(span) + "\noops\n")
    error, _ = cli("trace", "check", "log.jsonl", "--json").json["files"][0]["errors"]
    assert error["message"].startswith("line 1: not a recognised trace format: an object with ts")
    assert "custom_id" not in error["message"] + error["hint"]
    # Inputs of graders, and inputs with little beside them, are those of a case without its id.
    for case in ({**span, "inputs": {"trace": 5}}, {"id": "a", "inputs": {"q": "x"}}):
        (tmp_path / "log.jsonl").write_text(json.dumps(case) + "\n")
        [error] = cli("trace", "check", "log.jsonl", "--json").json["files"][0]["errors"]
        assert error["code"] in {"MISSING_FIELD", "UNKNOWN_FIELD"}


def test_results_of_a_batch_api_are_traces(cli, tmp_path):
    (tmp_path / "out.jsonl").write_text(
        "".join(json.dumps({**BATCH_RESULT, "custom_id": f"r{at}"}) + "\n" for at in range(2))
    )
    [checked] = cli("trace", "check", "out.jsonl", "--json").json["files"]
    assert [trace["id"] for trace in checked["traces"]] == ["r0", "r1"]
    assert [trace["counts"]["total_tokens"] for trace in checked["traces"]] == [5, 5]


def test_formats_are_listed(cli):
    assert "OpenTelemetry" in cli("trace", "formats").out
    listed = cli("trace", "formats", "--json").json["formats"]
    assert {"native", "openai-chat", "otel"} <= {known["id"] for known in listed}


def test_the_fields_of_one_format_are_listed(cli):
    assert "weighbridge trace formats ID" in cli("trace", "formats").out
    told = cli("trace", "formats", "native").out
    assert "llm, tool, agent, user, system, other" in told
    assert "atif" not in told
    [known] = cli("trace", "formats", "atif", "--json").json["formats"]
    assert known["fields"]["arguments"] == "tool_calls[].arguments"


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("nativ", "it may mean native; "),
        ("claude-code", "it may mean claude-code-chat, claude-code-hooks, anthropic"),
        ("Claude Code", "it may mean claude-code-chat, claude-code-hooks, anthropic"),
        ("adk", "it may mean google-adk, google-adk-eval; "),
        ("nope", "'nope'; `weighbridge trace formats` lists all"),
    ],
)
def test_the_name_of_a_program_leads_to_its_formats(cli, name, meant):
    unknown = cli("trace", "formats", name)
    assert unknown.status == 2
    assert meant in " ".join(unknown.err.split())


def test_a_mistake_in_a_file_of_graders_is_told_with_its_line_before_anything_runs(cli, tmp_path):
    (tmp_path / "g.yaml").write_text("graders:\n  - loop\n  - grader: budget\n    config:\n      max_token: 5\n")  # fmt: skip
    ended = cli("run", str(TRACES), "--graders", "g.yaml")
    assert (ended.status, ended.out) == (1, "")
    assert "g.yaml, line 5" in ended.err
    assert "did you mean 'max_tokens'" in ended.err


def test_a_limit_on_a_misspelt_tool_is_noted(cli, tmp_path):
    (tmp_path / "g.yaml").write_text(
        "- grader: budget\n  config: {max_tool_calls_per_tool: {find_orders: 3, refund: 3}}\n"
    )
    ended = cli("run", str(TRACES), "--graders", "g.yaml")
    assert ended.status == 0
    assert ended.err.startswith("no run calls a tool 'find_orders'; did you mean 'find_order'? (")
    assert ended.err.count("\n") == 1


@pytest.mark.slow
@pytest.mark.skipif(not REAL.exists(), reason="the stored traces are not part of the repository")
def test_every_stored_trace_is_graded_by_all_three_to_the_same_bytes_as_directly(cli, tmp_path):
    folder = tmp_path / "traces"
    folder.mkdir()
    for file in REAL.glob("*.jsonl.gz"):
        (folder / file.name).write_bytes(gzip.decompress(file.read_bytes()))
    ended = cli("run", "traces", "--graders", str(GRADERS), "-o", "out.jsonl", "--workers", "2")
    assert ended.status == 100, ended.err
    found = sorted((tmp_path / "out.jsonl").read_bytes().splitlines())
    lines = (line.raw for line in Source(folder, read_settings()))
    directly = sorted(b"".join(grade_lines(lines, read_graders(GRADERS))).splitlines())
    assert len(directly) == 412 * 3
    assert found == directly
    assert {orjson.loads(row)["status"] for row in directly} == {"graded"}


def test_converting_a_folder_into_itself_is_refused(cli, tmp_path):
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "a.jsonl").write_text('{"id": "a", "steps": []}\n')
    ended = cli("trace", "convert", "runs", "-o", "runs/all.jsonl")
    assert ended.status == 1
    assert "would be part of the input" in ended.err
    assert not (tmp_path / "runs" / "all.jsonl").exists()


def test_converting_a_file_onto_itself_is_refused_and_a_lost_line_is_an_error(cli, tmp_path):
    trace = orjson.dumps({"id": "a", "steps": [{"type": "user", "output": "hi"}]}) + b"\n"
    (tmp_path / "in.jsonl").write_bytes(trace + b'{"id": "b", "steps": [\n')
    refused = cli("trace", "convert", "in.jsonl", "-o", "in.jsonl")
    assert refused.status == 1
    assert "is the input" in refused.err
    assert (tmp_path / "in.jsonl").read_bytes().startswith(trace)
    lossy = cli("trace", "convert", "in.jsonl", "-o", "out.jsonl")
    assert lossy.status == 1
    assert "line 2: INVALID_JSON: the JSON ends too early at byte 22" in lossy.err
    assert len(rows(tmp_path / "out.jsonl")) == 1


def test_integers_beyond_64_bits_are_refused_as_in_grading_or_kept_as_they_are(cli, tmp_path):
    number = 2**70 + 1
    plain = (
        f'{{"id": "a", "steps": [{{"type": "tool", "name": "f", "arguments": {{"n": {number}}}}}]}}'
    )
    function = {"name": "f", "arguments": f'{{"n": {number}}}'}
    chat = {"id": "b", "messages": [{"role": "assistant", "tool_calls": [{"function": function}]}]}
    (tmp_path / "in.jsonl").write_bytes(plain.encode() + b"\n" + orjson.dumps(chat) + b"\n")
    ended = cli("trace", "convert", "in.jsonl", "-o", "out.jsonl")
    assert ended.status == 1
    assert "line 1: NUMBER_OUT_OF_RANGE: a number does not fit into 64 bits" in ended.err
    [row] = rows(tmp_path / "out.jsonl")
    assert f"{number}" in row["steps"][1]["arguments"]
    shown = cli("trace", "show", "out.jsonl")
    assert f"{number}" in shown.out


def test_a_check_says_of_each_file_what_was_recognised_counted_and_lost(cli, tmp_path):
    steps = [{"type": "llm", "usage": {"total_tokens": 9}}, {"type": "tool", "name": "f"}]
    whole = {"format": "weighbridge", "id": "a", "steps": steps, "usage": {"total_tokens": 12}}
    folder = tmp_path / "runs"
    folder.mkdir()
    (folder / "a.json").write_text(json.dumps(whole | {"totals_from": "summary", "more": 1}))
    two = [{**whole, "id": name, "usage": None} for name in "bc"]
    (folder / "two.jsonl.gz").write_bytes(gzip.compress("\n".join(map(json.dumps, two)).encode()))
    ended = cli("trace", "check", str(folder))
    assert (ended.status, ended.err) == (0, "")
    assert "a.json  native  1 trace, 2 steps, 1 model call, 1 tool call, 12 tokens" in ended.out
    assert (
        "differs total_tokens: summary states 12, the steps add up to 9; the larger figure is used"
        in ended.out
    )
    assert "not carried over: trace field 'more' (1)" in ended.out
    assert (
        "two.jsonl.gz  native  2 traces, 4 steps, 2 model calls, 2 tool calls, 18 tokens"
        in ended.out
    )
    three = [two[0] | {"a": 1, "b": 1}, two[1] | {"a": 1}, two[1] | {"id": "d", "a": 1, "b": 1}]
    (tmp_path / "three.jsonl").write_text("\n".join(map(json.dumps, three)))
    lost = "not carried over: trace field"
    ended = cli("trace", "check", "three.jsonl")
    assert f"{lost} 'a' (3)\n" in ended.out
    assert f"{lost} 'b' (2, in 2 of 3 traces)\n" in ended.out
    costs = [{"type": "llm", "cost_usd": 0.25}, {"type": "llm"}]
    (folder / "costs.json").write_text(json.dumps({"format": "weighbridge", "steps": costs}))
    ended = cli("trace", "check", str(folder / "costs.json"))
    assert "2 model calls, 0 tool calls, at least 0.2500 USD" in ended.out
    lacking = "neither a cost nor tokens to price are recorded by"
    assert f"not all costs: {lacking} 1 of 2 LLM steps\n" in ended.out
    [trace] = cli("trace", "check", str(folder / "costs.json"), "--json").json["files"][0]["traces"]
    assert trace["at_least_because"] == {"cost_usd": f"{lacking} 1 of 2 LLM steps (step s2)"}
    twice = json.dumps({"format": "weighbridge", "steps": costs}) + "\n"
    (tmp_path / "costs.jsonl").write_text(twice + twice.replace("0.25", "0.5"))
    ended = cli("trace", "check", "costs.jsonl")
    assert f"not all costs: {lacking} some model calls\n" in ended.out
    usage = {"input_tokens": 50, "output_tokens": 10, "total_tokens": 40}
    low = json.dumps({"format": "weighbridge", "steps": [{"type": "llm"}], "usage": usage}) + "\n"
    (tmp_path / "low.jsonl").write_text(low)
    ended = cli("trace", "check", "low.jsonl")
    assert "differs total_tokens: the source states 40, input and output add up to 60;" in ended.out
    (tmp_path / "low.jsonl").write_text(low * 2)
    ended = cli("trace", "check", "low.jsonl")
    assert "differs total_tokens: a stated total is less than input and output" in ended.out
    (folder / "other.json").write_text('{"what": 1}')
    ended = cli("trace", "check", str(folder), "--json")
    found = {Path(each["file"]).name: each for each in ended.json["files"]}
    assert ended.status == 1
    assert found["other.json"]["errors"][0]["code"] == "UNKNOWN_TRACE_FORMAT"
    assert found["a.json"]["traces"][0]["counts"]["total_tokens"] == 12
    assert [trace["id"] for trace in found["two.jsonl.gz"]["traces"]] == ["b", "c"]


def test_a_check_counts_a_session_of_claude_code_with_the_files_of_its_sub_agents(cli, tmp_path):
    def line(kind, content, **facts):
        return {
            "type": kind,
            "sessionId": "s1",
            "message": {"role": kind, "content": content},
        } | facts

    def call(name, tool, **arguments):
        return [{"type": "tool_use", "id": name, "name": tool, "input": arguments}]

    stated = {"agentId": "a", "totalToolUseCount": 1}
    told = [{"type": "tool_result", "tool_use_id": "t1", "content": "Found."}]
    session = [
        line("user", "Go."),
        line("assistant", call("t1", "Task", prompt="Look.")),
        line("user", told, toolUseResult=stated),
    ]
    about = {"isSidechain": True, "agentId": "a"}
    agent = [line("user", "Look.", **about), line("assistant", call("t2", "Read"), **about)]
    folder = tmp_path / "project" / "s1" / "subagents"
    folder.mkdir(parents=True)
    (tmp_path / "project" / "s1.jsonl").write_text("\n".join(map(json.dumps, session)))
    (folder / "agent-a.jsonl").write_text("\n".join(map(json.dumps, agent)))
    ended = cli("trace", "check", "project")
    assert (
        "project/s1.jsonl  anthropic  1 trace, 5 steps, 2 model calls, 2 tool calls\n" in ended.out
    )
    assert "1 of 1 file read whole, 1 trace" in ended.out


def test_check_says_that_rows_of_a_log_of_requests_repeat_earlier_ones(cli, tmp_path):
    asked = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]
    rows = [{"messages": asked[:1], "output": "Hello"}, {"messages": asked + asked[:1], "output": ["Yes"]}]  # fmt: skip
    (tmp_path / "log.jsonl").write_text("\n".join(map(json.dumps, rows)))
    ended = cli("trace", "check", "log.jsonl")
    assert "openai-chat  2 traces, 6 steps, 3 model calls, 0 tool calls" in ended.out
    assert "1 of 2 traces begins with the whole of another one" in ended.out
    [checked] = json.loads(cli("trace", "check", "log.jsonl", "--json").out)["files"]
    assert checked["histories_note"] in ended.out


def test_a_history_in_which_nothing_was_typed_is_not_called_empty(cli, tmp_path):
    started = "# aider chat started at 2026-03-02 10:00:00\n\n> aider v0.86  \n"
    (tmp_path / "idle.md").write_text(started)
    (tmp_path / "empty.md").write_text("")
    idle, empty = (cli("trace", "check", f"{name}.md") for name in ("idle", "empty"))
    assert (idle.status, empty.status) == (1, 1)
    assert "EMPTY: the file has no trace: only blank lines, or sessions in which" in idle.out
    assert "EMPTY: the file is empty" in empty.out


def test_an_installed_importer_reads_its_format_wherever_traces_are_read(cli, tmp_path):
    page = (EXAMPLES.parent / "docs" / "how-to" / "write-an-importer.md").read_text()
    code = page.split("```python\n")[1].split("IMPORTER = Importer(")
    module = "from __future__ import annotations\n" + code[0] + "IMPORTER = Importer(" + code[1].split("\n)\n")[0] + "\n)\n"  # fmt: skip
    (tmp_path / "acme_traces.py").write_text(module)
    installed = tmp_path / "acme_traces-1.0.dist-info"
    installed.mkdir()
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-traces\nVersion: 1.0\n")
    points = "[weighbridge.importers]\nacme = acme_traces:IMPORTER\nbroken = acme_traces:nothing\n"
    (installed / "entry_points.txt").write_text(points)
    event = {"kind": "tool", "call": "c1", "name": "search", "args": {"q": "lamps"}}
    (tmp_path / "log.json").write_text(json.dumps({"run": "r1", "acme_events": [event]}))

    cli.environment["PYTHONPATH"] = str(tmp_path)
    shown = cli("trace", "show", "log.json")
    assert shown.out.startswith("r1  acme, 1 step, model calls not known, 1 tool call"), shown.err
    (tmp_path / "whole.json").write_text(json.dumps({"run": 7, "acme_events": [event]}, indent=1))
    assert cli("trace", "show", "whole.json").out.startswith("7  acme, 1 step")
    listed = cli("trace", "formats")
    assert "Acme event logs" in listed.out
    assert "the plug-in broken was not loaded" in listed.err
    graded = cli(
        "run", "log.json", "--grader", "budget", "-c", "max_tool_calls=0", "-o", "out.jsonl"
    )
    result = (tmp_path / "out.jsonl").read_text()
    assert '"verdict":"fail"' in result, graded.err
    assert '"custom_id":"r1"' in result


@pytest.mark.parametrize("command", ["check", "show", "convert"])
@pytest.mark.parametrize(
    "line", [b'{"custom_id": "a", "x": "\xff"}', b'["\xff"]', b'{"a": "\xed\xa0\x80"}']
)
def test_a_line_that_is_not_utf8_is_an_error_and_the_others_are_read(cli, tmp_path, command, line):
    good = b'{"format": "weighbridge", "id": "t", "steps": [{"type": "tool", "name": "probe"}]}'
    (tmp_path / "in.jsonl").write_bytes(line + b"\n" + good + b"\n")
    ended = cli("trace", command, "in.jsonl")
    printed = ended.out + ended.err
    assert "INVALID_UTF8" in printed
    assert "Traceback" not in printed
    assert ("1 tool call" if command == "check" else "probe") in ended.out


def test_a_table_among_files_that_are_checked_is_one_error_and_the_others_are_checked(
    cli, tmp_path
):
    (tmp_path / "a.csv").write_text("topic,words\nferry,7\n")
    (tmp_path / "s.md").write_text(SPECSTORY_HISTORY)
    ended = cli("trace", "check", "a.csv", "s.md")
    assert ended.status == 1
    assert "a.csv  not read\n  MAPPING_NEEDED: " in ended.out
    assert "s.md  specstory" in ended.out
    assert ended.out.endswith("1 of 2 files read whole, 1 trace\n")
