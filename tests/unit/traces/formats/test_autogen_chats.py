"""Chats of AutoGen 0.2 by the name of the other agent, from both sides, and those of groups."""

from __future__ import annotations

import pytest

from weighbridge.traces import read_trace, read_traces
from weighbridge.traces.formats.agent_history import IMPORTER
from weighbridge.traces.split import single_traces

CODE = "```python\nprint(2)\n```"
RAN = "exitcode: 1 (execution failed)\nCode output: \nno"


def said(role, content, **more):
    return {"content": content, "role": role, **more}


#: What the assistant keeps, and what the agent that asked it does.
OF_ASSISTANT = {"user_proxy": [said("user", "Print 2."), said("assistant", CODE), said("user", RAN), said("assistant", "TERMINATE")]}  # fmt: skip
OF_PROXY = {"assistant": [said("assistant", "Print 2."), said("user", CODE), said("assistant", RAN), said("user", "TERMINATE")]}  # fmt: skip


def shape(trace):
    return [(step.type, step.output, bool(step.error)) for step in trace.steps]


@pytest.mark.parametrize("chats", [OF_ASSISTANT, OF_PROXY])
def test_a_chat_reads_the_same_from_both_sides(chats):
    assert IMPORTER.matches(chats)
    trace = read_trace(chats)
    assert trace.format == "agent-history"
    assert shape(trace) == [
        ("user", "Print 2.", False),
        ("llm", CODE, False),
        ("tool", RAN, True),
        ("llm", "TERMINATE", False),
    ]
    assert trace.steps_of("tool")[0].arguments == {"code": "print(2)\n", "language": "python"}
    assert "llm_calls" not in trace.missing


def test_what_an_agent_of_unknown_kind_says_may_be_a_models():
    free = [*OF_PROXY["assistant"][:2], said("assistant", "Is that all?"), said("user", "Yes.")]
    assert "of an agent with a model" in read_trace({"assistant": free}).missing["llm_calls"]
    person = [said("user", "Hi."), said("assistant", "Hello."), said("user", "Is that all?")]
    assert "llm_calls" not in read_trace({"user_proxy": person}).missing


def test_messages_with_names_are_those_of_their_speakers():
    chat = [said("user", "Plan.", name="Admin"), said("user", "A plan.", name="Planner"), said("user", "Good.", name="Critic")]  # fmt: skip
    trace = read_trace({"chat_manager": chat})
    assert [(step.type, step.name) for step in trace.steps] == [
        *(("user", "Admin"), ("llm", "Planner"), ("llm", "Critic")),
    ]


def test_what_all_members_of_a_group_heard_counts_once():
    chat = [said("user", "Plan.", name="Admin"), said("assistant", "A plan.", name="Planner")]
    heard = [{**message, "role": "assistant"} for message in chat]
    assert len(read_traces({"Admin": chat, "Planner": heard, "Critic": []})) == 1


def test_chats_with_several_agents_are_traces_of_their_own():
    chats = {**OF_PROXY, "critic_agent": [said("assistant", "Judge."), said("user", "Fine.")]}
    assert [trace.id for trace in read_traces(chats)] == ["assistant", "critic_agent"]
    assert single_traces(chats) == [(name, {name: chat}) for name, chat in chats.items()]


def test_calls_and_their_results_are_read_from_both_sides():
    call = {"id": "c", "type": "function", "function": {"name": "ping", "arguments": "{}"}}
    result = {"role": "tool", "tool_call_id": "c", "content": "up"}
    told = [said("tool", "up", tool_responses=[result])]
    asked, answered = said("user", "Ping."), said("assistant", None, tool_calls=[call])
    turned = [said("assistant", "Ping."), said("user", None, tool_calls=[call]), *told]
    for chats in ({"user_proxy": [asked, answered, *told]}, {"assistant": turned}):
        trace = read_trace(chats)
        assert [step.type for step in trace.steps] == ["user", "llm", "tool"]
        assert trace.steps_of("tool")[0].output == "up"


@pytest.mark.parametrize(
    "value",
    [
        {},
        {"assistant": []},
        {"assistant": [1]},
        {"assistant": "Hi."},
        {"assistant": [{"role": "user", "content": "Hi.", "score": 1}]},
        {"assistant": [{"role": ["user"], "content": "Hi."}]},
        {"chosen": OF_ASSISTANT["user_proxy"], "rejected": OF_ASSISTANT["user_proxy"]},
        {**OF_ASSISTANT, "cost": 1},
    ],
)
def test_other_objects_are_not_claimed(value):
    assert not IMPORTER.matches(value)


def test_a_damaged_message_leaves_lower_bounds():
    chat = [*OF_ASSISTANT["user_proxy"] * 6, {"role": "assistant"}]
    trace = read_trace({"user_proxy": chat})
    assert trace.not_carried == ("messages in another form (1)",)
    assert "damaged line" in trace.missing["llm_calls"]
