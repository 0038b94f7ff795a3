"""Traces and spans of the OpenAI Agents SDK's own tracing."""

from __future__ import annotations

import json

import pytest

from support.trace_examples.vendor_sdks import OPENAI_AGENTS_TRACING as RECORDS
from weighbridge.errors import TraceError
from weighbridge.traces import Counts, Step, Usage, read_trace, read_traces
from weighbridge.traces.fields import time_of
from weighbridge.traces.split import opens_session, single_traces

TRACE, *SPANS = RECORDS


def at(number, fraction=""):
    return time_of(f"2025-01-01T12:00:0{number}{fraction}Z")


def span(number, data, trace_id="trace_1", **fields):
    return {**SPANS[0], "id": f"span_{number}", "trace_id": trace_id, "span_data": data, **fields}


def response(number, trace_id="trace_1", **data):
    return span(number, {"type": "response", "response_id": "r", **data}, trace_id)


def test_each_type_of_span_is_the_step_that_it_records():
    trace = read_trace(RECORDS)
    assert (trace.format, trace.id) == ("openai-agents-tracing", "trace_1")
    assert trace.metadata == {"team": "north", "workflow_name": "Parcels", "group_id": "chat-7"}
    times = [{"started_at": at(number), "ended_at": at(number, ".5")} for number in range(7)]
    assert trace.steps == (
        Step(id="span_0", type="agent", name="Finder", **times[0]),
        Step(id="s2", type="user", parent_id="span_0", output="Find x."),
        Step(
            id="span_2",
            type="llm",
            parent_id="span_0",
            output="I look.",
            model="m-1",
            usage=Usage(10, 5),
            **times[2],
        ),
        Step(
            id="span_3",
            type="tool",
            parent_id="span_2",
            name="search",
            arguments={"q": "x"},
            error="Error running tool: down",
            **times[3],
        ),
        Step(
            id="span_4",
            type="tool",
            parent_id="span_0",
            name="transfer_to_clerk",
            output="Clerk",
            **times[4],
        ),
        Step(id="span_5", type="other", parent_id="span_0", name="polite", **times[5]),
        Step(id="span_6", type="llm", parent_id="span_0", usage=Usage(20, 2, 22, 8), **times[6]),
    )
    assert set(trace.missing) == {"tool_definitions"}


def test_records_count_the_same_in_every_form():
    expected = read_trace(RECORDS).steps
    whole = {**TRACE, "spans": SPANS}
    posts = [{"data": RECORDS[:4]}, {"data": RECORDS[4:]}]
    for form in (SPANS, whole, {"data": RECORDS}, posts, {"data": [whole]}, {"traces": [whole]}):
        [part] = single_traces(form)
        assert read_trace(part[1]).steps == expected
    lines = "\n".join(map(json.dumps, RECORDS))
    assert read_trace(lines).steps == expected
    assert all(map(opens_session, (TRACE, SPANS[0], posts[0])))


def test_spans_of_several_traces_are_a_trace_each():
    other = [
        {**TRACE, "id": "trace_2", "workflow_name": "Other"},
        *({**each, "trace_id": "trace_2"} for each in SPANS),
    ]
    mixed = [*RECORDS, *other]
    assert [trace.metadata["workflow_name"] for trace in read_traces(mixed)] == ["Parcels", "Other"]
    parts = single_traces({"data": mixed})
    assert [trace_id for trace_id, _ in parts] == ["trace_1", "trace_2"]
    assert [read_trace(part).metadata["workflow_name"] for _, part in parts] == ["Parcels", "Other"]


def test_calls_of_hosted_tools_are_not_known_without_the_answers():
    agent = span(1, {"type": "agent", "name": "A", "tools": ["web_search", "mine"]})
    mine = span(2, {"type": "function", "name": "mine", "input": "{}", "output": "x"})
    trace = read_trace([agent, response(3), mine])
    assert trace.missing["tool_calls"] == (
        "calls of web_search have no spans, and the answers that ask for them are not recorded"
    )
    assert "token_usage" in trace.missing
    with_its_span = {
        **mine,
        "id": "span_4",
        "span_data": {**mine["span_data"], "name": "web_search"},
    }
    assert "tool_calls" not in read_trace([agent, response(3), mine, with_its_span]).missing
    local = span(1, {"type": "agent", "name": "A", "tools": ["mine"]})
    assert "tool_calls" not in read_trace([local, response(3), mine]).missing
    others = [agent, mine, response(3, trace_id="trace_2"), {**mine, "trace_id": "trace_2"}]
    assert not any("tool_calls" in trace.missing for trace in read_traces(others))


