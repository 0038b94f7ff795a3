"""Folders with a file for each event, message or call of the model of a run, read as one file with a list of them.

OpenHands and its software agent SDK keep runs so, and the session manager of Strands.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from weighbridge_producer.input.files.file_groups import (
    BLOCK_BYTES,
    GROUP_LIMIT_BYTES,
    FileGroup,
    content,
    part,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

_EVENT = re.compile(r"event-(\d{5,20})-[0-9A-Za-z-]{1,80}\.json")  #: of the software agent SDK
_NUMBERED = re.compile(r"(\d{1,20})\.json")  #: of OpenHands itself, in a folder named `events`
_MESSAGE = re.compile(r"message_(\d{1,20})\.json")  #: of an agent in a session of Strands
_FIELDS_OF_MESSAGES = (b'"message"', b'"message_id"')
#: Logged calls of the model, named by the model and the time.
_CALL = re.compile(r".{1,200}-(\d{9,11}\.\d{1,9})(?:-[0-9a-f]{1,8})?\.json")
_FIELDS_OF_CALLS = (b'"response"', b'"kwargs"')
_FOLDER = "events"
_STATE = "base_state.json"  #: beside the folder: the run's state, with the usage of all model calls
_STATE_EVENT = (
    b'{"kind":"ConversationStateUpdateEvent","key":"full_state","value":',
    b"}",
)
_BREAKS = bytes.maketrans(b"\n\r", b"  ")  #: JSON has no raw line breaks in strings
_EDGE_BYTES = 200  #: of the beginning and the end of a file, that show whether it is a logged call


@dataclass(frozen=True)
class EventFolder(FileGroup):
    """A folder of events or calls, read as a list with a line for each; the last of them is the state."""

    state: Path | None  #: the file with the run's state

    def every(self) -> list[Path]:
        """Return the events or calls, and the state."""
        return [*self.files, *([self.state] if self.state else [])]

    def added_bytes(self) -> int:
        """Return the size of the list's separators, and of the event around the state."""
        around = sum(map(len, _STATE_EVENT)) if self.state else 0
        return around + 2 * len(self.every()) + len("\n]\n")

    def blocks(self) -> Iterator[bytes]:
        """Yield the list."""
        for number, file in enumerate(self.files):
            yield b",\n" if number else b"[\n"
            yield from _on_one_line(file)
        if self.state:
            before, after = _STATE_EVENT
            yield b",\n" + before
            yield from _on_one_line(self.state)
            yield after
        yield b"\n]\n"


def _on_one_line(file: Path) -> Iterator[bytes]:
    return (block.translate(_BREAKS) for block in content(file))


def with_event_folders(files: Iterable[Path]) -> tuple[Path | EventFolder, ...]:
    """Return files, with the events of a run, or logged calls, replaced by their folder, and without the run's state."""
    listed = list(files)
    events: dict[Path, list[tuple[int, Path]]] = {}
    for file in listed:
        number = _number(file)
        if number is not None:
            events.setdefault(file.parent, []).append((number, file))
    folders = {
        path: _folder(path, [file for _, file in sorted(found)])
        for path, found in events.items()
        if _EVENT.fullmatch(found[0][1].name) or _is_event(min(found)[1])
    }
    beside = {folder.state for folder in folders.values()}
    beside |= {path for folder in folders.values() for path in _about_agent(folder)}
    folders = _folders_of_calls(listed) | folders
    folder_of = {file: folder for folder in folders.values() for file in folder.files}
    found: dict[Path, Path | EventFolder] = {}
    for file in listed:
        if file in folder_of:
            found.setdefault(file.parent, folder_of[file])
        elif file not in beside:
            found[file] = file
    return tuple(found.values())


def _folders_of_calls(files: Iterable[Path]) -> dict[Path, EventFolder]:
    """Return the folders with several logged calls of the model, each of which repeats the conversation so far."""
    calls: dict[Path, list[tuple[float, Path]]] = {}
    for file in files:
        if (matched := _CALL.fullmatch(file.name)) and _is_call(file):
            calls.setdefault(file.parent, []).append((float(matched[1]), file))
    folders = {}
    for path, found in calls.items():
        if sum(file.stat().st_size for _, file in found) <= GROUP_LIMIT_BYTES:
            answered = [file for _, file in sorted(found) if _is_answered(file)]
            if len(answered) > 1:
                folders[path] = EventFolder(path, tuple(answered), None)
    return folders


def _folder(path: Path, files: list[Path]) -> EventFolder:
    state = path.parent / _STATE
    return EventFolder(path, tuple(files), state if state.is_file() else None)


def _number(file: Path) -> int | None:
    """Return the number of the event in a file by the file's name; None if it is of no event."""
    form = _NUMBERED if file.parent.name == _FOLDER else _MESSAGE
    matched = _EVENT.fullmatch(file.name) or form.fullmatch(file.name)
    return int(matched[1]) if matched else None


def _about_agent(folder: EventFolder) -> Iterator[Path]:
    """Yield the files that describe the agent of a folder of messages, and its session."""
    if _MESSAGE.fullmatch(folder.files[0].name):
        agent = folder.path.parent
        yield agent / "agent.json"
        yield agent.parent.parent / "session.json"


def _is_event(file: Path) -> bool:
    """Return whether a file begins like an event, or is a message: a file's name alone proves nothing."""
    if _MESSAGE.fullmatch(file.name):
        return _has_fields(file, _FIELDS_OF_MESSAGES)
    head = part(file, 0, BLOCK_BYTES)
    return b'"source"' in head and (b'"action"' in head or b'"observation"' in head)


def _is_call(file: Path) -> bool:
    """Return whether a file begins and ends like a logged call of the model: one that is cut off is read alone."""
    head, tail = part(file, 0, _EDGE_BYTES), part(file, -_EDGE_BYTES, _EDGE_BYTES)
    begins = head.replace(b" ", b"").replace(b"\n", b"").startswith(b'{"messages":[{')
    return begins and tail.rstrip().endswith(b"}")


def _is_answered(file: Path) -> bool:
    """Return whether a file has the fields of a logged call beside the messages, which any chat may begin with."""
    return _has_fields(file, _FIELDS_OF_CALLS)


def _has_fields(file: Path, fields: Iterable[bytes]) -> bool:
    try:
        whole = file.read_bytes()
    except OSError:
        return False
    return all(field in whole for field in fields)
