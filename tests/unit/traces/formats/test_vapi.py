"""Calls of Vapi's voice assistants."""

from __future__ import annotations

import pytest

from support.trace_examples import VAPI
from weighbridge.traces import Step, Usage, read_trace
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


@pytest.mark.parametrize(
    "value",
    [
        {"messages": VAPI["messages"]},
        {"orgId": "o", "messages": []},
        {"orgId": "o", "messages": [{"role": "assistant"}]},
        {"orgId": "o", "artifact": 3},
    ],
)
def test_other_values_are_not_claimed(value):
    assert not IMPORTER.matches(value)
