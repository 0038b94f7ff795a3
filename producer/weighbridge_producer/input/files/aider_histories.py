"""aider's chat histories as input: each session in the Markdown becomes one line."""

from __future__ import annotations

from itertools import chain, islice
from typing import TYPE_CHECKING

import orjson

from weighbridge.jobs.line import JSON_SPACE
from weighbridge.traces.formats.aider import KEY, SESSION, has_dialogue
from weighbridge_producer.input.source_lines import SourceLine, length_fault

if TYPE_CHECKING:
    from collections.abc import Iterator

_START = SESSION.encode()
_FIRST_LINES = 20  #: of which one begins a session; the others before it are empty


def with_sessions_as_lines(lines: Iterator[SourceLine], limit_bytes: int) -> Iterator[SourceLine]:
    """Return the lines of a file, or one line for each session if it is a history of aider's chats.

    A session of more than `limit_bytes` becomes a fault, and one in which nothing was typed or answered a blank line.
    """
    read: list[SourceLine] = []
    for line in islice(lines, _FIRST_LINES):
        read.append(line)
        if line.fault or line.raw.strip(JSON_SPACE):
            break
    every = chain(read, lines)
    return _sessions(every, limit_bytes) if read and read[-1].raw.startswith(_START) else every


def _sessions(lines: Iterator[SourceLine], limit_bytes: int) -> Iterator[SourceLine]:
    held: list[bytes] = []
    size = 0
    for line in (each for read in lines for each in read.lines()):
        if line.raw.startswith(_START) and held:
            yield _session(held, size, limit_bytes)
            held, size = [], 0
        if line.fault:
            yield line
            continue
        size += line.size
        if size <= limit_bytes or not held:
            held.append(line.raw)
    yield _session(held, size, limit_bytes)


def _session(held: list[bytes], size: int, limit_bytes: int) -> SourceLine:
    if size > limit_bytes:
        return SourceLine(b"\n", length_fault(size, limit_bytes), size)
    text = b"".join(held).decode(errors="replace")
    if not has_dialogue(text):
        return SourceLine(b"\n", None, size)
    line = orjson.dumps({KEY: text}, option=orjson.OPT_APPEND_NEWLINE)
    if len(line) > limit_bytes:
        return SourceLine(b"\n", length_fault(len(line), limit_bytes), size)
    return SourceLine(line, None, size)
