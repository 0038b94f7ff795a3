"""The workflows that `weighbridge init` writes and those in `examples/ci`: their scripts work as documented."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from ruamel.yaml import YAML

from support.preloaded import program_folder
from support.wheels import ROOT, wheel

if TYPE_CHECKING:
    from support.cli import Cli

CI = ROOT / "examples" / "ci"
#: Shells as the two services start them.
GITHUB, GITLAB = ["bash", "--noprofile", "--norc", "-eo", "pipefail"], ["sh", "-e"]
CASES = ROOT / "examples" / "support_answers.jsonl"

pytestmark = pytest.mark.slow


def run(shell: list[str], script: str, folder: Path, **variables: str) -> tuple[int, str]:
    """Run a script of a workflow; return its exit status and what it printed.

    pip installs to a separate folder, without access to package indexes.
    """
    kept = {name: value for name, value in os.environ.items() if "WEIGHBRIDGE_" not in name}
    kept |= {
        "PATH": f"{program_folder()}:{Path(sys.executable).parent}:{kept['PATH']}",
        "PIP_TARGET": str(folder / "installed"),
        "PIP_NO_DEPS": "1",
        "PIP_NO_INDEX": "1",
        "PIP_COMPILE": "0",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "GITHUB_STEP_SUMMARY": str(folder / "summary.md"),
        "WEIGHBRIDGE_STATE_DIR": str(folder / "state"),
    }
    ended = subprocess.run(
        [*shell, "-c", script],
        cwd=folder,
        env=kept | variables,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=100,
    )
    return ended.returncode, ended.stdout


def read(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = YAML(typ="safe").load(path)
    return found


def steps_of(
    steps: list[dict[str, Any]], given: dict[str, str]
) -> list[tuple[str, dict[str, str]]]:
    """Return the scripts of steps with their variables, given the values of ${{ }} expressions."""
    found = []
    for step in steps:
        if "run" in step:
            assert "${{" not in step["run"]  # an expression there would allow command injection
            variables = {
                name: re.sub(r"\$\{\{ (\S+) \}\}", lambda match: given[match[1]], value)
                for name, value in step.get("env", {}).items()
            }
            found.append((step["run"], variables))
    return found


def test_the_workflow_that_init_writes_for_github_installs_and_grades(
    cli: Cli, tmp_path: Path
) -> None:
    assert cli("init").status == 0
    workflow = read(tmp_path / ".github/workflows/weighbridge.yml")
    steps = workflow["jobs"]["grade"]["steps"]
    install, grade = steps_of(steps, {"vars.WEIGHBRIDGE_PACKAGE": str(wheel())})
    assert run(GITHUB, install[0], tmp_path, **install[1]) == (0, "")
    assert (tmp_path / "installed" / "weighbridge_producer").is_dir()
    status, printed = run(GITHUB, grade[0], tmp_path)
    assert status == 0, printed
    assert "q3" in (tmp_path / "summary.md").read_text()
    kept = steps[-1]["with"]["path"].split()
    assert all((tmp_path / name).is_file() for name in kept)
    status, printed = run(GITHUB, install[0], tmp_path, PACKAGE="")
    assert status != 0
    assert "set the variable WEIGHBRIDGE_PACKAGE" in printed


def test_the_documented_workflow_compares_pull_requests_with_the_main_branch(
    tmp_path: Path,
) -> None:
    page = (ROOT / "docs" / "how-to" / "ci-gate.md").read_text()
    [block] = (each for each in re.findall(r"```yaml\n(.*?)```", page, re.DOTALL) if "on:" in each)
    steps = YAML(typ="safe").load(block)["jobs"]["regressions"]["steps"]
    _, grade, compare, store = [step["run"] for step in steps if "run" in step]
    (tmp_path / "outputs").mkdir()
    cases = tmp_path / "outputs" / "cases.jsonl"
    cases.write_text(CASES.read_text())
    for script in (grade, store, compare):
        ended, printed = run(GITHUB, script, tmp_path)
        assert ended == 0, printed
    [kept] = {step["with"]["path"] for step in steps if "cache" in step.get("uses", "")}
    assert list((tmp_path / kept).iterdir())
    cases.write_text(CASES.read_text().replace('response": "no"', 'response": "No, sorry."'))
    assert run(GITHUB, grade, tmp_path)[0] == 0
    ended, printed = run(GITHUB, compare, tmp_path)
    assert (ended, "gate --max-regressions 0 not met" in printed) == (100, True), printed
    assert "regressed" in (tmp_path / "summary.md").read_text()


def test_the_workflow_that_init_writes_for_gitlab_installs_and_grades(
    cli: Cli, tmp_path: Path
) -> None:
    assert cli("init", "--ci", "gitlab").status == 0
    job = read(tmp_path / "weighbridge.gitlab-ci.yml")["grade"]
    [install], [grade] = job["before_script"], job["script"]
    assert run(GITLAB, install, tmp_path, WEIGHBRIDGE_PACKAGE=str(wheel())) == (0, "")
    status, printed = run(GITLAB, grade, tmp_path)
    assert status == 0, printed
    assert (tmp_path / job["artifacts"]["reports"]["junit"]).is_file()


def test_the_composite_action_grades_and_keeps_the_results(tmp_path: Path) -> None:
    action = read(CI / "github" / "action.yml")
    inputs = {name: each.get("default", "") for name, each in action["inputs"].items()} | {
        "package": str(wheel()),
        "cases": str(CASES),
        # A name with a space is one option, and nothing in it is run.
        "options": "--min-pass-rate=0.85\n\n--min-gradable=0.99\n--output=my $(touch bad).csv\n",
    }
    given = {f"inputs.{name}": value for name, value in inputs.items()}
    install, grade = steps_of(action["runs"]["steps"], given)
    assert run(GITHUB, install[0], tmp_path, **install[1]) == (0, "")
    ended, printed = run(GITHUB, grade[0], tmp_path, **grade[1])
    assert ended == 0, printed
    kept = {path.name for path in (tmp_path / inputs["folder"]).iterdir()}
    assert kept == {"results.jsonl", "junit.xml", "report.html"}
    assert (tmp_path / "my $(touch bad).csv").is_file()
    assert not (tmp_path / "bad").exists()
    assert "86.9%" in (tmp_path / "summary.md").read_text()
    strict = grade[1] | {"OPTIONS": "--min-pass-rate=0.9"}
    ended, printed = run(GITHUB, grade[0], tmp_path, **strict)
    assert ended == 100, printed


def test_the_job_for_gitlab_grades_and_keeps_the_results(tmp_path: Path) -> None:
    job = read(CI / "gitlab" / "weighbridge.yml")[".weighbridge"]
    variables = {
        "PACKAGE": str(wheel()),
        "CASES": str(CASES),
        # Spaces, patterns and expansions in an option are part of it.
        "OPTIONS": "--min-pass-rate\n0.85\n\n--min-gradable=*=0.99\n--output=my $(touch bad) `touch bad` *.csv\n",
    }
    # The unquoted pattern would match this file.
    (tmp_path / "--min-gradable=x=0.99").touch()
    assert set(variables) == set(job["variables"])
    [install], [grade] = job["before_script"], job["script"]
    assert run(GITLAB, install, tmp_path, **variables) == (0, "")
    ended, printed = run(GITLAB, grade, tmp_path, **variables)
    assert ended == 0, printed
    kept = [*job["artifacts"]["paths"], job["artifacts"]["reports"]["junit"]]
    assert all((tmp_path / name).is_file() for name in kept)
    assert (tmp_path / "my $(touch bad) `touch bad` *.csv").is_file()
    assert not (tmp_path / "bad").exists()
    strict = variables | {"OPTIONS": "--min-pass-rate=0.9"}
    ended, printed = run(GITLAB, grade, tmp_path, **strict)
    assert ended == 100, printed


def test_the_examples_of_use_name_inputs_that_there_are() -> None:
    blocks = re.findall(r"```yaml\n(.*?)```", (CI / "README.md").read_text(), re.DOTALL)
    github, gitlab = map(YAML(typ="safe").load, blocks)
    action = read(CI / "github" / "action.yml")
    assert set(github[0]["with"]) <= set(action["inputs"])
    job = read(CI / "gitlab" / "weighbridge.yml")[".weighbridge"]
    assert set(gitlab["grade"]["variables"]) == set(job["variables"])
