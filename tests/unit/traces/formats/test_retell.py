"""Calls and chats of Retell's voice agents."""

from __future__ import annotations

import pytest

from support.trace_examples.voice_agents import RETELL
from weighbridge.traces import Counts, Step, Usage, read_trace
from weighbridge.traces.formats.retell import IMPORTER

NOON = 1_735_732_800 * 10**9  #: 2025-01-01T12:00:00Z
MILLISECOND = 10**6


def test_what_was_said_and_called_becomes_steps():
    trace = read_trace(RETELL)
    assert trace.steps == (
        Step(id="s1", type="user", output="Is it open?", started_at=NOON + 1500 * MILLISECOND, ended_at=NOON + 1750 * MILLISECOND),
        Step(id="s2", type="llm", output="Let me\nlook."),
        Step(id="c1", type="tool", parent_id="s2", name="hours", arguments={"day": 1}, output="no such day", error="no such day"),
        Step(id="s4", type="llm"),
        Step(id="c2", type="tool", parent_id="s4", name="end_call", arguments={}),
    )  # fmt: skip
    assert (trace.usage, trace.counts) == (Usage(total_tokens=130), Counts(llm_calls=2))
    assert trace.cost_usd == 0.125
    assert trace.not_carried == ("entries of type 'node_transition' (1)",)


def test_a_chat_has_its_messages_under_another_name():
    chat = {
        "chat_id": "c",
        "agent_id": "a",
        "message_with_tool_calls": [{"role": "agent", "content": "Hi."}],
    }
    trace = read_trace(chat)
    assert (trace.id, [step.output for step in trace.steps]) == ("c", ["Hi."])


@pytest.mark.parametrize("value", [{"agent_id": "a"}, {"transcript_object": RETELL["transcript_object"]}, {"agent_id": "a", "transcript_object": [{"content": "x"}]}])  # fmt: skip
def test_other_values_are_not_claimed(value):
    assert not IMPORTER.matches(value)
