"""The pytest plug-in, in sessions of pytest within this process, and where processes matter in real ones."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from support import claude_sessions, databases

if TYPE_CHECKING:
    pass

pytestmark = pytest.mark.slow

pytest_plugins = ["pytester"]

ROOT = Path(__file__).resolve().parents[3]
PLUG_IN = "weighbridge_producer.pytest_plugin.hooks"
SUITE = """
    def test_pass(weighbridge):
        weighbridge.check("string-match", agent_response="Graz", expected_output="Graz")

    def test_fail(weighbridge):
        weighbridge.check("string-match", agent_response="graz", expected_output="Graz")

    def test_ungradable(weighbridge):
        weighbridge.check("true-false", agent_response="yes", expected_output="maybe")

    def test_crash(weighbridge):
        weighbridge.check("string-match", agent_response="Wien", expected_output="Wien")
        raise RuntimeError("boom")
"""
TRACE = [
    {"role": "user", "content": "Go"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
        ],
    },
]

Suite = "Callable[..., pytest.RunResult]"


@pytest.fixture
def suite(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Suite:
    """Run a suite within this process, with no plug-in but this one."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")

    def run(source: str, *arguments: str) -> pytest.RunResult:
        pytester.makepyfile(source)
        # That the plug-in has been imported before is so in this process alone.
        quiet = ("-W", "ignore::pytest.PytestAssertRewriteWarning")
        return pytester.runpytest_inprocess("-p", PLUG_IN, *quiet, *arguments)

    return run


