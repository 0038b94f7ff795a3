"""Results of Harbor's trials: the agent's execution with its tokens and failure, and no calls."""

from __future__ import annotations

import copy

from support.trace_examples.evaluation_tools import HARBOR
from weighbridge.traces import Step, Usage, read_trace
from weighbridge.traces.fields import time_of
from weighbridge.traces.hints import correction_for

AGENT = Step(
    id="s1",
    type="agent",
    name="terminus-2",
    model="gpt-5",
    error="AgentTimeoutError: Agent execution timed out after 9.0 seconds",
    started_at=time_of("2026-03-04T10:00:03Z"),
    ended_at=time_of("2026-03-04T10:00:12Z"),
)


def test_the_agents_execution_is_a_step_and_its_tokens_are_those_of_the_run():
    trace = read_trace(HARBOR)
    assert (trace.format, trace.id, trace.steps) == ("harbor", "0b5c", (AGENT,))
    assert (trace.usage, trace.cost_usd) == (Usage(900, 40, cached_tokens=600), 0.01)
    assert set(trace.missing) == {"llm_calls", "tool_calls", "tool_definitions"}
    assert trace.metadata == {
        "trial_name": "count-lines__a1B2",
        "task_name": "count-lines",
        "source": "small-bench",
        "agent": "terminus-2",
        "agent_version": "2.0.0",
        "model": "gpt-5",
        "rewards": {"reward": 0.0},
    }
    assert trace.not_carried == ("agent result field 'metadata' (1)",)


def test_the_failure_of_a_verifier_is_not_that_of_the_agent():
    trial = copy.deepcopy(HARBOR)
    trial["exception_info"] |= {
        "exception_type": "RewardFileNotFoundError",
        "exception_message": "no reward",
    }
    agent, verifier = read_trace(trial).steps
    assert agent.error is None
    assert (verifier.type, verifier.name) == ("other", "verifier")
    assert verifier.error == "RewardFileNotFoundError: no reward"


def test_steps_of_a_task_are_executions_of_the_agent_whose_tokens_add_up():
    parts = [
        {"step_name": name, "agent_result": HARBOR["agent_result"], "exception_info": None}
        for name in ("build", "test")
    ]
    trial = {**HARBOR, "agent_result": None, "step_results": parts, "exception_info": None}
    trace = read_trace(trial)
    assert [(step.id, step.type) for step in trace.steps] == [("build", "agent"), ("test", "agent")]
    assert (trace.usage, trace.cost_usd) == (Usage(1_800, 80, 1_880, 1_200), 0.02)


def test_tokens_are_not_known_where_the_agent_reported_none_in_a_step():
    parts = [
        {"step_name": "build", "agent_result": HARBOR["agent_result"]},
        {"step_name": "test", "agent_result": None, "exception_info": HARBOR["exception_info"]},
    ]
    trace = read_trace({**HARBOR, "agent_result": None, "step_results": parts})
    assert {"token_usage", "cost"} <= set(trace.missing)
    assert trace.usage is trace.cost_usd is None


def test_values_of_the_wrong_type_are_not_read():
    for field in ("agent_result", "exception_info", "agent_execution", "verifier_result"):
        for wrong in (None, 1, "x", [], [[]], {"rewards": 1}):
            assert read_trace({**HARBOR, field: wrong}).steps[0].type == "agent"


def test_the_files_beside_a_result_are_named():
    job = {"id": "j", "started_at": "2026-03-04", "n_total_trials": 2, "stats": {"evals": {}}}
    assert "summary of a job of Harbor" in correction_for(job)
    config = {"task": {}, "trial_name": "t", "trials_dir": "jobs", "agent": {}, "artifacts": []}
    assert "configuration of a trial of Harbor" in correction_for(config)
