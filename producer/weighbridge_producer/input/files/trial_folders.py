"""Folders of Harbor's jobs and trials, in which many files are of one run, or of none."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from weighbridge_producer.input.files.file_groups import BLOCK_BYTES, part

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_AGENT, _STEPS, _RESULT = "agent", "steps", "result.json"
_TRAJECTORY = "trajectory.json"
#: Trajectories of an agent, also those of its sub-agents, and those that go on after a summary.
_is_trajectory = re.compile(r"trajectory(?:\.[\w.-]{1,100})?\.json").fullmatch
_FIELDS = (b'"trial_name"', b'"task_checksum"')  #: near the beginning of a trial's result
_CASE_ID = b'"custom_id"'  #: of a case, which no file of a job has
_SETTINGS = frozenset({"config.json", "lock.json"})  #: of a job or a trial
_NO_RUNS = frozenset({"verifier", "artifacts"})  #: folders of a trial without logs of its agent


def each_trial_once(files: Iterable[Path]) -> tuple[Path, ...]:
    """Return files without those of Harbor's jobs and trials that are no run, or are of a run that another file has.

    A trial with the trajectory of its agent is read from it, which has the calls, and other trials from their results. Steps
    of a task without a trajectory are read from their agent's logs.
    """
    listed = list(files)
    trials = {file.parent for file in listed if _is_result(file)}
    if not trials:
        return tuple(listed)
    jobs = {trial.parent for trial in trials} - trials
    with_calls = {
        folder for place in _with_calls(listed, trials) for folder in (place.owner, place.trial)
    }
    return tuple(file for file in listed if _is_read(file, trials, jobs, with_calls))


class _Place(NamedTuple):
    """Where a file of a trial lies."""

    trial: Path
    owner: Path  #: the trial, or the folder of a step of its task
    folders: tuple[str, ...]  #: below that


def _is_result(file: Path) -> bool:
    return file.name == _RESULT and all(field in part(file, 0, BLOCK_BYTES) for field in _FIELDS)


def _with_calls(files: Iterable[Path], trials: set[Path]) -> Iterator[_Place]:
    """Yield the places of trajectories that are not empty, of the agents of trials and of steps."""
    for file in files:
        if file.name == _TRAJECTORY and file.parent.name == _AGENT:
            place = _place_of(file, trials)
            if place and place.folders == (_AGENT,) and part(file, 0, BLOCK_BYTES).strip():
                yield place


def _is_read(file: Path, trials: set[Path], jobs: set[Path], with_calls: set[Path]) -> bool:
    if file.parent in jobs:
        is_of_job = file.name in _SETTINGS or file.name == _RESULT
        return not is_of_job or _CASE_ID in part(file, 0, BLOCK_BYTES)
    place = _place_of(file, trials)
    if place is None:
        return True
    trial, owner, folders = place
    if not folders:
        return file.name not in _SETTINGS and not (file.name == _RESULT and trial in with_calls)
    if folders[0] != _AGENT:
        return folders[0] not in _NO_RUNS
    return owner not in with_calls or (len(folders) == 1 and bool(_is_trajectory(file.name)))


def _place_of(file: Path, trials: set[Path]) -> _Place | None:
    trial = next((folder for folder in file.parents if folder in trials), None)
    if trial is None:
        return None
    folders = file.relative_to(trial).parts[:-1]
    if folders[:1] != (_STEPS,):
        return _Place(trial, trial, folders)
    return _Place(trial, trial.joinpath(*folders[:2]), folders[2:])
