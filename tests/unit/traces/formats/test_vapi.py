"""Calls of Vapi's voice assistants."""

from __future__ import annotations

import pytest

from support.trace_examples.voice_agents import VAPI
from weighbridge.traces import Step, Usage, read_trace, read_traces
from weighbridge.traces.formats.vapi import IMPORTER

NOON = 1_735_732_800 * 10**9  #: 2025-01-01T12:00:00Z
SECOND = 10**9


def test_messages_become_steps_and_an_answer_in_pieces_is_one():
    trace = read_trace(VAPI)
    assert trace.steps == (
        Step(id="s1", type="system", output="Be brief.", started_at=NOON),
        Step(id="s2", type="user", output="Is it open?", started_at=NOON + SECOND, ended_at=NOON + 2 * SECOND),
        Step(id="s3", type="llm", output="Let me\nlook.", started_at=NOON + 3 * SECOND, ended_at=NOON + 4 * SECOND),
        Step(id="c1", type="tool", parent_id="s3", name="hours", arguments={"day": 1}, output="closed", started_at=NOON + 5 * SECOND, ended_at=NOON + 6 * SECOND),
        Step(id="s5", type="llm", output="It is closed.", started_at=NOON + 7 * SECOND, ended_at=NOON + 8 * SECOND),
    )  # fmt: skip
    assert (trace.usage, trace.cost_usd) == (Usage(100, 9, cached_tokens=40), 0.5)
    assert (trace.started_at, trace.ended_at) == (NOON, NOON + 20 * SECOND)


def test_a_call_without_a_word_before_it_is_an_answer_of_its_own():
    messages = [VAPI["messages"][1], *VAPI["messages"][4:6]]
    trace = read_trace({"artifact": {"messages": messages}, "endedReason": "x"})
    assert [step.type for step in trace.steps] == ["user", "llm", "tool"]


def greeted(*messages, **more):
    greeting = {"role": "bot", "message": "Hello, this is Ada.", "time": 1735732800000}
    return {"orgId": "o", "messages": [VAPI["messages"][0], greeting, *messages], **more}


def test_a_greeting_is_no_model_call_and_how_many_there_are_is_not_known():
    trace = read_trace(greeted(*VAPI["messages"][1:]))
    assert [step.type for step in trace.steps] == ["system", "other", "user", "llm", "tool", "llm"]
    assert trace.steps[1].output == "Hello, this is Ada."
    assert "greeting" in trace.missing["llm_calls"]


def test_a_call_after_the_greeting_is_asked_for_by_an_answer():
    trace = read_trace(greeted(*VAPI["messages"][4:6]))
    assert [step.type for step in trace.steps] == ["system", "other", "llm", "tool"]


@pytest.mark.parametrize(
    ("facts", "model_calls"),
    [
        ({"costBreakdown": {"llmPromptTokens": 0, "llmCompletionTokens": 0}}, 0),
        ({"assistant": {"firstMessage": "Hello, this is {{name}}."}}, 0),
        ({"assistantOverrides": {"firstMessage": "Hello."}}, 0),
        ({"assistant": {"firstMessageMode": "assistant-speaks-first-with-model-generated-message"}}, 1),
    ],
)  # fmt: skip
def test_the_source_of_a_greeting_may_be_recorded(facts, model_calls):
    trace = read_trace(greeted(**facts))
    assert (len(trace.steps_of("llm")), "llm_calls" in trace.missing) == (model_calls, False)


UNCONNECTED = {
    "id": "v",
    "orgId": "o",
    "type": "outboundPhoneCall",
    "status": "ended",
    "endedReason": "call.in-progress.error-sip-outbound-call-failed-to-connect",
    "cost": 0,
}


def test_a_call_that_was_never_connected_is_an_empty_run():
    trace = read_trace(UNCONNECTED)
    assert (trace.id, trace.steps, trace.usage, trace.cost_usd) == ("v", (), Usage(0, 0), 0)
    assert "llm_calls" not in trace.missing
    assert trace.metadata == {"ended_reason": UNCONNECTED["endedReason"]}
    assert [len(each.steps) for each in read_traces([VAPI, UNCONNECTED, VAPI])] == [5, 0, 5]


@pytest.mark.parametrize(
    "value",
    [
        {**UNCONNECTED, "startedAt": "2025-01-01T12:00:00Z"},
        {**UNCONNECTED, "cost": 0.1},
        {**UNCONNECTED, "status": "queued"},
        {**UNCONNECTED, "endedReason": None},
        {"messages": VAPI["messages"]},
        {"orgId": "o", "messages": []},
        {"orgId": "o", "messages": [{"role": "assistant"}]},
        {"orgId": "o", "artifact": 3},
    ],
)
def test_other_values_are_not_claimed(value):
    assert not IMPORTER.matches(value)
