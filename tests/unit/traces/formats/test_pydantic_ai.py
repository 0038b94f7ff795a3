"""Pydantic AI's message history, in the fields of version 1 and before."""

from __future__ import annotations

import pytest

from support.trace_examples.agent_frameworks import PYDANTIC_AI
from weighbridge.traces import Step, Usage, read_trace
from weighbridge.traces.fields import time_of
from weighbridge.traces.formats.pydantic_ai import IMPORTER
from weighbridge.traces.split import opens_session


def at(second):
    return time_of(f"2025-01-01T12:00:0{second}Z")


def test_requests_and_responses_are_steps():
    trace = read_trace(PYDANTIC_AI)
    assert trace.format == "pydantic-ai"
    calls = {"type": "tool", "parent_id": "s4", "started_at": at(1), "ended_at": at(2)}
    assert trace.steps == (
        Step(id="s1", type="system", output="Be brief."),
        Step(id="s2", type="system", output="You find."),
        Step(id="s3", type="user", output="Find x.", started_at=at(0)),
        Step(id="s4", type="llm", output="I search.", model="m", usage=Usage(5, 2, None, 4), ended_at=at(1)),
        Step(id="c1", name="search", arguments={"q": "x"}, output="some", **calls),
        Step(id="c2", name="read", arguments={}, output="no path", error="no path", **calls),
    )  # fmt: skip
    assert read_trace({"run_id": "r", "all_messages": PYDANTIC_AI}).id == "r"


def test_older_histories_have_other_names_for_tokens_and_arguments():
    call = {"part_kind": "tool-call", "tool_name": "f", "args": {"args_json": '{"a": 1}'}}
    old = {"kind": "response", "parts": [call], "usage": {"request_tokens": 5, "response_tokens": 2, "total_tokens": 7}}  # fmt: skip
    trace = read_trace([PYDANTIC_AI[0], old])
    assert trace.steps_of("llm")[0].usage == Usage(5, 2, 7)
    assert trace.steps_of("tool")[0].arguments == {"a": 1}


def test_messages_may_stand_on_lines_after_the_events_that_they_repeat():
    events = [
        {"event_kind": "part_start", "index": 0, "part": {"part_kind": "text", "content": ""}},
        {"event_kind": "part_delta", "index": 0, "delta": {"content_delta": "I"}},
    ]
    assert all(map(opens_session, [*events, *PYDANTIC_AI]))
    assert not opens_session({"kind": "request", "parts": ["a"]})
    trace = read_trace([*events, *PYDANTIC_AI])
    assert trace.steps == read_trace(PYDANTIC_AI).steps
    assert "events of streamed answers (2)" in trace.not_carried
    assert not IMPORTER.matches(events)


@pytest.mark.parametrize(
    ("outcome", "has_failed"),
    [("success", False), ("failed", True), ("denied", True), ("retried", True), (None, False)],
)
def test_a_call_has_failed_by_the_outcome_of_its_result(outcome, has_failed):
    call = {"part_kind": "tool-call", "tool_name": "f", "args": {}, "tool_call_id": "a"}
    result = {"part_kind": "tool-return", "tool_call_id": "a", "content": "x", "outcome": outcome}
    trace = read_trace([{"kind": "response", "parts": [call]}, {"kind": "request", "parts": [result]}])  # fmt: skip
    [step] = trace.steps_of("tool")
    assert (step.error is not None) is has_failed
