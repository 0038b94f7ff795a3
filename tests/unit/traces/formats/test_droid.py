"""Streams of Factory's droid exec: messages, calls, results, and the completion with the run's tokens."""

from __future__ import annotations

import pytest

from support.trace_examples.command_line_agents import DROID
from weighbridge.traces import Step, Usage, read_trace

NOON = 1_735_732_800 * 10**9  #: 2025-01-01T12:00:00Z
INIT, ASK, _, ANSWER, READ, RUN, READ_RESULT, *_, END = DROID


def test_lines_become_steps():
    trace = read_trace(DROID)
    assert (trace.format, trace.id) == ("droid", "s")
    assert trace.steps == (
        Step(id="m1", type="user", output="Find x.", started_at=NOON),
        Step(id="m2", type="llm", model="m", output="I look.", ended_at=NOON),
        Step(id="c1", type="tool", parent_id="m2", name="Read", arguments={"file_path": "a"}, output="A", started_at=NOON, ended_at=NOON),
        Step(id="c2", type="tool", parent_id="m2", name="Execute", arguments={"command": "grep x"}, output="cancelled", error="cancelled", started_at=NOON, ended_at=NOON),
        Step(id="m4", type="llm", model="m"),
        Step(id="c3", type="tool", parent_id="m4", name="LS", arguments={}, output="no such folder", error="no such folder", started_at=NOON, ended_at=NOON),
        Step(id="m6", type="llm", model="m", output="Not there.", ended_at=NOON),
    )  # fmt: skip
    assert trace.usage == Usage(29, 5, None, 20, 0)
    assert trace.metadata == {"cwd": "/x", "reasoning_effort": "low", "turns": 3}
    assert trace.not_carried == ("parts of the model's reasoning (1)",)


def test_results_without_an_id_answer_the_calls_in_order():
    lines = [{**line, "id": None} if line["type"] == "tool_result" else line for line in DROID]
    outputs = [step.output for step in read_trace(lines).steps_of("tool")]
    assert outputs == ["A", "cancelled", "no such folder"]


def test_the_text_of_the_completion_is_an_answer_where_no_message_has_it():
    assert [step.output for step in read_trace([INIT, ASK, END]).steps] == ["Find x.", "Not there."]


def test_the_text_of_the_completion_is_not_what_was_said_before_a_result():
    lines = [INIT, ASK, ANSWER, READ, READ_RESULT]
    outputs = [step.output for step in read_trace([*lines, END]).steps_of("llm")]
    assert outputs == ["I look.", "Not there."]
    repeated = {**END, "finalText": ANSWER["text"]}
    assert len(read_trace([*lines, repeated]).steps_of("llm")) == 1


def test_a_stream_that_stands_twice_counts_once():
    expected, trace = read_trace(DROID), read_trace(DROID * 2)
    assert (trace.steps, trace.usage) == (expected.steps, expected.usage)
    turns = read_trace([*DROID, {**END, "durationMs": 8}])
    assert turns.usage == Usage(58, 10, 68, 40, 0)
    assert (trace.duration_ms, turns.duration_ms) == (9, None)


def test_an_error_is_not_an_answer_of_the_model():
    said = {**ANSWER, "id": "m9", "text": "no permission"}
    error = {
        "type": "error",
        "source": "cli",
        "message": "no permission",
        "timestamp": 1735732800000,
    }
    for lines in ([INIT, ASK, error], [INIT, ASK, said, error]):
        steps = read_trace(lines).steps
        assert [(step.type, step.error) for step in steps[1:]] == [("other", "no permission")]


def test_a_completion_may_tell_that_the_run_failed():
    failed = {**END, "finalText": "no permission", "isError": True}
    said = {**ANSWER, "id": "m9", "text": "no permission"}
    for lines, kind in (([INIT, ASK, failed], "other"), ([INIT, ASK, said, failed], "llm")):
        steps = read_trace(lines).steps
        assert [(step.type, step.error) for step in steps[1:]] == [(kind, "no permission")]


@pytest.mark.parametrize("again", [READ, ANSWER])
def test_what_stands_twice_counts_once(again):
    lines = [INIT, ASK, ANSWER, READ, again, READ_RESULT]
    assert [step.type for step in read_trace(lines).steps] == ["user", "llm", "tool"]


def test_texts_of_one_id_are_one_answer():
    more = {**ANSWER, "text": "Now."}
    steps = read_trace([INIT, ASK, ANSWER, READ, more, READ_RESULT]).steps
    assert [(step.type, step.output) for step in steps[1:]] == [
        ("llm", "I look.\nNow."),
        ("tool", "A"),
    ]


def test_calls_without_the_id_of_a_message_belong_to_the_answer_before_them():
    lines = [
        {**line, "messageId": None} for line in (INIT, ASK, ANSWER, READ, RUN, READ_RESULT, READ)
    ]
    assert [step.parent_id for step in read_trace(lines).steps_of("tool")] == ["m2", "m2", "s5"]


def test_a_line_of_another_type_that_may_be_a_call_makes_the_calls_incomplete():
    unread = {"type": "mcp_tool_call", "session_id": "s"}
    assert "tool_calls" in read_trace([INIT, ASK, unread, ANSWER, END]).missing
