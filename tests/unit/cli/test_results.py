"""`weighbridge results` on a file of result lines: filters, causes and forms, without a server."""

from __future__ import annotations

import csv
import os
import tty
from contextlib import suppress

import orjson
import pytest

from support.markdown import unpadded
from weighbridge.grading.line_grader import grade_lines
from weighbridge_producer.cli.commands import run_app


@pytest.fixture
def file(tmp_path):
    """A file of results of every outcome."""
    answers = {"ok": "Graz", "low": "graz", "lost": "Oslo", "bare": "", "blank": " "}
    cases = [
        {"custom_id": name, "inputs": {"agent_response": answer, "expected_output": "Graz"}}
        for name, answer in answers.items()
    ]
    lines = [*map(orjson.dumps, cases), b'{"custom_id": "e", "inputs": {}}', b"{"]
    path = tmp_path / "r.jsonl"
    path.write_bytes(b"".join(grade_lines(lines, ["string-match"])))
    return path


@pytest.fixture
def results(file, capsysbinary):
    """Run the command on the file; returns its standard output, its errors and its exit status."""

    def run(*options, source=None):
        status = 0
        try:
            run_app(["results", str(source or file), *options])
        except SystemExit as ended:
            status = ended.code or 0
        captured = capsysbinary.readouterr()
        return captured.out, captured.err.decode(), status

    return run


@pytest.fixture
def costly(tmp_path):
    """Results of runs over one limit, over two, and over none."""
    lines = []
    for name, steps in {"both": 3, "one": 2, "none": 1}.items():
        trace = {"steps": [{"type": "tool", "name": "search", "output": "x"}] * steps}
        lines.append(orjson.dumps({"custom_id": name, "inputs": {"trace": trace}}))
    path = tmp_path / "costly.jsonl"
    config = {"max_steps": 2, "max_tool_calls": 1}
    path.write_bytes(b"".join(grade_lines(lines, [{"grader": "budget", "config": config}])))
    return path


def test_a_job_is_counted_by_its_first_failed_check_and_found_by_each(results, costly):
    counted = results("--causes", source=costly)[0].decode()
    jobs = [
        int(line.split()[0])
        for line in counted.splitlines()
        if line.startswith("   ") and "budget" in line
    ]
    assert sum(jobs) == 2
    assert "1 job failed further checks: a job is counted by the first one" in counted
    by_check = {}
    for check in ("max_steps", "max_tool_calls"):
        lines = results("--cause", check, source=costly)[0].splitlines()
        by_check[check] = sorted(orjson.loads(line)["custom_id"] for line in lines)
    assert by_check == {"max_steps": ["both"], "max_tool_calls": ["both", "one"]}


def test_jobs_with_one_failed_check_need_no_word_on_further_ones(results):
    assert b"further checks" not in results("--causes")[0]


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("r.csv", "a table"),
        ("r.md", "a summary"),
        ("r.parquet", "a typed table"),
        ("r.csv.gz", "a table"),
    ],
)
@pytest.mark.parametrize(
    "command",
    [
        "results NAME",
        "compare NAME r.jsonl",
        "verify NAME r.jsonl",
        "sweep NAME --param max_tokens",
        "baseline set b NAME",
        "run cases.jsonl -g string-match --only-failed NAME",
    ],
)
def test_another_form_of_results_is_refused_with_what_works(
    file, monkeypatch, capsys, name, what, command
):
    monkeypatch.chdir(file.parent)
    case = {"custom_id": "a", "inputs": {"agent_response": "a", "expected_output": "b"}}
    (file.parent / "cases.jsonl").write_bytes(orjson.dumps(case))
    with suppress(SystemExit):
        run_app(["results", "r.jsonl", "-o", name])
    with pytest.raises(SystemExit) as ended:
        run_app(command.replace("NAME", name).split())
    assert ended.value.code == 1
    told = f"INPUT_UNREADABLE: '{name}' is {what}, not a file of result lines\n"
    assert told in capsys.readouterr().err


@pytest.mark.parametrize("command", ["run FILE -g string-match", "verify FILE r.jsonl"])
def test_a_file_that_the_system_does_not_read_is_unreadable_input(
    file, monkeypatch, capsys, command
):
    monkeypatch.chdir(file.parent)
    with pytest.raises(SystemExit) as ended:
        run_app(command.replace("FILE", "/proc/self/mem").split())
    assert ended.value.code == 1
    told = "INPUT_UNREADABLE: the input '/proc/self/mem' cannot be read: Input/output error\n"
    assert told in capsys.readouterr().err


