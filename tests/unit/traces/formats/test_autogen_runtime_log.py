"""Rows of AutoGen's runtime logging: one call each, whatever the agents' requests repeat."""

from __future__ import annotations

import json

import pytest

from support.trace_examples.multi_agent_frameworks import AUTOGEN_ROW, AUTOGEN_RUNTIME_LOG
from weighbridge.traces import Step, Usage, read_trace, read_traces

START = 1_772_359_200 * 10**9  #: 2026-03-01T10:00:00Z


def row(*messages, answer="Done.", **facts):
    response = {"choices": [{"message": {"role": "assistant", "content": answer}}]}
    request = {"messages": list(messages), "model": "m"}
    return AUTOGEN_ROW | {"request": request, "response": response} | facts


def shown(trace):
    return [(step.type, step.output) for step in trace.steps]


def asked(name, arguments="{}"):
    call = {"name": name, "arguments": arguments}
    return {"message": {"role": "assistant", "content": None, "function_call": call}}


def result(name, content):
    return {"role": "function", "name": name, "content": content}


SYSTEM, USER = ({"role": role, "content": "Go."} for role in ("system", "user"))


@pytest.mark.parametrize("are_texts", [False, True])
def test_each_row_is_a_call_and_what_its_request_repeats_is_not(are_texts):
    rows = AUTOGEN_RUNTIME_LOG
    if are_texts:
        rows = [
            each | {key: json.dumps(each[key]) for key in ("request", "response")} for each in rows
        ]
    trace = read_trace(rows)
    facts = {"model": "m", "started_at": START, "ended_at": START + 2 * 10**9}
    assert trace.steps == (
        Step(id="s1", type="system", output="You find."),
        Step(id="s2", type="user", name="user_proxy", output="Find x."),
        Step(id="s3", type="llm", finish_reason="tool_call", cost_usd=0.25, **facts),
        Step(id="call_1", type="tool", parent_id="s3", name="search", arguments={"q": "x"}, output="x is here"),
        Step(id="s5", type="system", output="You report."),
        Step(id="s6", type="llm", output="Here.", cost_usd=0.5, **facts),
    )  # fmt: skip
    assert (trace.id, [tool.name for tool in trace.tools]) == ("run-1", ["search"])


def test_each_session_is_a_trace():
    traces = read_traces([row(USER), row(USER, session_id="run-2"), row(USER)])
    assert [(trace.id, len(trace.steps_of("llm"))) for trace in traces] == [("run-1", 2), ("run-2", 1)]  # fmt: skip


def test_an_answer_that_the_log_has_no_call_of_is_no_model_call():
    said = {"role": "assistant", "name": "writer", "content": "I write."}
    trace = read_trace([row(USER, said), row(USER, said, {"role": "user", "content": "Done."})])
    assert shown(trace) == [("user", "Go."), ("other", "I write."), ("llm", "Done."), ("llm", "Done.")]  # fmt: skip
    assert trace.not_carried == ("answers in requests that the log has no call of (1)",)


def test_a_call_that_the_log_has_no_answer_of_counts_once():
    said = asked("search")["message"]
    trace = read_trace([row(USER, said, result("search", "x")), row(USER, said)])
    assert [(tool.name, tool.output) for tool in trace.steps_of("tool")] == [("search", "x")]


def test_a_result_is_that_of_the_first_call_of_its_function_that_waits():
    rows = [
        row(USER) | {"response": asked("read", '{"n": 1}')},
        row(USER) | {"response": asked("search")},
        row(USER, result("search", "x"), result("read", "y")),
    ]
    tools = read_trace(rows).steps_of("tool")
    assert [(tool.name, tool.output) for tool in tools] == [("read", "y"), ("search", "x")]


def test_a_call_with_an_id_has_the_result_that_names_it():
    call = {"id": "c1", "function": {"name": "search", "arguments": "{}"}}
    answer = {"message": {"role": "assistant", "content": None, "tool_calls": [call]}}
    found = {"role": "tool", "tool_call_id": "c1", "content": "x"}
    [tool] = read_trace([row(USER) | {"response": answer}, row(USER, found)]).steps_of("tool")
    assert (tool.id, tool.output) == ("c1", "x")


def test_usage_other_choices_and_the_cache_are_told():
    response = {
        "model": "m-1",
        "choices": [{"message": {"role": "assistant", "content": "A."}}] * 2,
        "usage": {"prompt_tokens": 3, "completion_tokens": 2},
    }
    trace = read_trace(row(USER, is_cached=1) | {"response": response})
    [answer] = trace.steps_of("llm")
    assert (answer.usage, answer.model) == (Usage(3, 2), "m-1")
    assert trace.not_carried == ("answers from AutoGen's cache (1)", "other choices of the completion (1)")  # fmt: skip


def test_a_request_that_failed_is_a_call_with_an_error():
    [answer] = read_trace(row(USER) | {"response": {"response": "no quota"}}).steps_of("llm")
    assert (answer.output, answer.error) == (None, "no quota")


def test_instructions_are_told_once_and_again_only_if_one_request_repeats_them():
    assert shown(read_trace([row(SYSTEM, USER), row(SYSTEM, USER, USER)])) == [
        ("system", "Go."),
        ("user", "Go."),
        ("llm", "Done."),
        ("user", "Go."),
        ("llm", "Done."),
    ]


def nested(value):
    for _ in range(2_000):
        value = [value]
    return value


@pytest.mark.parametrize("odd", [2**70, "\ud800", nested("x")], ids=["long", "half", "deep"])
def test_messages_that_not_every_encoder_takes_are_told_apart(odd):
    def about(number):
        return {"role": "user", "content": [{"type": "text", "text": f"Say {number}."}, [odd]]}

    trace = read_trace([row(about(1)), row(about(2)), row(about(1))])
    assert [step.type for step in trace.steps] == ["user", "llm", "user", "llm", "llm"]


def test_calls_with_arguments_that_not_every_encoder_takes_are_told_apart():
    said = [asked("search", f'{{"n": {2**70 + number}}}')["message"] for number in range(2)]
    trace = read_trace([row(USER, said[0]), row(USER, *said)])
    assert [tool.arguments for tool in trace.steps_of("tool")] == [{"n": 2**70}, {"n": 2**70 + 1}]
