"""Sessions of Claude Code with the files of their sub-agents, read as one file with the session's lines first.

What Claude Code keeps beside them is left out: the history of prompts, the list of a project's sessions, of each what it
holds apart, and sessions without messages. So is what SQLite keeps beside a database, and the copies that OpenClaw makes of a
session before it sums it up.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weighbridge.settings import MIB
from weighbridge.traces.fields import json_in, object_of, string_of, word_of
from weighbridge_producer.input.files.databases.sqlite_file import database_beside
from weighbridge_producer.input.files.file_groups import (
    BLOCK_BYTES,
    GROUP_LIMIT_BYTES,
    FileGroup,
    part,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

_ENDING = ".jsonl"
_AGENT = re.compile(r"agent-[\w-]{1,100}\.jsonl")
_ABOUT_AGENT = re.compile(r"(agent-[\w-]{1,100})\.meta\.json")
_INDEX = "sessions-index.json"
_SUB_AGENTS = "subagents"  #: a folder, in the folder of a session
_RESULTS = "tool-results"  #: a folder, in the folder of a session, of long results that its lines have shortened
_CHECKPOINT = re.compile(
    r"(.{1,200})\.checkpoint\.[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\.jsonl"
)
_is_session_id = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}").fullmatch
_CASE_ID = "custom_id"  #: of a case, which no line of a session has
_LINE_BYTES = MIB  #: of the first line of a sub-agent's file, which names the session
_SMALL_BYTES = 4 * MIB  #: of a file that may be beside sessions
_HEAD_BYTES = 2048
#: Lines about a session that have no message, and the fields of Claude Code that each of them has.
_ABOUT_SESSION = {
    "summary": {"summary", "leafUuid"},
    "file-history-snapshot": {"messageId", "snapshot"},
    "queue-operation": {"operation", "sessionId"},
    "custom-title": {"customTitle", "sessionId"},
    "ai-title": {"aiTitle", "sessionId"},
    "agent-name": {"agentName", "sessionId"},
    "last-prompt": {"lastPrompt", "sessionId"},
    "permission-mode": {"permissionMode", "sessionId"},
    "mode": {"mode", "sessionId"},
    "tag": {"tag", "sessionId"},
    "system": {"parentUuid", "isSidechain", "uuid", "sessionId", "subtype"},
}
#: Further fields that lines of these types may have; a line with any other one may be a row of another program.
_MORE_FIELDS = frozenset(
    {
        *("type", "sessionId", "timestamp", "uuid", "parentUuid", "leafUuid", "isSidechain"),
        *("isSnapshotUpdate", "content", "reason", "cwd", "version", "gitBranch", "userType"),
        *("entrypoint", "slug", "isMeta", "level", "toolUseID", "agentId", "logicalParentUuid"),
        *("durationMs", "messageCount"),
    }
)
_ABOUT_TYPES = re.compile(rb'"type"\s*:\s*"(?:%b)"' % "|".join(_ABOUT_SESSION).encode())
_PROMPT = frozenset(
    {"display", "pastedContents", "project"}
)  #: of each line of a history of prompts
_HISTORY = "history.jsonl"


def without_side_files(
    files: Iterable[Path], *, takes_side_files: bool = False
) -> tuple[Path, ...]:
    """Return files without those that Claude Code and OpenClaw keep beside sessions, sessions in which nothing was said, and what SQLite keeps beside databases.

    With `takes_side_files`, only those of SQLite are left out.
    """
    listed = [file for file in files if not database_beside(file)]
    if takes_side_files:
        return tuple(listed)
    known = set(listed)
    folders = {file.parent for file in listed if file.suffix == _ENDING}
    return tuple(file for file in listed if not _is_beside(file, known, folders))


def _is_beside(file: Path, known: set[Path], folders: set[Path]) -> bool:
    if copy := _CHECKPOINT.fullmatch(file.name):
        session = file.with_name(copy[1] + _ENDING)
        return session in known or session.is_file()
    if file.suffix == _ENDING:
        return _is_history(file) or _is_without_messages(file)
    if about := _ABOUT_AGENT.fullmatch(file.name):
        beside = file.with_name(about[1] + _ENDING)
        is_beside = file.parent.name == _SUB_AGENTS or beside in known or beside.is_file()
        return is_beside or _is_object_with(file, {"agentType", "description"})
    if file.name == _INDEX:
        return file.parent in folders or _is_object_with(file, {"version", "entries"})
    if file.parent.name != _RESULTS:
        return False
    session = file.parent.parent
    of_session = session.with_name(session.name + _ENDING)
    return of_session in known or of_session.is_file() or bool(_is_session_id(session.name))


def _is_object_with(file: Path, some: set[str]) -> bool:
    """Return whether a file is an object with some of these fields, and is no case."""
    try:
        held = object_of(json_in(part(file, 0, _SMALL_BYTES)))
    except ValueError:
        return False
    return not some.isdisjoint(held) and _CASE_ID not in held


def _is_history(file: Path) -> bool:
    head = part(file, 0, _HEAD_BYTES) if file.name == _HISTORY else b""
    if b'"display"' not in head:
        return False
    lines = part(file, 0, _SMALL_BYTES)
    # The last line may be cut off by the limit; all before it are enough.
    whole = lines if len(lines) < _SMALL_BYTES else lines[: lines.rfind(b"\n") + 1]
    return _are_all(whole, lambda line: line.keys() >= _PROMPT and _CASE_ID not in line)


def _is_without_messages(file: Path) -> bool:
    """Return whether a session has lines about itself alone, such as its summary."""
    if not _ABOUT_TYPES.search(part(file, 0, _HEAD_BYTES)):
        return False
    lines = part(file, 0, _SMALL_BYTES)
    return len(lines) < _SMALL_BYTES and _are_all(lines, _is_about_session)


def _is_about_session(line: dict[str, Any]) -> bool:
    own = _ABOUT_SESSION.get(word_of(line.get("type")))
    return own is not None and line.keys() >= own and line.keys() <= own | _MORE_FIELDS


def _are_all(lines: bytes, fits: Callable[[dict[str, Any]], bool]) -> bool:
    """Return whether there are lines, and each is an object that fits."""
    rows = list(filter(None, map(bytes.strip, lines.split(b"\n"))))
    try:
        return bool(rows) and all(fits(object_of(json_in(row))) for row in rows)
    except ValueError:
        return False


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
    if name is None or opening.get("isSidechain") is not True or _CASE_ID in opening:
        return
    file = f"{name}{_ENDING}"
    yield agent.parent / file
    for folder in agent.parents:
        if folder.name == name:
            yield folder.parent / file


def _is_read_as_one(group: FileGroup) -> bool:
    """Return whether the first file has lines of the session that it is named after, and all files fit in one document."""
    name = group.path.name.removesuffix(_ENDING)
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
        return f'"{session}"'.encode() in line and f'"{_CASE_ID}"'.encode() not in line
    return held.get("sessionId") == session and _CASE_ID not in held
