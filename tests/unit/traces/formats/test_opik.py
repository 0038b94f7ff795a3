"""Opik's spans: alone, with their trace, and what its scorers did."""

from __future__ import annotations

import json

from support.trace_examples.observability import OPIK, OPIK_SPANS
from weighbridge.traces import Counts, Step, ToolDefinition, Usage, read_trace, read_traces
from weighbridge.traces.split import opens_session, single_traces

NOON = 1_735_732_800  #: 2025-01-01T12:00:00Z


def at(second):
    return (NOON + second) * 10**9


def with_trace(**fields):
    return {**OPIK, "trace": {**OPIK["trace"], **fields}}


def test_spans_become_steps():
    trace = read_trace(OPIK)
    assert (trace.format, trace.id) == ("opik", "opik-1")
    assert trace.steps == (
        Step(id="s1", type="system", output="You find."),
        Step(id="s2", type="user", output="Find x."),
        Step(id="o-chat-1", type="llm", finish_reason="tool_call", model="m", usage=Usage(9, 5, 14, 4), cost_usd=0.5, started_at=at(1), ended_at=at(2)),
        Step(id="o-search", type="tool", parent_id="o-chat-1", name="search", arguments={"q": "x"}, output="none", error="too slow", started_at=at(2), ended_at=at(3)),
        Step(id="o-chat-2", type="llm", finish_reason="stop", model="m", output="Not there.", usage=Usage(12, 3, None, 2), started_at=at(3), ended_at=at(4)),
    )  # fmt: skip
    assert trace.tools == (ToolDefinition("search", {"type": "object"}),)
    assert trace.metadata == {"name": "agent", "thread": "t1"}


def test_what_scorers_did_is_not_the_agents():
    assert "spans of scorers (2)" in read_trace(OPIK).not_carried
    without_tags = [{**span, "tags": None} for span in OPIK_SPANS]
    assert read_trace(without_tags).steps == read_trace(OPIK).steps


def test_lists_pages_lines_and_batches_are_the_same():
    expected = read_trace(OPIK_SPANS)
    assert expected.steps == read_trace(OPIK).steps
    assert read_trace({"content": OPIK_SPANS, "page": 1, "size": 10, "total": 6}) == expected
    assert read_trace({"spans": OPIK_SPANS}) == expected
    assert read_trace("\n".join(map(json.dumps, OPIK_SPANS))) == expected
    assert opens_session(OPIK_SPANS[0])


def test_a_trace_may_hold_its_spans():
    assert read_trace({**OPIK["trace"], "spans": OPIK_SPANS}) == read_trace(OPIK)


def test_names_of_the_sdk_for_typescript_are_read():
    def renamed(record):
        return {
            (first := key.split("_"))[0] + "".join(map(str.title, first[1:])): held
            for key, held in record.items()
        }

    trace = {**renamed(OPIK["trace"]), "spans": list(map(renamed, OPIK_SPANS))}
    assert read_trace(trace) == read_trace(OPIK)


def test_each_trace_of_a_list_is_a_trace():
    others = [{**span, "trace_id": "other"} for span in OPIK_SPANS]
    assert [trace.id for trace in read_traces([*OPIK_SPANS, *others])] == ["opik-1", "other"]
    assert [name for name, _ in single_traces([*OPIK_SPANS, *others])] == ["opik-1", "other"]


def test_a_span_that_was_sent_when_it_began_counts_once():
    begun = [
        {**span, "type": "general", "end_time": None, "output": None, "usage": None}
        for span in OPIK_SPANS
    ]
    assert read_trace([*begun, *OPIK_SPANS]) == read_trace(OPIK_SPANS)
    assert read_trace([*OPIK_SPANS, *begun]) == read_trace(OPIK_SPANS)


def test_totals_are_kept_if_they_are_not_the_sum_of_the_spans():
    trace = read_trace(OPIK)
    assert (trace.usage, trace.cost_usd, trace.counts) == (None, None, None)
    usage = {"prompt_tokens": 900, "completion_tokens": 50, "total_tokens": 950}
    trace = read_trace(with_trace(usage=usage, total_estimated_cost=7.5, llm_span_count=9))
    assert (trace.usage, trace.cost_usd, trace.counts) == (Usage(900, 50, 950), 7.5, Counts(9))


def test_calls_are_incomplete_if_spans_are_missing():
    assert "tool_calls" not in read_trace(OPIK).missing
    trace = read_trace(with_trace(span_count=40))
    assert trace.missing["tool_calls"] == "the trace has 40 spans, and the record 6 of them"


