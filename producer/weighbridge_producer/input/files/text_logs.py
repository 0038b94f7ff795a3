"""Logs of agents that are text: each session of a history of aider or SpecStory becomes one line, and so does the whole of another log."""

from __future__ import annotations

from itertools import chain, islice
from typing import TYPE_CHECKING

import orjson

from weighbridge.jobs.line import JSON_SPACE
from weighbridge.traces.formats import specstory_parts
from weighbridge.traces.formats.aider import (
    KEY,
    SESSION,
    begins_session,
    has_dialogue,
    with_starts,
)
from weighbridge.traces.text_logs import OPENING_BYTES, key_of_log
from weighbridge_producer.input.source_lines import SourceLine, length_fault

if TYPE_CHECKING:
    from collections.abc import Iterator

    from weighbridge.errors import Fault

_START = SESSION.encode()
_FIRST_LINES = 20  #: of which one begins a session; the others before it are empty
_LINES_BELOW_HEADING = 3  #: that are read to recognise a log
_HEADING = b"# "  #: begins logs that only the next line with content tells from other Markdown


def with_sessions_as_lines(lines: Iterator[SourceLine], limit_bytes: int) -> Iterator[SourceLine]:
    """Return the lines of a file, or one line for each session if it is a history of aider or SpecStory, or one for a whole log.

    A session of more than `limit_bytes`, or with a line that is a fault, becomes a fault. One in which nothing was typed or
    answered becomes a blank line.
    """
    read: list[SourceLine] = []
    for line in islice(lines, _FIRST_LINES):
        read.append(line)
        if line.fault or line.raw.strip(JSON_SPACE):
            break
    if read and _begins_session(read[-1]):
        return _sessions(chain(read, lines), limit_bytes)
    opening = read[-1:]
    if read and read[-1].raw.startswith(_HEADING):
        opening += islice(lines, _LINES_BELOW_HEADING)
    every = chain(read, opening[1:], lines)
    key = _key_of_log(b"".join(line.raw for line in opening))
    return _log(every, key, limit_bytes) if key else every


def begins_text_log(opening: bytes) -> bool:
    """Return whether the first lines with content are those of a log which is text."""
    first = SourceLine(opening.split(b"\n", 1)[0])
    return _begins_session(first) or _key_of_log(opening) is not None


def _begins_session(line: SourceLine) -> bool:
    return line.raw.startswith(_START) and begins_session(line.raw.decode(errors="replace"))


def _key_of_log(opening: bytes) -> str | None:
    """Return the key under which a log stands as JSON, by its first lines; None for other files."""
    return key_of_log(opening[:OPENING_BYTES].decode(errors="replace"))


def _log(lines: Iterator[SourceLine], key: str, limit_bytes: int) -> Iterator[SourceLine]:
    held: list[bytes] = []
    size, fault = 0, None
    for line in lines:
        size += line.size
        fault = fault or line.fault
        if size <= limit_bytes:
            held.append(line.raw)
    text = b"".join(held).decode(errors="replace")
    if key != specstory_parts.KEY or fault or size > limit_bytes:
        yield _line(key, text, size, fault, limit_bytes)
        return
    for session in specstory_parts.sessions_in(text):
        yield _line(key, session, size, None, limit_bytes)
        size = 0  # of all sessions, it is counted once


def _sessions(lines: Iterator[SourceLine], limit_bytes: int) -> Iterator[SourceLine]:
    held: list[bytes] = []
    size, fault = 0, None
    every = (each for read in lines for each in read.lines())
    for line, begins in with_starts(every, _text_of):
        if begins and size:
            yield _session(held, size, fault, limit_bytes)
            held, size, fault = [], 0, None
        size += line.size
        fault = fault or line.fault
        if size <= limit_bytes:
            held.append(line.raw)
    yield _session(held, size, fault, limit_bytes)


def _text_of(line: SourceLine) -> str:
    return line.raw.decode(errors="replace")


def _session(held: list[bytes], size: int, fault: Fault | None, limit_bytes: int) -> SourceLine:
    text = b"".join(held).decode(errors="replace")
    if not (fault or size > limit_bytes or has_dialogue(text)):
        return SourceLine(b"\n", None, size)
    return _line(KEY, text, size, fault, limit_bytes)


def _line(key: str, text: str, size: int, fault: Fault | None, limit_bytes: int) -> SourceLine:
    """Return a text under a key of an object, or a fault if a part of it cannot be read or it is too long."""
    fault = fault or (length_fault(size, limit_bytes) if size > limit_bytes else None)
    if fault:
        return SourceLine(b"\n", fault, size)
    line = orjson.dumps({key: text}, option=orjson.OPT_APPEND_NEWLINE)
    if len(line) > limit_bytes:
        return SourceLine(b"\n", length_fault(len(line), limit_bytes), size)
    return SourceLine(line, None, size)
