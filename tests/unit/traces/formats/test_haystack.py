"""Haystack's messages, agent results, states and pipeline outputs: calls by their ids, failures, tokens once."""

from __future__ import annotations

import pytest

from support.trace_examples.agent_frameworks import HAYSTACK
from weighbridge.traces import Usage, read_trace
from weighbridge.traces.model import Counts
from weighbridge.traces.recognition import recognised

USAGE = Usage(9, 2, 11)
RESULT = {
    "messages": HAYSTACK,
    "last_message": HAYSTACK[-1],
    "token_usage": {"prompt_tokens": 18, "completion_tokens": 4, "total_tokens": 22},
    "step_count": 2,
    "tool_call_counts": {"search": 1, "fetch": 1},
    "exit_reason": "text",
}
STATE = {"schema": {}, "data": {"serialization_schema": {}, "serialized_data": RESULT}}
OLDER = [{f"_{key}": item for key, item in message.items()} for message in HAYSTACK]


@pytest.mark.parametrize("saved", [HAYSTACK, OLDER, RESULT, STATE, {"agent": RESULT}])
def test_every_saved_form_has_each_call_failure_and_token_once(saved):
    trace = read_trace(saved)
    answers = trace.steps_of("llm")
    assert [(step.output, step.model, step.usage) for step in answers] == [
        ("I look.", "gpt-x", USAGE),
        ("It is 3.", "gpt-x", USAGE),
    ]
    assert [(step.name, step.output, step.error) for step in trace.steps_of("tool")] == [
        ("search", "3", None),
        ("fetch", "gone", "gone"),
    ]
    assert (trace.usage, trace.counts) == (None, None)
    assert ("tool_calls" in trace.missing) == (saved == {"agent": RESULT})


def streamed(message):
    return {**message, "meta": {**message["meta"], "usage": None}}


def test_an_agents_totals_count_where_streamed_answers_have_no_tokens():
    trace = read_trace({**RESULT, "messages": list(map(streamed, HAYSTACK))})
    assert (trace.usage, trace.steps_of("llm")[0].model) == (Usage(18, 4, 22), "gpt-x")


def test_streamed_answers_without_tokens_have_none():
    trace = read_trace(list(map(streamed, HAYSTACK)))
    assert "if the request asks for it" in trace.missing["token_usage"]


def test_calls_that_an_agent_counted_and_no_longer_has_are_counted():
    trace = read_trace({**RESULT, "messages": HAYSTACK[:1] + HAYSTACK[-1:], "step_count": 3})
    assert trace.counts == Counts(3, 2)
    assert "states 2 tool calls" in trace.missing["tool_calls"]


def test_a_pipeline_has_the_answers_of_its_last_components_at_least():
    reply, other = (
        {**HAYSTACK[-1], "meta": {**HAYSTACK[-1]["meta"], "index": index}} for index in (0, 1)
    )
    trace = read_trace({"llm": {"replies": [reply, other]}, "memory": {"messages": [reply]}})
    [answer] = trace.steps_of("llm")
    assert answer.usage == USAGE
    assert {"llm_calls", "tool_calls", "token_usage"} <= set(trace.missing)
    assert "other choices of an answer (1)" in trace.not_carried


def test_reasoning_is_not_part_of_the_answer():
    reasoning = {"reasoning": {"reasoning_text": "Hm.", "extra": {}}}
    answer = {**HAYSTACK[-1], "content": [reasoning, {"text": "It is 3."}]}
    assert read_trace([HAYSTACK[0], answer]).steps[-1].output == "It is 3."


@pytest.mark.parametrize(
    "other",
    [
        [{"role": "user", "content": "Hi", "name": None}],
        {"llm": {"replies": ["Hi"]}},
        {"llm": {"replies": HAYSTACK}, "count": 3},
        [],
    ],
)
def test_other_records_are_not_taken_for_those_of_haystack(other):
    found = recognised(other)
    assert found is None or found.importer.id != "haystack"
