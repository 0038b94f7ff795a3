"""Spans of Monocle: model calls, tool calls and agents by `span.type`, and what their events tell."""

from __future__ import annotations

import json

import pytest

from support.spans import read, span
from weighbridge.traces import Usage
from weighbridge.traces.spans.spans import Event

ASKED = {"input": ['{"system": "Be brief."}', '{"human": "Weather in Oslo?"}']}
USED = {"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 11, "finish_reason": "stop"}
TOOL = {"entity.1.name": "weather", "entity.1.type": "tool.langgraph"}


def told(kind, *events, entities=None, **facts):
    listed = [Event(name, attributes) for name, attributes in events]
    return span({"span.type": kind, **(entities or {})}, events=listed, **facts)


def model_span(answer, asked=None, **facts):
    return told(
        "inference.framework",
        ("metadata", USED),
        ("data.input", asked or ASKED),
        ("data.output", {"response": json.dumps(answer)}),
        entities={"entity.2.name": "gpt-4o", "entity.2.type": "model.llm.gpt-4o"},
        **facts,
    )


def test_a_run_is_read_with_its_messages_tokens_and_agent():
    agent = {"entity.1.name": "forecaster", "entity.1.type": "agent.langgraph"}
    trace = read(
        told("workflow", span_id="w", lasts=30),
        told("agentic.turn", span_id="t", parent="w", lasts=30),
        told("agentic.invocation", span_id="a", parent="t", lasts=30, entities=agent),
        model_span({"ai": "Rain."}, span_id="m", parent="a", at=1, lasts=5),
        told("inference.modelapi", span_id="api", parent="m", at=2),
    )
    assert [(step.type, step.output) for step in trace.steps] == [
        *(("agent", None), ("system", "Be brief."), ("user", "Weather in Oslo?")),
        ("llm", "Rain."),
    ]
    assert trace.steps[0].name == "forecaster"
    assert (trace.steps[-1].model, trace.steps[-1].usage) == ("gpt-4o", Usage(9, 2, 11))


@pytest.mark.parametrize(
    "answer",
    [
        {"ai": {"name": "weather", "args": {"city": "Oslo"}, "id": "c1", "type": "tool_call"}},
        {"tools": [{"tool_id": "c1", "tool_name": "weather", "tool_arguments": '{"city":"Oslo"}'}]},
    ],
)
@pytest.mark.parametrize("arguments", ["{'city': 'Oslo', 'days': (1, 2)}", ['{"city": "Oslo"}']])
def test_a_call_and_the_span_that_ran_it_are_one(answer, arguments):
    ran = [("data.input", {"input": arguments}), ("data.output", {"response": "rain"})]
    trace = read(
        model_span(answer, span_id="m"),
        told("agentic.tool.invocation", *ran, span_id="r", at=2, lasts=3, entities=TOOL),
    )
    [tool] = trace.steps_of("tool")
    assert (tool.id, tool.name, tool.output) == ("r", "weather", "rain")
    assert tool.arguments["city"] == "Oslo"


def test_a_tool_that_calls_an_mcp_server_is_one_call():
    server = {"entity.1.name": "weather", "entity.1.type": "mcp.server"}
    asked = ("data.input", {"input": ['{"city": "Oslo"}']})
    trace = read(
        model_span({"ai": "Wait."}),
        told("agentic.tool.invocation", asked, span_id="r", at=2, lasts=5, entities=TOOL),
        told("agentic.mcp.invocation", asked, parent="r", at=3, entities=server),
    )
    assert [tool.id for tool in trace.steps_of("tool")] == ["r"]


def test_calls_and_results_in_a_request_are_not_what_the_user_said():
    call = {"tool_function": "weather", "tool_arguments": '{"city":"Oslo"}', "call_id": "c1"}
    asked = {"input": [*ASKED["input"], json.dumps(call), '{"call_id": "c1", "output": "rain"}']}
    trace = read(model_span({"assistant": "Rain."}, asked))
    assert [step.type for step in trace.steps] == ["system", "tool", "llm"]
    tool = trace.steps[1]
    assert (tool.name, tool.arguments, tool.output) == ("weather", {"city": "Oslo"}, "rain")


@pytest.mark.parametrize(
    "recorded", [None, 3, [], [[]], "", "{", [None, 1], {"x": 1}, '{"tools": 1}']
)
def test_events_of_any_form_are_read(recorded):
    events = ("data.input", {"input": recorded}), ("data.output", {"response": recorded})
    trace = read(
        told("inference", *events), told("agentic.tool.invocation", *events, entities=TOOL)
    )
    assert [step.type for step in trace.steps if step.type != "user"] == ["llm", "tool"]
