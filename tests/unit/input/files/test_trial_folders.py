"""Folders of Harbor's jobs: each trial is read once, from its trajectories if there are some."""

from __future__ import annotations

import json

import pytest

from support.trace_examples import HARBOR
from weighbridge.settings import Settings
from weighbridge_producer.input.files.input_files import InputFiles, Paths
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
    assert "of Harbor's trials the trajectories" in Source(str(tmp_path), Settings()).skipped_note()
