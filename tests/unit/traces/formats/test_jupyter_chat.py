"""Chats of Jupyter AI: what users and personas say, and the tool calls of agents that record them."""

from __future__ import annotations

import copy

import pytest

from support.trace_examples.editor_agents import JUPYTER_CHAT
from weighbridge.errors import UnknownTraceFormatError
from weighbridge.traces import read_trace
from weighbridge.traces.fields import time_of


def test_what_is_said_and_done_is_read_in_order():
    trace = read_trace(JUPYTER_CHAT)
    assert (trace.format, trace.id) == ("jupyter-chat", "c1")
    tools = trace.steps_of("tool")
    assert [(step.id, step.name, step.error) for step in tools] == [
        ("t1", "execute", "No such file"),
        ("t2", "read", None),
    ]
    assert [step.arguments for step in tools] == [{"command": "cat x.ipynb"}, "Read y"]
    assert [step.arguments_as_shown for step in tools] == [False, True]
    [said] = trace.steps_of("llm")
    assert (said.output, said.started_at) == ("There is none.", time_of(1772618404.0))
    assert [step.output for step in trace.steps_of("user")] == ["What is in x.ipynb?"]
    assert set(trace.missing) == {"llm_calls", "token_usage", "cost", "tool_definitions"}


def test_tool_calls_are_not_known_of_personas_that_do_not_record_them():
    chat = copy.deepcopy(JUPYTER_CHAT)
    chat["messages"][2]["sender"] = "jupyter-ai-personas::jupyter_ai::JupyternautPersona"
    assert "tool_calls" in read_trace(chat).missing


def test_a_deleted_message_is_left_out_and_noted():
    chat = copy.deepcopy(JUPYTER_CHAT)
    chat["messages"][0] |= {"deleted": True, "body": ""}
    trace = read_trace(chat)
    assert trace.steps_of("user") == []
    assert trace.not_carried == ("deleted messages (1)",)


def test_a_chat_of_people_alone_is_no_trace():
    with pytest.raises(UnknownTraceFormatError):
        read_trace({**JUPYTER_CHAT, "messages": JUPYTER_CHAT["messages"][:1]})
