"""Runs in the folders of Harbor's trials: each with the id and the metadata of its trial, and with all its files as one trace."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from zlib import crc32

import orjson

from weighbridge.settings import MIB
from weighbridge.traces.fields import json_in, object_of, objects_of, scalars, string_of
from weighbridge.traces.formats.atif import SEGMENTS, SUB_AGENTS
from weighbridge_producer.input.files.file_groups import (
    BLOCK_BYTES,
    GROUP_LIMIT_BYTES,
    FileGroup,
    content,
    part,
)
from weighbridge_producer.input.files.trial_folders import (
    AGENT,
    CONFIG,
    RESULT,
    STEPS,
    is_result,
    is_trajectory,
    is_trial,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

_FACTS_BYTES = 32 * MIB  #: of a trial's result or configuration
_FILES_LIMIT = 1_000  #: of one run
_plain_name = re.compile(r"\w[\w.-]{0,200}\.json").fullmatch  #: of a file beside another one
_REFERENCES = (b"continued_trajectory_ref", b"trajectory_path")
_BREAKS = bytes.maketrans(b"\n\r", b"  ")  #: JSON has no raw line breaks in strings


class _Trial(NamedTuple):
    """What a trial's result says of it, or else its configuration."""

    folder: Path
    task: str
    name: str
    started_at: str  #: empty if it is not known
    agent: str
    model: str
    metadata: dict[str, Any]
    step_rewards: dict[str, dict[str, Any]]  #: of the steps of a task with several


@dataclass(frozen=True)
class TrialRun(FileGroup):
    """The files of one run of a trial, read as a record with its id and metadata."""

    head: bytes = b""  #: what stands before the first file
    tail: bytes = b""  #: what stands after the last one
    sub_agents: tuple[Path, ...] = field(default=())  #: the trajectories of its sub-agents

    def every(self) -> list[Path]:
        """Return all files that are read."""
        return [*self.files, *self.sub_agents]

    def version(self) -> list[str | int]:
        """Return a value that changes with the files, and with what the trial's result says."""
        return [*super().version(), crc32(self.head)]

    def added_bytes(self) -> int:
        """Return how many bytes stand around and between the files' contents."""
        return len(self.head) + len(self.tail) + sum(map(len, self._separators()))

    def blocks(self) -> Iterator[bytes]:
        """Yield the record, on one line."""
        yield self.head
        for file, separator in zip(self.every(), self._separators(), strict=True):
            yield separator
            for block in content(file):
                yield block.translate(_BREAKS)
        yield self.tail

    def _separators(self) -> list[bytes]:
        """Return what stands before each file."""
        first = [b"", *[b","] * (len(self.files) - 1)]
        others = [b'],"%b":[' % SUB_AGENTS.encode(), *[b","] * (len(self.sub_agents) - 1)]
        return first + others[: len(self.sub_agents)]


@dataclass(frozen=True)
class _Found:
    """A file that has a run of a trial, or begins it."""

    file: Path
    trial: _Trial
    of_step: str  #: the step of its task; empty if it has one alone
    part_name: str  #: of a trajectory beside the agent's own; empty for others


def with_trials(files: Sequence[Any]) -> tuple[Any, ...]:
    """Return files, with those that have runs of Harbor's trials as groups; other files, and groups, are unchanged.

    A run's id is its task's name. `#2` is appended for the task's second trial and so on, and what tells apart several agents,
    jobs, and steps of a task is in the id too.
    """
    trials: dict[Path, _Trial | None] = {}
    found = [run for file in files if isinstance(file, Path) and (run := _found(file, trials))]
    if not found:
        return tuple(files)
    names = _names_of({run.trial.folder: run.trial for run in found}.values())
    groups: dict[Path, TrialRun] = {}
    joined: set[Path] = set()
    files_read = _Trajectories()
    # A trajectory that another one goes on in, or refers to, is no run of its own, wherever it is listed.
    for run in sorted(found, key=lambda run: bool(run.part_name)):
        if run.file in joined:
            continue
        if group := _group(run, names[run.trial.folder], joined, files_read):
            joined.update(group.every())
            groups[run.file] = group
    return tuple(groups.get(file, file) for file in files if file in groups or file not in joined)