def ids(out):
    return [orjson.loads(line)["custom_id"] for line in out.splitlines()]


@pytest.mark.parametrize(
    ("options", "found"),
    [
        ([], ["ok", "low", "lost", "bare", "blank", "e", None]),
        (["--failed"], ["low", "lost", "bare", "blank"]),
        (["--errored"], ["e", None]),
        (["--cause", "string_match: case"], ["low"]),
        (["--cause", "string_match"], ["low", "lost", "bare", "blank"]),
        (["--cause", "string_match: empty", "--cause", "INVALID_JSON"], ["bare", "blank", None]),
        (["--id", "lost"], ["lost"]),
        (["--label", "string-match", "--errored"], ["e"]),
    ],
)
def test_results_are_picked_from_a_file(results, options, found):
    out, err, status = results(*options)
    assert (ids(out), err, status) == (found, "", 0)


@pytest.mark.parametrize(
    ("options", "what"),
    [
        (
            ["--cause", "string"],
            "no result has the cause 'string'; there are 'INVALID_JSON', ",
        ),
        (["--cause", "nonsense", "--label", "none"], "has the cause 'nonsense', or any other"),
        (["--id", "nobody", "--errored"], "matches these options\n"),
        (["--id", "low", "--errored"], "options, but 1 job failed: --failed selects it\n"),
        (
            ["--failed", "--cause", "INVALID_JSON"],
            "matches these options, but 1 job errored: --errored selects it\n",
        ),
        (["--label", "strin-match"], "has the label 'strin-match' (labels: string-match); did you"),
    ],
)
def test_a_selection_without_results_is_reported(results, options, what):
    out, err, status = results(*options)
    assert (out, status) == (b"", 0)
    assert what in err


@pytest.mark.parametrize("gate", [["--min-pass-rate", "0.9"], ["--causes"]])
def test_a_misspelt_label_is_named_beside_a_gate_too(results, gate):
    _, err, _ = results("--label", "strin-match", *gate)
    assert "has the label 'strin-match' (labels: string-match); did you" in err


def test_the_causes_that_there_are_are_named_for_one_that_no_result_has(results):
    for more in ([], ["--causes"]):
        _, err, status = results("--cause", "nonsense", *more)
        assert "no result has the cause 'nonsense'; there are 'INVALID_JSON', " in err
        assert "'string_match: case', 'string_match: empty', " in err
        assert "--causes`" in err
        assert status == 0


def test_a_table_of_cases_is_said_to_have_as_many_as_it_has(tmp_path, results):
    table = tmp_path / "a.csv"
    _, err, _ = results("--cases", "-o", str(table))
    with table.open(newline="") as rows:
        cases = sum(1 for _ in csv.DictReader(rows))
    assert f"results of {cases} cases written to" in err


def test_every_output_is_written_in_its_form(results, tmp_path):
    table, summary = tmp_path / "a.csv", tmp_path / "summary"
    _, err, status = results("--failed", "-o", str(table), "-o", f"md={summary}")
    assert err == f"4 results written to {table} (a table), {summary} (a summary)\n"
    assert status == 0
    with table.open(newline="") as rows:
        assert [row["custom_id"] for row in csv.DictReader(rows)] == [
            "low",
            "lost",
            "bare",
            "blank",
        ]
    assert "4 jobs" in summary.read_text()


def test_causes_are_listed_with_examples_and_how_to_pick_them(results):
    out, _, _ = results("--causes")
    text = out.decode()
    assert "2  string-match  string_match: empty" in text
    assert "low: Expected 'Graz' but got 'graz': only the case differs" in text
    assert "--cause CAUSE" in text


@pytest.fixture
def topics(tmp_path):
    """A file of results with a topic each: of geography 2 of 3 passed, of history 1 of 1."""
    cases = [
        {
            "custom_id": f"q{number}",
            "metadata": {"topic": topic},
            "inputs": {"agent_response": answer, "expected_output": "Graz"},
        }
        for number, (topic, answer) in enumerate(
            [
                ("geography", "Graz"),
                ("geography", "Graz"),
                ("geography", "Oslo"),
                ("history", "Graz"),
            ]
        )
    ]
    path = tmp_path / "topics.jsonl"
    path.write_bytes(b"".join(grade_lines(map(orjson.dumps, cases), ["string-match"])))
    return path


