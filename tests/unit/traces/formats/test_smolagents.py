"""smolagents' memory: a model call for each step, with its calls and observations."""

from __future__ import annotations

import pytest

from support.trace_examples.agent_frameworks import SMOLAGENTS
from weighbridge.traces import Step, Usage, read_trace
from weighbridge.traces.fields import time_of
from weighbridge.traces.split import opens_session


def at(second):
    return time_of(f"2025-01-01T12:00:0{second}Z")


def test_steps_of_the_memory_are_answers_with_their_calls():
    trace = read_trace(SMOLAGENTS)
    assert trace.format == "smolagents"
    assert trace.steps == (
        Step(id="s1", type="system", output="You are an agent."),
        Step(id="s2", type="user", output="Find x."),
        Step(id="s3", type="llm", output="I search.", usage=Usage(5, 2, 7), started_at=at(1), ended_at=at(2)),
        Step(id="c1", type="tool", parent_id="s3", name="python_interpreter", arguments={"code": "print(search('x'))"}, output="some", started_at=at(1), ended_at=at(2)),
        Step(id="s5", type="llm", output="Hm.", error="no code", usage=Usage(9, 1, 10), started_at=at(3), ended_at=at(4)),
    )  # fmt: skip


def test_the_lines_of_a_memory_are_one_trace():
    task, action = SMOLAGENTS[1], {**SMOLAGENTS[2], "action_output": None}
    assert all(map(opens_session, (task, action, {**action, "observations_images": None})))
    others = (
        *({"task": "Find x."}, {**task, "id": 1}, {"task": 1, "task_images": None}),
        *({**action, "run_id": "r"}, {**action, "step_number": "1"}, SMOLAGENTS[3], [task], None),
    )
    assert not any(map(opens_session, others))


def test_a_runs_result_has_steps_and_totals():
    used = {"input_tokens": 14, "output_tokens": 3, "total_tokens": 17}
    trace = read_trace(
        {"output": "x", "state": "success", "steps": SMOLAGENTS, "token_usage": used}
    )
    assert (trace.usage, trace.totals_from) == (Usage(14, 3, 17), "token_usage")
    assert trace.steps == read_trace(SMOLAGENTS).steps
    assert trace.metadata == {"state": "success"}


def test_code_without_listed_calls_is_a_call_and_a_plan_a_model_call():
    step = SMOLAGENTS[2] | {"tool_calls": None}
    plan = {"plan": "1. Search.", "token_usage": {"input_tokens": 3, "output_tokens": 1}}
    trace = read_trace([plan, step])
    assert [(found.type, found.name) for found in trace.steps] == [
        ("llm", "planning"),
        ("llm", None),
        ("tool", "python_interpreter"),
    ]


def asked(*calls):
    """Return a step as smolagents 1.26 writes it when a tool raises: the calls are only in the model's message."""
    return {
        **SMOLAGENTS[3],
        "tool_calls": [],
        "error": {"type": "AgentToolExecutionError", "message": "Error executing tool 'book'"},
        "model_output_message": {
            "role": "assistant",
            "content": "",
            "tool_calls": [
                {"id": key, "type": "function", "function": {"name": name, "arguments": arguments, "description": None}}
                for key, name, arguments in calls
            ],
        },
        "model_output": "",
        "observations": None,
    }  # fmt: skip


BOOK = ("c7", "book", {"seats": 2})


def test_calls_that_failed_are_those_of_the_models_message():
    trace = read_trace([SMOLAGENTS[1], asked(BOOK, ("c8", "look", {})), SMOLAGENTS[2]])
    failed, other, done = trace.steps_of("tool")
    assert (failed.id, failed.name, failed.arguments) == BOOK
    assert failed.error == other.error == "Error executing tool 'book'"
    assert (other.id, other.name, done.error) == ("c8", "look", None)
    assert [step.error for step in trace.steps_of("llm")] == [None, None]
    assert "tool_calls" not in trace.missing


def test_calls_that_the_step_lists_are_not_counted_again_in_the_models_message():
    step = SMOLAGENTS[2] | {"model_output_message": asked(BOOK)["model_output_message"]}
    assert read_trace([step]).steps == read_trace([SMOLAGENTS[2]]).steps
    code = SMOLAGENTS[2] | {"tool_calls": []}
    (call,) = read_trace([code]).steps_of("tool")
    assert call.arguments == {"code": "print(search('x'))"}


def test_a_call_without_a_failure_or_an_observation_has_no_result():
    (call,) = read_trace([asked(BOOK) | {"error": None}]).steps_of("tool")
    assert (call.name, call.output, call.error) == ("book", None, None)


@pytest.mark.parametrize(
    "error",
    [
        {"type": "AgentToolCallError", "message": "Argument x is not in the tool's input schema"},
        "Error executing tool 'book' with arguments {}: no",
        "Call id: c1\nError:\nError executing request to team member 'b' with arguments {}: no",
    ],
)
def test_a_failed_call_that_is_nowhere_makes_the_calls_a_lower_bound(error):
    step = asked() | {"error": error}
    assert "in words" in read_trace([step]).missing["tool_calls"]
    assert "tool_calls" not in read_trace([SMOLAGENTS[3]]).missing
