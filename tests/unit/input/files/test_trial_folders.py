"""Folders of Harbor's trials: each run is read once, from its trajectory if there is one."""

from __future__ import annotations

import json

from support.trace_examples import HARBOR
from weighbridge_producer.input.files.trial_folders import without_results_beside_trajectories


def written(path, value):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value))
    return path


def test_the_result_of_a_trial_is_left_out_if_its_trajectory_is_read(tmp_path):
    with_calls, without, in_steps = (tmp_path / name for name in ("one", "two", "three"))
    trajectory = written(with_calls / "agent/trajectory.json", {"steps": []})
    of_step = written(in_steps / "steps/build/agent/trajectory.json", {"steps": []})
    left = written(without / "result.json", HARBOR)
    others = [written(folder / "result.json", HARBOR) for folder in (with_calls, in_steps)]
    files = [trajectory, of_step, left, *others]
    assert without_results_beside_trajectories(files) == (trajectory, of_step, left)


def test_other_results_beside_a_trajectory_are_kept(tmp_path):
    trajectory = written(tmp_path / "agent/trajectory.json", {"steps": []})
    result = written(tmp_path / "result.json", {"score": 1})
    assert without_results_beside_trajectories([trajectory, result]) == (trajectory, result)
