"""Grok's data export."""

from __future__ import annotations

import pytest

from support.trace_examples.chat_apps import GROK_EXPORT
from weighbridge.errors import UnknownTraceFormatError
from weighbridge.traces import Step, read_trace, read_traces
from weighbridge.traces.fields import time_of
from weighbridge.traces.split import single_traces


def conversation(*responses, **more):
    return {"conversation": {"id": "c", **more}, "responses": list(responses)}


def said(name, sender, text=None, **more):
    return {"response_id": name, "sender": sender, "message": text, **more}


def card(name, tool, given="{}"):
    named = f"<xai:tool_usage_card_id>{name}</xai:tool_usage_card_id>" if name else ""
    return f"<xai:tool_usage_card>{named}<xai:tool_name>{tool}</xai:tool_name><xai:tool_args>{given}</xai:tool_args></xai:tool_usage_card>"


def at(second):
    return time_of(f"2026-01-01T12:00:0{second}Z")


def test_the_latest_branch_becomes_steps():
    trace = read_trace(GROK_EXPORT)
    assert (trace.id, trace.metadata) == ("g", {"title": "Of x"})
    assert trace.steps == (
        Step(id="r1", type="user", output="What is x?", started_at=at(0)),
        Step(id="s2", type="llm", model="grok-4"),
        Step(id="t1", type="tool", parent_id="s2", name="web_search", arguments={"query": "x"}, output={"web_search_results": {"results": []}}),
        Step(id="r3", type="llm", output="It is y.", model="grok-4", ended_at=at(5)),
    )  # fmt: skip
    assert trace.not_carried == (
        "parts of the model's reasoning (1)",
        "response field 'file_attachments' (1)",
        "responses of other branches (1)",
    )
    assert "tool_calls" not in trace.missing


def test_each_conversation_is_a_trace():
    [held] = GROK_EXPORT["conversations"]
    other = conversation(said("a", "human", "Hi."), said("b", "grok-3", "Hello."))
    export = {"conversations": [held, other]}
    assert [trace.id for trace in read_traces(export)] == ["g", "c"]
    assert single_traces(export) == [("g", held), ("c", other)]
    assert [step.type for step in read_trace(other).steps] == ["user", "llm"]


def test_the_current_branch_is_that_of_the_named_leaf():
    responses = [
        said("a", "human", "Hi."),
        *(said(name, "assistant", name, parent_response_id="a") for name in "bc"),
    ]
    for leaf, expected in (("b", "b"), ("c", "c"), ("?", "c")):
        trace = read_trace(conversation(*responses, leaf_response_id=leaf))
        assert [step.output for step in trace.steps] == ["Hi.", expected]


def test_calls_of_a_thinking_trace_are_calls():
    question = said("a", "human", "Go.", metadata={"requestModelDetails": {"modelId": "grok-3"}})
    thoughts = f"hm {card('t', 'browse_page', '<![CDATA[x]]>')}{card('', 'web_search')} hm"
    traces = [{"thinking_trace": card("u", "x_search")}, {"thinking_trace": card("t", "again")}]
    answer = said("b", "assistant", thinking_trace=thoughts, agent_thinking_traces=traces, error="Failed to respond.")  # fmt: skip
    trace = read_trace(conversation(question, answer))
    assert [(step.name, step.arguments) for step in trace.steps if step.type == "tool"] == [
        *(("browse_page", "x"), ("web_search", {}), ("x_search", {})),
    ]
    assert {step.model for step in trace.steps if step.type == "llm"} == {"grok-3"}
    assert trace.steps[-1].error == "Failed to respond."


def test_steps_may_list_their_calls_as_objects():
    step = {
        "tool_usage_cards": [{"tool_usage_card_id": "t", "tool": {"WebSearch": {"args": {"query": "x"}}}}],
        "tool_usage_results": [{"tool_usage_card_id": "t", "result": {"WebSearchResults": []}}],
    }  # fmt: skip
    trace = read_trace(conversation(said("a", "human"), said("b", "assistant", steps=[step])))
    [call] = [step for step in trace.steps if step.type == "tool"]
    assert (call.name, call.arguments, call.output) == (
        *("WebSearch", {"query": "x"}, {"WebSearchResults": []}),
    )


def test_searches_without_calls_make_calls_incomplete():
    trace = read_trace(conversation(said("b", "assistant", "y", web_search_results=[{}])))
    assert (
        trace.missing["tool_calls"] == "of the searches of 1 answer only the results are recorded"
    )


def test_responses_that_are_their_own_parents_end():
    loop = [said("a", "human", "x", parent_response_id="b"), said("b", "grok", parent_response_id="a")]  # fmt: skip
    assert len(read_trace(conversation(*loop)).steps) == 2


@pytest.mark.parametrize(
    "value",
    [
        {"conversations": []},
        {"conversations": [GROK_EXPORT["conversations"][0], {}]},
        {"conversation": {}, "responses": [{"response": {"message": "x"}}]},
    ],
)
def test_other_values_are_not_recognised(value):
    with pytest.raises(UnknownTraceFormatError):
        read_traces(value)


@pytest.mark.parametrize(
    "more",
    [
        {"steps": [1, {"tagged_text": [], "tool_usage_results": [{"tool_usage_card_id": []}]}]},
        {"steps": [{"tool_usage_cards": [{"tool_usage_card_id": 1, "tool": {"a": {}}}, 1]}]},
        {"create_time": {"$date": {"$numberLong": {}}}, "model": 1, "metadata": []},
        {"thinking_trace": "<xai:tool_usage_card>" * 3, "agent_thinking_traces": [1]},
        {"response_id": {}, "parent_response_id": []},
    ],
)
def test_damaged_responses_are_read(more):
    responses = [said("a", "human", "x"), said("b", "assistant", parent_response_id="a") | more]
    assert [step.type for step in read_trace(conversation(*responses)).steps] == ["user", "llm"]