def task(number, parent=None, **usage):
    data = {"sdk_span_type": "task", "name": "run", "usage": usage}
    custom = {"type": "custom", "name": "task", "data": data}
    return span(number, custom, parent_id=parent)


def test_the_outermost_tasks_state_the_tokens_and_requests_of_the_run():
    used = {"input_tokens": 20, "output_tokens": 4, "cached_input_tokens": 8, "cache_write_input_tokens": 0, "requests": 2, "total_tokens": 24}  # fmt: skip
    inner = task(2, "span_1", **{**used, "requests": 1})
    of_task = {**response(4), "parent_id": "span_3"}
    trace = read_trace([inner, task(1, **used), task(1, **used), task(3, **used), of_task])
    assert trace.usage == Usage(40, 8, 48, 16, 0)
    assert (trace.counts, trace.totals_from) == (Counts(llm_calls=4), "usage of the tasks")
    assert set(trace.missing) == {"tool_calls", "tool_definitions"}
    without = read_trace([task(1, input_tokens="many"), response(4)])
    assert (without.usage, without.counts) == (None, None)
    assert "token_usage" in without.missing


def test_model_calls_outside_of_the_tasks_are_counted_beside_them():
    used = {"input_tokens": 20, "output_tokens": 4, "total_tokens": 24}
    data = {"type": "generation", "usage": {"input_tokens": 5, "output_tokens": 1}}
    apart = span(2, data, parent_id=None)
    trace = read_trace([task(1, **used, requests=2), apart])
    assert (trace.usage, trace.counts) == (Usage(25, 5, 30), Counts(llm_calls=3))
    hidden = {**response(2), "parent_id": None}
    trace = read_trace([task(1, **used, requests=2), hidden])
    assert (trace.usage, trace.counts) == (Usage(20, 4, 24, is_partial=True), Counts(llm_calls=3))
    of_unknown = {**apart, "parent_id": "span_9"}
    assert read_trace([task(1, **used, requests=2), of_unknown]).usage == Usage(20, 4, 24)
    of_task = {**apart, "parent_id": "span_1"}
    assert read_trace([task(1, **used, requests=2), task(3, **used), of_task]).counts is None


def test_what_is_posted_has_the_rest_of_the_usage_under_details():
    usage = {"input_tokens": 9, "output_tokens": 1, "details": {"total_tokens": 10, "input_tokens_details": {"cached_tokens": 4}}}  # fmt: skip
    trace = read_trace([span(1, {"type": "generation", "usage": usage})])
    assert trace.steps[0].usage == Usage(9, 1, 10, 4)


def test_an_answer_that_a_processor_keeps_has_its_text_and_the_calls_in_it():
    output = [
        {"type": "web_search_call", "id": "ws", "action": {"query": "x"}},
        {"type": "function_call", "call_id": "c", "name": "mine", "arguments": '{"a": 1}'},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "y"}]},
    ]
    held = {"model": "m", "output": output, "usage": {"input_tokens": 3, "output_tokens": 1}}
    trace = read_trace([response(1, _input="Find x.", _response=held)])
    assert [(step.type, step.name, step.arguments, step.output) for step in trace.steps] == [
        ("user", None, None, "Find x."),
        ("llm", None, None, "y"),
        ("tool", "web_search_call", {"query": "x"}, None),
        ("tool", "mine", {"a": 1}, None),
    ]
    assert (trace.steps[1].model, trace.steps[1].usage) == ("m", Usage(3, 1))


@pytest.mark.parametrize("field", ["output", "choices"])
def test_a_generation_may_hold_the_whole_answer(field):
    message = {"role": "assistant", "content": "y"}
    item = message if field == "output" else {"message": message}
    trace = read_trace([span(1, {"type": "generation", "output": [{field: [item]}]})])
    assert [step.output for step in trace.steps] == ["y"]


def test_what_is_no_run_is_refused_in_words():
    with pytest.raises(TraceError, match="none of 1 spans"):
        read_trace([span(1, {"type": "custom", "name": "x", "data": {}})])
    with pytest.raises(TraceError):
        read_trace([TRACE])
    with pytest.raises(TraceError):
        read_trace({"object": "trace.span", "id": "1", "trace_id": 5, "span_data": {}})
