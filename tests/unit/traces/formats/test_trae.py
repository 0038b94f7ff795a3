"""Trae's trajectories: responses and the steps taken after them, each once."""

from __future__ import annotations

import copy

import pytest

from support.trace_examples.swe_agents import TRAE
from weighbridge.traces import Step, ToolDefinition, Usage, read_trace
from weighbridge.traces.fields import time_of

NOON = "2025-01-01T12:00:"


def at(seconds):
    return time_of(f"{NOON}{seconds:02}")


def test_an_answer_its_calls_and_their_results_are_steps_once_each():
    trace = read_trace(TRAE)
    assert trace.format == "trae"
    assert trace.steps == (
        Step(id="s1", type="system", output="You fix."),
        Step(id="s2", type="user", output="Fix it."),
        Step(
            id="s3",
            type="llm",
            finish_reason="tool_call",
            output="I look.",
            model="m-1",
            usage=Usage(12, 2, None, 4, 3),
            ended_at=at(2),
        ),
        Step(
            id="c1",
            type="tool",
            parent_id="s3",
            name="bash",
            arguments={"command": "ls"},
            output="no",
            error="no",
            started_at=at(2),
            ended_at=at(3),
        ),
        Step(id="s5", type="other", output="overloaded", error="overloaded", ended_at=at(5)),
        Step(id="s6", type="llm", model="m-1", usage=Usage(1, 1), ended_at=at(9)),
        Step(
            id="c2", type="tool", parent_id="s6", name="task_done", arguments={}, started_at=at(9)
        ),
    )
    assert trace.tools == (ToolDefinition("bash"), ToolDefinition("task_done"))
    assert (trace.started_at, trace.ended_at) == (at(0), time_of("2025-01-01T12:01:00"))
    assert trace.metadata["success"] is True
    assert trace.missing == {}


@pytest.mark.parametrize("part", ["llm_interactions", "agent_steps"])
def test_either_of_the_two_lists_is_enough(part):
    alone = copy.deepcopy(TRAE)
    alone["agent_steps" if part == "llm_interactions" else "llm_interactions"] = []
    names = [step.name for step in read_trace(alone).steps_of("tool")]
    assert names == (["bash", "task_done"] if part == "llm_interactions" else ["bash"])


def test_openais_cached_tokens_are_part_of_its_input():
    value = copy.deepcopy(TRAE)
    value["llm_interactions"][0]["provider"] = "openai"
    assert read_trace(value).steps_of("llm")[0].usage == Usage(5, 2, None, 4, 3)


def test_messages_that_are_told_again_are_not_said_twice():
    value = copy.deepcopy(TRAE)
    first, second = value["llm_interactions"]
    second["input_messages"] = first["input_messages"] + second["input_messages"]
    assert read_trace(value).steps == read_trace(TRAE).steps
