"""Answers of smolagents' benchmarks: the steps in the four forms that they have been written in."""

from __future__ import annotations

import pytest

from support.trace_examples.agent_frameworks import SMOLAGENTS, SMOLAGENTS_ANSWER, SMOLAGENTS_STEP
from weighbridge.errors import TraceError
from weighbridge.traces import Usage, read_trace
from weighbridge.traces.fields import time_of

CALL = {"id": "c1", "type": "function", "function": {"name": "search", "arguments": {"q": "x"}}}
SYSTEM = """SystemPromptStep(system_prompt='You find.\\nIt\\'s so.')"""
TASK = """TaskStep(task="Find Bob's x.", task_images=None)"""
UNUSABLE = """ActionStep(agent_memory=None, tool_calls=None, start_time=1735732801.5, end_time=1735732802.0, step_number=0, error=AgentParsingError('no code: ("], [\\'' ), duration=0.5, llm_output='Hm.', observations=None, action_output=None)"""
ACTION = SMOLAGENTS_STEP
PLAN = "PlanningStep(model_input_messages=[], facts='x is known.', plan='1. Find it.')"


def answer(steps, **fields):
    return {"model_id": "m", "agent_action_type": "code", "question": "Find x.", "answer": "y", "true_answer": "z", "intermediate_steps": steps, **fields}  # fmt: skip


def of_deep_research(steps, **fields):
    return SMOLAGENTS_ANSWER | {"intermediate_steps": steps, **fields}


def message(role, text):
    return {"role": role, "content": [{"type": "text", "text": text}], "tool_calls": None}


def shown(trace):
    return [(step.type, step.name, step.output, step.error) for step in trace.steps]


def test_steps_that_are_objects_are_those_of_a_memory():
    trace = read_trace(answer(SMOLAGENTS, token_counts={"input_tokens": 14, "output_tokens": 3}))
    assert trace.format == "smolagents"
    assert [(step.type, step.output) for step in trace.steps] == [
        (step.type, step.output) for step in read_trace(SMOLAGENTS).steps
    ]
    assert (trace.usage, trace.totals_from) == (Usage(14, 3), "token_counts")
    assert {step.model for step in trace.steps_of("llm")} == {"m"}
    assert trace.metadata == {"agent_action_type": "code", "answer": "y", "true_answer": "z"}


def test_the_messages_of_a_memory_are_answers_with_their_calls_and_results():
    steps = [
        message("system", "You find."),
        message("user", "New task:\nFind x."),
        message("assistant", "1. Find it."),
        message("user", "Now proceed and carry out this plan."),
        message("assistant", "I search."),
        message("tool-call", f"Calling tools:\n{[CALL, {**CALL, 'id': 'c2'}]}"),
        message("tool-response", "Observation:\nsome"),
        message("tool-call", f"Calling tools:\n{[{**CALL, 'id': 'c3'}]}"),
        message("tool-response", "Call id: c3\nError:\nno such page"),
        message("assistant", "Hm."),
        message("tool-response", "Error:\nno code"),
        message("tool-response", "Error:\nReached max steps."),
    ]
    trace = read_trace(answer(steps))
    assert shown(trace) == [
        ("system", None, "You find.", None),
        ("user", None, "Find x.", None),
        ("llm", "planning", "1. Find it.", None),
        ("llm", None, "I search.", None),
        ("tool", "search", "some", None),
        ("tool", "search", "some", None),
        ("llm", None, None, None),
        (
            "tool",
            "search",
            "Call id: c3\nError:\nno such page",
            "Call id: c3\nError:\nno such page",
        ),
        ("llm", None, "Hm.", "Error:\nno code"),
        ("llm", None, None, "Error:\nReached max steps."),
    ]
    assert "llm_calls" not in trace.missing
    assert trace.steps_of("tool")[0].arguments == {"q": "x"}


def test_images_are_no_end_of_a_step():
    image = {"role": "user", "content": [{"type": "image", "image": None}]}
    steps = [message("assistant", "I search."), message("tool-call", f"Calling tools:\n{[CALL]}"), image, message("tool-response", "Observation:\nsome")]  # fmt: skip
    assert shown(read_trace(answer(steps))) == [
        ("llm", None, "I search.", None),
        ("tool", "search", "some", None),
    ]


@pytest.mark.parametrize(
    ("calls", "result"),
    [
        (str([CALL]), "Call id: c1\nObservation:\nsome"),
        (str({"tools": [CALL]}), "Tool calling observation:\nsome"),
    ],
)
def test_calls_in_messages_of_the_assistant_are_those_of_older_versions(calls, result):
    steps = [
        message("assistant", "I search."),
        message("assistant", f"Calling tools:\n{calls}"),
        message("tool-response", result),
        message("tool-response", "Call id: c1\nError:\nno"),
        message("assistant", f"Calling tools:\n{calls}"),
    ]
    trace = read_trace(answer(steps))
    failure = "Call id: c1\nError:\nno"
    assert shown(trace) == [
        ("llm", None, "I search.", None),
        ("tool", "search", "some", failure),
        ("llm", None, None, None),
        ("tool", "search", None, None),
    ]


