"""The summary above a timeline counts as the `budget` grader does."""

from __future__ import annotations

import pytest

from weighbridge.traces import read_trace
from weighbridge_producer.trace_view.trace_summary import lack, summary_facts

CALL = {"id": "a", "type": "llm", "output": "x", "usage": {"input_tokens": 5, "output_tokens": 2}}
AROUND = {"id": "b", "type": "other", "usage": {"input_tokens": 5, "output_tokens": 2}}


@pytest.mark.parametrize(
    ("trace", "counts"),
    [
        pytest.param([CALL], ("1 step", "1 model call", "0 tool calls", "7 tokens"), id="stated"),
        pytest.param(
            [AROUND, CALL | {"parent_id": "b"}],
            ("2 steps", "1 model call", "0 tool calls", "7 tokens"),
            id="the sum of a step around the call is not added to it",
        ),
        pytest.param(
            [CALL, {"id": "c", "type": "llm", "output": "y"}],
            ("2 steps", "2 model calls", "0 tool calls", "at least 7 tokens"),
            id="one call states none",
        ),
        pytest.param(
            [{"id": "t", "type": "tool", "name": "f", "arguments": {}}],
            ("1 step", "model calls not known", "1 tool call"),
            id="a tool call without the model call that asked for it",
        ),
    ],
)
def test_summary(trace, counts):
    assert summary_facts(read_trace({"steps": trace})) == ("native", *counts)


def test_larger_counts_of_the_source_are_taken():
    steps = {"steps": [CALL], "usage": {"total_tokens": 9}, "counts": {"llm_calls": 2}}
    assert summary_facts(read_trace(steps)) == (
        *("native", "1 step", "2 model calls", "0 tool calls", "9 tokens"),
    )


def test_calls_that_are_known_in_part_are_not_said_to_be_none():
    known = {"tool_calls": 40, "llm_calls": 0, "total_tokens": 812, "cost_usd": 0.02}
    assert lack("timing", {**known, "duration_ms": 5}) == "not all times"
    assert lack("timing", known) == "no timing"
    assert lack("tool_calls", known) == "not all tool calls"
    assert lack("token_usage", known) == "not all tokens"
    assert lack("cost", known) == "not all costs"
    assert lack("llm_calls", known) == "model calls not known"
    assert lack("tool_definitions", known) == "no tool definitions"
    assert lack("token_usage", {}) == "no token usage"
