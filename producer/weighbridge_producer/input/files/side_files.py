"""Files that SQLite and agents keep beside databases and sessions, and that have no run of their own."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weighbridge.settings import MIB
from weighbridge.traces.fields import json_in, object_of, word_of
from weighbridge_producer.input.files.databases.sqlite_file import database_beside
from weighbridge_producer.input.files.file_groups import part
from weighbridge_producer.input.files.sub_agents import CASE_ID, SESSION_ENDING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

#: The name of a copy that OpenClaw makes of a session before it sums it up.
_CHECKPOINT = re.compile(
    r"(.{1,200})\.checkpoint\.[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\.jsonl"
)
_ABOUT_AGENT = re.compile(r"(agent-[\w-]{1,100})\.meta\.json")
_INDEX = "sessions-index.json"
_SUB_AGENTS = "subagents"  #: a folder, in the folder of a session
_RESULTS = "tool-results"  #: a folder, in the folder of a session, of long results that its lines have shortened
_is_session_id = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}").fullmatch
_SMALL_BYTES = 4 * MIB  #: limit of a file that may be beside sessions
_HEAD_BYTES = 2048  #: beginning of a file, which shows whether the rest is read
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
#: of each line of a history of prompts of Claude Code
_PROMPT = frozenset({"display", "pastedContents", "project"})
_HISTORY = "history.jsonl"
_CODEX_PROMPT = frozenset({"session_id", "ts", "text"})  #: all keys of each line of Codex's
#: All keys of each prompt in the list of Gemini CLI.
_GEMINI_PROMPT = frozenset({"sessionId", "messageId", "timestamp", "type", "message"})
_GEMINI_PROMPTS = "logs.json"


def without_database_files(files: Iterable[Path]) -> tuple[Path, ...]:
    """Return files without those that SQLite keeps beside databases."""
    return tuple(file for file in files if not database_beside(file))


def without_agent_files(files: Iterable[Path]) -> tuple[Path, ...]:
    """Return files without those that agents keep beside their sessions, and without sessions that have no message."""
    listed = tuple(files)
    known = _Files(listed)
    return tuple(
        file
        for file in listed
        if not (
            _is_of_openclaw(file, known)
            or _is_of_claude_code(file, known)
            or _is_list_of_prompts(file)
        )
    )


class _Files:
    """The files among which others may be side files."""

    def __init__(self, files: Iterable[Path]) -> None:
        self._files = set(files)
        #: Folders that have sessions.
        self.folders = {file.parent for file in self._files if file.suffix == SESSION_ENDING}

    def has(self, session: Path) -> bool:
        """Return whether a session is one of the files, or lies beside them."""
        return session in self._files or session.is_file()


def _is_of_openclaw(file: Path, known: _Files) -> bool:
    """Return whether a file is a copy that OpenClaw made of a session that is there."""
    copy = _CHECKPOINT.fullmatch(file.name)
    return copy is not None and known.has(file.with_name(copy[1] + SESSION_ENDING))


def _is_of_claude_code(file: Path, known: _Files) -> bool:
    """Return whether a file is one of those that Claude Code writes beside sessions, or a session without messages.

    They are the list of a project's sessions, descriptions of sub-agents, and long results.
    """
    if file.suffix == SESSION_ENDING:
        return _is_without_messages(file)
    if about := _ABOUT_AGENT.fullmatch(file.name):
        is_beside = file.parent.name == _SUB_AGENTS or known.has(
            file.with_name(about[1] + SESSION_ENDING)
        )
        return is_beside or _is_object_with(file, {"agentType", "description"})
    if file.name == _INDEX:
        return file.parent in known.folders or _is_object_with(file, {"version", "entries"})
    if file.parent.name != _RESULTS:
        return False
    session = file.parent.parent
    is_known = known.has(session.with_name(session.name + SESSION_ENDING))
    return is_known or bool(_is_session_id(session.name))


def _is_object_with(file: Path, some: set[str]) -> bool:
    """Return whether a file is an object with some of these fields, and is no case."""
    try:
        held = object_of(json_in(part(file, 0, _SMALL_BYTES)))
    except ValueError:
        return False
    return not some.isdisjoint(held) and CASE_ID not in held


def _is_list_of_prompts(file: Path) -> bool:
    """Return whether a file has the user's prompts alone, as Claude Code, Codex and Gemini CLI keep them for their input line."""
    if file.name == _GEMINI_PROMPTS:
        whole = part(file, 0, _SMALL_BYTES)
        return len(whole) < _SMALL_BYTES and _are_prompts_of_gemini(whole)
    head = part(file, 0, _HEAD_BYTES) if file.name == _HISTORY else b""
    if b'"display"' not in head and b'"session_id"' not in head:
        return False
    lines = part(file, 0, _SMALL_BYTES)
    # The last line may be cut off by the limit; all before it are enough.
    whole = lines if len(lines) < _SMALL_BYTES else lines[: lines.rfind(b"\n") + 1]
    return _are_all(whole, _is_prompt)


def _is_prompt(line: dict[str, Any]) -> bool:
    is_of_claude_code = line.keys() >= _PROMPT and CASE_ID not in line
    return is_of_claude_code or line.keys() == _CODEX_PROMPT


def _are_prompts_of_gemini(content: bytes) -> bool:
    try:
        listed = json_in(content)
    except ValueError:
        return False
    return (
        type(listed) is list
        and bool(listed)
        and all(object_of(each).keys() == _GEMINI_PROMPT for each in listed)
    )


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
