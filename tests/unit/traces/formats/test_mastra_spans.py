"""Mastra's own spans: steps of generations, generations without steps, tools, agents, scorers and streamed pieces."""

from __future__ import annotations

import json

import pytest

from support.trace_examples import claiming
from support.trace_examples.agent_frameworks import MASTRA_OWN_SPANS
from weighbridge.traces import Step, Usage, read_trace, read_traces
from weighbridge.traces.fields import time_of
from weighbridge.traces.split import opens_session, single_traces

RUN, GENERATION, FIRST, TOOL, LAST = MASTRA_OWN_SPANS
END = time_of("2025-01-01T12:00:09Z")


def at(second):
    return time_of(f"2025-01-01T12:00:0{second}Z")


def changed(span, **attributes):
    return {**span, "attributes": json.dumps({**json.loads(span["attributes"]), **attributes})}


def kinds(rows):
    return [step.type for step in read_trace(rows).steps]


def test_each_step_of_a_generation_is_a_model_call_with_its_tools_and_tokens():
    trace = read_trace(MASTRA_OWN_SPANS)
    assert (trace.format, trace.id, trace.metadata) == ("mastra-spans", "t1", {"thread": "th1"})
    assert trace.steps == (
        Step(id="s0", type="agent", name="helper", input="Find x.", output="Not there.", started_at=at(0), ended_at=END),
        Step(id="s2", type="user", parent_id="s0", output="Find x."),
        Step(id="s2#2", type="llm", parent_id="s0", model="m", usage=Usage(10, 5), started_at=at(2), ended_at=END),
        Step(id="s3", type="tool", parent_id="s2#2", name="search", arguments={"q": "x"}, error="no index", started_at=at(3), ended_at=END),
        Step(id="s4", type="llm", parent_id="s0", output="Not there.", model="m", usage=Usage(20, 2, None, 8), started_at=at(4), ended_at=END),
    )  # fmt: skip
    assert set(trace.missing) == {"tool_definitions"}


def test_a_generation_without_steps_stands_for_model_calls_between_which_tools_ran():
    tool = {**TOOL, "parentSpanId": "s0"}
    trace = read_trace([RUN, GENERATION, tool])
    assert [step.type for step in trace.steps] == ["agent", "user", "llm", "tool"]
    assert trace.steps_of("llm")[0].usage == Usage(30, 7)
    assert "one span for all model calls" in trace.missing["llm_calls"]
    assert "llm_calls" not in read_trace([RUN, GENERATION]).missing
    old = {**GENERATION, "spanType": "llm_generation"}
    assert read_trace([RUN, old, tool]).steps == trace.steps


def test_the_inference_in_a_step_is_the_same_model_call():
    inference = {**changed(FIRST, model="m2"), "spanId": "s9", "parentSpanId": "s2", "spanType": "model_inference", "input": None, "output": None}  # fmt: skip
    trace = read_trace([*MASTRA_OWN_SPANS, inference])
    assert len(trace.steps_of("llm")) == 2
    assert [step.usage for step in trace.steps_of("llm")] == [Usage(10, 5), Usage(20, 2, None, 8)]


@pytest.mark.parametrize("kind", ["mcp_tool_call", "client_tool_call"])
def test_other_tools_are_tools_as_well(kind):
    assert kinds([RUN, GENERATION, FIRST, {**TOOL, "spanType": kind}, LAST]) == kinds(MASTRA_OWN_SPANS)  # fmt: skip


@pytest.mark.parametrize(
    ("span", "error"),
    [
        ({**TOOL, "error": json.dumps({"message": "broken"})}, "broken"),
        ({**TOOL, "error": json.dumps("broken")}, "broken"),
        ({**TOOL, "error": None}, "error"),
        ({**TOOL, "error": None, "attributes": json.dumps({"success": True})}, None),
        ({**TOOL, "error": None, "attributes": json.dumps({})}, None),
    ],
)
def test_a_call_failed_if_its_span_has_an_error_or_says_so(span, error):
    [call] = read_trace([RUN, GENERATION, FIRST, span, LAST]).steps_of("tool")
    assert call.error == error