def test_slices_are_shown_instead_of_result_lines(results, topics):
    out, err, status = results("--by", "metadata.topic", source=topics)
    text = out.decode()
    assert (err, status) == ("", 0)
    assert "string-match     3/4  75.0%" in text
    assert "geography          2/3   66.7%" in text
    assert "history            1/1  100.0%" in text


def test_gates_decide_the_exit_status_by_the_rule_of_run(results, topics):
    gates = ["--min-pass-rate", "0.7", "--min-pass-rate", "metadata.topic:*=0.7"]
    _, err, status = results(*gates, source=topics)
    assert status == 100
    assert [line.partition(": required")[0] for line in err.splitlines()] == [
        "gate --min-pass-rate 0.7 met",
        "gate --min-pass-rate metadata.topic:*=0.7 (geography) not met",
        "gate --min-pass-rate metadata.topic:*=0.7 (history) met",
    ]
    assert "seen 66.7% (2 of 3 judged)" in err


@pytest.mark.parametrize("target", ["-", "jsonl=-"])
def test_gates_and_causes_are_shown_beside_lines_on_standard_output(results, file, target):
    lines, err, status = results("--min-pass-rate", "0.9", "-o", target)
    assert (lines, status) == (file.read_bytes(), 1)
    assert "gate --min-pass-rate 0.9 not met" in err
    lines, err, status = results("--causes", "-o", target)
    assert (lines, status) == (file.read_bytes(), 0)
    assert "string_match: case" in err


def test_failures_that_no_gate_covers_are_reported_as_an_unmet_gate(results, topics, tmp_path):
    summary, suites = tmp_path / "s.md", tmp_path / "s.xml"
    options = ["--min-gradable", "0.9", "-o", str(summary), "-o", str(suites)]
    _, err, status = results(*options, source=topics)
    assert status == 100
    why = "1 of 4 failed, and none may fail; --min-pass-rate allows some"
    assert err.splitlines()[-1] == f"exit status 100: {why}"
    assert err.count("1 of 4 failed") == 1
    assert "4 jobs, 1 gate not met" in summary.read_text()
    rule = "| `no failed job` | `none (--min-pass-rate allows some)` |"
    assert rule in unpadded(summary.read_text())
    assert '<testcase classname="gates" name="no failed job"><failure' in suites.read_text()


def test_the_gates_of_results_are_in_the_outputs_too(results, topics, tmp_path):
    summary, lines = tmp_path / "s.md", tmp_path / "copy.jsonl"
    options = ["--min-pass-rate", "0.9", "-o", str(summary), "-o", str(lines), "--json"]
    out, _, status = results(*options, source=topics)
    told = orjson.loads(out)
    assert (status, told["exit_status"], told["results"]) == (100, 100, 4)
    assert [gate["met"] for gate in told["gates"]] == [False]
    assert "❌ not met" in summary.read_text()
    assert lines.read_bytes() == topics.read_bytes()


@pytest.mark.parametrize("part", [["--failed"], ["--id", "q1"], ["--cause", "string_match"]])
def test_a_gate_on_a_part_of_the_results_is_refused(results, topics, part):
    _, err, status = results("--min-pass-rate", "0.9", *part, source=topics)
    assert status == 2
    assert "a gate is for all results" in err


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (["-o", "x.unknown"], "OUTPUT_UNWRITABLE"),
        (["-o", "no/such/folder.csv"], "OUTPUT_UNWRITABLE"),
        (["-o", "-", "-o", "csv=-"], "OUTPUT_UNWRITABLE"),
    ],
)
def test_an_output_that_cannot_be_written_is_refused_before_anything_is_read(
    results, options, code
):
    out, err, status = results(*options)
    assert (out, status) == (b"", 1)
    assert err.startswith(code)


def test_what_is_neither_a_file_of_results_nor_a_batch_is_refused(results, tmp_path):
    assert "neither a file of results nor a batch id" in results(source="nope")[1]
    cases = tmp_path / "cases.jsonl"
    cases.write_text('{"custom_id": "a"}\n')
    _, err, status = results(source=cases)
    assert status == 1
    assert "line 1 of" in err
    assert "Object missing required field" in err


