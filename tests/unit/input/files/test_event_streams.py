"""Server-sent events as input: a stream is one trace, and other files are unchanged."""

from __future__ import annotations

import json

from support.trace_examples.model_apis import API_STREAM
from weighbridge.errors import Fault
from weighbridge.jobs.error_codes import ErrorCode
from weighbridge_producer.input.files.event_streams import with_events_as_list
from weighbridge_producer.input.source_lines import SourceLine

LIMIT = 100_000


def lines_of(text):
    return [SourceLine(line, None, len(line)) for line in text.splitlines(keepends=True)]


def sent(events):
    return b"".join(b"event: e\ndata: %b\n\n" % json.dumps(each).encode() for each in events)


def read(lines, limit=LIMIT):
    return list(with_events_as_list(iter(lines), limit))


def test_a_recorded_stream_is_one_line_with_its_events_and_all_its_bytes():
    text = b"\n" + sent(API_STREAM) + b"data: [DONE]\n\n"
    blank, line = read(lines_of(text))
    assert json.loads(line.raw) == API_STREAM
    assert blank.size + line.size == len(text)


def test_other_files_and_streams_with_other_lines_in_them_are_left_as_they_are():
    for text in (b'{"a": 1}\n{"b": 2}\n', b"data: {}\nother\n", b"data: {oops}\n\n", b"\n\n", b""):
        lines = lines_of(text)
        assert read(lines) == lines


def test_a_stream_over_the_limit_or_with_a_fault_is_not_held():
    lines = lines_of(sent(API_STREAM * 20))
    assert read(lines, 1_000) == lines
    fault = SourceLine(b"\n", Fault(ErrorCode.INPUT_TOO_LARGE, "too long", "cut it"), 9)
    broken = [*lines[:2], fault, *lines[2:]]
    assert read(broken) == broken
