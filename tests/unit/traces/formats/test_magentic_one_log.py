"""Logs of Magentic-One: each model call counts once, and a task of the user is a trace."""

from __future__ import annotations

import pytest

from support.trace_examples.multi_agent_frameworks import MAGENTIC_ONE_LOG
from weighbridge.traces import Usage, read_trace, read_traces

TIME = "2026-03-01T10:00:00"


def call(sent=5, received=3):
    return {
        "timestamp": TIME,
        "type": "LLMCallEvent",
        "prompt_tokens": sent,
        "completion_tokens": received,
    }


def event(source, message="...", kind="OrchestrationEvent", **fields):
    return {"timestamp": TIME, "type": kind, "source": source, "message": message, **fields}


def shown(trace):
    return [(step.type, step.name, step.output) for step in trace.steps]


def test_a_message_has_the_tokens_of_the_model_call_before_it():
    trace = read_trace(MAGENTIC_ONE_LOG)
    assert shown(trace) == [
        ("user", None, "Find the ferry to Oban."),
        ("llm", None, None),
        ("llm", "Orchestrator (thought)", "Initial plan: search the web."),
        ("other", "Orchestrator (-> WebSurfer)", "Please search for the ferry."),
        ("llm", "WebSurfer", "web_search({'query': 'ferry Oban'})"),
        ("tool", "web_search", "It leaves at nine."),
        ("llm", "Orchestrator (final answer)", "At nine."),
    ]
    usage = [step.usage for step in trace.steps_of("llm")]
    assert usage == [Usage(300, 40), Usage(400, 60), Usage(500, 20), Usage(600, 10)]
    assert trace.steps[5].arguments == {"query": "ferry Oban"}
    assert set(trace.missing) == {"tool_calls", "tool_definitions"}


def test_each_task_of_the_user_is_a_trace_and_an_answer_to_a_question_is_none():
    log = [
        *(event("UserProxy", "One."), call(), event("Orchestrator (thought)")),
        *(event("Orchestrator (-> UserProxy)", "Which?"), event("UserProxy", "The red one.")),
        *(event("UserProxy", "Two."), call(), call()),
    ]
    traces = read_traces(log)
    assert [[step.type for step in trace.steps] for trace in traces] == [
        ["user", "llm", "other", "user"],
        ["user", "llm", "llm"],
    ]


def test_a_call_for_what_a_page_shows_is_not_the_text_of_the_action():
    log = [
        *(event("UserProxy", "Go."), call()),
        event("WebSurfer", "click()", "WebSurferEvent", action="click", arguments={"id": 3}),
        *(call(7, 7), event("WebSurfer", "I clicked. The page has a form.")),
    ]
    trace = read_trace(log)
    assert shown(trace) == [
        ("user", None, "Go."),
        ("llm", "WebSurfer", "click()"),
        ("tool", "click", "I clicked. The page has a form."),
        ("llm", None, None),
    ]


def test_only_the_next_message_of_the_surfer_itself_is_the_result_of_its_action():
    action = event("WebSurfer", "click()", "WebSurferEvent", action="click", arguments={})
    shot = event("WebSurfer", "Screenshot: a.png", "WebSurferEvent")
    seen = event("WebSurfer", "I clicked. The page has a form.")
    (step,) = read_trace([call(), action, shot, call(9, 9), seen]).steps_of("tool")
    assert step.output == "I clicked. The page has a form."
    stalled = event("Orchestrator (thought)", "Stalled.")
    trace = read_trace([call(), action, call(), stalled, call(), seen])
    assert [step.output for step in trace.steps_of("tool")] == [None]
    assert trace.steps[-1].type == "llm"


@pytest.mark.parametrize("kind", ["OtherEvent", "AgentEvent"])
def test_what_no_model_wrote_is_no_model_call(kind):
    trace = read_trace([call(), event("Orchestrator (thought)"), event("Executor", "ok", kind)])
    assert len(trace.steps_of("llm")) == 1
    assert bool(trace.not_carried) == (kind == "OtherEvent")
