"""Sessions of AgentScope: the memory of each agent, in which names tell its answers from those of others."""

from __future__ import annotations

import pytest

from support.trace_examples.multi_agent_frameworks import AGENTSCOPE
from weighbridge.errors import TraceError
from weighbridge.traces import Step, read_trace, read_traces
from weighbridge.traces.fields import time_of
from weighbridge.traces.split import single_traces


def at(second):
    return time_of(f"2025-01-01T12:00:0{second}Z")


def said(name, content, role="assistant", **fields):
    return {"id": "m", "name": name, "role": role, "content": content, "metadata": {}, "timestamp": "2025-01-01 12:00:01.000", **fields}  # fmt: skip


def agent(*messages, **fields):
    content = [[message, []] for message in messages]
    return {"memory": {"content": content}, "name": "Friday", **fields}


def finish(**arguments):
    call = {"type": "tool_use", "id": "c9", "name": "generate_response", "input": arguments}
    result = {"type": "tool_result", "id": "c9", "name": "generate_response", "output": "ok"}
    return said("Friday", [call]), said("system", [result], "system")


def shown(trace):
    return [(step.type, step.output) for step in trace.steps]


def test_messages_under_the_agents_own_name_are_its_answers():
    trace = read_trace(AGENTSCOPE)
    assert (trace.format, trace.id) == ("agentscope", "Friday")
    assert trace.steps == (
        Step(id="s1", type="system", output="You find."),
        Step(id="m1", type="user", name="host", output="Find x.", started_at=at(1)),
        Step(id="m2", type="llm", name="Friday", output="I look.", started_at=at(2)),
        Step(id="c1", type="tool", parent_id="m2", name="search", arguments={"q": "x"}, output="some", started_at=at(3)),
        Step(id="c2", type="tool", parent_id="m2", name="read", arguments={}, output="none", started_at=at(4)),
        Step(id="m5", type="llm", name="Friday", output="Not there.", started_at=at(5)),
        Step(id="m6", type="user", name="host", output="Thanks.", started_at=at(6)),
    )  # fmt: skip
    assert trace.not_carried == ("parts of the model's reasoning (1)",)
    assert trace.missing.keys() == {"token_usage", "cost", "tool_definitions"}


def test_each_agent_of_a_session_is_a_trace():
    session = {
        "Friday": AGENTSCOPE["Friday"],
        "idle": agent(),
        "Thursday": agent(said("Thursday", "Hi."), name="Thursday"),
    }
    traces = read_traces(session)
    assert [(trace.id, len(trace.steps)) for trace in traces] == [("Friday", 7), ("Thursday", 1)]
    assert single_traces(session) == [(key, {key: session[key]}) for key in ("Friday", "Thursday")]


def test_the_state_of_one_agent_and_memories_without_marks_are_read():
    state = AGENTSCOPE["Friday"]
    content = [message for message, _ in state["memory"]["content"]]
    trace = read_trace(state | {"memory": {"content": content}})
    assert (trace.id, trace.steps) == ("Friday", read_trace(AGENTSCOPE).steps)


def test_a_reply_that_repeats_the_call_that_ends_the_turn_is_no_model_call():
    trace = read_trace(agent(*finish(response="Hi."), said("Friday", "Hi."), said("Friday", "Hi.")))
    assert shown(trace) == [("llm", None), ("tool", "ok")]
    assert trace.not_carried == ("replies that repeat what a call says (2)",)
    trace = read_trace(agent(*finish(vote="y"), said("Friday", "I vote y.")))
    assert shown(trace) == [("llm", None), ("tool", "ok"), ("llm", "I vote y.")]


@pytest.mark.parametrize(
    "message",
    [
        said("Friday", "Why?", metadata={"_is_interrupted": True}),
        said("Friday", "I noticed that you have interrupted me. What can I do for you?"),
    ],
)
def test_what_an_agent_says_after_an_interruption_is_no_model_call(message):
    trace = read_trace(agent(said("host", "Go.", "user"), message))
    assert [step.type for step in trace.steps] == ["user", "other"]


def test_model_calls_that_compressed_a_memory_are_missing():
    state = agent(said("Friday", "Hi."))
    state["memory"]["_compressed_summary"] = "They talked."
    assert read_trace(state).missing["llm_calls"].startswith("the memory was compressed")


def test_an_agent_without_a_name_speaks_under_its_key_or_as_the_only_one():
    state = agent(said("Friday", "Hi."), said("host", "Go."), name=None)
    assert [step.type for step in read_trace({"Friday": state}).steps] == ["llm", "user"]
    assert "names" not in str(read_trace({"Friday": state}).missing)
    assert "does not name its agent" in read_trace({"agent": state}).missing["llm_calls"]
    alone = agent(said("Friday", "Hi."), said("host", "Go.", "user"), name=None)
    assert [step.type for step in read_trace({"agent": alone}).steps] == ["llm", "user"]


@pytest.mark.parametrize(
    "value",
    [
        {"Friday": agent()},
        {"Friday": {"memory": {"content": [{"role": "user", "content": "x"}]}}},
        {"Friday": {"memory": {"content": "x"}}},
        {"memory": [[said("Friday", "Hi."), []]]},
    ],
)
def test_other_memories_are_not_claimed(value):
    with pytest.raises(TraceError):
        read_trace(value)


def test_a_message_that_is_none_is_refused():
    with pytest.raises(TraceError, match="message 2 of an agent's memory"):
        read_trace(agent(said("Friday", "Hi."), 1))