def _found(file: Path, trials: dict[Path, _Trial | None]) -> _Found | None:
    """Return what a file has of a trial; None if it is none's run, or empty."""
    of_step, part_name = "", ""
    if file.parent.name == AGENT and is_trajectory(file.name):
        folder = file.parent.parent
        if folder.parent.name == STEPS and not is_trial(folder):
            of_step, folder = folder.name, folder.parent.parent
        part_name = file.name.removesuffix(".json").removeprefix("trajectory").strip(".")
    elif is_result(file):
        folder = file.parent
    else:
        return None
    if folder not in trials:
        trials[folder] = _trial(folder) if is_trial(folder) else None
    trial = trials[folder]
    return (
        _Found(file, trial, of_step, part_name)
        if trial and part(file, 0, BLOCK_BYTES).strip()
        else None
    )


def _trial(folder: Path) -> _Trial | None:
    """Return a trial by its folder; None if neither its result nor its configuration says which it is."""
    result = _object_in(folder / RESULT)
    config = object_of(result.get("config")) or _object_in(folder / CONFIG)
    task, agent = object_of(config.get("task")), object_of(config.get("agent"))
    info = object_of(result.get("agent_info"))
    path = string_of(task.get("path")) or ""
    name = string_of(result.get("trial_name")) or string_of(config.get("trial_name"))
    task_name = (
        string_of(result.get("task_name"))
        or string_of(task.get("name"))
        or path.rstrip("/").rpartition("/")[2]
    )
    if not name or not task_name:
        return None
    agent_name = string_of(info.get("name")) or string_of(agent.get("name"))
    _, slash, of_provider = (string_of(agent.get("model_name")) or "").partition("/")
    model = string_of(object_of(info.get("model_info")).get("name"))
    model = model or (of_provider if slash else string_of(agent.get("model_name")))
    rewards = _rewards(result)
    metadata = scalars(
        task_name=task_name,
        trial_name=name,
        source=result.get("source", task.get("source")),
        agent=agent_name,
        agent_version=info.get("version"),
        model=model,
    )
    return _Trial(
        folder,
        task_name,
        name,
        string_of(result.get("started_at")) or "",
        agent_name or "",
        model or "",
        {**metadata, **({"rewards": rewards} if rewards else {})},
        {
            step["step_name"]: _rewards(step)
            for step in objects_of(result.get("step_results"))
            if type(step.get("step_name")) is str
        },
    )


def _rewards(result: Mapping[str, Any]) -> dict[str, Any]:
    return scalars(**object_of(object_of(result.get("verifier_result")).get("rewards")))


def _names_of(trials: Iterable[_Trial]) -> dict[Path, str]:
    """Return a name for each trial, by its folder, that a trial of the same task has in another job."""
    of_job: dict[Path, list[_Trial]] = defaultdict(list)
    for trial in trials:
        of_job[trial.folder.parent].append(trial)
    names: dict[Path, str] = {}
    for job, listed in of_job.items():
        prefix = f"{job.name}/" if len(of_job) > 1 else ""
        have_several_agents = len({trial.agent for trial in listed} - {""}) > 1
        have_several_models = len({trial.model for trial in listed} - {""}) > 1
        attempts: Counter[str] = Counter()
        for trial in sorted(
            listed, key=lambda each: (not each.started_at, each.started_at, each.name)
        ):
            agent = trial.agent if have_several_agents else ""
            which = ", ".join(filter(None, (agent, trial.model if have_several_models else "")))
            name = f"{prefix}{trial.task} ({which})" if which else f"{prefix}{trial.task}"
            attempts[name] += 1
            names[trial.folder] = f"{name}#{attempts[name]}" if attempts[name] > 1 else name
    return names


def _group(run: _Found, name: str, joined: set[Path], files_read: _Trajectories) -> TrialRun | None:
    """Return the files of a run as a group; None if they are too large for one document.

    A file that is not JSON is no record: it is read on one line, which is an error.
    """
    parts = filter(None, (name, run.of_step, run.part_name))
    metadata = dict(run.trial.metadata)
    if run.of_step:
        metadata["step"] = run.of_step
        if rewards := run.trial.step_rewards.get(run.of_step):
            metadata["step_rewards"] = rewards
    head = orjson.dumps({"id": "/".join(parts), "metadata": metadata})[:-1] + b',"record":'
    found = _files_of(run.file, joined, files_read)
    segments, sub_agents = found or ([run.file], [])
    if found is None:
        # On one line that begins like JSON, because a log or several lines could be cases of another name.
        begins = part(run.file, 0, 1) == b"{"
        group = TrialRun(run.file, (run.file,), b"" if begins else b"{?", b"\n")
    elif len(segments) == 1 and not sub_agents:
        group = TrialRun(run.file, (run.file,), head, b"}\n")
    else:
        head += b'{"%b":[' % SEGMENTS.encode()
        group = TrialRun(run.file, tuple(segments), head, b"]}}\n", tuple(sub_agents))
    try:
        return group if group.size() <= GROUP_LIMIT_BYTES else None
    except OSError:
        return None  # reported when the file is read


