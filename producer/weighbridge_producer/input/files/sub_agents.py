"""Sessions of Claude Code with the files of their sub-agents, read as one file with the session's lines first."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from weighbridge.settings import MIB
from weighbridge.traces.fields import json_in, object_of, string_of
from weighbridge_producer.input.files.file_groups import (
    BLOCK_BYTES,
    GROUP_LIMIT_BYTES,
    FileGroup,
    part,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

SESSION_ENDING = ".jsonl"
CASE_ID = "custom_id"  #: a field of cases, which no line of a session has
_AGENT = re.compile(r"agent-[\w-]{1,100}\.jsonl")
_LINE_BYTES = MIB  #: limit of the first line of a sub-agent's file, which names the session


def with_sub_agents(files: Iterable[Path | FileGroup]) -> tuple[Path | FileGroup, ...]:
    """Return files, with each session and its sub-agents as one; a sub-agent without its session stays a file of its own."""
    listed = list(files)
    known = {file for file in listed if isinstance(file, Path) and not _AGENT.fullmatch(file.name)}
    agents: dict[Path, list[Path]] = {}
    for file in listed:
        if isinstance(file, Path) and _AGENT.fullmatch(file.name):
            session = next((each for each in _sessions_of(file) if each in known), None)
            if session is not None:
                agents.setdefault(session, []).append(file)
    groups = [FileGroup(session, (session, *found)) for session, found in agents.items()]
    sessions = {group.path: group for group in groups if _is_read_as_one(group)}
    joined = {agent for group in sessions.values() for agent in group.files[1:]}
    return tuple(
        sessions.get(file, file) if isinstance(file, Path) else file
        for file in listed
        if file not in joined
    )


def _sessions_of(agent: Path) -> Iterator[Path]:
    """Yield where the session of a sub-agent may stand: beside its file, or beside the folder named after the session."""
    try:
        with agent.open("rb") as stream:
            opening = object_of(json_in(stream.readline(_LINE_BYTES)))
    except (OSError, ValueError):
        return
    name = string_of(opening.get("sessionId"))
    if name is None or opening.get("isSidechain") is not True or CASE_ID in opening:
        return
    file = f"{name}{SESSION_ENDING}"
    yield agent.parent / file
    for folder in agent.parents:
        if folder.name == name:
            yield folder.parent / file


def _is_read_as_one(group: FileGroup) -> bool:
    """Return whether the first file has lines of the session that it is named after, and all files fit in one document."""
    name = group.path.name.removesuffix(SESSION_ENDING)
    lines = part(group.path, 0, BLOCK_BYTES).split(b"\n")
    try:
        return group.size() <= GROUP_LIMIT_BYTES and any(_is_of(name, line) for line in lines)
    except OSError:
        return False  # reported when the files are read


def _is_of(session: str, line: bytes) -> bool:
    """Return whether a line, which may be cut off, is one of a session."""
    try:
        held = object_of(json_in(line))
    except ValueError:
        return f'"{session}"'.encode() in line and f'"{CASE_ID}"'.encode() not in line
    return held.get("sessionId") == session and CASE_ID not in held
