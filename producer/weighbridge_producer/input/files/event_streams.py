"""Server-sent events as input: all events of a recorded stream become one line with a list."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

import orjson

from weighbridge.jobs.line import JSON_SPACE
from weighbridge.traces.event_stream import begins_events, events_in
from weighbridge_producer.input.source_lines import HeldLines, SourceLine

if TYPE_CHECKING:
    from collections.abc import Iterator


def with_events_as_list(lines: Iterator[SourceLine], limit_bytes: int) -> Iterator[SourceLine]:
    """Return the lines of a file, or one line if all are server-sent events of up to `limit_bytes`."""
    first = next(lines, None)
    if first is None:
        return lines
    every = chain((first,), lines)
    may_begin = first.fault or not first.raw.strip(JSON_SPACE) or begins_events(first.raw)
    return _events_as_list(every, limit_bytes) if may_begin else every


def _events_as_list(lines: Iterator[SourceLine], limit_bytes: int) -> Iterator[SourceLine]:
    for line in lines:
        if line.fault or line.raw.strip(JSON_SPACE):
            break
        yield line
    else:
        return
    if line.fault or not begins_events(line.raw):
        yield line
        yield from lines
        return
    read = HeldLines()
    size = 0
    for each in chain([line], lines):
        read.add(each)
        size += each.size
        if each.fault or size > limit_bytes:
            yield from read.lines()
            yield from lines
            return
    events = events_in(read.text().split(b"\n"))
    if events is None:
        yield from read.lines()
    else:
        yield SourceLine(orjson.dumps(events) + b"\n", None, size)
