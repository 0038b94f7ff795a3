"""Messages of the Agent Client Protocol."""

from __future__ import annotations

import pytest

from support.trace_examples.exchange_formats import ACP
from weighbridge.traces import read_trace, read_traces
from weighbridge.traces.formats.acp import IMPORTER
from weighbridge.traces.split import opens_session, single_traces


def update(told, session="s", **fields):
    held = {"sessionUpdate": told, **fields}
    return {
        "jsonrpc": "2.0",
        "method": "session/update",
        "params": {"sessionId": session, "update": held},
    }


def said(text, kind="agent_message_chunk", **fields):
    return update(kind, content={"type": "text", "text": text}, **fields)


def shown(trace):
    return [(step.type, step.output) for step in trace.steps]


def test_chunks_that_follow_each_other_are_one_message_and_calls_have_their_results():
    trace = read_trace(ACP)
    assert (trace.id, trace.format) == ("session-1", "acp")
    assert [(step.id, step.type, step.output, step.error) for step in trace.steps] == [
        ("s1", "user", "Find x.", None),
        ("s2", "llm", "I look.", None),
        ("call_1", "tool", "no such index", "no such index"),
        ("s4", "llm", "Not there.", None),
    ]
    assert (trace.steps[2].name, trace.steps[2].arguments) == ("search", {"q": "x"})
    assert not trace.steps[2].arguments_as_shown


def test_how_often_the_model_was_called_is_not_known():
    assert read_trace(ACP).missing["llm_calls"].startswith("the protocol carries what an agent")


def test_a_call_may_be_known_by_its_permission_and_its_end_alone():
    asked = {"toolCallId": "c", "title": "Write a.py", "kind": "edit", "status": "pending"}
    permission = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "session/request_permission",
        "params": {"sessionId": "s", "toolCall": asked},
    }
    end = update(
        "tool_call_update",
        toolCallId="c",
        status="completed",
        content=[{"type": "diff", "path": "a.py", "oldText": None, "newText": "x = 1"}],
    )
    [tool] = read_trace([permission, end]).steps
    assert (tool.name, tool.arguments, tool.output, tool.error) == (
        "edit",
        "Write a.py",
        "x = 1",
        None,
    )
    assert tool.arguments_as_shown


def test_a_call_without_an_end_has_no_result():
    call = update("tool_call", toolCallId="c", _meta={"agent": {"toolName": "Grep"}}, kind="search")
    [tool] = read_trace([call]).steps
    assert (tool.name, tool.output) == ("Grep", None)


def test_each_session_is_a_trace():
    log = [said("A", session="a"), said("B", session="b"), said("C", session="a")]
    assert list(map(shown, read_traces(log))) == [[("llm", "AC")], [("llm", "B")]]
    assert [name for name, _ in single_traces(log)] == ["a", "b"]


def test_a_loaded_session_has_the_messages_of_the_user():
    assert shown(read_trace([said("Hi", "user_message_chunk"), said("Yes")])) == [
        ("user", "Hi"),
        ("llm", "Yes"),
    ]


def test_lines_of_the_protocol_are_one_file_and_those_of_mcp_are_not():
    start = {"jsonrpc": "2.0", "id": 1, "result": {"protocolVersion": 1, "agentCapabilities": {}}}
    client = {"jsonrpc": "2.0", "method": "initialize", "params": {"clientCapabilities": {}}}
    assert all(map(opens_session, [start, client, *ACP]))
    mcp = {"jsonrpc": "2.0", "id": 1, "result": {"protocolVersion": "2025-06-18", "tools": []}}
    assert not opens_session(mcp)


@pytest.mark.parametrize(
    "value",
    [[], ACP[:2], [*ACP, 5][-1:], [{"method": "session/update"}], ACP[3], [update([])]],
    ids=str,
)
def test_other_messages_are_no_log(value):
    assert not IMPORTER.matches(value)
