"""tau2's voice simulations: speech without a pause is one turn, and the calls of a tick are the agent's."""

from __future__ import annotations

from support.trace_examples.benchmarks import TAU2_VOICE
from weighbridge.traces import Step, Usage, read_trace
from weighbridge.traces.fields import time_of


def at(second):
    return time_of(f"2025-01-01T12:00:0{second}")


def test_ticks_become_turns_and_calls():
    trace = read_trace(TAU2_VOICE)
    assert (trace.format, trace.id) == ("tau2-voice", "v")
    assert trace.steps == (
        Step(id="s1", type="llm", output="Hello.", started_at=at(0), ended_at=at(1)),
        Step(id="s2", type="user", output="Why?", started_at=at(1), ended_at=at(2)),
        Step(id="s3", type="llm", ended_at=at(3)),
        Step(id="c", type="tool", parent_id="s3", name="find", arguments={"q": "x"}, output="Error: no", error="Error: no", started_at=at(3), ended_at=at(3)),
        Step(id="s5", type="llm", output="No.", started_at=at(4), ended_at=at(4)),
    )  # fmt: skip
    assert (trace.usage, trace.cost_usd) == (Usage(9, 4), 0.5)
    assert trace.metadata["termination_reason"] == "user_stop"
    assert set(trace.missing) == {"tool_definitions"}


def test_words_of_different_utterances_are_parted():
    def tick(text, utterance):
        chunk = {"contains_speech": True, "content": text, "utterance_ids": [utterance]}
        return {"tick_id": 0, "agent_chunk": chunk, "user_chunk": None}

    trace = read_trace({"ticks": [tick("One.", "a"), tick(" Two.", "a"), tick("Three.", "b")]})
    assert [step.output for step in trace.steps] == ["One. Two. Three."]


def test_what_a_user_calls_is_not_the_agents():
    call = {"id": "c", "name": "look", "arguments": {}}
    trace = read_trace({"ticks": [{"tick_id": 0, "user_tool_calls": [call]}]})
    assert [step.type for step in trace.steps] == ["user", "other"]