@pytest.fixture
def processes(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Suite:
    """Run a test suite in separate processes, with xdist available."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")

    def run(source: str, *arguments: str) -> pytest.RunResult:
        pytester.makepyfile(source)
        return pytester.runpytest_subprocess("-p", PLUG_IN, "-p", "xdist", *arguments)

    return run


def results(file: str = "out.jsonl") -> list[dict]:
    return [json.loads(line) for line in Path(file).read_text().splitlines()]


def test_the_evidence_is_the_message_of_the_assertion(suite: Suite) -> None:
    ended = suite(SUITE, "-k", "test_fail or test_pass")
    ended.assert_outcomes(passed=1, failed=1)
    ended.stdout.fnmatch_lines(
        [
            "E*AssertionError: string-match: fail: Expected 'Graz' but got 'graz': only the case differs",
            "E*string_match (case): *",
            "E*expected at 0: [[]G[]]raz",
            "E*observed at 0: [[]g[]]raz",
        ]
    )
    # The traceback ends in the test, not in the plug-in.
    ended.stdout.no_fnmatch_line("*checks.py:*")


def test_what_cannot_be_judged_is_an_error_and_neither_skipped_nor_passed(suite: Suite) -> None:
    ended = suite(SUITE, "-k", "ungradable", "-rA")
    ended.assert_outcomes(errors=1)
    assert ended.ret == pytest.ExitCode.TESTS_FAILED
    ended.stdout.fnmatch_lines(
        [
            "*ERROR at call of test_ungradable*",
            "E * NotGradedError: true-false: ungradable: *",
            "ERROR *::test_ungradable*",
        ]
    )


@pytest.mark.parametrize(
    ("call", "told"),
    [
        ("'budgt', trace=[]", "UNKNOWN_GRADER: no grader 'budgt'; did you mean 'budget'?"),
        ("'budget', trace=[], config={'max_tol_calls': 1}", "INVALID_CONFIG: "),
        ("'string-match', agent_response='a'", "MISSING_FIELD: the inputs lack 'expected_output'"),
        (
            "'string-match', response='a', expected_output='a'",
            "the inputs lack 'agent_response'; found 'response'; did you mean 'agent_response'? needed:",
        ),
        ("'string-match', expected_output='a', x='a'", "unknown input 'x'; needed: agent_response"),
        ("'string-match', agent_response=float('nan'), expected_output=1", "NUMBER_OUT_OF_RANGE"),
        (
            "'string-match', agent_response=object(), expected_output=1",
            "INVALID_JSON: the case cannot be written as JSON",
        ),
    ],
)
def test_an_error_says_what_would_work(suite: Suite, call: str, told: str) -> None:
    ended = suite(f"def test_it(weighbridge): weighbridge.check({call})")
    ended.assert_outcomes(errors=1)
    assert told in ended.stdout.str()


@pytest.mark.parametrize("call", ["check", "collect"])
@pytest.mark.parametrize(("grader", "is_told"), [("string-match", True), ("true-false", False)])
def test_a_list_of_expected_answers_is_told_where_the_further_ones_belong(
    suite: Suite, call: str, grader: str, *, is_told: bool
) -> None:
    ended = suite(
        f"def test_it(weighbridge): weighbridge.{call}({grader!r}, agent_response='a', expected_output=['b', 'a'])"
    )
    assert ("expected_any" in ended.stdout.str()) == is_told


def test_a_trace_is_a_file_beside_the_test_or_what_json_has(
    suite: Suite, pytester: pytest.Pytester
) -> None:
    Path(pytester.path, "traces").mkdir()
    Path(pytester.path, "traces", "run.json").write_text(json.dumps(TRACE))
    ended = suite(
        f"""
        import pytest
        from pathlib import Path
        MESSAGES = {TRACE!r}

        @pytest.mark.parametrize(
            "trace",
            ["traces/run.json", Path("traces/run.json"), MESSAGES, {{"messages": MESSAGES}}],
        )
        def test_calls(weighbridge, trace, monkeypatch, tmp_path):
            monkeypatch.chdir(tmp_path)
            weighbridge.check("budget", trace=trace, config={{"max_tool_calls": 1}})
            with pytest.raises(AssertionError, match="steps: c1"):
                weighbridge.check("budget", trace=trace, config={{"max_tool_calls": 0}})
        """
    )
    ended.assert_outcomes(passed=4)


def test_a_file_without_one_trace_is_named(suite: Suite, pytester: pytest.Pytester) -> None:
    Path(pytester.path, "two.jsonl").write_text(f"{json.dumps(TRACE)}\n" * 2)
    ended = suite(
        """
        def test_missing(weighbridge): weighbridge.check("loop", trace="none.json")
        def test_two(weighbridge): weighbridge.check("loop", trace="two.jsonl")
        """
    )
    ended.assert_outcomes(errors=2)
    ended.stdout.fnmatch_lines(["*there is no file*none.json*", "*two.jsonl' has 2 traces*"])
    # The traceback ends in the test, not in the plug-in.
    ended.stdout.no_fnmatch_line("*checks.py:*")


def test_a_folder_is_read_as_on_the_command_line(suite: Suite, pytester: pytest.Pytester) -> None:
    agents = pytester.mkdir("runs") / claude_sessions.SESSION / "subagents"
    agents.mkdir(parents=True)
    session = Path("runs", f"{claude_sessions.SESSION}.jsonl")
    for file, lines in (
        (session, claude_sessions.MAIN),
        (agents / "agent-a1.jsonl", claude_sessions.lines_of("a1")),
        (Path("runs", "sessions-index.json"), [{"version": 1, "entries": []}]),
    ):
        file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    Path("empty").mkdir()
    ended = suite(
        """
        import pytest

        @pytest.mark.parametrize("most", [440, 439])
        def test_tokens(weighbridge, most):
            weighbridge.check("budget", trace="runs", config={"max_tokens": most})

        def test_empty(weighbridge):
            weighbridge.check("loop", trace="empty")
        """
    )
    ended.assert_outcomes(passed=1, failed=1, errors=1)
    ended.stdout.fnmatch_lines(["*the folder '*empty' has no file to read*"])


def test_one_of_the_traces_of_a_database_is_named_by_its_id(
    suite: Suite, pytester: pytest.Pytester
) -> None:
    messages = list(map(databases.packed, databases.LANGGRAPH_MESSAGES))
    rows = [databases.checkpoint(0, messages, thread=each) for each in "ab"]
    databases.write(Path(pytester.path, "runs.db"), {"checkpoints": rows})
    ended = suite(
        """
        import pytest

        @pytest.mark.parametrize("thread", ["a", "b", "c", ""])
        def test_thread(weighbridge, thread):
            weighbridge.check("loop", trace="runs.db", custom_id=thread)
        """
    )
    ended.assert_outcomes(passed=2, errors=2)
    ended.stdout.fnmatch_lines(["*runs.db' has 2 traces, and none with the custom_id 'c'*"])
    ended.stdout.fnmatch_lines(["*name one by its custom_id: a, b*"])


def test_a_trace_that_cannot_be_read_counts_in_the_report(suite: Suite) -> None:
    ended = suite(
        """
        def test_missing(weighbridge):
            weighbridge.check("loop", trace="none.json", metadata={"topic": "a"})

        def test_missing_of_many(weighbridge):
            weighbridge.collect("loop", label="loops", trace="a" * 5000)

        def test_read(weighbridge):
            weighbridge.check("string-match", agent_response="a", expected_output="a")
        """,
        "--weighbridge-min-gradable=1",
        "--weighbridge-out=out.jsonl",
    )
    ended.assert_outcomes(errors=1, passed=2)
    ended.stdout.fnmatch_lines(["gate --weighbridge-min-gradable 1 not met: *33.3% (1 of 3 jobs)"])
    found = results()
    assert [(row["label"], row["status"]) for row in found] == [
        ("loop", "errored"),
        ("loops", "errored"),
        ("string-match", "graded"),
    ]
    assert found[0]["metadata"] == {"topic": "a"}
    assert "there is no file" in found[0]["error"]["message"]


def test_results_are_written_in_every_form_and_their_ids_are_those_of_the_tests(
    suite: Suite,
) -> None:
    files = ["out.jsonl", "out.csv", "out.md", "out.html", "junit=out"]
    ended = suite(SUITE, *(f"--weighbridge-out={file}" for file in files))
    ended.assert_outcomes(passed=1, failed=2, errors=1)
    found = results()
    assert found[0]["custom_id"].endswith(".py::test_pass")
    assert [row["line"] for row in found] == [1, 2, 3, 4]
    assert [row["result"]["verdict"] for row in found] == ["pass", "fail", "ungradable", "pass"]
    assert all(row["receipt"] for row in found)
    assert "test_fail" in Path("out.csv").read_text()
    assert "string_match: case" in Path("out.md").read_text()
    assert Path("out.html").read_bytes().startswith(b"<!doctype html>")
    counts = 'tests="4" failures="1" errors="1" skipped="0"'
    assert f'<testsuite name="weighbridge" {counts}>' in Path("out").read_text()
    assert '<error message="' in Path("out").read_text()


def test_several_results_of_a_test_have_ids_of_their_own(suite: Suite) -> None:
    suite(
        """
        def test_it(weighbridge):
            for _ in range(2):
                weighbridge.check("true-false", agent_response="yes", expected_output=True)
            both = {"agent_response": "yes", "expected_output": "yes"}
            weighbridge.check("string-match", custom_id="q1", metadata={"topic": "a"}, **both)
            weighbridge.check("string-match", label="exact", **both)
        """,
        "--weighbridge-out=out.jsonl",
    )
    found = [
        (row["custom_id"].partition("::")[2], row["label"], row["metadata"]) for row in results()
    ]
    assert found == [
        ("test_it", "true-false", None),
        ("test_it #2", "true-false", None),
        ("", "string-match", {"topic": "a"}),
        ("test_it", "exact", None),
    ]


COLLECTING = """
    import pytest

    @pytest.mark.parametrize("number", range(10))
    def test_answer(weighbridge, number):
        answer = "Graz" if number else "Wien"
        found = weighbridge.collect(
            "string-match", agent_response=answer, expected_output="Graz", metadata={"odd": number % 2}
        )
        assert found.outcome == ("passed" if number else "failed")
"""


def test_collected_results_are_judged_at_the_end_by_the_gates(suite: Suite) -> None:
    ended = suite(COLLECTING, "--weighbridge-min-pass-rate=0.9")
    assert ended.ret == pytest.ExitCode.OK
    ended.stdout.fnmatch_lines(
        [
            "grader * passed * failed *",
            "string-match * 9/10 * 1 *",
            "  1 string-match: string_match: other",
            "gate --weighbridge-min-pass-rate 0.9 met: required at least 90%*seen 90.0% (9 of 10 judged)",
        ]
    )
    ended = suite(COLLECTING, "--weighbridge-min-pass-rate=95%", "--weighbridge-out=out.md")
    ended.assert_outcomes(passed=10)
    assert ended.ret == pytest.ExitCode.TESTS_FAILED
    assert "❌ not met | `--weighbridge-min-pass-rate 95%`" in Path("out.md").read_text()


def test_without_a_gate_every_collected_result_has_to_pass(suite: Suite) -> None:
    ended = suite(COLLECTING, "--weighbridge-out=out.md")
    assert ended.ret == pytest.ExitCode.TESTS_FAILED
    why = "1 of 10 failed, and none may fail; --weighbridge-min-pass-rate allows some"
    ended.stdout.fnmatch_lines([f"weighbridge: {why}"])
    assert "❌ not met | `no failed job`" in Path("out.md").read_text()
    assert suite(COLLECTING, "-k", "not 0").ret == pytest.ExitCode.OK


def test_what_failed_with_its_test_is_not_explained_by_a_rule_for_collected_results(
    suite: Suite,
) -> None:
    ended = suite(SUITE, "-k", "test_pass or test_fail")
    assert ended.ret == pytest.ExitCode.TESTS_FAILED
    ended.stdout.fnmatch_lines(["string-match * 1/2 * 1 *"])
    ended.stdout.no_fnmatch_line("weighbridge: *")


def test_a_gate_may_be_for_a_slice(suite: Suite) -> None:
    gates = ("--weighbridge-min-pass-rate=0.5", "--weighbridge-min-pass-rate=metadata.odd:0=0.9")
    ended = suite(COLLECTING, *gates)
    assert ended.ret == pytest.ExitCode.TESTS_FAILED
    ended.stdout.fnmatch_lines(
        ["gate --weighbridge-min-pass-rate metadata.odd:0=0.9 not met: *80.0%*"]
    )


def test_an_ungradable_result_that_was_collected_fails_the_session_unless_a_gate_allows_it(
    suite: Suite,
) -> None:
    source = """
        def test_it(weighbridge):
            weighbridge.collect("true-false", agent_response="yes", expected_output="maybe")
            weighbridge.collect("true-false", agent_response="yes", expected_output="yes")
    """
    ended = suite(source)
    assert ended.ret == pytest.ExitCode.TESTS_FAILED
    ended.stdout.fnmatch_lines(
        ["weighbridge: 1 job was ungradable; --weighbridge-min-gradable allows some"]
    )
    assert suite(source, "--weighbridge-min-gradable=0.5").ret == pytest.ExitCode.OK


def test_tests_that_are_expected_to_fail_do_not_count(suite: Suite) -> None:
    ended = suite(
        """
        import pytest

        @pytest.mark.xfail
        def test_it(weighbridge):
            weighbridge.check("string-match", agent_response="a", expected_output="b")
        """
    )
    ended.assert_outcomes(xfailed=1)
    assert ended.ret == pytest.ExitCode.OK


@pytest.mark.parametrize("mark", ["xfail", "xfail(strict=True)", "xfail(raises=Exception)"])
def test_what_cannot_be_judged_is_an_error_although_a_failure_is_expected(
    suite: Suite, mark: str
) -> None:
    ended = suite(
        f"""
        import pytest

        @pytest.mark.{mark}
        def test_it(weighbridge):
            weighbridge.check("true-false", agent_response="yes", expected_output="maybe")
        """,
        "--weighbridge-out=out.jsonl",
    )
    ended.assert_outcomes(errors=1)
    assert ended.ret == pytest.ExitCode.TESTS_FAILED
    ended.stdout.fnmatch_lines(["*ERROR at call of test_it*"])
    assert [row["result"]["verdict"] for row in results()] == ["ungradable"]


def test_a_gate_without_any_result_is_not_met(suite: Suite) -> None:
    ended = suite("def test_it(): pass", "--weighbridge-min-pass-rate=0.9")
    assert ended.ret == pytest.ExitCode.TESTS_FAILED
    ended.stdout.fnmatch_lines(["weighbridge: there was nothing to grade"])


@pytest.mark.parametrize(
    ("option", "told"),
    [
        ("--weighbridge-out=out.xls", "did you mean"),
        ("--weighbridge-out=none/out.csv", "does not exist"),
        ("--weighbridge-out=-", "pytest uses standard output itself"),
        ("--weighbridge-min-pass-rate=lots", "no share from 0 to 1"),
    ],
)
def test_options_that_cannot_be_met_are_refused_before_anything_is_run(
    suite: Suite, option: str, told: str
) -> None:
    ended = suite("def test_it(): raise SystemExit", option)
    assert ended.ret == pytest.ExitCode.USAGE_ERROR
    assert told in ended.stderr.str()


def test_a_suite_that_does_not_use_it_sees_nothing_of_it(suite: Suite) -> None:
    ended = suite("def test_it(): pass", "-v")
    ended.assert_outcomes(passed=1)
    assert "weighbridge" not in ended.stdout.str().replace(sys.executable, "")
    shown = suite("def test_it(): pass", "--help").stdout.str()
    options = set(re.findall(r"^ +(--weighbridge\S*|weighbridge\S*)", shown, re.MULTILINE))
    assert all(option.startswith("--weighbridge-") for option in options)
    assert len(options) == 4


def test_results_of_all_workers_are_those_of_one_process(processes: Suite, suite: Suite) -> None:
    apart = processes(COLLECTING, "-n", "2", "--weighbridge-out=apart.jsonl")
    together = suite(COLLECTING, "--weighbridge-out=together.jsonl")
    assert apart.ret == together.ret == pytest.ExitCode.TESTS_FAILED
    apart.stdout.fnmatch_lines(["string-match * 9/10 * 1 *"])
    assert len(results("apart.jsonl")) == 10
    assert Path("apart.jsonl").read_bytes() == Path("together.jsonl").read_bytes()


def test_results_before_the_end_of_a_worker_are_kept(processes: Suite) -> None:
    source = (
        SUITE
        + """
    def test_dies(weighbridge):
        import os
        weighbridge.check("string-match", agent_response="a", expected_output="a")
        os._exit(3)
    """
    )
    ended = processes(source, "-n", "1", "--weighbridge-out=out.jsonl")
    # xdist itself counts the test as failed at which a worker ends.
    ended.assert_outcomes(passed=1, failed=3, errors=1)
    assert [row["custom_id"].partition("::")[2] for row in results()] == [
        "test_pass",
        "test_fail",
        "test_ungradable",
        "test_crash",
    ]


def test_loading_it_loads_nothing_else_of_the_product() -> None:
    program = f"import sys, pytest; before = set(sys.modules); import {PLUG_IN}; print(sorted(set(sys.modules) - before))"
    ended = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, env=os.environ
    )
    assert ended.stdout.strip() == str(
        ["weighbridge_producer", "weighbridge_producer.pytest_plugin", PLUG_IN]
    )


def test_pytest_finds_it_by_its_entry_point() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["entry-points"]["pytest11"] == {"weighbridge": PLUG_IN}


@pytest.mark.parametrize("name", ["test_agent.py", "test_capitals.py"])
def test_the_how_to_shows_what_its_examples_print(suite: Suite, name: str) -> None:
    page = (ROOT / "docs/how-to/grade-in-pytest.md").read_text()
    [source] = re.findall(rf"```python\n# {name}\n(.*?)```", page, re.DOTALL)
    command, shown = re.findall(
        rf"```sh\npytest {name}(.*?)\n```\n\n```text\n(.*?)```", page, re.DOTALL
    )[0]
    printed = suite(source, *command.split()).stdout.str()
    assert [line for line in shown.splitlines() if line not in printed.splitlines()] == []
