"""Logs with something before the JSON of each line: it is left out, and a note says what."""

from __future__ import annotations

import json
import re

import pytest

from weighbridge.settings import Settings
from weighbridge_producer.input.files.line_prefixes import without_prefix
from weighbridge_producer.input.source import Source
from weighbridge_producer.input.source_lines import LineBlock, SourceLine

ROWS = [b'{"a": 1}\n', b'{"a": [2]}\n', b"\n"]


def read(rows):
    told = []
    lines = without_prefix(iter([SourceLine(row, None, len(row)) for row in rows]), told.append)
    return [line.raw for line in lines], told


@pytest.mark.parametrize(
    ("prefixes", "told"),
    [
        ((b"[stdout] ",) * 3, "[stdout]"),
        ((b"agent-1  | ",) * 3, "agent-1  |"),
        ((b"[pod/agent-7d/main] ",) * 3, "[pod/agent-7d/main]"),
        (
            (b"2026-03-04T10:00:00Z ", b"2026-03-04T10:00:00.123456789Z ", b"2026-03-04 10:00:01 "),
            "2026-03-04T10:00:00Z",
        ),
        (
            (b"2026-03-04T10:00:00.1Z stdout F ", b"2026-03-05T10:00:00.2Z stdout F ") * 2,
            "2026-03-04T10:00:00.1Z stdout F",
        ),
        ((b"[2026-03-04 10:00:00,123] [agent] ",) * 3, "[2026-03-04 10:00:00,123] [agent]"),
    ],
)
def test_what_stands_before_each_line_is_left_out(prefixes, told):
    rows = [prefix + row for prefix, row in zip(prefixes, ROWS, strict=False)]
    assert read([b"\n", *rows]) == ([b"\n", *ROWS], [told])


def test_a_line_of_another_program_is_left_as_it_is():
    rows = [b"[stdout] " + ROWS[0], b"[stderr] oops\n", b"[stdout]\n", b'{"b": 1}\n']
    assert read(rows) == ([ROWS[0], b"[stderr] oops\n", b"\n", b'{"b": 1}\n'], ["[stdout]"])


@pytest.mark.parametrize(
    "first", [b'{"a": 1}\n', b"[1, 2]\n", b"[true]\n", b"[stdout] text\n", b"a | b\n", b"\n"]
)
def test_other_files_are_left_as_they_are(first):
    rows = [first, b'[stdout] {"a": 1}\n']
    assert read(rows)[0][0] == first
    if first.strip():
        assert read(rows) == (rows, [])


def test_lines_that_are_read_in_blocks_are_too():
    rows = [b"[stdout] " + row for row in ROWS]
    lines = without_prefix(iter([LineBlock.of(b"".join(rows))]), lambda _: None)
    assert [line.raw for line in lines] == ROWS


def test_a_note_says_what_was_left_out(tmp_path):
    said = [{"role": "user", "content": "x?"}, {"role": "assistant", "content": "x"}]
    file = tmp_path / "agent.log"
    file.write_text("".join(f"[stdout] {json.dumps(each)}\n" for each in said))
    source = Source(str(file), Settings())
    [line] = [each for each in source if each.raw.strip()]
    assert line.fault is None
    assert json.loads(line.raw)["inputs"]["trace"]
    assert "'[stdout]'" in " ".join(source.notes.notes())


def test_a_log_without_json_in_its_first_line_is_one_error(tmp_path):
    file = tmp_path / "agent.log"
    file.write_text("".join(f"[log] begins {number}\n" for number in range(30)))
    [line] = [each for each in Source(str(file), Settings()) if each.raw.strip() or each.fault]
    assert re.search(r"word in brackets.*", line.fault.message)
    assert "grep -o" in line.fault.hint
