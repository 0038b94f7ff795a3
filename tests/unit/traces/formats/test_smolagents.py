"""smolagents' memory: a model call for each step, with its calls and observations."""

from __future__ import annotations

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
