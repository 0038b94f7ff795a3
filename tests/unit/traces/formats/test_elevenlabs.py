"""Conversations of ElevenLabs' agents."""

from __future__ import annotations

import pytest

from support.trace_examples.voice_agents import ELEVENLABS
from weighbridge.traces import Step, Usage, read_trace
from weighbridge.traces.formats.elevenlabs import IMPORTER

NOON = 1_735_732_800 * 10**9  #: 2025-01-01T12:00:00Z
SECOND = 10**9
STEPS = (
    Step(id="s1", type="other", output="Hello!", started_at=NOON),
    Step(id="s2", type="user", output="Is it open?", started_at=NOON + 3 * SECOND),
    Step(id="s3", type="llm", model="m", usage=Usage(30, 3, cached_tokens=20), started_at=NOON + 5 * SECOND),
    Step(id="c1", type="tool", parent_id="s3", name="hours", arguments={"day": 1}, output="no such day", error="no such day", started_at=NOON + 5 * SECOND),
    Step(id="s5", type="llm", model="m", output="I cannot say.", usage=Usage(11, 4, cached_tokens=0), started_at=NOON + 7 * SECOND),
)  # fmt: skip


@pytest.mark.parametrize(
    "value",
    [
        ELEVENLABS,
        {"type": "post_call_transcription", "data": ELEVENLABS},
        {**ELEVENLABS, "simulated_conversation": ELEVENLABS["transcript"], "transcript": None},
    ],
)
def test_turns_become_steps(value):
    trace = read_trace(value)
    assert (trace.id, trace.metadata) == ("e", {"status": "done"})
    assert trace.steps == STEPS


def test_without_any_usage_each_turn_of_the_agent_is_a_model_call():
    turns = [{**turn, "llm_usage": None} for turn in ELEVENLABS["transcript"]]
    trace = read_trace({**ELEVENLABS, "transcript": turns})
    assert len(trace.steps_of("llm")) == 3
    assert "token_usage" in trace.missing


@pytest.mark.parametrize("value", [{"transcript": "Hi"}, {"transcript": [{"role": "agent", "message": "Hi"}]}, {"data": []}, {"transcript": [{"role": "bot", "tool_calls": []}]}])  # fmt: skip
def test_other_values_are_not_claimed(value):
    assert not IMPORTER.matches(value)
