"""CrewAI's events, each once, and a crew's output, which does not contain its calls."""

from __future__ import annotations

import pytest

from support.trace_examples.multi_agent_frameworks import CREWAI
from weighbridge.errors import UnknownTraceFormatError
from weighbridge.traces import Counts, Step, Usage, read_trace
from weighbridge.traces.fields import time_of


def at(second):
    return time_of(f"2025-01-01T12:00:0{second}")


def test_events_are_model_calls_and_tool_calls_once_each():
    trace = read_trace(CREWAI)
    assert (trace.format, trace.usage) == ("crewai", Usage(None, None, 9))
    assert (trace.started_at, trace.ended_at) == (at(0), at(5))
    assert trace.steps == (
        Step(id="s1", type="user", output="Find x.", started_at=at(1)),
        Step(id="s2", type="llm", name="Finder", output="I search.", model="m", usage=Usage(5, 2, 7), ended_at=at(2)),
        Step(id="call_1", type="tool", parent_id="s2", name="search", arguments={"q": "x"}, output="no", error="no", started_at=at(3), ended_at=at(4)),
    )  # fmt: skip


def test_events_of_other_programs_are_none_of_crewais():
    events = [{"type": kind, "timestamp": 1} for kind in ("task_started", "agent_finished")]
    with pytest.raises(UnknownTraceFormatError):
        read_trace(events)


def test_events_of_unknown_types_are_noted():
    new = {"type": "agent_logs_execution", "timestamp": "2025-01-01T12:00:02", "tool": "f"}
    of_crew = [{**event, "source_fingerprint": None} for event in CREWAI]
    trace = read_trace([new, *of_crew])
    assert trace.steps == read_trace(CREWAI).steps
    assert "events of type 'agent_logs_execution' (1)" in trace.not_carried
    # Without a field of CrewAI's own these may be the events of any program.
    with pytest.raises(UnknownTraceFormatError):
        read_trace([new, {"type": "llm_call_started", "timestamp": 1}])


def test_an_output_tells_how_many_model_calls_there_were_and_misses_its_tool_calls():
    used = {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7, "successful_requests": 3}
    task = {"description": "Find x.", "raw": "x", "agent": "Finder"}
    trace = read_trace({"raw": "x", "tasks_output": [task], "token_usage": used})
    assert (trace.usage, trace.counts) == (Usage(5, 2, 7), Counts(llm_calls=3))
    assert "tool_calls" in trace.missing


def test_an_output_whose_tasks_keep_their_messages_has_its_calls():
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    messages = [
        {"role": "user", "content": "Find x."},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": "some"},
    ]
    trace = read_trace({"raw": "x", "tasks_output": [{"description": "d", "messages": messages}]})
    assert [(step.type, step.output) for step in trace.steps] == [
        ("user", "Find x."),
        ("llm", None),
        ("tool", "some"),
    ]
    assert "tool_calls" not in trace.missing


def test_a_log_of_tasks_has_the_outputs_of_agents_and_no_calls():
    def entry(second, status, task, **facts):
        time = f"2025-01-01 12:00:0{second}"
        return {"timestamp": time, "task_name": None, "task": task, "agent": "Finder", "status": status} | facts  # fmt: skip

    log = [
        entry(1, "started", "Find x."),
        entry(2, "completed", "Find x.", output="some"),
        entry(3, "started", "Find y."),
    ]
    trace = read_trace(log)
    assert trace.steps == (
        Step(id="s1", type="user", output="Find x.", started_at=at(1)),
        Step(id="s2", type="agent", name="Finder", output="some", started_at=at(1), ended_at=at(2)),
        Step(id="s3", type="user", output="Find y.", started_at=at(3)),
    )
    assert {"llm_calls", "tool_calls", "token_usage"} <= set(trace.missing)
    assert trace.not_carried == ("tasks that did not end (1)",)
    with pytest.raises(UnknownTraceFormatError):
        read_trace([{**log[0], "status": "queued"}])


def _asked(call_id, name):
    function = {"name": name, "arguments": '{"q": "x"}'}
    return {"id": call_id, "type": "function", "function": function}


def test_failures_that_a_tasks_output_lists_are_those_of_its_calls():
    task = {
        "description": "d",
        "raw": "x",
        "agent": "a",
        "output_format": "raw",
        "messages": [
            {"role": "assistant", "tool_calls": [_asked("1", "f"), _asked("2", "g")]},
            {"role": "tool", "tool_call_id": "1", "content": "some"},
            {"role": "tool", "tool_call_id": "2", "content": "It broke."},
        ],
        "tool_failures": [
            {"tool_name": "g", "tool_args": {"q": "x"}, "failure": {"message": "broke"}}
        ],
    }
    for saved in (task, {"raw": "x", "tasks_output": [task]}):
        calls = read_trace(saved).steps_of("tool")
        assert [(step.name, step.error) for step in calls] == [("f", None), ("g", "broke")]


def test_parallel_calls_of_a_tool_end_with_their_own_results():
    def event(kind, number, **fields):
        name = {"type": f"tool_usage_{kind}", "event_id": f"{kind}{number}", "tool_name": "f"}
        return (
            name | {"timestamp": f"2025-01-01T12:00:0{number}", "source_fingerprint": None} | fields
        )

    events = [
        event("started", 1, tool_args={"n": 1}),
        event("started", 2, tool_args={"n": 2}),
        event("finished", 3, started_event_id="started1", output="one"),
        event(
            "finished", 4, started_event_id="started2", output="none", failure={"message": "no two"}
        ),
    ]
    first, second = read_trace(events).steps_of("tool")
    assert (first.arguments, first.output, first.error) == ({"n": 1}, "one", None)
    assert (second.arguments, second.output, second.error) == ({"n": 2}, "none", "no two")


def test_a_model_call_has_the_time_of_its_start_and_its_cached_tokens():
    used = {
        "prompt_tokens": 5,
        "completion_tokens": 2,
        "total_tokens": 7,
        "cached_prompt_tokens": 4,
    }
    events = [
        {"type": "llm_call_started", "timestamp": "2025-01-01T12:00:01", "call_id": "c"},
        {"type": "llm_call_completed", "timestamp": "2025-01-01T12:00:03", "call_id": "c", "response": "x", "usage": used},
    ]  # fmt: skip
    [answer] = read_trace(events).steps_of("llm")
    assert (answer.started_at, answer.ended_at) == (at(1), at(3))
    assert answer.usage == Usage(5, 2, 7, 4)
