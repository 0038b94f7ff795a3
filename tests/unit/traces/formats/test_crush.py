"""Crush's sessions: rows of messages with parts, and the session's cost."""

from __future__ import annotations

import json

import pytest

from support.trace_examples.command_line_agents import CRUSH
from weighbridge.traces import Step, read_trace, read_traces
from weighbridge.traces.split import opens_session, single_traces

NOON = 1735732800 * 10**9


def at(second):
    return NOON + second * 10**9


def test_messages_of_a_session_and_of_those_that_it_started_become_steps():
    trace = read_trace(CRUSH)
    assert (trace.format, trace.id, trace.cost_usd) == ("crush", "s", 0.5)
    calls = {
        "type": "tool",
        "parent_id": "ms1",
        "name": "search",
        "started_at": at(2),
        "ended_at": at(3),
    }
    times = {"started_at": at(4), "ended_at": at(5)}
    assert trace.steps == (
        Step(id="ms0", type="user", output="Find x.", started_at=at(0)),
        Step(id="ms1", type="llm", output="I search.", model="m", finish_reason="tool_call", started_at=at(1), ended_at=at(2)),
        Step(id="c1", arguments={"q": "x"}, output="none", error="none", **calls),
        Step(id="c2", arguments={}, output="Nothing.", **calls),
        Step(id="mc22", type="llm", output="Nothing.", model="m", started_at=at(2), ended_at=at(3)),
        Step(id="ms4", type="llm", model="m", finish_reason="error", error="busy: later", **times),
    )  # fmt: skip
    assert trace.metadata == {"title": "Find x", "sub_sessions": 1}
    assert trace.missing.keys() == {"token_usage", "tool_definitions"}
    assert trace.not_carried == ("parts of the model's reasoning (1)",)


def test_rows_of_messages_alone_are_a_trace_for_each_session_without_cost():
    rows = CRUSH["rows"]
    traces = read_traces(rows)
    assert [(trace.format, trace.id, len(trace.steps)) for trace in traces] == [
        ("crush", "s", 5),
        ("crush", "c2", 1),
    ]
    assert "cost" in traces[0].missing
    assert [name for name, _ in single_traces(rows)] == ["s", "c2"]
    assert opens_session(rows[0])


def test_a_cost_of_zero_is_not_known():
    trace = read_trace({**CRUSH, "session": {**CRUSH["session"], "cost": 0.0}})
    assert trace.cost_usd is None
    assert "no price" in trace.missing["cost"]


def test_a_damaged_row_leaves_lower_bounds():
    rows = [*CRUSH["rows"], {**CRUSH["rows"][1], "parts": '[{"type":'}]
    assert "tool_calls" in read_trace({**CRUSH, "rows": rows}).missing
    rows = [*CRUSH["rows"] * 10, {**CRUSH["rows"][1], "role": None}]
    assert "tool_calls" in read_trace({**CRUSH, "rows": rows}).missing


def test_messages_with_other_parts_are_not_of_crush():
    rows = [
        {"session_id": "s", "role": "user", "parts": json.dumps([{"type": "text", "text": "x"}])}
    ]
    assert read_trace(rows).format == "openai-chat"


def test_calls_of_one_id_take_their_results_in_order():
    call = {"type": "tool_call", "data": {"id": "c", "name": "write", "input": "{}"}}
    told = (("written", False), ("already there", True), ("already there", True))
    results = [
        {"type": "tool_result", "data": {"tool_call_id": "c", "content": said, "is_error": failed}}
        for said, failed in told
    ]
    rows = [
        {"session_id": "s", "role": role, "created_at": at, "parts": json.dumps(parts)}
        for at, (role, parts) in enumerate([("assistant", [call, call]), ("tool", results)])
    ]
    trace = read_trace(rows)
    assert [(step.output, step.error) for step in trace.steps_of("tool")] == [
        ("written", None),
        ("already there", "already there"),
    ]
    assert trace.not_carried == ("repeated results (1)",)


@pytest.mark.parametrize(
    ("tool", "content", "error"),
    [
        ("bash", "no such file\n\nExit code 2\n\n<cwd>/w</cwd>", "Exit code 2"),
        ("bash", "Exit code 101", "Exit code 101"),
        ("job_output", "stopped\nExit code -1\n", "Exit code -1"),
        ("bash", "ok\nExit code 0\n\n<cwd>/w</cwd>", None),
        ("bash", "Exit code 1\nis what the page explains", None),
        ("bash", "prints Exit code 1", None),
        ("view", "Exit code 1", None),
    ],
)
@pytest.mark.parametrize("names_tool", [True, False])
def test_a_command_failed_if_its_result_ends_in_an_exit_code(tool, content, error, names_tool):
    call = {"type": "tool_call", "data": {"id": "c", "name": tool, "input": "{}"}}
    told = {"tool_call_id": "c", "name": tool if names_tool else "", "content": content}
    result = {"type": "tool_result", "data": {**told, "is_error": False}}
    rows = [
        {"session_id": "s", "role": role, "created_at": at, "parts": json.dumps([part])}
        for at, (role, part) in enumerate([("assistant", call), ("tool", result)])
    ]
    (step,) = read_trace(rows).steps_of("tool")
    assert (step.output, step.error) == (content, error)
