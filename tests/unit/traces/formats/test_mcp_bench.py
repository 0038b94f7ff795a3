"""Results of MCP-Bench: the calls of a task in rounds, with the tokens of the whole task."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from support.growth import assert_takes_at_most
from support.trace_examples.benchmarks import MCP_BENCH, MCP_BENCH_OWN, mcp_bench_call
from weighbridge.errors import TraceError
from weighbridge.graders import BudgetGrader
from weighbridge.traces import Step, Usage, read_trace, read_traces
from weighbridge.traces.fields import time_of
from weighbridge.traces.split import single_traces

if TYPE_CHECKING:
    from collections.abc import Callable

RESULT = MCP_BENCH["task_run_results"]["m"][0]
FAILED = {"task_id": "t", "server_name": "Finder", "model_name": "m", "status": "failed", "error": "Task timed out", "execution_time": 900}  # fmt: skip


def at(second: int) -> int | None:
    """Return a time of the example, in nanoseconds."""
    return time_of(1_735_732_800 + second)


def result(*calls: Any, **fields: Any) -> dict[str, Any]:
    """Return a result of the runner for ADK with some calls."""
    return {**RESULT, "execution_results": list(calls), "total_tool_calls": None, **fields}


def test_the_calls_of_a_round_have_one_model_call_that_asked_for_them():
    trace = read_trace(MCP_BENCH_OWN)
    assert (trace.format, trace.id) == ("mcp-bench", "finder_000")
    assert trace.steps == (
        Step(id="s1", type="user", output="Find x."),
        Step(id="s2", type="llm", model="m"),
        Step(id="s3", type="tool", parent_id="s2", name="Finder:search", arguments={"q": "x"}, output="some"),
        Step(id="s4", type="tool", parent_id="s2", name="Finder:read", arguments={}, output="no path", error="no path"),
        Step(id="s5", type="llm", model="m"),
        Step(id="s6", type="tool", parent_id="s5", name="Finder:read", arguments={"path": "/x"}, output="x"),
        Step(id="s7", type="llm", model="m", output="Here it is."),
    )  # fmt: skip
    assert (trace.usage, trace.duration_ms) == (Usage(200, 30, 230), 7_500)
    assert trace.metadata == {"servers": "Finder", "status": "completed", "rounds": 2}
    assert trace.not_carried == ("result field 'evaluation' (1)",)


def test_model_calls_and_the_tokens_of_the_benchmarks_own_agent_are_lower_bounds():
    def verdict(**limits: int) -> str:
        return str(BudgetGrader(config=limits).grade(MCP_BENCH_OWN)["verdict"])

    assert verdict(max_llm_calls=2) == verdict(max_tokens=229) == "fail"
    assert verdict(max_llm_calls=50) == verdict(max_tokens=500) == "ungradable"
    assert verdict(max_tool_calls=3) == "pass"


def test_an_agent_that_is_a_tool_has_calls_and_an_answer_of_its_own():
    trace = read_trace(MCP_BENCH)
    assert trace.steps == (
        Step(id="s1", type="llm", model="m"),
        Step(id="call_1", type="tool", parent_id="s1", name="Searcher", arguments={"q": "x"}, output="Found.", started_at=at(1)),
        Step(id="s3", type="llm", parent_id="call_1", model="m"),
        Step(id="call_2", type="tool", parent_id="s3", name="finder__search", arguments={"q": "x"}, output="some", ended_at=at(2)),
        Step(id="s5", type="llm", parent_id="call_1", model="m", output="Found."),
        Step(id="s6", type="llm", model="m", output="Here it is."),
    )  # fmt: skip
    assert trace.missing.keys() == {"tool_definitions", "llm_calls"}
    assert BudgetGrader(config={"max_tokens": 230}).grade(MCP_BENCH)["verdict"] == "pass"


def test_calls_of_agents_that_are_tools_are_not_all_recorded():
    [call] = RESULT["execution_results"]
    assert "agents that are tools" in read_trace(result(call)).missing["tool_calls"]
    assert (
        "states 5 tool calls" in read_trace(result(call, total_tool_calls=5)).missing["tool_calls"]
    )
    assert "tool_calls" not in read_trace(result(mcp_bench_call("f", 1, "x"))).missing


@pytest.mark.parametrize(
    ("response", "fields", "output", "error"),
    [
        ({"content": [{"type": "text", "text": "down"}], "isError": True}, {"success": False}, "down", "down"),
        ({"error": "no tool"}, {"success": False, "error": "{'error': 'no tool'}"}, {"error": "no tool"}, "{'error': 'no tool'}"),
        ({"result": None}, {}, None, None),
        ({"output": "A summary."}, {"compressed": True}, "A summary.", None),
        (None, {"success": False}, None, "error"),
        (None, {"success": False, "type": "tool_call"}, None, None),
    ],
)  # fmt: skip
def test_a_call_failed_if_it_was_answered_and_had_no_success(
    response: Any, fields: dict[str, Any], output: Any, error: str | None
) -> None:
    [step] = read_trace(result(mcp_bench_call("f", 1, response, **fields))).steps_of("tool")
    assert (step.output, step.error) == (output, error)


def test_results_that_were_summed_up_are_counted():
    summed_up = mcp_bench_call("f", 1, {"output": "A summary."}, compressed=True)
    [trace] = read_traces(result(summed_up, summed_up))
    assert trace.not_carried == ("results that were summed up before the model was given them (2)",)


def test_a_task_that_failed_is_a_trace_of_which_nothing_is_known():
    trace = read_trace(FAILED)
    assert (trace.id, trace.steps, trace.metadata["error"]) == ("t", (), "Task timed out")
    assert {"llm_calls", "tool_calls", "token_usage"} <= trace.missing.keys()
    assert BudgetGrader(config={"max_tool_calls": 9}).grade(FAILED)["verdict"] == "ungradable"


def test_each_task_of_each_model_is_a_trace():
    other = {**RESULT, "task_id": "finder_001"}
    one = {"task_run_results": {"m": [RESULT, other]}}
    assert [trace.id for trace in read_traces(one)] == ["finder_000", "finder_001"]
    two = {"run_metadata": {}, "all_completed_task_results": {"m": [RESULT]}, "current_model_task_results": {"n": [other]}}  # fmt: skip
    names = ["m/finder_000", "n/finder_001"]
    assert [trace.id for trace in read_traces(two)] == names
    parts = single_traces(two) or []
    assert [name for name, _ in parts] == names
    assert [read_trace(part) for _, part in parts] == list(read_traces(two))
    files = {"a.json": one, "b.json": {"task_run_results": {"m": [FAILED]}}}
    assert [trace.id for trace in read_traces(files)] == ["finder_000", "finder_001", "t"]


@pytest.mark.parametrize("damaged", [None, 5, "x", {}, {**RESULT, "execution_results": None}])
def test_a_result_that_cannot_be_read_is_refused_alone(damaged: Any) -> None:
    value = {"task_run_results": {"m": [RESULT, damaged]}}
    with pytest.raises(TraceError, match="is not an object with its tool executions"):
        read_traces(value)
    (_, whole), (_, part) = single_traces(value) or []
    assert read_trace(whole).id == "finder_000"
    with pytest.raises(TraceError):
        read_trace(part)


@pytest.mark.parametrize("damaged", [None, 5, "x"])
def test_a_call_that_is_no_object_is_refused(damaged: Any) -> None:
    inner = mcp_bench_call("Searcher", 1, {}, inner_tool_calls=[damaged])
    for calls in ([damaged], [inner]):
        with pytest.raises(TraceError, match="is not an object"):
            read_trace(result(*calls))


def test_many_calls_take_time_in_proportion_to_them():
    def work(count: int) -> Callable[[], object]:
        calls = [mcp_bench_call("f", second, "x", round=second) for second in range(count)]
        return lambda: read_trace(result(*calls))

    assert_takes_at_most(30, work, size=4_000, of=400)