def test_a_prompt_of_langchain_is_no_call_and_a_tool_keeps_its_calls_id():
    made = {"type": "tool", "metadata": {"created_from": "langchain"}}
    prompt = {**OPIK_SPANS[2], **made, "id": "p", "output": {"output": {"messages": []}}}
    assert len(read_trace([*OPIK_SPANS, prompt]).steps_of("tool")) == 1
    answer = {"type": "tool", "content": "none", "tool_call_id": "c1"}
    ran = {**OPIK_SPANS[2], **made, "input": {"input": "{'q': 'x'}"}, "output": {"output": answer}}
    [call] = read_trace([*OPIK_SPANS[:2], ran, *OPIK_SPANS[3:]]).steps_of("tool")
    assert (call.arguments, call.output) == ({"q": "x"}, "none")


def test_requests_to_the_responses_api_and_bedrocks_invoke_model_are_read():
    item = {"type": "function_call", "call_id": "c1", "name": "search", "arguments": "{}"}
    answered = {"type": "function_call_output", "call_id": "c1", "output": "none"}
    asked = {"role": "user", "content": "Find x."}
    said = {"input": [asked, item, answered], "instructions": "You find."}
    first = {**OPIK_SPANS[1], "input": {"input": "Find x."}, "output": {"output": [item]}}
    second = {**OPIK_SPANS[3], "input": said, "output": {"output": []}}
    assert [(step.type, step.output) for step in read_trace([first, second]).steps] == [
        ("user", "Find x."),
        ("llm", None),
        ("tool", "none"),
        ("system", "You find."),
        ("llm", None),
    ]
    use = {"type": "tool_use", "id": "c1", "name": "search", "input": {"q": "x"}}
    bodies = {"input": {"body": {"messages": [asked]}}, "output": {"body": {"content": [use]}}}
    [call] = read_trace([{**OPIK_SPANS[1], **bodies}]).steps_of("tool")
    assert (call.id, call.arguments) == ("c1", {"q": "x"})


def test_calls_are_incomplete_if_a_page_has_not_all_spans():
    page = {"content": OPIK_SPANS[:3], "page": 1, "size": 3, "total": 6}
    assert "list of 6" in read_trace(page).missing["tool_calls"]
    others = [{**span, "trace_id": "other"} for span in OPIK_SPANS]
    of_two = {"content": [*OPIK_SPANS, *others], "page": 1, "size": 12, "total": 40}
    assert all("tool_calls" in trace.missing for trace in read_traces(of_two))
    for _, part in single_traces(of_two):
        assert "tool_calls" in read_trace(part).missing
    for _, part in single_traces({**of_two, "total": 12}):
        assert "tool_calls" not in read_trace(part).missing


def test_tokens_of_caches_that_opik_leaves_out_or_counts_as_output_are_input():
    def usage_of(sent, received, **original):
        named = {f"original_usage.{name}": count for name, count in original.items()}
        usage = {"prompt_tokens": sent, "completion_tokens": received, "total_tokens": sent + received, **named}  # fmt: skip
        [call] = read_trace([{**OPIK_SPANS[1], "usage": usage}]).steps_of("llm")
        return call.usage

    anthropic = {"input_tokens": 10, "output_tokens": 3, "cache_read_input_tokens": 20, "cache_creation_input_tokens": 5}  # fmt: skip
    assert usage_of(30, 8, **anthropic) == Usage(35, 3, None, 20, 5)
    bedrock = {"inputTokens": 10, "outputTokens": 3, "totalTokens": 22, "cacheReadInputTokens": 4, "cacheWriteInputTokens": 5}  # fmt: skip
    assert usage_of(10, 3, **bedrock) == Usage(19, 3, 22, 4, 5)


def test_tokens_of_a_span_that_is_no_models_are_in_the_total():
    usage = {"prompt_tokens": 90, "completion_tokens": 10, "total_tokens": 100}
    spans = [{**OPIK_SPANS[0], "usage": usage}, *OPIK_SPANS[1:4]]
    total = {"prompt_tokens": 99, "completion_tokens": 15, "total_tokens": 114}
    trace = read_trace({"trace": {**OPIK["trace"], "usage": total}, "spans": spans})
    assert trace.usage == Usage(99, 15, 114)
    assert "tokens of spans that are no model call (1)" in trace.not_carried