def test_code_without_a_call_is_one():
    step = "ActionStep(step_number=1, tool_calls=None, code_action='go()', model_output='I go.')"
    (call,) = read_trace(answer([step])).steps_of("tool")
    assert call.arguments == {"code": "go()"}


def test_a_failed_call_in_pythons_notation_is_that_of_the_models_message():
    message = "ChatMessage(role=<MessageRole.ASSISTANT: 'assistant'>, content='', tool_calls=[ChatMessageToolCall(function=ChatMessageToolCallFunction(arguments={'q': 'x'}, name='search', description=None), id='c1', type='function')], raw=None)"
    step = f"ActionStep(step_number=1, tool_calls=None, error=AgentToolExecutionError('no'), model_output_message={message}, model_output='', observations=None)"
    (call,) = read_trace(answer([step])).steps_of("tool")
    assert (call.id, call.name, call.arguments, call.error) == ("c1", "search", {"q": "x"}, "no")


@pytest.mark.parametrize("written", ["[{'id': <x>}]", "[{'id': b'x'}]", "[]", "[" * 300])
def test_calls_that_cannot_be_read_are_one_call_with_their_text(written):
    listed = [message("tool-call", f"Calling tools:\n{written}")]
    trace = read_trace(answer(listed))
    (call,) = trace.steps_of("tool")
    assert (call.name, call.arguments) == (None, written)
    assert "could not be read whole" in trace.missing["tool_calls"]


@pytest.mark.parametrize("is_one_text", [False, True])
def test_steps_in_pythons_notation_are_read_field_by_field(is_one_text):
    steps = [SYSTEM, TASK, UNUSABLE, PLAN, ACTION]
    trace = read_trace(of_deep_research(f"[{', '.join(steps)}]" if is_one_text else steps))
    assert shown(trace) == [
        ("system", None, "You find.\nIt's so.", None),
        ("user", None, "Find Bob's x.", None),
        ("llm", None, "Hm.", "no code: (\"], ['"),
        ("llm", "planning", "x is known.", None),
        ("llm", "planning", "1. Find it.", None),
        ("llm", None, "I search.", None),
        ("tool", "python_interpreter", "so\nme", None),
        ("tool", "search", "so\nme", None),
    ]
    assert [step.arguments for step in trace.steps_of("tool")] == [{"code": 'print(f("a"))'}, {"q": "x"}]  # fmt: skip
    assert trace.steps[2].started_at == time_of(1735732801.5)
    assert (trace.steps[5].ended_at, trace.steps[5].usage) == (time_of(1735732804.0), Usage(5, 2, 7))  # fmt: skip
    assert trace.missing["llm_calls"].startswith("open_deep_research also calls models")


@pytest.mark.parametrize(
    "steps",
    [[TASK, ACTION[:-400]], [ACTION, "..."], f"[{TASK}, {ACTION}"],
)  # fmt: skip
def test_of_a_step_that_is_cut_off_calls_may_be_missing(steps):
    trace = read_trace(answer(steps))
    assert trace.missing["llm_calls"] == trace.missing["tool_calls"]
    assert "could not be read whole" in trace.missing["llm_calls"]


@pytest.mark.parametrize("steps", [[], None])
def test_of_a_run_that_failed_the_calls_are_not_known(steps):
    trace = read_trace(of_deep_research(steps, agent_error="overloaded", task_id="t1"))
    assert shown(trace) == [("user", None, "Do find x.", None)]
    assert trace.missing["llm_calls"] == "this record keeps none of the run's steps"
    assert trace.missing["tool_calls"] == trace.missing["llm_calls"]
    assert (trace.id, trace.metadata["agent_error"]) == ("t1", "overloaded")


def test_a_model_alone_answers_in_one_call():
    trace = read_trace(answer("It is y.", agent_action_type="vanilla"))
    assert shown(trace) == [("user", None, "Find x.", None), ("llm", None, "It is y.", None)]


def test_local_times_count_only_together_and_where_no_step_has_its_own():
    times = {"start_time": "2025-01-27 22:44:58", "end_time": "2025-01-27 22:46:27"}
    listed = [message("assistant", "y")]
    trace = read_trace(answer(listed, **times))
    assert (trace.started_at, trace.ended_at) == tuple(map(time_of, times.values()))
    for steps, others in ((listed, times | {"start_time": 1735732801.5}), ([ACTION], times)):
        trace = read_trace(answer(steps, **others))
        assert (trace.started_at, trace.ended_at) == (None, None)
        assert "local times of a run's start and end (1)" in trace.not_carried


@pytest.mark.parametrize(
    "value",
    [
        answer([{"tool": "search"}]),
        answer("It is y."),
        answer(["text"]),
        answer(1),
        {"question": "x", "intermediate_steps": [TASK]},
        answer([message("critic", "x")]),
    ],
)
def test_other_intermediate_steps_are_not_claimed(value):
    with pytest.raises(TraceError):
        read_trace(value)
