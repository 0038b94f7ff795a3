"""Folders of Harbor's jobs: each trial is read once, from its trajectories if there are some."""

from __future__ import annotations

import json

import pytest

from support.trace_examples.evaluation_tools import HARBOR
from weighbridge.settings import Settings
from weighbridge_producer.input.files.input_files import InputFiles
from weighbridge_producer.input.files.input_paths import Paths
from weighbridge_producer.input.files.trial_folders import each_trial_once
from weighbridge_producer.input.source import Source

JOB = {"id": "j", "n_total_trials": 2, "stats": {}}
OTHERS = ("config.json", "lock.json", "verifier/ctrf.json", "artifacts/manifest.json")


def written(folder, names, result=HARBOR):
    (folder / "result.json").parent.mkdir(parents=True, exist_ok=True)
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("{}")
    (folder / "result.json").write_text(json.dumps(result))


def found(folder):
    files = sorted(file for file in folder.rglob("*") if file.is_file())
    return {file.relative_to(folder).as_posix() for file in each_trial_once(files)}


def test_a_trial_is_read_from_the_trajectories_of_its_agent(tmp_path):
    logs = ("agent/trajectory.json", "agent/trajectory.cont-1.json", "agent/sessions/a/s.jsonl")
    written(tmp_path / "job/one", [*logs, *OTHERS])
    written(tmp_path / "job", ["config.json", "lock.json"], JOB)
    of_one = {"one/agent/trajectory.json", "one/agent/trajectory.cont-1.json"}
    assert found(tmp_path / "job") == of_one
    assert found(tmp_path / "job/one") == {name.removeprefix("one/") for name in of_one}


def test_a_trial_without_a_trajectory_is_read_from_its_result_and_its_agents_logs(tmp_path):
    written(tmp_path / "one", ["agent/sessions/a/s.jsonl", *OTHERS])
    assert found(tmp_path) == {"one/result.json", "one/agent/sessions/a/s.jsonl"}


def test_steps_of_a_task_have_trajectories_of_their_own(tmp_path):
    steps = ["steps/a/agent/trajectory.json", "steps/b/agent/trajectory.json"]
    written(tmp_path / "one", [*steps, "steps/a/verifier/ctrf.json", "steps/a/agent/log.jsonl"])
    assert found(tmp_path) == {f"one/{name}" for name in steps}


@pytest.mark.parametrize("result", [{"score": 1}, {"trial_name": "t"}])
def test_other_folders_are_left_as_they_are(tmp_path, result):
    names = {"config.json", "agent/trajectory.json", "agent/log.json", "verifier/x.json"}
    written(tmp_path / "one", names, result)
    assert found(tmp_path) == {f"one/{name}" for name in (*names, "result.json")}


def test_what_is_left_out_of_a_folder_is_among_the_files_that_are_not_read(tmp_path):
    written(tmp_path / "one", ["agent/trajectory.json", "config.json"])
    files = InputFiles(Paths([tmp_path]))
    assert [file.name for file in files.files] == ["trajectory.json"]
    assert sorted(files.skipped) == ["one/config.json", "one/result.json"]
    assert "they have no run of their own" in Source(str(tmp_path), Settings()).skipped_note()


@pytest.mark.parametrize(
    "name", ["artifacts/agent/trajectory.json", "verifier/agent/trajectory.json", "agent/agent/trajectory.json"]
)  # fmt: skip
def test_a_trajectory_elsewhere_than_the_agents_does_not_replace_the_result(tmp_path, name):
    written(tmp_path / "one", [name])
    assert "one/result.json" in found(tmp_path)


@pytest.mark.parametrize("content", ["", " \n"])
def test_an_empty_trajectory_does_not_replace_the_result(tmp_path, content):
    written(tmp_path / "one", ["agent/trajectory.json", "agent/log.jsonl"])
    (tmp_path / "one/agent/trajectory.json").write_text(content)
    every = {"one/result.json", "one/agent/trajectory.json", "one/agent/log.jsonl"}
    assert found(tmp_path) == every


def test_the_logs_of_a_step_without_a_trajectory_are_read(tmp_path):
    steps = ["steps/agent/agent/trajectory.json", "steps/b/agent/log.jsonl"]
    written(tmp_path / "one", [*steps, "steps/agent/agent/log.jsonl"])
    assert found(tmp_path) == {f"one/{name}" for name in steps}


def test_cases_beside_trials_are_read_whatever_their_file_is_called(tmp_path):
    written(tmp_path / "one", [])
    case = json.dumps({"custom_id": "1", "inputs": {"output": "x"}})
    for name in ("result.json", "config.json"):
        (tmp_path / name).write_text(case)
    assert found(tmp_path) == {"config.json", "result.json", "one/result.json"}


def test_files_of_trials_that_a_pattern_matches_and_that_are_not_read_are_named(tmp_path):
    written(tmp_path / "one", ["agent/trajectory.json"])
    source = Source(str(tmp_path / "**/*.json"), Settings())
    assert source.skipped_note() == (
        "1 file skipped (one/result.json): they have no run of their own"
    )
