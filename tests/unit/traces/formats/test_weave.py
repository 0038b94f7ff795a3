"""Weave's calls: the usage of a call is counted once, even if enclosing calls repeat it."""

from __future__ import annotations

from support.trace_examples.observability import WEAVE
from weighbridge.traces import Step, ToolDefinition, Usage, read_trace, read_traces
from weighbridge.traces.fields import time_of
from weighbridge.traces.split import single_traces


def at(second):
    return time_of(f"2025-01-01T12:00:0{second}Z")


def test_the_innermost_calls_that_tell_usage_are_the_models():
    trace = read_trace(WEAVE)
    assert (trace.format, trace.id) == ("weave", "t")
    assert trace.steps == (
        Step(id="s1", type="user", output="Find x."),
        Step(
            id="w2",
            type="llm",
            output="I look.",
            model="m-1",
            usage=Usage(5, 2, 7),
            cost_usd=0.5,
            started_at=at(2),
            ended_at=at(2),
        ),
        Step(
            id="w3",
            type="tool",
            parent_id="w2",
            name="bash",
            arguments={"command": "ls"},
            error="no",
            started_at=at(3),
            ended_at=at(3),
        ),
    )
    assert trace.tools == (ToolDefinition("search"),)


def test_calls_of_several_traces_are_a_trace_each():
    other = [call | {"trace_id": "u"} for call in WEAVE]
    assert [trace.id for trace in read_traces([*WEAVE, *other])] == ["t", "u"]
    assert len(single_traces({"calls": [*WEAVE, *other]})) == 2


def test_a_failure_that_is_recorded_as_json_has_its_type_and_message_as_the_reason():
    failed = '{"type": "ValueError", "message": "no disk", "traceback": [{"line_number": 3}]}'
    trace = read_trace([*WEAVE[:-1], {**WEAVE[-1], "exception": failed}])
    assert trace.steps_of("tool")[0].error == "ValueError: no disk"