@pytest.mark.parametrize("form", ["tsv", "csv", "jsonl"])
def test_control_characters_reach_files_and_pipes_but_no_terminal(
    form, tmp_path, results, monkeypatch
):
    answer = "a\x1b[2J\x9b31m\u202eb\tc\r\nd\re"
    case = {"custom_id": "q", "inputs": {"agent_response": answer, "expected_output": "é"}}
    file = tmp_path / "hostile.jsonl"
    file.write_bytes(b"".join(grade_lines([orjson.dumps(case)], ["string-match"])))
    piped = results("-o", f"{form}=-", source=file)[0].decode()
    screen, terminal = os.openpty()
    tty.setraw(terminal)
    with os.fdopen(terminal, "w", encoding="utf-8") as stdout:
        monkeypatch.setattr("sys.stdout", stdout)
        results("-o", f"{form}=-", source=file)
    shown = b""
    with suppress(OSError):  # the end of what a terminal shows is an error
        while data := os.read(screen, 10_000):
            shown += data
    os.close(screen)
    expected = piped.replace("\x1b", r"\x1b").replace("\x9b", r"\x9b").replace("\u202e", r"\u202e")
    assert expected != piped
    assert shown.decode() == expected.replace("d\re", r"d\re")


def test_a_table_of_the_cases_that_failed_for_a_cause_has_all_labels(tmp_path, results):
    answers = {"both": "Oslo", "one": "graz", "none": "Graz"}
    cases = [{"custom_id": name, "inputs": {"agent_response": said, "expected_output": "Graz"}}
             for name, said in answers.items()]  # fmt: skip
    labels = [{"grader": "string-match", "label": "exact"},
              {"grader": "string-match", "label": "lenient", "config": {"case_sensitive": False}}]  # fmt: skip
    file = tmp_path / "two.jsonl"
    file.write_bytes(b"".join(grade_lines(map(orjson.dumps, cases), labels)))
    table = tmp_path / "a.csv"
    results("--cause", "string_match: case", "--cases", "-o", str(table), source=file)
    [row] = csv.DictReader(table.read_text().splitlines())
    verdicts = [row[f"{label}.verdict"] for label in ("exact", "lenient")]
    assert (row["custom_id"], verdicts) == ("one", ["fail", "pass"])
    one = ("--cause", "string_match: case", "--label", "exact", "--cases", "-o", str(table))
    results(*one, source=file)
    [row] = csv.DictReader(table.read_text().splitlines())
    assert "lenient.verdict" not in row


@pytest.mark.parametrize(
    ("options", "repeated"),
    [
        (["--min-pass-rate", "0.1"], "6 results"),
        (["--failed", "--causes"], "4 results"),
        (["--id", "ok", "-o", "ok.csv"], "1 result"),
        (["--label", "other", "--causes"], ""),
    ],
)
def test_it_is_told_that_repeated_results_are_counted(
    results, file, options, repeated, monkeypatch
):
    monkeypatch.chdir(file.parent)
    assert "of an earlier one" not in results(*options)[1]
    file.write_bytes(2 * file.read_bytes())
    told = f"{file}: {repeated} with the custom_id and label of an earlier one, counted too\n"
    err = results(*options)[1]
    assert told in err if repeated else "of an earlier one" not in err


@pytest.mark.parametrize("options", [["--causes"], ["--cause", "nonsense"]])
def test_an_example_of_a_command_does_not_name_a_pipe(results, file, options):
    opened = os.open(file, os.O_RDONLY)
    try:
        out, err, _ = results(*options, source=f"/dev/fd/{opened}")
    finally:
        os.close(opened)
    assert "weighbridge results FILE --cause" in out.decode() + err


@pytest.mark.parametrize(
    ("cause", "found"),
    [
        ("loop", ["again", "turns"]),
        ("loop: same_call", ["again"]),
        ("loop: same_call, look", ["again"]),
        ("loop: same_cycle", ["turns"]),
    ],
)
def test_a_printed_cause_finds_its_results_with_or_without_what_follows_a_comma(
    results, tmp_path, cause, found
):
    runs = {"again": ("look",) * 4, "turns": ("look", "show") * 3}
    cases = [
        {
            "custom_id": name,
            "inputs": {
                "trace": {
                    "format": "weighbridge",
                    "steps": [
                        {"type": "tool", "name": tool, "arguments": {"at": 1}, "output": "no"}
                        for tool in tools
                    ],
                }
            },
        }
        for name, tools in runs.items()
    ]
    path = tmp_path / "loops.jsonl"
    path.write_bytes(b"".join(grade_lines(map(orjson.dumps, cases), ["loop"])))
    out, _, _ = results("--cause", cause, source=path)
    assert ids(out) == found
    printed, _, _ = results("--causes", source=path)
    assert b"loop: same_call, look\n" in printed
