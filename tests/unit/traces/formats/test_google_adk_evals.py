"""Eval sets of Google's ADK: cases are read as sessions, with the field names of all versions."""

from __future__ import annotations

import pytest

from support.trace_examples.vendor_sdks import GOOGLE_ADK, GOOGLE_ADK_EVAL
from weighbridge.traces import Step, read_traces
from weighbridge.traces.formats import google_adk_evals
from weighbridge.traces.split import single_traces


def shape(trace):
    return [(step.type, step.name, step.output) for step in trace.steps]


def test_each_case_is_a_trace_of_its_turns():
    [trace, other] = read_traces(GOOGLE_ADK_EVAL)
    assert (trace.id, trace.format, trace.metadata) == ("case 1", "google-adk-eval", {"app": "app"})
    assert trace.steps == (
        Step(id="s1", type="user", output="Find x."),
        Step(id="s2", type="llm", name="agent"),
        Step(id="c1", type="tool", parent_id="s2", name="search", arguments={"q": "x"}, output={"found": 1}),
        Step(id="s4", type="llm", name="helper", output="Wait."),
        Step(id="s5", type="llm", name="agent", output="Here is x."),
    )  # fmt: skip
    assert shape(other) == [("user", None, "Hello.")]
    assert set(trace.missing) == {"token_usage", "timing", "cost", "tool_definitions"}


def test_events_of_a_turn_are_read_in_their_order_and_the_final_response_once():
    final = {"parts": [{"text": "Here is x."}], "role": "model"}
    said = {"parts": [{"functionCall": {"name": "search", "args": {}}}, {"text": "I look."}]}
    turn = {
        "userContent": {"parts": [{"text": "Find x."}]},
        "finalResponse": final,
        "intermediateData": {
            "invocationEvents": [
                {"author": "root", "content": said},
                {"author": "root", "content": {"parts": [{"functionResponse": {"name": "search", "response": {"n": 1}}}]}},
                {"author": "root", "content": final},
            ]
        },
    }  # fmt: skip
    expected = [
        ("user", None, "Find x."),
        ("llm", "root", "I look."),
        ("tool", "search", {"n": 1}),
        ("llm", "agent", "Here is x."),
    ]
    result = {"evalId": "e", "evalMetricResultPerInvocation": [{"actualInvocation": turn}]}
    for value in ({"evalId": "e", "conversation": [turn]}, {"evalCaseResults": [result]}):
        [trace] = read_traces(value)
        assert shape(trace) == expected


def test_a_result_with_its_session_is_that_session():
    result = {"eval_id": "e", "session_details": GOOGLE_ADK, "eval_metric_results": []}
    [trace] = read_traces({"eval_set_result_id": "r", "eval_case_results": [result]})
    [session] = read_traces(GOOGLE_ADK)
    assert (trace.id, trace.steps) == ("e", session.steps)


TURN = {
    "query": "Find x.",
    "expected_tool_use": [{"tool_name": "search", "tool_input": {"q": "x"}}],
    "expected_intermediate_agent_responses": [{"author": "helper", "text": "Wait."}],
    "reference": "Here is x.",
}


def test_files_from_before_version_1_are_turns_or_cases_with_a_name():
    expected = [
        ("user", None, "Find x."),
        ("llm", "agent", None),
        ("tool", "search", None),
        ("llm", "helper", "Wait."),
        ("llm", "agent", "Here is x."),
    ]
    [alone] = read_traces([TURN])
    assert (alone.id, shape(alone)) == (None, expected)
    named = [{"name": "a", "data": [TURN]}, {"name": "b", "data": [TURN, TURN]}]
    traces = read_traces(named)
    assert [(trace.id, len(trace.steps)) for trace in traces] == [("a", 5), ("b", 10)]
    assert [name for name, _ in single_traces(named)] == ["a", "b"]


@pytest.mark.parametrize(
    "value",
    [
        {"eval_cases": []},
        {"eval_cases": [{"eval_id": "e", "conversation": []}]},
        {"eval_cases": [{"eval_id": "e", "conversation_scenario": {"starting_prompt": "Hi."}}]},
        {"eval_case_results": [{"eval_id": "e"}]},
        [{"query": "Hi.", "reference": "Hello."}],
        [{"name": "a", "data": []}],
    ],
)
def test_sets_without_any_turn_are_not_claimed(value):
    assert not google_adk_evals.IMPORTER.matches(value)


@pytest.mark.parametrize("held", [None, 1, "x", [], {}, {"parts": 1}, {"parts": [None]}])
def test_odd_values_in_a_turn_leave_the_rest_readable(held):
    turn = {
        "user_content": {"parts": [{"text": "Hi."}]},
        "final_response": held,
        "intermediate_data": {
            "tool_uses": held,
            "tool_responses": held,
            "intermediate_responses": [held, ["a", held], [held, held]],
            "invocation_events": [{"author": held, "content": held}],
        },
    }
    [trace] = read_traces({"eval_id": "e", "conversation": [turn]})
    assert trace.steps[0].output == "Hi."
