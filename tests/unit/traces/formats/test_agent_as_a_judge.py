"""Trajectories that Agent-as-a-Judge reads."""

from __future__ import annotations

import pytest

from support.trace_examples.benchmarks import AGENT_AS_A_JUDGE
from weighbridge.traces import Step, Usage, read_trace
from weighbridge.traces.formats.agent_as_a_judge import IMPORTER

ACTS, ENDS = AGENT_AS_A_JUDGE


def test_answers_with_their_actions_are_steps():
    trace = read_trace(AGENT_AS_A_JUDGE)
    assert trace.format == "agent-as-a-judge"
    assert trace.steps == (
        Step(id="s1", type="user", output="Fix it."),
        Step(id="s2", type="llm", output="I look.", model="m", usage=Usage(5, 2), cost_usd=0.5),
        Step(
            id="call_1",
            type="tool",
            parent_id="s2",
            name="run",
            arguments={"command": "ls"},
            output="a.py",
        ),
        Step(id="s4", type="llm", output="Done.", model="m", usage=Usage(6, 1), cost_usd=0.25),
    )
    assert (trace.cost_usd, trace.totals_from) == (0.75, "accumulated_usage of the last step")
    assert trace.not_carried == ()


@pytest.mark.parametrize(
    ("action", "name", "arguments"),
    [
        ("Running Python code interactively: x()", "run_ipython", {"code": "x()"}),
        ("Write the file", "action", {"action": "Write the file"}),
        ({"tool": "x"}, "action", {"tool": "x"}),
    ],
)
def test_an_action_is_a_call_however_it_is_worded(action, name, arguments):
    trace = read_trace([{**ACTS, "agent": {"thought": None, "action": action}}])
    [call] = trace.steps_of("tool")
    assert (call.name, call.arguments, call.output) == (name, arguments, "a.py")


def test_what_the_environment_says_without_an_action_is_a_step():
    trace = read_trace([ACTS, {**ENDS, "environment": "Time is up."}, {**ENDS, "agent": None}])
    assert [step.type for step in trace.steps] == ["user", "llm", "tool", "llm", "other"]


def test_other_lists_of_steps_are_not_of_this_form():
    for step in ({**ACTS, "agent": {"thought": "x"}}, {"step": 1, "agent": ACTS["agent"]}):
        assert not IMPORTER.matches([step])
    assert not IMPORTER.matches([])


@pytest.mark.parametrize("odd", [None, 5, "x", [], {}, [None], {"id": []}])
def test_odd_values_leave_the_rest_readable(odd):
    odd_one = dict.fromkeys(ACTS, odd) | {"agent": {"thought": odd, "action": odd}}
    trace = read_trace([*AGENT_AS_A_JUDGE * 10, odd_one, {"agent": odd}, odd, ENDS])
    assert trace.steps[-1].output == "Done."