def test_a_model_call_that_ended_with_an_error_failed():
    trace = read_trace([RUN, GENERATION, changed(FIRST, finishReason="error")])
    assert [step.error for step in trace.steps_of("llm")] == ["error"]


def test_tools_that_were_offered_are_known_by_their_names():
    trace = read_trace([RUN, changed(GENERATION, availableTools=["search", 5]), FIRST, TOOL, LAST])
    assert [tool.name for tool in trace.tools] == ["search"]


def test_scorers_and_the_pieces_of_streamed_answers_are_left_out_and_named():
    scorer = {**RUN, "spanId": "x1", "spanType": "scorer_run", "parentSpanId": "s0"}
    judge = {**GENERATION, "spanId": "x2", "parentSpanId": "x1"}
    piece = {**RUN, "spanId": "x3", "spanType": "model_chunk", "parentSpanId": "s4"}
    trace = read_trace([*MASTRA_OWN_SPANS, scorer, judge, piece])
    assert trace.steps == read_trace(MASTRA_OWN_SPANS).steps
    assert {"pieces of streamed answers (1)", "spans of scorers (2)"} <= set(trace.not_carried)


@pytest.mark.parametrize("damage", [{"attributes": "{"}, {"spanType": None}, {"name": 5}])
def test_a_span_that_cannot_be_read_leaves_lower_bounds(damage):
    rows = [*MASTRA_OWN_SPANS * 4, {**TOOL, "spanId": "s9"} | damage]
    trace = read_trace(rows)
    assert {"llm_calls", "tool_calls", "token_usage"} <= trace.missing.keys()


def test_the_spans_of_a_table_are_traces_by_their_ids():
    rows = [*MASTRA_OWN_SPANS, *({**row, "traceId": "t2"} for row in MASTRA_OWN_SPANS)]
    assert [name for name, _ in single_traces(rows)] == ["t1", "t2"]
    assert [trace.id for trace in read_traces(rows)] == ["t1", "t2"]
    assert all(map(opens_session, rows))
    assert [trace.id for trace in read_traces({"traceId": "t1", "spans": MASTRA_OWN_SPANS})] == ["t1"]  # fmt: skip


def events(span):
    """Return a span as rows of `span_events`: two of its start, the second with more, and one of its end."""
    shared = {key: span[key] for key in ("traceId", "spanId", "parentSpanId", "spanType", "name")}
    start = {**shared, "eventType": "start", "timestamp": span["startedAt"], "endedAt": None}
    known = {**start, "input": span["input"], "attributes": {"stepIndex": 0}}
    end = {**span, "eventType": "end", "timestamp": span["endedAt"]}
    del end["startedAt"]
    return [{**start, "attributes": None}, known, {**end, "input": None}]


def test_the_events_of_a_span_are_one_span():
    rows = [row for span in MASTRA_OWN_SPANS for row in events(span)]
    trace, whole = read_trace(rows), read_trace(MASTRA_OWN_SPANS)
    assert (trace.steps, trace.missing, trace.metadata) == (whole.steps, whole.missing, whole.metadata)  # fmt: skip
    assert all(map(opens_session, rows))
    assert claiming(rows) == ["mastra-spans"]


def test_a_span_that_has_not_ended_is_known_by_its_start():
    start, known, _ = events(FIRST)
    [step] = read_trace([known, start]).steps_of("llm")
    assert (step.started_at, step.ended_at, step.usage) == (at(2), None, None)
    [late] = read_trace([events(FIRST)[2]]).steps_of("llm")
    assert late.started_at == late.ended_at == END


def test_texts_that_are_no_json_are_texts():
    trace = read_trace([{**RUN, "input": "Find x."}, GENERATION, FIRST, {**TOOL, "error": None, "output": "[not json"}])  # fmt: skip
    assert trace.steps[0].input == "Find x."
    assert trace.steps_of("tool")[0].output == "[not json"


def test_spans_of_other_tracing_are_not_claimed():
    assert claiming(MASTRA_OWN_SPANS) == ["mastra-spans"]
    other = [
        {key: held for key, held in row.items() if key != "spanType"} for row in MASTRA_OWN_SPANS
    ]
    assert "mastra-spans" not in claiming(other)
