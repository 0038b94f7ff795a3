"""A recorded time, cost or number of calls that cannot be read leaves a limit on it undecided, and the rest is a lower bound."""

from __future__ import annotations

from typing import Any

import pytest

from support.trace_examples import EXAMPLES
from weighbridge.graders import BudgetGrader
from weighbridge.traces import read_trace, read_traces
from weighbridge.traces.fields import UNREADABLE
from weighbridge.traces.formats.native import to_native

TIME, COST, CALLS, TOKENS = "max_duration_ms", "max_cost_usd", "max_llm_calls", "max_tokens"
#: A format, the path to a number in its example, and the limit that it belongs to.
VALUES = (
    ("agno", "metrics/duration", TIME),
    ("ai-sdk-devtools", "steps/1/duration_ms", TIME),
    ("braintrust", "3/metrics/end", TIME),
    ("cline", "0/ts", TIME),
    ("cline", "10/ts", TIME),
    ("copilot-debug-log", "3/dur", TIME),
    ("craft-agents", "3/toolDuration", TIME),
    ("crush", "rows/0/created_at", TIME),
    ("crush", "rows/4/finished_at", TIME),
    ("droid", "11/durationMs", TIME),
    ("genkit", "spans/model-2/endTime", TIME),
    ("google-adk", "events/4/timestamp", TIME),
    ("kimi-code", "0/created_at", TIME),
    ("openai-assistants", "runs/0/completed_at", TIME),
    ("n8n", "data/resultData/runData/Model/0/startTime", TIME),
    ("n8n", "data/resultData/runData/Search/0/executionTime", TIME),
    ("promptflow", "flow_runs/0/api_calls/0/children/1/children/2/end_time", TIME),
    ("opencode", "info/time/updated", TIME),
    ("smolagents", "3/timing/end_time", TIME),
    ("harbor", "agent_result/cost_usd", COST),
    ("promptfoo", "results/results/0/cost", COST),
    ("weave", "1/summary/weave/costs/m/prompt_tokens_total_cost", COST),
    ("openai-agents", "context/usage/requests", CALLS),
    ("toolbench", "answer_generation/query_count", CALLS),
    ("crewai", "7/total_tokens", TOKENS),
    ("managed-agents", "10/usage/output_tokens", TOKENS),
    ("opik", "spans/3/usage/original_usage.output_tokens", "max_output_tokens"),
)


def replaced(value: Any, path: list[str], new: Any) -> Any:
    """Return a copy of a JSON value with another value at a path, where there is a number already."""
    if not path:
        assert type(value) in {int, float}
        return new
    copied = value.copy()
    key: Any = path[0] if isinstance(value, dict) else int(path[0])
    copied[key] = replaced(value[key], path[1:], new)
    return copied


@pytest.mark.parametrize("damaged", [-1_000_000, float("nan"), float("inf"), "abc", True])
@pytest.mark.parametrize(("source", "path", "limit"), VALUES)
def test_a_value_that_cannot_be_read_leaves_its_limit_undecided(
    source: str, path: str, limit: str, damaged: Any
) -> None:
    grader = BudgetGrader(config={limit: 10**12})
    assert grader.grade(EXAMPLES[source])["verdict"] == "pass"
    trace = replaced(EXAMPLES[source], path.split("/"), damaged)
    assert grader.grade(trace)["verdict"] == "ungradable"
    assert grader.grade(to_native(read_trace(trace)))["verdict"] == "ungradable"


def test_a_limit_that_the_rest_exceeds_is_failed() -> None:
    trace = replaced(EXAMPLES["cline"], ["0", "ts"], -1)
    result = BudgetGrader(config={TIME: 1}).grade(trace)
    assert result["verdict"] == "fail"
    assert "duration_ms" in str(result["details"]["at_least"])


@pytest.mark.parametrize("unset", [None, 0, "", "0", "0001-01-01T00:00:00Z"])
def test_a_time_that_stands_for_none_is_not_unreadable(unset: Any) -> None:
    chat = [{"role": "user", "content": "Hi", "timestamp": unset}]
    assert read_trace(chat).missing.get("timing") != UNREADABLE["timing"]


@pytest.mark.parametrize("cost", [None, "", "0.25", "$0.25", {"input": 0.1}])
def test_a_cost_of_another_form_is_not_unreadable(cost: Any) -> None:
    chat = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "A", "cost": cost}]
    assert read_trace(chat).missing.get("cost") != UNREADABLE["cost"]


@pytest.mark.parametrize("source", EXAMPLES)
def test_sound_traces_have_no_unreadable_values(source: str) -> None:
    for trace in read_traces(EXAMPLES[source]):
        assert not set(trace.missing.values()) & set(UNREADABLE.values())
