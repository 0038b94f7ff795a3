"""Threads of Zed's agent, of the newest version and of those before it."""

from __future__ import annotations

import copy

import pytest

from support.trace_examples import claiming
from support.trace_examples.editor_agents import ZED
from weighbridge.traces import Step, Usage, read_trace
from weighbridge.traces.fields import time_of


def changed(**fields):
    return copy.deepcopy(ZED) | fields


def old(*messages, **fields):
    known = {"version": "0.2.0", "summary": "Find x", "updated_at": "2026-03-04T10:01:00Z"}
    return {**known, "messages": list(messages), **fields}


def said(role, text, **fields):
    segments = [{"type": "text", "text": text}]
    return {"id": 1, "role": role, "segments": segments, "tool_uses": [], "tool_results": [], **fields}  # fmt: skip


USES = [{"id": "t1", "name": "read_file", "input": {"path": "a"}}]
RESULTS = [{"tool_use_id": "t1", "is_error": True, "content": "no file a", "output": None}]


def test_messages_become_steps():
    trace = read_trace(ZED)
    assert (trace.format, trace.usage) == ("zed", Usage(50, 9, None, 20))
    assert trace.metadata == {"title": "Find x", "cwd": "/x", "branch": "main", "profile": "write"}
    assert (trace.started_at, trace.ended_at) == (
        time_of("2026-03-04T10:00:00Z"),
        time_of("2026-03-04T10:01:00Z"),
    )
    assert trace.steps == (
        Step(id="u1", type="user", output="Find x."),
        Step(id="s2", type="llm", output="I look.", model="m"),
        Step(id="t1", type="tool", parent_id="s2", name="read_file", arguments={"path": "a"}, output="A"),
        Step(id="t2", type="tool", parent_id="s2", name="grep", arguments={"q": "x"}, output="no such path", error="no such path"),
        Step(id="s5", type="llm", output="Not there.", model="m", usage=Usage(29, 5, None, 20)),
        Step(id="u2", type="user", output="Thanks."),
        Step(id="s7", type="llm", output="Welcome.", model="m"),
    )  # fmt: skip
    assert trace.not_carried == (
        "compactions of the context (1)",
        "parts of the model's reasoning (1)",
        "parts of type 'Mention' (1)",
    )


def test_a_thread_that_counts_no_tokens_lacks_them():
    trace = read_trace(changed(cumulative_token_usage={}, request_token_usage={}))
    assert (trace.usage, trace.totals_from) == (None, "")
    assert "token_usage" in trace.missing


def test_a_shared_thread_is_read():
    names = ("title", "messages", "updated_at", "model")
    shared = {"version": "1.0.0"} | {name: ZED[name] for name in names}
    assert [step.id for step in read_trace(shared).steps] == [step.id for step in read_trace(ZED).steps]  # fmt: skip


@pytest.mark.parametrize(
    ("use", "arguments"),
    [
        ({"input": {"type": "text", "value": "*** patch"}}, "*** patch"),
        ({"input": {"type": "other", "value": 1}}, {"type": "other", "value": 1}),
        ({"input": None, "raw_input": '{"path": "a"}'}, {"path": "a"}),
    ],
)
def test_the_input_of_a_call_may_be_json_or_text(use, arguments):
    held = {"ToolUse": {"id": "t", "name": "edit", **use}}
    value = changed(messages=[{"Agent": {"content": [held]}}])
    assert read_trace(value).steps[1].arguments == arguments


@pytest.mark.parametrize(
    ("content", "output"),
    [
        ("A", "A"),
        ({"type": "text", "text": "A"}, "A"),
        ([{"Text": "A"}, {"Text": "B"}], "A\nB"),
        ([{"Image": {"source": "x"}}], {"raw": 1}),
    ],
)
def test_a_result_may_be_written_in_several_ways(content, output):
    value = changed()
    value["messages"][1]["Agent"]["tool_results"]["t1"] |= {"content": content, "output": {"raw": 1}}  # fmt: skip
    assert read_trace(value).steps[2].output == output


def test_a_message_of_an_unknown_kind_that_names_calls_makes_calls_missing():
    unknown = {"ToolCall": {"id": "t1"}}
    assert "tool_calls" in read_trace(changed(messages=[ZED["messages"][0], unknown])).missing


def test_a_thread_of_version_0_2_0_has_calls_and_results_in_one_message():
    sent = [{}, {"input_tokens": 9, "output_tokens": 5}, {"input_tokens": 20, "output_tokens": 3}]
    answer = said("assistant", "I look.", tool_uses=USES, tool_results=RESULTS)
    trace = read_trace(
        old(said("user", "Find x."), answer, said("assistant", ""), request_token_usage=sent)
    )
    assert trace.metadata == {"title": "Find x"}
    assert trace.steps == (
        Step(id="s1", type="user", output="Find x."),
        Step(id="s2", type="llm", output="I look.", usage=Usage(9, 5)),
        Step(id="t1", type="tool", parent_id="s2", name="read_file", arguments={"path": "a"}, output="no file a", error="no file a"),
        Step(id="s4", type="llm", usage=Usage(20, 3)),
    )  # fmt: skip


def test_tokens_that_stand_in_for_those_of_a_request_without_any_count_once():
    used = {"input_tokens": 9, "output_tokens": 5}
    answer = said("assistant", "Not there.")
    trace = read_trace(old(said("user", "x"), answer, answer, request_token_usage=[{}, used, used]))
    assert [step.usage for step in trace.steps_of("llm")] == [Usage(9, 5), None]


def test_a_thread_of_version_0_1_0_has_results_in_the_users_message():
    trace = read_trace(
        old(
            said("user", "Find x."),
            said("assistant", "I look.", tool_uses=USES),
            said("user", "Here are the tool results.", tool_results=RESULTS),
            version="0.1.0",
        )
    )
    assert [(step.type, step.output) for step in trace.steps] == [
        ("user", "Find x."),
        ("llm", "I look."),
        ("tool", "no file a"),
    ]


def test_the_messages_of_the_first_threads_are_texts():
    messages = [{"id": 1, "role": "user", "text": "Find x."}]
    thread = old(*messages, {"id": 2, "role": "assistant", "text": "No.", "tool_uses": USES})
    del thread["version"]
    assert [step.type for step in read_trace(thread).steps] == ["user", "llm", "tool"]


def test_a_session_of_acpx_is_no_thread_as_its_model_calls_cannot_be_told_apart():
    assert claiming(changed(schema="acpx.session.v1", acpx_record_id="r")) == []
