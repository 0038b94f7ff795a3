"""aider's logs of requests: each request is a model call, with the last message of the user."""

from __future__ import annotations

from support.trace_examples.command_line_agents import AIDER_LOG
from weighbridge.traces import read_trace
from weighbridge.traces.fields import time_of


def test_each_request_is_a_model_call_after_what_is_new_in_it():
    trace = read_trace(AIDER_LOG)
    assert trace.format == "aider-llm"
    assert [(step.type, step.output) for step in trace.steps] == [
        ("system", "Act as an expert.\n\nReply briefly."),
        ("user", "Name the tests."),
        ("llm", "Which\n-------\nones?"),
        ("user", "All of them."),
        ("llm", None),
    ]
    call = trace.steps[2]
    assert (call.started_at, call.ended_at) == (
        time_of("2026-03-01T10:00:00"),
        time_of("2026-03-01T10:00:04"),
    )
    assert trace.not_carried == (
        "messages of requests, beside the first of the system and the last of the user (5)",
    )
    assert set(trace.missing) == {"token_usage", "cost", "tool_definitions"}


def test_a_request_without_an_answer_is_a_model_call():
    start = AIDER_LOG.partition("LLM RESPONSE 2026")[0]
    assert [step.type for step in read_trace(start).steps] == ["system", "user", "llm"]
    assert len(read_trace(start + AIDER_LOG).steps_of("llm")) == 3


def test_a_log_may_be_indented():
    assert read_trace({"aider_llm_history": f"  {AIDER_LOG}"}) == read_trace(AIDER_LOG)
