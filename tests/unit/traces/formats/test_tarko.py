"""Event streams of Tarko and Agent TARS."""

from __future__ import annotations

import json

import pytest

from weighbridge.errors import TraceError
from weighbridge.traces import Step
from weighbridge.traces.formats.tarko import IMPORTER

NOON = 1_735_732_800_000  #: 2025-01-01T12:00:00Z, in milliseconds
SECOND = 10**9


def event(kind, second, own_id=None, **fields):
    return {
        "id": own_id or f"e{second}",
        "type": kind,
        "timestamp": NOON + second * 1000,
        **fields,
    }


def at(second):
    return NOON * 10**6 + second * SECOND


ASKED = {
    "id": "c1",
    "type": "function",
    "function": {"name": "search", "arguments": '{"q": "x"}'},
}
TOOL = {"name": "search", "description": "Finds.", "schema": {"type": "object"}}
EXAMPLE = [
    event("agent_run_start", 0, sessionId="t", model="m", provider="p", agentName="Agent", modelDisplayName="M"),
    event("user_message", 1, content="Find x."),
    event("environment_input", 2, content=[{"type": "text", "text": "A page."}], description="Screen"),
    event("assistant_streaming_message", 3, content="I ", messageId="a1", isComplete=False),
    event("assistant_streaming_message", 4, content="look.", messageId="a1", isComplete=True),
    event("assistant_streaming_tool_call", 5, toolCallId="c1", toolName="search", arguments="{", messageId="a1"),
    event("assistant_thinking_message", 6, content="Where?", messageId="a1"),
    event("assistant_message", 7, content="I look.", rawContent="...", toolCalls=[ASKED], finishReason="tool_calls", messageId="a1", ttltMs=4000),
    event("tool_call", 8, toolCallId="c1", name="search", arguments={"q": "x"}, startTime=NOON + 8000, tool=TOOL),
    event("tool_result", 9, toolCallId="c1", name="search", content=[{"type": "text", "text": "none"}], elapsedMs=1000, error="too slow"),
    event("plan_update", 10, sessionId="t", steps=[]),
    event("system", 11, level="info", message="Going on."),
    event("assistant_message", 12, content="Not there.", finishReason="stop", messageId="a2"),
    event("agent_run_end", 13, sessionId="t", iterations=2, elapsedMs=13000, status="idle"),
]  # fmt: skip
STEPS = (
    Step(id="e1", type="user", output="Find x.", started_at=at(1)),
    Step(id="e2", type="other", output="A page.", started_at=at(2)),
    Step(id="e7", type="llm", finish_reason="tool_call", output="I look.", model="m", started_at=at(3), ended_at=at(7)),
    Step(id="c1", type="tool", parent_id="e7", name="search", arguments={"q": "x"}, output="none", error="too slow", started_at=at(8), ended_at=at(9)),
    Step(id="e12", type="llm", finish_reason="stop", output="Not there.", model="m", ended_at=at(12)),
)  # fmt: skip


def read(value):
    assert IMPORTER.matches(value)
    [trace] = IMPORTER.read(value)
    return trace


def steps(*events):
    return [(step.type, step.output) for step in read(list(events)).steps]


def test_events_become_steps_and_pieces_do_not():
    trace = read(EXAMPLE)
    assert trace.steps == STEPS
    assert (trace.id, trace.started_at, trace.ended_at) == ("t", at(0), at(13))
    assert trace.metadata == {"agent": "Agent", "provider": "p", "model_name": "M"}
    assert set(trace.missing) == {"token_usage", "cost", "tool_definitions"}
    assert set(trace.not_carried) == {
        "definitions of tools that were called (1)",
        "events of type 'plan_update' (1)",
        "log messages (1)",
        "parts of the model's reasoning (1)",
    }


def test_a_file_with_events_is_the_same_and_each_event_is_a_line():
    assert read({"events": EXAMPLE}) == read(EXAMPLE)
    assert all(map(IMPORTER.is_line, EXAMPLE))


def test_a_call_that_only_an_event_records_is_of_the_answer_before_it():
    trace = read([*EXAMPLE[:2], event("assistant_message", 3, content="I look."), *EXAMPLE[8:10]])
    [call] = trace.steps_of("tool")
    assert (call.parent_id, call.arguments, call.error) == ("e3", {"q": "x"}, "too slow")


def test_an_id_that_is_used_again_is_another_call():
    again = [{**each, "id": each["id"] + "-2"} for each in EXAMPLE[7:10]]
    again[2]["content"] = "found"
    calls = read([*EXAMPLE[:10], *again]).steps_of("tool")
    assert [call.output for call in calls] == ["none", "found"]
    assert len({call.id for call in calls}) == 2


def test_an_answer_that_was_cut_off_is_what_was_streamed():
    trace = read([*EXAMPLE[:2], *EXAMPLE[3:6]])
    assert [(step.type, step.output) for step in trace.steps] == [
        ("user", "Find x."),
        ("llm", "I look."),
    ]
    assert set(trace.not_carried) == {
        "answers that were cut off (1)",
        "pieces of calls in answers that were cut off (1)",
    }


def test_what_the_runner_says_is_no_answer_of_the_model():
    said = event("assistant_message", 3, content="Stopped.", finishReason="max_iterations")
    log = event("system", 4, level="error", message="No network.")
    end = event("agent_run_end", 5, sessionId="t", status="error")
    assert steps(*EXAMPLE[:2], said, log, end) == [
        ("user", "Find x."),
        ("other", "Stopped."),
        ("other", "No network."),
        ("other", "the run ended with an error"),
    ]
    trace = read([*EXAMPLE[:2], said, log, end])
    assert all(step.error for step in trace.steps_of("other"))


def test_a_result_of_mcp_that_is_marked_as_an_error_is_one():
    result = {**EXAMPLE[9], "error": None, "content": {"isError": True, "content": []}}
    [call] = read([*EXAMPLE[:9], result]).steps_of("tool")
    assert call.error == "error"


@pytest.mark.parametrize(
    "value",
    [
        None,
        [],
        {},
        {"events": {}},
        [EXAMPLE[1]],
        [{**EXAMPLE[1], "timestamp": "2025-01-01"}, EXAMPLE[0]],
        [EXAMPLE[0], {"type": "other", "id": "x", "timestamp": 1}],
        [{"type": "assistant_message", "content": "x"}],
        [{"type": ["assistant_message"], "id": "x", "timestamp": 1}],
    ],
)
def test_other_values_are_not_claimed(value):
    assert not IMPORTER.matches(value)


@pytest.mark.parametrize("wrong", [None, 1, -1.5, "x", [], {}, [1, {"a": []}], {"id": 1}, True])
def test_values_of_wrong_types_are_no_failure(wrong):
    for index, each in enumerate(EXAMPLE):
        for key in each:
            changed = [*EXAMPLE[:index], {**each, key: wrong}, *EXAMPLE[index + 1 :]]
            try:
                IMPORTER.matches(changed)
                json.dumps([str(trace) for trace in IMPORTER.read(changed)])
            except TraceError:
                pass
