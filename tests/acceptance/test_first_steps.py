"""First steps of a new user: the version, common mistakes, and their error messages."""

from __future__ import annotations

from importlib.metadata import version
from typing import TYPE_CHECKING

import orjson
import pytest

from support.cases import true_false_cases, write_cases
from support.unhurried import graded_here

if TYPE_CHECKING:
    from pathlib import Path

    from support.cli import Cli

INPUTS = {"agent_response": "yes", "expected_output": "true"}


def test_the_version_can_be_asked_for(cli: Cli) -> None:
    ended = cli("--version")
    assert (ended.status, ended.out) == (0, f"weighbridge {version('weighbridge')}\n")


def test_every_setting_of_every_grader_is_described_where_it_is_shown(cli: Cli) -> None:
    for grader in cli("graders", "--json").json["graders"]:
        settings = grader["config_schema"]["properties"]
        assert settings
        assert [name for name, schema in settings.items() if not schema.get("description")] == []


def test_a_bad_line_in_a_folder_is_told_by_its_file_and_its_line_there(
    cli: Cli, tmp_path: Path
) -> None:
    folder = tmp_path / "cases"
    folder.mkdir()
    write_cases(folder / "a.jsonl", true_false_cases(3))
    (folder / "b.jsonl").write_bytes(b'\n{"custom_id": "half\n{"custom_id": "x", "inputs": {}}')
    (folder / "c.jsonl").write_bytes(orjson.dumps({"custom_id": "last", "inputs": INPUTS}))
    ended = cli("run", "cases", "-g", "true-false", "--sort")
    rows = [orjson.loads(row) for row in (tmp_path / "cases.results.jsonl").open("rb")]
    errors = {row["line"]: row["error"]["message"] for row in rows if row["error"]}
    assert errors == {
        5: "b.jsonl, line 2: the JSON ends too early at byte 19",
        6: "b.jsonl, line 3: the inputs lack 'agent_response'",
    }
    assert rows[-1]["custom_id"] == "last"
    for message in errors.values():
        assert message in ended.out

    assert cli("verify", "cases.results.jsonl", "cases", "-g", "true-false").status == 0
    refused = cli("run", "cases", "-g", "true-false", "--strict")
    assert "b.jsonl, line 2: INVALID_JSON: the JSON ends too early" in refused.err


def test_a_bad_line_of_one_file_is_told_by_its_number(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "cases.jsonl").write_bytes(b"\noops\n" * 9)
    ended = cli("run", "cases.jsonl", "-g", "true-false")
    assert "\nline 2: INVALID_JSON: not JSON" in ended.out
    assert "\n... the output lists all 9 errored jobs\n" in ended.out


@pytest.mark.parametrize(
    ("lines", "told"), [(1, []), (6, ["... the output lists all 12 errored jobs, on 6 lines"])]
)
def test_lines_that_lack_what_two_labels_need_are_told_once_and_counted_as_lines_and_jobs(
    cli: Cli, tmp_path: Path, lines: int, told: list[str]
) -> None:
    case = orjson.dumps({"custom_id": "q", "inputs": {"agent_response": "a"}})
    cases = (case.replace(b'"q"', b'"q%d"' % line) for line in range(lines))
    (tmp_path / "cases.jsonl").write_bytes(b"\n".join(cases))
    ended = cli("run", "cases.jsonl", "-g", "one=string-match", "-g", "two=string-match")
    assert ended.out.count("\nline 1: MISSING_FIELD") == 1
    assert [line for line in ended.out.splitlines() if line.startswith("...")] == told


@pytest.mark.parametrize(
    ("cases", "output"), [("cases", "cases/out.jsonl"), ("cases/*.jsonl", "cases/out.jsonl")]
)
def test_results_do_not_become_input(cli: Cli, tmp_path: Path, cases: str, output: str) -> None:
    (tmp_path / "cases").mkdir()
    written = write_cases(tmp_path / "cases" / "a.jsonl", true_false_cases(3))
    refused = cli("run", cases, "-g", "true-false", "-o", output)
    assert refused.status == 1
    assert "OUTPUT_UNWRITABLE: the output 'cases/out.jsonl' would be part of the input" in (
        refused.err
    )
    assert not (tmp_path / output).exists()
    (tmp_path / "cases" / "out.results.jsonl").write_bytes(b"".join(graded_here(written)))
    ended = cli("run", cases, "-g", "true-false", "-o", "cases/out.results.jsonl")
    assert "3 jobs in " in ended.out


@pytest.mark.parametrize("command", [("run", "a.jsonl"), ("verify", "a.jsonl", "a.jsonl")])
def test_an_unknown_grader_in_a_file_is_told_with_its_line(
    cli: Cli, tmp_path: Path, command: tuple[str, ...]
) -> None:
    write_cases(tmp_path / "a.jsonl", true_false_cases(1))
    (tmp_path / "g.yaml").write_text("graders:\n  - loop\n  - grader: budgt\n")
    ended = cli(*command, "--graders", "g.yaml")
    assert ended.status == 1
    assert "UNKNOWN_GRADER: g.yaml, line 3: no grader 'budgt'; did you mean 'budget'?" in ended.err
