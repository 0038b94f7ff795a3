"""Mastra's threads: rows of messages, whose answers are divided into model calls."""

from __future__ import annotations

import json

import pytest

from support.trace_examples.agent_frameworks import MASTRA
from weighbridge.errors import UnknownTraceFormatError
from weighbridge.traces import Step, read_trace, read_traces
from weighbridge.traces.fields import time_of
from weighbridge.traces.split import opens_session, single_traces

ASKED, ANSWERED = MASTRA["rows"]


def at(second):
    return time_of(f"2025-01-01T12:00:0{second}Z")


def answered(*parts, **more):
    """Return the steps of a thread whose answer has these parts."""
    content = {"format": 2, "parts": list(parts), **more}
    return read_trace({**MASTRA, "rows": [ASKED, ANSWERED | {"content": json.dumps(content)}]})


def test_marks_and_text_after_a_result_divide_an_answer_into_model_calls():
    trace = read_trace(MASTRA)
    assert (trace.format, trace.id) == ("mastra", "t1")
    assert trace.steps == (
        Step(id="m0", type="user", output="Find x.", started_at=at(0)),
        Step(id="m4", type="llm", output="I search.", model="m"),
        Step("c1", "tool", "m4", "search", arguments={"q": "x"}, output="none"),
        Step(id="m4#2", type="llm", output="Not there.", model="m", ended_at=at(4)),
    )
    assert trace.metadata == {"title": "Find x", "resource": "u1"}
    assert trace.missing.keys() == {"llm_calls", "token_usage", "cost", "tool_definitions"}
    assert trace.not_carried == ()


def test_rows_of_messages_alone_are_a_trace_for_each_thread():
    rows = [*MASTRA["rows"], ASKED | {"thread_id": "t2"}]
    traces = read_traces(rows)
    assert [(trace.id, len(trace.steps)) for trace in traces] == [("t1", 4), ("t2", 1)]
    assert "llm_calls" not in traces[1].missing
    assert [name for name, _ in single_traces(rows)] == ["t1", "t2"]
    assert opens_session(ASKED)


def test_parts_of_newer_versions_are_read_with_their_errors():
    failed = {"type": "tool-go", "toolCallId": "c2", "state": "output-error", "input": {}, "errorText": "no"}  # fmt: skip
    trace = answered({"type": "step-start"}, failed, {"type": "step-start"}, {"type": "text", "text": "It failed."})  # fmt: skip
    assert [(step.type, step.name, step.error) for step in trace.steps[1:]] == [
        ("llm", None, None),
        ("tool", "go", "no"),
        ("llm", None, None),
    ]


def test_calls_that_are_only_beside_the_parts_count():
    call = {"state": "result", "toolCallId": "c3", "toolName": "go", "args": {}, "result": 1}
    trace = answered({"type": "text", "text": "I go."}, toolInvocations=[call])
    assert [step.name for step in trace.steps_of("tool")] == ["go"]


def test_rows_of_the_first_version_have_the_content_of_model_messages():
    call = [{"type": "tool-call", "toolCallId": "c4", "toolName": "go", "args": {"to": "x"}}]
    result = [{"type": "tool-result", "toolCallId": "c4", "toolName": "go", "result": "there"}]
    rows = [
        ASKED | {"content": "Go.", "type": "text"},
        ANSWERED | {"content": json.dumps(call), "type": "tool-call"},
        ANSWERED | {"id": "m5", "role": "tool", "content": json.dumps(result), "type": "tool-result"},
        ANSWERED | {"id": "m6", "content": "I am there.", "type": "text"},
    ]  # fmt: skip
    trace = read_trace({**MASTRA, "rows": rows})
    assert [(step.type, step.name, step.output) for step in trace.steps] == [
        ("user", None, "Go."),
        ("llm", None, None),
        ("tool", "go", "there"),
        ("llm", None, "I am there."),
    ]


@pytest.mark.parametrize(
    "damage",
    [
        *({"role": None}, {"role": ""}, {"content": None}, {"content": 5}),
        {"content": json.dumps({"format": 9, "blocks": []})},
    ],
)
def test_a_damaged_row_leaves_lower_bounds(damage):
    asked = [ASKED | {"id": f"q{number}"} for number in range(20)]
    trace = read_trace({**MASTRA, "rows": [*asked, ANSWERED, ANSWERED | damage]})
    assert len(trace.steps) == 23
    assert {"llm_calls", "tool_calls"} <= trace.missing.keys()


def test_a_users_signals_are_the_users_messages():
    signals = [ASKED | {"role": "signal", "type": "user"}]
    trace = read_trace({**MASTRA, "rows": [*signals, ANSWERED]})
    assert trace.steps == read_trace(MASTRA).steps
    assert trace.not_carried == ()
    assert read_trace([*signals, ANSWERED]).steps == trace.steps


@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize(
    "unknown",
    [
        {"role": "signal", "type": "reminder"},
        {"role": "user", "type": "v9"},
        {"role": "event", "type": "v2"},
        {"role": "event", "type": None},
    ],
)
def test_a_row_of_an_unknown_kind_is_named_and_the_rest_of_the_thread_is_read(unknown, place):
    rows = [*MASTRA["rows"]]
    rows.insert(place, ASKED | {"id": "m9"} | unknown)
    plain, trace = read_trace(MASTRA), read_trace({**MASTRA, "rows": rows})
    assert tuple(step for step in trace.steps if step.id != "m9") == plain.steps
    kind = "user" if unknown["role"] == "user" else "other"
    assert [(step.type, step.output) for step in trace.steps if step.id == "m9"] == [
        (kind, "Find x.")
    ]
    assert trace.not_carried == (f"rows of type '{unknown['role']}/{unknown['type']}' (1)",)
    is_unknown_speaker = unknown["role"] == "event"
    assert ("tool_calls" in trace.missing) == is_unknown_speaker


def test_answers_of_an_unknown_role_leave_lower_bounds_with_their_calls_counted():
    trace = read_trace(
        {**MASTRA, "rows": [*MASTRA["rows"], ANSWERED | {"id": "m9", "role": "agent"}]}
    )
    assert len(trace.steps_of("tool")) == 2
    assert {"llm_calls", "tool_calls", "token_usage"} <= trace.missing.keys()


def test_rows_that_all_are_of_unknown_kinds_are_not_taken_for_mastras():
    row = ASKED | {"role": "event", "type": "v9"}
    with pytest.raises(UnknownTraceFormatError):
        read_trace([row])
