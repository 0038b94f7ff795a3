"""Logs that are text: a line for each session of aider's chats, or for a whole log, and other files are unchanged."""

from __future__ import annotations

import json

import pytest

from support.trace_examples.command_line_agents import AIDER, AIDER_HISTORY, AIDER_LOG
from support.trace_examples.editor_agents import CURSOR_EXPORT, OPENCODE_EXPORT, SPECSTORY_HISTORY
from support.trace_examples.multi_agent_frameworks import CHATDEV_LOG
from weighbridge.errors import Fault
from weighbridge.jobs.error_codes import ErrorCode
from weighbridge_producer.input.files.text_logs import with_sessions_as_lines
from weighbridge_producer.input.source_lines import LineBlock, SourceLine

LIMIT = 100_000
IDLE = b"# aider chat started at 2026-03-02 10:00:00\n\n> aider v0.86  \n\n"


def lines_of(text):
    return [SourceLine(line, None, len(line)) for line in text.splitlines(keepends=True)]


def read(lines, limit=LIMIT):
    return list(with_sessions_as_lines(iter(lines), limit))


def test_each_session_is_a_line_and_an_idle_one_is_blank():
    text = AIDER_HISTORY.lstrip().encode() + b"\n" + IDLE + AIDER_HISTORY.lstrip().encode()
    first, idle, second = read(lines_of(text))
    assert json.loads(first.raw)["aider_chat"].strip() == AIDER["aider_chat"].strip()
    assert json.loads(second.raw)["aider_chat"].strip() == AIDER["aider_chat"].strip()
    assert (idle.raw, idle.fault) == (b"\n", None)
    assert first.size + idle.size + second.size == len(text)


def test_a_line_in_an_answer_begins_no_session():
    quoted = b"Then:\n\n# aider chat started at 2026-03-02 10:00:00\n\n> aider v0.86  \n\nit"
    text = AIDER_HISTORY.encode().lstrip().replace(b"Then it", quoted)
    assert text.count(b"# aider chat started") == 2
    [line] = read(lines_of(text))
    assert json.loads(line.raw) == {"aider_chat": text.decode()}
    first, second = read(lines_of(text + b"\n" + text))
    assert (first.size, second.size) == (len(text) + 1, len(text))


def test_lines_may_come_in_blocks():
    text = AIDER_HISTORY.encode() + IDLE
    start, *_ = lines_of(text[1:])
    whole = [SourceLine(b"\n", None, 1), start, LineBlock.of(text[1 + len(start.raw) :])]
    assert read(whole) == read(lines_of(text))


def test_other_files_are_left_as_they_are():
    for text in (
        b'{"a": 1}\n',
        b"# Notes\n\n# aider chat started at noon\n",
        b"# Find x\n",
        b"# Find x\n_Exported on 1/2_\n",
        b"\n\n",
        b"",
    ):
        lines = lines_of(text)
        assert read(lines) == lines


def test_a_session_over_the_limit_is_a_fault_and_the_next_is_read():
    long = AIDER_HISTORY.replace("Then", "Then " * 1_000).encode()
    fault, line = read(lines_of(long.lstrip() + b"\n" + AIDER_HISTORY.encode().lstrip()), 3_000)
    assert fault.fault is not None
    assert fault.fault.code == ErrorCode.LINE_TOO_LONG
    assert json.loads(line.raw)["aider_chat"].strip() == AIDER["aider_chat"].strip()


def test_a_session_with_a_line_that_cannot_be_read_is_one_fault():
    text = AIDER_HISTORY.lstrip().encode()
    fault = Fault(ErrorCode.LINE_TOO_LONG, "too long", "cut it")
    broken = [*lines_of(text), SourceLine(b"\n", fault, 5_000), *lines_of(b"> more\n\n")]
    first, second = read([*broken, *lines_of(text)])
    assert (first.fault, first.size) == (fault, len(text) + 5_008)
    assert json.loads(second.raw)["aider_chat"].strip() == AIDER["aider_chat"].strip()


@pytest.mark.parametrize(
    ("key", "log"),
    [
        ("aider_llm_history", AIDER_LOG),
        ("chatdev_log", CHATDEV_LOG),
        ("specstory_history", SPECSTORY_HISTORY),
        ("cursor_export", CURSOR_EXPORT),
        ("cursor_export", CURSOR_EXPORT.replace("x\n_", "x\n\n_", 1)),
        ("opencode_export", OPENCODE_EXPORT),
    ],
)
def test_a_whole_log_is_one_line(key, log):
    text = log.encode()
    [line] = read(lines_of(text))
    assert json.loads(line.raw) == {key: log}
    assert line.size == len(text)
    [line] = read(lines_of(text), limit=100)
    assert line.fault
    assert line.fault.code == ErrorCode.LINE_TOO_LONG


def test_each_session_of_a_history_of_specstory_is_a_line():
    history = SPECSTORY_HISTORY.replace("Claude Code", "cursor")
    text = (history * 2).encode()
    first, second = read(lines_of(text))
    assert json.loads(first.raw) == {"specstory_history": history.removesuffix("\n")}
    assert json.loads(second.raw) == {"specstory_history": history}
    assert (first.size, second.size) == (len(text), 0)


def test_a_history_of_the_command_line_of_specstory_is_one_session():
    [line] = read(lines_of((SPECSTORY_HISTORY * 2).encode()))
    assert json.loads(line.raw) == {"specstory_history": SPECSTORY_HISTORY * 2}
