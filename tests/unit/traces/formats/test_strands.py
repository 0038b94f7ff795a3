"""Strands: each saved form has the same calls, failures and tokens; times where they are recorded."""

from __future__ import annotations

from copy import deepcopy

import pytest

from support.trace_examples.agent_frameworks import STRANDS, STRANDS_MESSAGES
from weighbridge.errors import UnknownTraceFormatError
from weighbridge.traces import Usage, read_trace
from weighbridge.traces.recognition import recognised

USAGE = Usage(12, 2, 14, 3)
RECORDS = [
    {
        "message": message,
        "message_id": number,
        "redact_message": None,
        "created_at": f"2026-11-30T07:00:0{number}+00:00",
        "updated_at": f"2026-11-30T07:00:0{number}+00:00",
    }
    for number, message in enumerate(STRANDS_MESSAGES)
]


def span(name, start, message=None, children=(), **metadata):
    return {
        "id": f"{name} {start}",
        "name": name,
        "raw_name": None,
        "parent_id": None,
        "start_time": 1_800_000_000 + start,
        "end_time": 1_800_000_000 + start + 1,
        "duration": 1,
        "children": list(children),
        "metadata": metadata,
        "message": message,
    }


def results(number):
    block = STRANDS_MESSAGES[2]["content"][number]
    return {"role": "user", "content": [block]}


TRACES = [
    span(
        "Cycle 1",
        0,
        children=[
            span("stream_messages", 0, STRANDS_MESSAGES[1]),
            span("Tool: fetch", 2, results(1), toolUseId="t2", tool_name="fetch"),
            span("Tool: search", 1, results(0), toolUseId="t1", tool_name="search"),
            span("Recursive call", 3),
        ],
    ),
    span("Cycle 2", 3, children=[span("stream_messages", 3, STRANDS_MESSAGES[3])]),
]
TOTALS = {"inputTokens": 18, "outputTokens": 4, "totalTokens": 28, "cacheReadInputTokens": 6}
METRICS = {
    "total_cycles": 2,
    "tool_usage": {},
    "traces": TRACES,
    "accumulated_usage": TOTALS,
    "agent_invocations": [],
}
STREAM = [
    {"init_event_loop": True},
    {"event": {"messageStart": {"role": "assistant"}}},
    {"data": "I look.", "delta": {"text": "I look."}},
    *({"message": message} for message in STRANDS_MESSAGES[1:]),
]


@pytest.mark.parametrize(
    "saved",
    [STRANDS_MESSAGES, STRANDS, RECORDS, RECORDS[::-1], TRACES, METRICS, STREAM, STREAM[3:]],
)
def test_every_saved_form_has_each_call_failure_and_token_once(saved):
    trace = read_trace(saved)
    first, second = trace.steps_of("llm")
    assert (first.output, second.output) == ("I look.", "It is 3.")
    assert [step.usage for step in (first, second)] == [USAGE, USAGE]
    assert [(step.name, step.output, step.error) for step in trace.steps_of("tool")] == [
        ("search", "3", None),
        ("fetch", "gone", "gone"),
    ]
    assert not {"llm_calls", "tool_calls", "token_usage"} & set(trace.missing)


def test_metrics_have_the_times_of_calls_and_the_tokens_of_the_run():
    trace = read_trace(METRICS)
    second = 10**9
    began = 1_800_000_000 * second
    assert [
        ((step.started_at - began) // second, (step.ended_at - began) // second)
        for step in trace.steps
    ] == [(0, 1), (1, 2), (2, 3), (3, 4)]
    assert (trace.started_at - began, trace.ended_at - began) == (0, 4 * second)
    assert trace.usage == Usage(24, 4, 28, 6)


def test_a_cycle_that_did_not_end_leaves_the_end_of_the_run_open():
    open_cycle = {**TRACES[1], "end_time": None}
    trace = read_trace([TRACES[0], open_cycle])
    assert trace.started_at
    assert trace.ended_at is None


def test_a_model_call_without_an_answer_counts_and_failed():
    cycle = span("Cycle 1", 0, children=[span("stream_messages", 0)])
    [call] = read_trace([cycle]).steps_of("llm")
    assert call.error == "no answer"


def test_redacted_messages_of_a_session_are_read_as_redacted():
    redacted = {"role": "user", "content": [{"text": "[removed]"}]}
    trace = read_trace([{**RECORDS[0], "redact_message": redacted}, *RECORDS[1:]])
    assert trace.steps[0].output == "[removed]"


@pytest.mark.parametrize(
    "manager", [{"removed_message_count": 4}, {"summary_message": STRANDS_MESSAGES[0]}]
)
def test_removed_messages_leave_lower_bounds(manager):
    snapshot = deepcopy(STRANDS)
    snapshot["data"]["conversation_manager_state"] = manager
    assert "removed earlier" in read_trace(snapshot).missing["llm_calls"]


def test_results_of_several_agents_have_the_tokens_of_each_and_no_calls():
    def node(result, **fields):
        return {"result": result, "status": "completed", "accumulated_usage": TOTALS} | fields

    answer = {"type": "agent_result", "message": STRANDS_MESSAGES[3], "stop_reason": "end_turn"}
    inner = {"type": "multiagent_result", "results": {"c": node(answer)}}
    trace = read_trace(
        {
            "type": "multiagent_result",
            "status": "failed",
            "results": {
                "a": node(answer),
                "b": node({"type": "exception", "message": "broke"}, status="failed"),
                "g": node(inner),
            },
            "accumulated_usage": {"inputTokens": 100, "outputTokens": 5, "totalTokens": 105},
            "execution_time": 12,
        }
    )
    assert [(step.name, step.output, step.error) for step in trace.steps] == [
        ("a", "It is 3.", None),
        ("b", None, "broke"),
        ("g", None, None),
        ("c", "It is 3.", None),
    ]
    assert trace.steps[3].parent_id == trace.steps[2].id
    assert (trace.usage, trace.duration_ms) == (Usage(100, 5, 105), 12)
    assert {"llm_calls", "tool_calls"} <= set(trace.missing)


def test_the_last_answer_alone_is_no_trace_and_the_hint_names_what_is():
    answer = {"type": "agent_result", "message": STRANDS_MESSAGES[3], "stop_reason": "end_turn"}
    with pytest.raises(UnknownTraceFormatError) as raised:
        read_trace(answer)
    assert "agent.messages" in raised.value.hint


@pytest.mark.parametrize(
    "other",
    [
        [{"message": {"role": "user", "content": "Hi"}}],
        [{"message": STRANDS_MESSAGES[0], "index": 1}],
        {"scope": "agent", "schema_version": "1.0", "data": {"messages": []}},
        {"traces": [], "tool_usage": {}, "accumulated_usage": {}},
        [{"id": 1, "name": "Cycle 1"}],
    ],
)
def test_other_records_are_not_taken_for_those_of_strands(other):
    found = recognised(other)
    assert found is None or found.importer.id != "strands"
