"""Folders of Harbor's jobs and trials, in which many files are of one run, or of none."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from weighbridge_producer.input.files.file_groups import BLOCK_BYTES, part

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_AGENT, _STEPS, _RESULT = "agent", "steps", "result.json"
_TRAJECTORY = "trajectory.json"
#: Trajectories of an agent, also those of its sub-agents, and those that go on after a summary.
_is_trajectory = re.compile(r"trajectory(?:\.[\w.-]{1,100})?\.json").fullmatch
_FIELDS = (b'"trial_name"', b'"task_checksum"')  #: near the beginning of a trial's result
_SETTINGS = frozenset({"config.json", "lock.json"})  #: of a job or a trial
_NO_RUNS = frozenset({"verifier", "artifacts"})  #: folders of a trial without logs of its agent


def each_trial_once(files: Iterable[Path]) -> tuple[Path, ...]:
    """Return files without those of Harbor's jobs and trials that are no run, or are of a run that another file has.

    A trial with the trajectory of its agent is read from it, which has the calls, and other trials from their results.
    """
    listed = list(files)
    trials = {file.parent for file in listed if _is_result(file)}
    if not trials:
        return tuple(listed)
    jobs = {trial.parent for trial in trials} - trials
    with_calls = {
        trial
        for file in listed
        if file.name == _TRAJECTORY
        and file.parent.name == _AGENT
        and (trial := _trial_of(file, trials))
    }
    return tuple(file for file in listed if _is_read(file, trials, jobs, with_calls))


def _is_result(file: Path) -> bool:
    return file.name == _RESULT and all(field in part(file, 0, BLOCK_BYTES) for field in _FIELDS)


def _is_read(file: Path, trials: set[Path], jobs: set[Path], with_calls: set[Path]) -> bool:
    if file.parent in jobs:
        return file.name not in {*_SETTINGS, _RESULT}
    trial = _trial_of(file, trials)
    if trial is None:
        return True
    folders = _folders(file, trial)
    if not folders:
        return file.name not in _SETTINGS and not (file.name == _RESULT and trial in with_calls)
    if folders[0] != _AGENT:
        return folders[0] not in _NO_RUNS
    return trial not in with_calls or (len(folders) == 1 and bool(_is_trajectory(file.name)))


def _trial_of(file: Path, trials: set[Path]) -> Path | None:
    return next((folder for folder in file.parents if folder in trials), None)


def _folders(file: Path, trial: Path) -> Sequence[str]:
    """Return the folders in which a file of a trial lies, without those of a step of its task."""
    folders = file.relative_to(trial).parts[:-1]
    return folders[2:] if folders[:1] == (_STEPS,) else folders
