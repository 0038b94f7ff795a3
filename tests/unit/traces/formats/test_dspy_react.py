"""Predictions of DSPy's agents: numbered turns, code, and the history of ReActV2."""

from __future__ import annotations

import json

from support.trace_examples.agent_frameworks import DSPY_REACT
from weighbridge.traces import Step, Usage, read_trace
from weighbridge.traces.model import Counts

TRAJECTORY = DSPY_REACT["trajectory"]


def test_turns_become_answers_with_a_call():
    trace = read_trace(DSPY_REACT)
    assert trace.format == "dspy-react"
    assert trace.steps == (
        Step(id="s1", type="user", output="Where is x?"),
        Step(id="s2", type="llm", output="I look."),
        Step(id="call_0", type="tool", parent_id="s2", name="search", arguments={"q": "x"}, output="none"),
        Step(id="s4", type="llm", output="Again."),
        Step(id="call_1", type="tool", parent_id="s4", name="fetch", arguments={}, output="Execution error in fetch: no url", error="Execution error in fetch: no url"),
        Step(id="s6", type="llm", output="Enough."),
        Step(id="call_2", type="tool", parent_id="s6", name="finish", arguments={}, output="Completed."),
        Step(id="s8", type="llm", output="Not there."),
    )  # fmt: skip
    assert trace.counts == Counts(llm_calls=4, tool_calls=3)


def test_a_trajectory_may_stand_alone_or_be_text():
    expected = read_trace(DSPY_REACT).steps_of("tool")
    for value in (TRAJECTORY, {"trajectory": json.dumps(TRAJECTORY)}):
        trace = read_trace(value)
        assert [step.output for step in trace.steps_of("tool")] == [
            step.output for step in expected
        ]
        assert [step.type for step in trace.steps] == ["llm", "tool"] * 3


def test_turns_that_were_dropped_make_the_calls_incomplete():
    rest = {key: held for key, held in TRAJECTORY.items() if not key.endswith("_0")}
    trace = read_trace({**DSPY_REACT, "trajectory": rest})
    assert trace.missing["tool_calls"].startswith("the number of the last turn states 3 tool calls")
    assert trace.counts == Counts(llm_calls=4, tool_calls=3)


def test_code_of_turns_that_were_dropped_is_missing():
    turns = {"code_output_2": "2", "generated_code_3": "f()", "code_output_3": "1"}
    trace = read_trace({"trajectory": turns, "reasoning": "r", "answer": "1"})
    assert trace.missing["tool_calls"].startswith("the first turns were dropped")
    assert trace.counts == Counts(llm_calls=5)


def test_turns_come_in_the_order_of_their_numbers():
    keys = ("tool_name", "tool_args", "observation")
    turns = {f"{key}_{number}": str(number) for number in (10, 9, *range(9)) for key in keys}
    outputs = [step.output for step in read_trace({"trajectory": turns}).steps_of("tool")]
    assert outputs == [str(number) for number in range(11)]


def test_a_call_without_a_result_has_none():
    turns = {key: held for key, held in TRAJECTORY.items() if key != "observation_0"}
    outputs = [step.output for step in read_trace({"trajectory": turns}).steps_of("tool")]
    assert outputs == [None, "Execution error in fetch: no url", "Completed."]


def test_code_is_a_call_of_an_interpreter():
    turns = {
        "generated_code_0": "f()",
        "code_output_0": "1",
        "generated_code_1": "g()",
        "observation_1": "Failed to execute the generated code: no g",
        "observation_2": "Failed to parse the generated code: no code",
    }
    trace = read_trace({"trajectory": turns, "reasoning": "r", "answer": "1"})
    assert [(step.type, step.arguments, step.error) for step in trace.steps] == [
        ("llm", None, None),
        ("tool", {"code": "f()"}, None),
        ("llm", None, None),
        ("tool", {"code": "g()"}, turns["observation_1"]),
        ("llm", None, None),
        ("other", None, turns["observation_2"]),
        ("llm", None, None),
    ]


def test_the_history_of_react_v2_has_calls_with_results():
    calls = [{"name": "search", "args": {"q": "x"}}, {"name": "fetch", "args": {}}]
    results = [
        {"call_id": "call_0_0", "name": "search", "value": "none", "is_error": False},
        {"call_id": "call_0_1", "name": "fetch", "value": "no url", "is_error": True},
    ]
    first = {
        "question": "Where is x?",
        "next_thought": "I look.",
        "tool_calls": {
            "tool_calls": calls,
            "tool_call_results": {"tool_call_results": results},
        },
    }
    last = {
        "next_thought": {"content": "Enough."},
        "tool_calls": {"tool_calls": [{"name": "submit", "args": {"answer": "No."}}]},
        "answer": "No.",
    }
    prediction = {
        "answer": "No.",
        "history": {"messages": [first, last]},
        "termination_reason": "submit",
    }
    trace = read_trace(prediction)
    assert [(step.type, step.name, step.output, step.error) for step in trace.steps] == [
        ("user", None, "Where is x?", None),
        ("llm", None, "I look.", None),
        ("tool", "search", "none", None),
        ("tool", "fetch", "no url", "no url"),
        ("llm", None, "Enough.", None),
        ("tool", "submit", None, None),
    ]
    assert trace.metadata == {"outcome": "submit"}


def test_a_history_of_several_questions_has_the_outputs_of_each():
    def event(question, answer):
        submit = {"name": "submit", "value": {"answer": answer}}
        calls = {
            "tool_calls": [{"name": "submit", "args": {"answer": answer}}],
            "tool_call_results": {"tool_call_results": [submit]},
        }
        return {"question": question, "tool_calls": calls, "answer": answer}

    events = [event("A?", "1"), event("B?", "2")]
    steps = read_trace({"answer": "2", "question": "B?", "history": {"messages": events}}).steps
    assert [step.output for step in steps if step.type == "user"] == ["A?", "B?"]


def test_usage_stored_with_a_prediction_is_the_runs():
    used = {"m": {"prompt_tokens": 9, "completion_tokens": 5, "total_tokens": 14}}
    trace = read_trace({**DSPY_REACT, "lm_usage": used})
    assert trace.usage == Usage(9, 5, 14)
    assert {step.model for step in trace.steps_of("llm")} == {"m"}
