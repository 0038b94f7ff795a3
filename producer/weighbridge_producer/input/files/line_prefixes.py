"""Logs in which something stands before the JSON of each line: the stream (`[stdout] `), a container's name, or a time."""

from __future__ import annotations

import re
from itertools import chain
from typing import TYPE_CHECKING

from weighbridge.jobs.line import JSON_SPACE
from weighbridge_producer.input.source_lines import SourceLine

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_TIME = rb"\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?\]?:?[ \t]+"
_TAG = (
    rb"\[[A-Za-z][\w.:/-]{0,100}\][ \t]+"  #: as `kubectl logs --prefix` and many programs write it
)
_CONTAINER = rb"[A-Za-z][\w.-]{0,100}[ \t]+\|[ \t]+"  #: of `docker compose logs`
_WHOLE_LINE = rb"(?:stdout|stderr) F "  #: of the Container Runtime Interface, after the time
_PART = re.compile(rb"%b|%b|%b|%b" % (_TIME, _TAG, _CONTAINER, _WHOLE_LINE))
_PARTS_LIMIT = 3
_PREFIX = re.compile(rb"(?:%b){1,%d}(?=\{)" % (_PART.pattern, _PARTS_LIMIT))
_TAGGED = re.compile(_TAG + rb"\S")


def begins_with_tag(raw: bytes) -> bool:
    """Return whether a line begins with a word in brackets, which is no array of JSON."""
    return _TAGGED.match(raw) is not None


def without_prefix(
    lines: Iterator[SourceLine], on_prefix: Callable[[str], None]
) -> Iterator[SourceLine]:
    """Return lines without what stands before the JSON of the first one, if that is the prefix of a log.

    It is removed from each line that begins with the same words, and with any time in its place; other lines are unchanged.
    `on_prefix` is called with the first prefix.
    """
    read: list[SourceLine] = []
    for line in lines:
        read.append(line)
        if line.fault or line.raw.strip(JSON_SPACE):
            break
    every = chain(read, lines)
    first = next(iter(read[-1].lines())) if read else SourceLine(b"")
    found = _PREFIX.match(first.raw)
    if found is None:
        return every
    on_prefix(found[0].decode(errors="replace").strip())
    return _stripped(every, _like(found[0]))


def _stripped(lines: Iterator[SourceLine], prefix: re.Pattern[bytes]) -> Iterator[SourceLine]:
    for line in (each for read in lines for each in read.lines()):
        found = prefix.match(line.raw)
        yield SourceLine(line.raw[found.end() :], line.fault, line.size) if found else line


def _like(prefix: bytes) -> re.Pattern[bytes]:
    """Return the pattern of prefixes with the same words as one; nothing but blanks may follow instead of JSON."""
    parts = [
        _TIME if re.fullmatch(_TIME, part) else re.escape(part.rstrip()) + rb"(?:[ \t]+|(?=\r?\n))"
        for part in _PART.findall(prefix)
    ]
    return re.compile(b"".join(parts))
