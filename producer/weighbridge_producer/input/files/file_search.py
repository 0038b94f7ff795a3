"""Which of the files that a folder, a pattern or a shell names are read, and which of them together as one run."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from weighbridge_producer.input.files.databases.sqlite_file import database_beside
from weighbridge_producer.input.files.event_folders import with_event_folders
from weighbridge_producer.input.files.side_files import (
    without_agent_files,
    without_database_files,
)
from weighbridge_producer.input.files.sub_agents import with_sub_agents
from weighbridge_producer.input.files.trial_folders import each_trial_once

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from weighbridge_producer.input.files.file_groups import FileGroup
    from weighbridge_producer.input.files.read_as import ReadAs


class SearchResult(NamedTuple):
    """The files that a search found."""

    read: tuple[Path | FileGroup, ...]  #: in reading order, those of one run as a group
    left_out: list[Path]  #: without the logs of databases, which are read with them


def search(
    files: Sequence[Path], read_as: ReadAs, every: Iterable[Path] | None = None
) -> SearchResult:
    """Return which files are read; `every` are those from which `files` were chosen by their names.

    First, files are left out: those of Harbor's trials that repeat another file come first, because what tells them apart is
    the other files of their trial. Then, the files of one run are grouped; a group must not have a file that is left out. The
    runs of trials are only grouped when the files of all paths are known (`trial_runs.with_trials`), because their ids depend
    on all of them.
    """
    chosen = without_database_files(each_trial_once(files))
    if not read_as.takes_side_files:
        chosen = without_agent_files(chosen)
    read = with_sub_agents(with_event_folders(chosen))
    kept = set(chosen)
    others = (file for file in (files if every is None else every) if file not in kept)
    return SearchResult(read, [file for file in others if database_beside(file) not in kept])
