"""Google ADK's sessions: events without the pieces of streams, and each call with its last result."""

from __future__ import annotations

import pytest

from support.trace_examples.vendor_sdks import GOOGLE_ADK, GOOGLE_ADK_OLD_ROWS, GOOGLE_ADK_ROWS
from weighbridge.traces import Step, Usage, read_trace, read_traces
from weighbridge.traces.split import opens_session, single_traces

NOON = 1735732800 * 10**9


def at(second):
    return NOON + second * 10**9


def test_events_are_answers_with_their_calls_and_the_last_result_of_each():
    trace = read_trace(GOOGLE_ADK)
    assert (trace.format, trace.id) == ("google-adk", "s")
    calls = {"type": "tool", "parent_id": "e2", "started_at": at(2)}
    assert trace.steps == (
        Step(id="e0", type="user", output="Find x.", started_at=at(0)),
        Step(id="e2", type="llm", name="root", output="I search.", model="gemini-2", usage=Usage(5, 5, 10), ended_at=at(2)),
        Step(id="c1", name="search", arguments={"q": "x"}, output={"error": "none"}, error="none", ended_at=at(3), **calls),
        Step(id="c2", name="wait", arguments={}, output={"status": "done"}, ended_at=at(4), **calls),
    )  # fmt: skip
    assert set(trace.missing) == {"tool_definitions"}
    assert trace.not_carried == (
        "earlier results of long-running calls (1)",
        "parts of the model's reasoning (1)",
        "pieces of streamed answers, which are also recorded whole (1)",
        "repeated events (1)",
    )


def test_events_alone_are_a_session_too():
    assert read_trace(GOOGLE_ADK["events"]).steps == read_trace(GOOGLE_ADK).steps


def test_code_that_the_model_had_run_is_a_call_with_its_outcome():
    def event(name, *parts):
        return {"id": name, "invocation_id": "i", "author": "a", "content": {"parts": list(parts)}}

    code = {"executable_code": {"code": "print(1)", "language": "PYTHON"}}
    outcome = {"code_execution_result": {"outcome": "OUTCOME_FAILED", "output": "no"}}
    for events in ([event("1", code, outcome)], [event("1", code), event("2", outcome)]):
        trace = read_trace({"events": events})
        [call] = trace.steps_of("tool")
        assert (call.name, call.arguments) == ("code_execution", {"code": "print(1)"})
        assert (call.output, call.error) == ("no", "no")
        assert len(trace.steps_of("llm")) == 1


def test_an_event_with_an_error_is_a_model_call_that_failed():
    failed = {"id": "1", "invocation_id": "i", "author": "a", "error_code": "429", "error_message": "slow down"}  # fmt: skip
    [step] = read_trace({"events": [failed]}).steps
    assert (step.type, step.error) == ("llm", "slow down")


def test_the_result_in_an_event_that_came_twice_is_kept():
    user, _, answer, results, *_ = GOOGLE_ADK["events"]
    trace = read_trace({**GOOGLE_ADK, "events": [user, answer, results, results]})
    assert [call.output for call in trace.steps_of("tool")] == [
        {"error": "none"},
        {"status": "pending"},
    ]
    assert "repeated events (1)" in trace.not_carried


def test_rows_of_its_database_are_a_trace_for_each_session():
    whole = read_trace(GOOGLE_ADK)
    traces = read_traces(GOOGLE_ADK_ROWS)
    assert [trace.id for trace in traces] == ["s", "s2"]
    assert [trace.steps for trace in traces] == [whole.steps, whole.steps]
    assert traces[0].metadata == {"app": "app", "user": "u"}
    assert [name for name, _ in single_traces(GOOGLE_ADK_ROWS)] == ["s", "s2"]
    assert opens_session(GOOGLE_ADK_ROWS[0])


def test_rows_are_in_the_order_of_their_times():
    rows = [row for row in GOOGLE_ADK_ROWS if row["session_id"] == "s"]
    assert read_trace(rows[::-1]) == read_trace(rows)


def test_rows_that_are_no_events_are_lower_bounds_wherever_they_stand():
    stored = [row for row in GOOGLE_ADK_ROWS if row["session_id"] == "s"] * 10
    without_data = {key: held for key, held in stored[0].items() if key != "event_data"}
    older = [{**row, "id": None} for row in GOOGLE_ADK_OLD_ROWS] * 10
    for rows, odd in (
        (stored, without_data),
        (stored, {**stored[0], "event_data": 5}),
        (older, {**older[0], "author": None}),
        (older, {**older[0], "content": "{"}),
        (older, {**older[0], "usage_metadata": "{"}),
        (older, {key: held for key, held in older[0].items() if key != "content"}),
    ):
        trace = read_trace([*rows, odd])
        for name in ("tool_calls", "timing"):
            assert trace.missing[name] == "what a damaged line of the session recorded is not known"
        assert "tool_calls" not in read_trace(rows).missing


def test_rows_with_a_column_for_each_field_are_read():
    trace = read_trace(GOOGLE_ADK_OLD_ROWS)
    assert [step.id for step in trace.steps] == ["e0", "e2", "c1", "c2", "e5"]
    assert trace.steps[1].usage == Usage(5, 5, 10)
    assert trace.steps[1].ended_at == at(2)


def test_a_damaged_row_leaves_lower_bounds():
    rows = [
        row | {"event_data": "{"} if number == 2 else row
        for number, row in enumerate(GOOGLE_ADK_ROWS)
    ]
    first, second = read_traces(rows)
    assert {"llm_calls", "tool_calls", "token_usage"} <= first.missing.keys()
    assert "tool_calls" not in second.missing


@pytest.mark.parametrize(
    ("response", "error"),
    [
        ({"error": "none"}, "none"),
        ({"error": {"code": 404}}, "error"),
        ({"result": {"error": "none"}}, "none"),
        ({"status": "error", "error_message": "none"}, "none"),
        ({"status": "ERROR", "error_details": "none"}, "none"),
        ({"status": "error"}, "error"),
        ({"content": [{"type": "text", "text": "none"}], "isError": True}, "error"),
        ({"result": {"content": [], "isError": True}}, "error"),
        ({"success": False, "message": "none"}, "none"),
        ({"result": {"stdout": "", "stderr": "none", "exit_code": 1}}, "none"),
        ({"result": {"structuredContent": {"success": False}, "isError": False}}, "error"),
        ({"success": True, "message": "one"}, None),
        ({"result": "ERROR: none"}, None),
        ({"result": {"error": "none"}, "more": 1}, None),
        ({"result": {"error": None}}, None),
        ({"result": {"error": 0.05}}, None),
        ({"status": "success", "isError": False}, None),
        ({"status": 500}, None),
    ],
)
def test_a_response_that_states_a_failure_is_an_error(response, error):
    user, _, answer, *_ = GOOGLE_ADK["events"]
    part = {"function_response": {"id": "c1", "name": "search", "response": response}}
    ended = {"id": "e", "invocation_id": "i", "author": "a", "content": {"parts": [part]}}
    calls = read_trace({**GOOGLE_ADK, "events": [user, answer, ended]}).steps_of("tool")
    assert calls[0].error == error
