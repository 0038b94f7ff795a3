"""ToolEval's predictions: each query is a trace, and each node of its chain an answer."""

from __future__ import annotations

import copy

from support.trace_examples.benchmarks import TOOL_EVAL
from weighbridge.traces import Step, ToolDefinition, read_trace, read_traces
from weighbridge.traces.split import single_traces


def test_a_tool_node_is_an_answer_with_its_call_and_another_node_an_answer_alone():
    trace = read_trace(TOOL_EVAL)
    assert (trace.id, trace.format) == ("588", "tool-eval")
    assert trace.steps == (
        Step(id="s1", type="user", output="Find x."),
        Step(id="s2", type="llm"),
        Step("call_2", "tool", "s2", "search", arguments={"q": "x"}, output="found"),
        Step(id="s4", type="llm", output="I finish."),
        Step(id="s5", type="llm"),
        Step("call_4", "tool", "s5", "Finish", arguments={}, output=""),
    )
    assert trace.tools == (ToolDefinition("search", {}, "Finds."),)
    assert trace.metadata == {"method": "CoT@1", "total_steps": 5, "final_answer": "x"}
    assert set(trace.missing) == {"token_usage", "timing", "cost"}


def test_each_query_of_a_file_is_a_trace_of_its_own():
    value = {"1": TOOL_EVAL["588"], "2": TOOL_EVAL["588"]}
    assert [trace.id for trace in read_traces(value)] == ["1", "2"]
    assert single_traces(value) == list(value.items())
    assert read_trace(TOOL_EVAL["588"]).steps == read_trace(TOOL_EVAL).steps


def test_a_call_that_cannot_be_parsed_counts_and_is_reported():
    value = copy.deepcopy(TOOL_EVAL)
    [root] = value["588"]["answer"]["answer_details"]
    root["next"][0]["message"] = "__import__('os').getcwd()"
    trace = read_trace(value)
    assert [step.name for step in trace.steps_of("tool")] == [None, "Finish"]
    assert trace.not_carried == ("calls that cannot be parsed (1)",)
