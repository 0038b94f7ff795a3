"""Flowise's chats, with the tools and agents of their answers, and its executions with the messages of each node."""

from __future__ import annotations

import json
from typing import Any

import pytest

from support.trace_examples.flow_builders import (
    FLOWISE,
    FLOWISE_AGENT,
    FLOWISE_CHAT,
    FLOWISE_EXECUTION,
    FLOWISE_NODES,
    FLOWISE_USED,
    START,
    flowise_message,
)
from weighbridge.errors import TraceError
from weighbridge.traces import Step, Trace, Usage, read_trace, read_traces
from weighbridge.traces.fields import time_of
from weighbridge.traces.formats import flowise
from weighbridge.traces.split import opens_session, single_traces

NOON = time_of("2025-01-01T12:00:00Z")
LLM = {
    "name": "llmAgentflow",
    "input": {"messages": [{"role": "developer", "content": "You find."}], "llmModelConfig": {"modelName": "m"}},
    "output": {
        "content": "Here.",
        "timeMetadata": {"start": START, "end": START + 1_000},
        "usageMetadata": {"input_tokens": 9, "output_tokens": 2, "total_tokens": 11, "total_cost": 0.25},
    },
}  # fmt: skip


def ran(*nodes: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """Return an execution in which some nodes ran."""
    listed = [{"nodeLabel": "Node", "data": node, "status": "FINISHED"} for node in nodes]
    return {**FLOWISE_EXECUTION, "executionData": listed, **fields}


def said(trace: Trace) -> list[tuple[str, Any]]:
    """Return what the steps of a trace have as their output, with their types."""
    return [(step.type, step.output) for step in trace.steps]


def test_an_execution_stands_in_place_of_the_answer_that_names_it():
    trace = read_trace(FLOWISE)
    assert (trace.format, trace.id) == ("flowise", "s")
    assert said(trace) == [
        ("user", "Find x."),
        ("system", "You find."),
        ("llm", "I search."),
        ("tool", "some"),
        ("llm", "Here it is."),
    ]
    assert trace.steps[3] == Step(
        id="call_1", type="tool", parent_id="s3", name="search", arguments={"q": "x"}, output="some"
    )
    first, last = trace.steps_of("llm")
    assert (first.usage, first.finish_reason, first.started_at) == (Usage(20, 5, 25), "tool_call", NOON)  # fmt: skip
    # The source's total is that of all calls, the last of which counts twice.
    assert (last.usage, last.cost_usd, last.model) == (Usage(40, 6), None, "gpt-4o-mini")
    assert trace.not_carried == ("costs of nodes that used tools, in which calls count twice (1)",)
    assert [tool.name for tool in trace.tools] == ["search"]
    assert trace.metadata == {"flow": "f", "chat_type": "INTERNAL", "state": "FINISHED"}
    assert not trace.missing


def test_an_answer_of_a_chat_is_at_least_a_model_call_before_and_after_its_tools():
    trace = read_trace(FLOWISE_CHAT)
    assert said(trace) == [
        ("user", "Find x."),
        ("llm", None),
        ("tool", "some"),
        ("llm", "Here it is."),
    ]
    assert trace.steps[2].arguments == {"q": "x"}
    assert trace.missing.keys() == {"llm_calls", "token_usage", "cost", "tool_definitions"}


def test_an_answer_that_is_what_a_tool_returned_is_no_model_call():
    answer = flowise_message("apiMessage", "some", 2, usedTools=FLOWISE_USED)
    assert said(read_trace([answer])) == [("llm", None), ("tool", "some")]


def test_tools_of_older_versions_stand_in_lists_and_may_have_failed():
    used = [[{"tool": "a", "toolInput": '{"q": 1}', "toolOutput": "", "error": "no"}], [None], []]
    _, tool, _ = read_trace([flowise_message("apiMessage", "Sorry.", usedTools=used)]).steps
    assert (tool.name, tool.arguments, tool.error) == ("a", {"q": 1}, "no")


def test_a_chat_without_tools_leaves_open_whether_there_were_any():
    trace = read_trace([FLOWISE_CHAT[0], flowise_message("apiMessage", "Hello.", 1)])
    assert said(trace) == [("user", "Find x."), ("llm", "Hello.")]
    assert {"llm_calls", "tool_calls"} <= trace.missing.keys()


TEAM = [
    {"agentName": "Supervisor", "messages": [], "next": "Writer", "instructions": "Write.", "usedTools": []},
    {"agentName": "Writer", "messages": ["Done."], "usedTools": FLOWISE_USED},
    {"agentName": "Supervisor", "messages": [], "next": "FINISH", "usedTools": [None]},
]  # fmt: skip


def test_each_turn_of_a_team_is_a_model_call_and_the_answer_that_repeats_one_is_none():
    message = flowise_message("apiMessage", "Done.", agentReasoning=json.dumps(TEAM), usedTools=FLOWISE_USED)  # fmt: skip
    trace = read_trace([message])
    assert [(step.type, step.name, step.output) for step in trace.steps] == [
        ("llm", "Supervisor", "Write."),
        ("llm", "Writer", None),
        ("tool", "search", "some"),
        ("llm", "Writer", "Done."),
        ("llm", "Supervisor", "FINISH"),
    ]
    summed_up = read_trace([message | {"content": "In short: done."}])
    assert said(summed_up)[-1] == ("llm", "In short: done.")


def test_nodes_of_sequential_agents_that_call_no_model_are_none():
    agents = [
        {"agentName": "Asker", "nodeName": "seqAgent", "messages": ["I search."]},
        {"agentName": "Tools", "nodeName": "seqToolNode", "messages": ["some"], "usedTools": FLOWISE_USED},
        {"agentName": "If", "nodeName": "seqCondition", "messages": ["End"]},
        {"agentName": "Judge", "nodeName": "seqConditionAgent", "messages": ["Yes"]},
    ]  # fmt: skip
    trace = read_trace([flowise_message("apiMessage", "Yes", agentReasoning=agents)])
    assert said(trace) == [("llm", "I search."), ("tool", "some"), ("llm", "Yes")]
    assert trace.steps[1].parent_id == "s1"
    assert trace.not_carried == ("nodes that call no model (1)",)


def test_an_execution_alone_has_its_question_and_the_calls_of_its_nodes():
    tool = {
        "name": "toolAgentflow",
        "input": {"selectedTool": "mail", "toolInputArgs": [{"inputArgName": "to", "inputArgValue": "a"}]},
        "output": {"content": "sent"},
    }  # fmt: skip
    start = FLOWISE_NODES[0]["data"]
    trace = read_trace(ran(start, LLM, {"name": "httpAgentflow", "output": {}}, tool, LLM))
    assert said(trace) == [
        ("user", "Find x."),
        ("system", "You find."),
        ("llm", "Here."),
        ("tool", "sent"),
        ("llm", "Here."),
    ]
    call = trace.steps[3]
    assert (call.name, call.arguments, call.parent_id) == ("mail", {"to": "a"}, None)
    model = trace.steps[2]
    assert (model.usage, model.cost_usd, model.model) == (Usage(9, 2, 11), 0.25, "m")
    assert (model.started_at, model.ended_at) == (NOON, (NOON or 0) + 10**9)
    assert not {"llm_calls", "tool_calls", "token_usage", "cost"} & trace.missing.keys()


def test_a_node_that_failed_may_have_called_more():
    trace = read_trace(ran({"name": "agentAgentflow", "error": "no credit"}, state="ERROR"))
    [step] = trace.steps
    assert (step.type, step.error, trace.metadata["state"]) == ("llm", "no credit", "ERROR")
    assert {"llm_calls", "tool_calls"} <= trace.missing.keys()
    [tool] = read_trace(ran({"name": "toolAgentflow", "error": "down"})).steps
    assert (tool.type, tool.name, tool.error) == ("tool", "Node", "down")


def test_a_node_whose_messages_have_no_calls_has_at_least_those_of_its_tools():
    agent = {**FLOWISE_AGENT, "input": {"messages": []}}
    trace = read_trace(ran(agent))
    assert said(trace) == [("llm", None), ("tool", "some"), ("llm", "Here it is.")]
    assert "between" in trace.missing["llm_calls"]


def test_a_call_that_waits_for_a_person_has_no_result():
    output = {**LLM["output"], "isWaitingForHumanInput": True, "calledTools": [{"id": "c", "name": "pay", "args": {}}]}  # fmt: skip
    trace = read_trace(ran({**LLM, "output": output}, state="STOPPED"))
    [call] = trace.steps_of("tool")
    assert (call.id, call.name, call.output) == ("c", "pay", None)


@pytest.mark.parametrize("damaged", [None, 5, {"data": None}])
def test_a_node_that_cannot_be_read_leaves_lower_bounds(damaged: Any) -> None:
    execution = ran(LLM)
    execution["executionData"].append(damaged)
    assert "tool_calls" in read_trace(execution).missing
    trace = read_trace([FLOWISE_CHAT[0], {**FLOWISE_EXECUTION, "executionData": "{"}])
    assert "tool_calls" in trace.missing


def exported(**fields: Any) -> dict[str, Any]:
    """Return a chat as the page of messages exports it."""
    messages = [
        {"content": "Find x.", "role": "user", "time": "2025-01-01T12:00:00.000Z"},
        {"content": "Here it is.", "role": "bot", "time": "2025-01-01T12:00:02.000Z", "usedTools": FLOWISE_USED},
    ]  # fmt: skip
    about = {"id": "c", "source": "UI", "sessionId": "s", "memoryType": None, "email": None}
    return {**about, "messages": messages, **fields}


@pytest.mark.parametrize(
    "value",
    [
        [exported()],
        exported(),
        {"ChatMessage": FLOWISE_CHAT, "ChatFlow": [], "Execution": []},
        FLOWISE_CHAT[::-1],
    ],
)
def test_exports_have_the_same_steps(value: Any) -> None:
    trace = read_trace(value)
    assert (trace.id, said(trace)) == ("s", said(read_trace(FLOWISE_CHAT)))


@pytest.mark.parametrize(
    "value",
    [
        [{**row, "executionId": "e", "execution": FLOWISE_EXECUTION} for row in FLOWISE_CHAT],
        {
            "text": "Here it is.",
            "question": "Find x.",
            "chatId": "c",
            "chatMessageId": "m",
            "sessionId": "s",
            "executionId": "e",
            "agentFlowExecutedData": FLOWISE_NODES,
        },
        {"data": [FLOWISE_EXECUTION], "total": 1},
    ],
)
def test_answers_of_the_api_have_the_steps_of_the_execution(value: Any) -> None:
    assert said(read_trace(value)) == said(read_trace(FLOWISE))


def test_an_answer_of_the_api_without_an_execution_is_a_chat():
    value = {"text": "Hello.", "question": "Hi.", "chatId": "c", "chatMessageId": "m"}
    assert said(read_trace(value)) == [("user", "Hi."), ("llm", "Hello.")]


def test_rows_of_several_sessions_are_a_trace_each_and_those_without_a_model_are_counted():
    others = [row | {"sessionId": None, "chatId": "t"} for row in FLOWISE_CHAT]
    rows = [*FLOWISE_CHAT, *others, {**FLOWISE_EXECUTION, "sessionId": "u", "executionData": "[]"}]
    traces = single_traces(rows) or []
    assert [name for name, _ in traces] == ["s", "t"]
    first, second = (read_trace(each) for _, each in traces)
    assert said(first) == said(second)
    assert "sessions beside it in which no model and no tool ran (1)" in first.not_carried
    assert [trace.id for trace in read_traces(rows)] == ["s", "t"]
    assert opens_session(rows[0])


def test_a_row_that_cannot_be_read_leaves_lower_bounds_in_its_session():
    others = [row | {"sessionId": "t"} for row in FLOWISE_CHAT]
    first, second = read_traces([*FLOWISE_CHAT, *others, FLOWISE_CHAT[1] | {"role": 5}])
    assert "tool_calls" in first.missing
    assert "tool_calls" not in second.missing
    first, _ = read_traces([*FLOWISE_CHAT, *others, None])
    assert "tool_calls" in first.missing


def test_executions_without_a_model_are_an_error_that_says_so():
    with pytest.raises(TraceError, match="no model and no tool ran"):
        read_traces([ran({"name": "httpAgentflow"})])


@pytest.mark.parametrize(
    "value",
    [
        [{"role": "userMessage", "content": "x"}],
        {"text": "x", "chatId": "c"},
        {"nodes": [], "edges": []},
        {"ChatMessage": [], "Execution": []},
    ],
)
def test_other_values_are_not_taken_for_chats(value: Any) -> None:
    assert not flowise.IMPORTER.matches(value)
