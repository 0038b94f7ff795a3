"""ToolBench's answers: every branch of the tree was tried and is counted."""

from __future__ import annotations

import copy

from support.trace_examples.benchmarks import TOOLBENCH
from weighbridge.traces import Counts, Step, ToolDefinition, Usage, read_trace


def test_each_thought_with_its_action_is_an_answer_and_each_input_a_call():
    trace = read_trace(TOOLBENCH)
    failed = '{"error": "Message error..."}'
    assert trace.format == "toolbench"
    assert trace.steps == (
        Step(id="s1", type="user", output="Find x."),
        Step(id="s2", type="llm", output="It is hopeless."),
        Step(id="s3", type="llm", output="I search."),
        Step("call_2", "tool", "s3", "search", arguments={"q": "x"}, output=failed, error=failed),
        Step(id="s5", type="llm"),
        Step(
            id="call_3",
            type="tool",
            parent_id="s5",
            name="Finish",
            arguments={"return_type": "give_answer"},
            output="answered",
        ),
    )
    assert trace.usage == Usage(total_tokens=90)
    assert trace.tools == (ToolDefinition("search", {}, "Finds."),)
    assert trace.counts == Counts(llm_calls=4)


def test_attempts_in_chains_are_read_one_after_the_other():
    chain = [
        {"node_type": "Thought", "description": "I search."},
        {"node_type": "Action", "description": "search"},
        {"node_type": "Action Input", "description": "{}", "observation": "x"},
    ]
    told = TOOLBENCH["answer_generation"]
    trace = read_trace({"win": False, "trys": [{"chain": chain}] * 2, "answer_generation": told})
    assert [step.output for step in trace.steps_of("llm")] == ["I search."] * 2
    assert [step.output for step in trace.steps_of("tool")] == ["x"] * 2


def test_an_action_without_input_does_not_take_the_next_ones_observation():
    value = copy.deepcopy(TOOLBENCH)
    thought = value["tree"]["tree"]["children"][0]
    thought["children"] = [{"node_type": "Action", "description": "lost", "children": []}]
    calls = read_trace(value).steps_of("tool")
    assert [(step.name, step.output is None) for step in calls] == [
        ("lost", True),
        ("search", False),
        ("Finish", False),
    ]
