"""Folders of Harbor's trials, in which the trajectory and the trial's result are of one run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from weighbridge_producer.input.files.file_groups import BLOCK_BYTES, FileGroup, part

if TYPE_CHECKING:
    from collections.abc import Iterable

_TRAJECTORY, _AGENT, _STEPS = "trajectory.json", "agent", "steps"
_RESULT = "result.json"
_FIELDS = (b'"trial_name"', b'"task_checksum"')  #: near the beginning of a trial's result


def without_results_beside_trajectories(
    files: Iterable[Path | FileGroup],
) -> tuple[Path | FileGroup, ...]:
    """Return files without the results of those trials whose trajectory is among them, which has the run with its calls."""
    listed = list(files)
    trials = {_trial_of(file) for file in listed if isinstance(file, Path)}
    return tuple(
        file
        for file in listed
        if not (
            isinstance(file, Path)
            and file.name == _RESULT
            and file.parent in trials
            and all(field in part(file, 0, BLOCK_BYTES) for field in _FIELDS)
        )
    )


def _trial_of(file: Path) -> Path | None:
    """Return the folder of the trial whose agent, or one of whose steps' agents, wrote a trajectory."""
    if file.name != _TRAJECTORY or file.parent.name != _AGENT:
        return None
    folder = file.parent.parent
    return folder.parent.parent if folder.parent.name == _STEPS else folder