class _Trajectories:
    """Files that were read to find which others they refer to: each once, and those of a folder within a limit of bytes."""

    def __init__(self) -> None:
        self._found: dict[Path, _Trajectory | None] = {}
        #: bytes that may be read of files that are referred to, by folder
        self._left: dict[Path, int] = {}

    def first(self, file: Path) -> _Trajectory | None:
        """Return a file that begins a run; None if it is not JSON, or too large."""
        if self._found.get(file) is None:  # or it was beyond the limit
            self._found[file] = _trajectory(file, GROUP_LIMIT_BYTES)
        return self._found[file]

    def referred(self, file: Path) -> _Trajectory | None:
        """Return a trajectory that another one refers to; None for other files, and for those beyond the limit."""
        if file not in self._found:
            left = self._left.get(file.parent, GROUP_LIMIT_BYTES)
            size = _size_of(file)
            self._found[file] = _trajectory(file, left) if size <= left else None
            self._left[file.parent] = left - size if size <= left else left
        found = self._found[file]
        return found if found and found.is_atif else None


class _Trajectory(NamedTuple):
    """What is needed of a trajectory, or of another file of JSON, to find the files of a run."""

    is_atif: bool
    references: tuple[tuple[str, bool], ...]


def _trajectory(file: Path, limit_bytes: int) -> _Trajectory | None:
    raw = _content_of(file, limit_bytes)
    try:
        value = object_of(json_in(raw))
    except ValueError:
        return None
    is_atif = type(value.get("schema_version")) is str and type(value.get("steps")) is list
    refers = any(field in raw for field in _REFERENCES)
    return _Trajectory(is_atif, tuple(dict.fromkeys(_references(value))) if refers else ())


def _size_of(file: Path) -> int:
    try:
        return file.stat().st_size
    except OSError:
        return 0  # there is no such file


def _files_of(
    first: Path, joined: set[Path], files_read: _Trajectories
) -> tuple[list[Path], list[Path]] | None:
    """Return the files of a run in order, and those of its sub-agents that it refers to, all from one folder; None if the first is not JSON."""
    begun = files_read.first(first)
    if begun is None:
        return None
    segments: list[Path] = [first]
    sub_agents: list[Path] = []
    if not is_trajectory(first.name):
        return segments, sub_agents
    waiting: list[tuple[Path, _Trajectory, bool]] = [(first, begun, True)]
    known = {first}
    while waiting and len(known) < _FILES_LIMIT:
        file, trajectory, is_segment = waiting.pop()
        for name, goes_on in trajectory.references:
            beside = file.with_name(name) if _plain_name(name) else file
            if beside in known or beside in joined:
                continue
            found = files_read.referred(beside)
            if found is None:
                continue
            known.add(beside)
            is_next = goes_on and is_segment
            (segments if is_next else sub_agents).append(beside)
            waiting.append((beside, found, is_next))
    return segments, sub_agents


def _references(trajectory: Mapping[str, Any]) -> Iterator[tuple[str, bool]]:
    """Yield the files that a trajectory names, each with whether it is the one in which it goes on."""
    if goes_on := string_of(trajectory.get("continued_trajectory_ref")):
        yield goes_on, True
    for step in objects_of(trajectory.get("steps")):
        for result in objects_of(object_of(step.get("observation")).get("results")):
            named = result.get("subagent_trajectory_ref")
            for reference in objects_of([named] if type(named) is dict else named):
                if path := string_of(reference.get("trajectory_path")):
                    yield path, False


def _object_in(file: Path, limit_bytes: int = _FACTS_BYTES) -> dict[str, Any]:
    return _object(_content_of(file, limit_bytes))


def _content_of(file: Path, limit_bytes: int) -> bytes:
    """Return the content of a file that is no larger than a limit; empty for others."""
    raw = part(file, 0, limit_bytes + 1) if file.is_file() else b""
    return raw if len(raw) <= limit_bytes else b""


def _object(raw: bytes) -> dict[str, Any]:
    try:
        return object_of(json_in(raw))
    except ValueError:
        return {}
