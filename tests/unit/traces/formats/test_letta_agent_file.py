"""Letta's agent files: agents with the messages that they keep."""

from __future__ import annotations

import copy

import pytest

from support.trace_examples.agent_frameworks import LETTA_AGENT_FILE
from weighbridge.traces import Step, ToolDefinition, read_trace, read_traces
from weighbridge.traces.fields import time_of
from weighbridge.traces.split import single_traces

[AGENT] = LETTA_AGENT_FILE["agents"]


def changed(*messages, **fields):
    agent = copy.deepcopy(AGENT) | fields
    agent["messages"] += messages
    return LETTA_AGENT_FILE | {"agents": [agent]}


def test_messages_become_steps():
    trace = read_trace(LETTA_AGENT_FILE)
    assert (trace.format, trace.id) == ("letta-agent-file", None)
    assert trace.metadata == {"agent": "finder", "agent_type": "letta_v1_agent"}
    at = time_of("2026-03-04T10:00:00Z")
    assert trace.steps == (
        Step(id="s1", type="system", output="You find.", started_at=at),
        Step(id="s2", type="user", output="Find x.", started_at=at),
        Step(id="s3", type="llm", output="I look.", model="n", ended_at=at),
        Step(id="t1", type="tool", parent_id="s3", name="read_file", arguments={"path": "a"}, output="A", ended_at=at),
        Step(id="t2", type="tool", parent_id="s3", name="grep", arguments={"q": "x"}, output="no such path", error="no such path", ended_at=at),
        Step(id="s6", type="llm", output="Not there.", model="m", ended_at=at),
    )  # fmt: skip
    assert trace.tools == (ToolDefinition("grep", {"type": "object"}, "Greps."),)
    assert trace.not_carried == (
        "messages that an agent is created with (1)",
        "parts of the model's reasoning (1)",
        "repeated results (1)",
    )


def test_each_agent_is_a_trace():
    value = LETTA_AGENT_FILE | {"agents": [AGENT, AGENT | {"name": "other"}]}
    names = [trace.metadata["agent"] for trace in read_traces(value)]
    assert names == ["finder", "other"]
    parts = single_traces(value)
    assert [read_trace(part).metadata["agent"] for _, part in parts] == names


def test_a_file_of_the_older_form_is_one_agent_with_its_tools():
    result = {
        "role": "tool",
        "content": [{"type": "text", "text": '{"status": "Failed", "message": "no"}'}],
        "tool_call_id": "t3",
        "tool_returns": [{"status": "error", "stdout": None, "stderr": None}],
    }
    asked = {
        "role": "assistant",
        "content": [],
        "tool_calls": [{"id": "t3", "function": {"name": "f", "arguments": "{}"}}],
    }
    [agent] = changed(asked, result)["agents"]
    trace = read_trace(
        agent | {"in_context_message_indices": [0], "tools": LETTA_AGENT_FILE["tools"]}
    )
    assert [tool.name for tool in trace.tools] == ["rm", "grep"]
    assert (trace.steps[-1].output, trace.steps[-1].error) == ("no", "no")


@pytest.mark.parametrize(
    "summary",
    [
        {"role": "summary", "content": [{"type": "text", "text": "x is not in a."}]},
        {
            "role": "user",
            "content": '{"type": "system_alert", "message": "Note: prior messages have been hidden from view due to..."}',
        },
    ],
)
def test_calls_before_a_summary_are_missing(summary):
    assert "a summary" in read_trace(changed(summary)).missing["tool_calls"]


def test_a_call_in_the_content_and_in_the_list_counts_once():
    part = {"type": "tool_call", "id": "t3", "name": "f", "input": {"q": 1}}
    listed = [{"id": "t3", "function": {"name": "f", "arguments": '{"q": 1}'}}]
    for calls in (listed, None):
        value = changed({"role": "assistant", "content": [part], "tool_calls": calls})
        assert [step.name for step in read_trace(value).steps[-2:]] == [None, "f"]
