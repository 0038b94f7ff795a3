"""gemini-cli's sessions, as one document or in lines, and its stream of JSON."""

from __future__ import annotations

from support.trace_examples.command_line_agents import GEMINI_CLI
from weighbridge.traces import Step, Usage, read_trace, read_traces
from weighbridge.traces.fields import time_of
from weighbridge.traces.split import opens_session, single_traces

ABOUT = {key: item for key, item in GEMINI_CLI.items() if key != "messages"}


def at(second):
    return time_of(f"2025-01-01T12:00:0{second}Z")


def test_messages_are_answers_with_their_calls_and_results():
    trace = read_trace(GEMINI_CLI)
    assert (trace.format, trace.id) == ("gemini-cli", "s")
    assert (trace.started_at, trace.ended_at) == (at(0), at(9))
    calls = {"type": "tool", "parent_id": "m2", "started_at": at(2)}
    assert trace.steps == (
        Step(id="m1", type="user", output="Find x.", started_at=at(1)),
        Step(id="m2", type="llm", output="I search.", model="gemini-2", usage=Usage(6, 5, 11, 4), ended_at=at(2)),
        Step(id="c1", name="search", arguments={"q": "x"}, output="some", ended_at=at(3), **calls),
        Step(id="c2", name="read", arguments={}, output={"error": "no"}, error="no", ended_at=at(4), **calls),
    )  # fmt: skip


def test_lines_tell_a_message_again_until_it_is_whole():
    user, answer = GEMINI_CLI["messages"]
    lines = [
        ABOUT,
        user,
        {**answer, "toolCalls": []},
        {**answer, "tokens": None},
        answer,
        {"$set": {"lastUpdated": "2025-01-01T12:00:09Z"}},
    ]
    assert opens_session(ABOUT)
    assert read_trace(lines).steps == read_trace(GEMINI_CLI).steps
    back = [*lines, {"$rewindTo": "m2"}]
    assert len(read_trace(back).steps) == len(read_trace(lines).steps)


def test_a_stream_may_begin_with_the_request_of_a_harness():
    lines = [
        {"type": "message", "role": "user", "content": "Task 7", "ts": "2025-01-01T12:00:00Z"},
        {"type": "init", "session_id": "s", "model": "gemini-2"},
        {"type": "message", "role": "user", "content": "Find x."},
        {"type": "tool_use", "tool_id": "c1", "tool_name": "search", "parameters": {"q": "x"}},
        {"type": "tool_result", "tool_id": "c1", "status": "success", "output": "some"},
    ]
    assert opens_session(lines[0])
    trace = read_trace(lines)
    assert (trace.id, [step.type for step in trace.steps]) == ("s", ["user", "user", "llm", "tool"])
    result = {"type": "result", "status": "success", "stats": {"input_tokens": 9}}
    again = [lines[0], {**lines[1], "session_id": "t"}, *lines[2:]]
    parts = single_traces([*lines, result, *again])
    assert parts == [(None, [*lines, result]), (None, again)]
    assert [trace.id for trace in read_traces([*lines, result, *again])] == ["s", "t"]
    other = {"type": "error", "message": "no network"}
    assert [step.type for step in read_trace([other, *lines]).steps][:2] == ["other", "user"]


def test_a_stream_of_json_joins_the_pieces_of_an_answer():
    lines = [
        {"type": "init", "session_id": "s", "model": "gemini-2", "timestamp": "2025-01-01T12:00:00Z"},
        {"type": "message", "role": "user", "content": "Find x."},
        {"type": "message", "role": "assistant", "content": "I ", "delta": True},
        {"type": "message", "role": "assistant", "content": "search.", "delta": True},
        {"type": "tool_use", "tool_id": "c1", "tool_name": "search", "parameters": {"q": "x"}},
        {"type": "tool_use", "tool_id": "c2", "tool_name": "read", "parameters": {}},
        {"type": "tool_result", "tool_id": "c1", "status": "success", "output": "some"},
        {"type": "tool_result", "tool_id": "c2", "status": "error", "error": {"message": "no"}},
        {"type": "tool_use", "tool_id": "c3", "tool_name": "read", "parameters": {}},
        {"type": "result", "status": "success", "stats": {"input_tokens": 9, "output_tokens": 3, "total_tokens": 12, "cached": 4}},
    ]  # fmt: skip
    assert opens_session(lines[0])
    trace = read_trace(lines)
    assert [(step.type, step.name, step.output, step.error) for step in trace.steps] == [
        ("user", None, "Find x.", None),
        ("llm", None, "I search.", None),
        ("tool", "search", "some", None),
        ("tool", "read", None, "no"),
        ("llm", None, None, None),
        ("tool", "read", None, None),
    ]
    assert (trace.usage, trace.totals_from) == (Usage(9, 3, 12, 4), "stats")
