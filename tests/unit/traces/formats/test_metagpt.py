"""States of MetaGPT's teams: the messages of their roles, each once, and what the run cost."""

from __future__ import annotations

import pytest

from support.trace_examples.multi_agent_frameworks import METAGPT
from weighbridge.traces import Step, Usage, read_trace


def test_a_message_that_several_roles_observed_is_one_step():
    trace = read_trace(METAGPT)
    assert trace.steps == (
        Step(id="m1", type="user", output="Build a clock."),
        Step(id="m2", type="agent", name="Alice(Product Manager)", output="The clock has hands."),
    )
    assert (trace.usage, trace.cost_usd) == (Usage(900, 100), 0.03)
    assert set(trace.missing) == {"llm_calls", "tool_calls", "timing", "tool_definitions"}


@pytest.mark.parametrize("context", [None, {}, {"cost_manager": "oops"}, {"cost_manager": [1]}])
def test_tokens_are_not_known_without_a_context(context):
    trace = read_trace({**METAGPT, "context": context})
    assert {"token_usage", "cost"} <= set(trace.missing)


def test_the_idea_is_the_request_of_a_team_that_did_not_begin():
    roles = {"Architect": {"actions": [], "rc": {"memory": None}}}
    trace = read_trace({**METAGPT, "env": {"roles": roles}})
    assert [(step.type, step.output) for step in trace.steps] == [("user", "Build a clock.")]
