"""Sessions of Claude Code converted to chat messages: the blocks of an answer are one, and its tokens count once."""

from __future__ import annotations

import pytest

from support.trace_examples.command_line_agents import CLAUDE_CODE_CHAT, claude_count
from weighbridge.errors import TraceError
from weighbridge.traces import Usage, read_trace

META, MESSAGES = CLAUDE_CODE_CHAT["meta"], CLAUDE_CODE_CHAT["messages"]
OWN = [each for each in MESSAGES if not each["role"].startswith("assistant-subagent")]


def session(messages=OWN, **meta):
    return {"messages": messages, "meta": {**META, **meta}}


def test_the_blocks_of_an_answer_are_one_although_results_stand_between():
    trace = read_trace(session())
    assert [(step.type, step.output) for step in trace.steps] == [
        *(("user", "Count the lines."), ("llm", "I look."), ("tool", "3"), ("tool", "3")),
        ("llm", "3 lines."),
    ]
    assert [step.usage for step in trace.steps_of("llm")] == [
        *(Usage(11, 8, None, 10), Usage(31, 5, None, 30)),
    ]
    assert (trace.id, trace.format, trace.counts.llm_calls) == ("s", "claude-code-chat", 2)
    assert set(trace.missing) == {"tool_definitions", "cost"}


def test_a_sub_agent_has_answers_of_its_own_and_no_tokens():
    trace = read_trace(CLAUDE_CODE_CHAT)
    assert [(step.type, step.name, step.output) for step in trace.steps if step.name == "a1"] == [
        ("other", "a1", "Look again."),
        ("llm", "a1", "Still 3."),
    ]
    assert (trace.counts, len(trace.steps_of("llm"))) == (None, 3)
    assert "sub-agent" in trace.missing["llm_calls"]
    assert "sub-agents" in trace.missing["token_usage"]


def test_an_answer_whose_output_begins_again_is_another():
    counts = [claude_count(1, 10, 8), claude_count(9, 10, 2)]
    usage = [step.usage for step in read_trace(session(token_counts=counts)).steps_of("llm")]
    assert usage == [Usage(11, 8, None, 10), None, None, Usage(11, 2, None, 10)]


@pytest.mark.parametrize("counts", [[], [{"type": "token_count", "info": None}], ["cut"]])
def test_without_records_the_tokens_are_not_known(counts):
    trace = read_trace(session(token_counts=counts))
    assert [step.type for step in trace.steps] == ["user", "llm", "tool", "llm", "tool", "llm"]
    assert (trace.counts, "token_usage" in trace.missing) == (None, True)


def test_a_message_that_is_none_is_damage():
    with pytest.raises(TraceError, match="message 30 is not an object with a role"):
        read_trace(session([*OWN[:1] * 29, "cut"]))


def test_no_answer_goes_on_after_a_request_although_its_input_is_equal():
    asked = {**OWN[0], "_metadata": {"timestamp": "2026-01-05T10:00:05Z"}}
    messages = [*OWN[:2], asked, OWN[-1]]
    counts = [claude_count(1, 10, 5), claude_count(9, 10, 8)]
    trace = read_trace(session(messages, token_counts=counts))
    assert [step.type for step in trace.steps] == ["user", "llm", "user", "llm"]
    assert [step.usage.output_tokens for step in trace.steps_of("llm")] == [5, 8]


def test_records_without_a_time_are_of_no_message():
    counts = [{**claude_count(1, 10, 5), "_timestamp": None}]
    untimed = [{**each, "_metadata": {}} for each in OWN]
    trace = read_trace(session(untimed, token_counts=counts))
    assert [step.type for step in trace.steps] == ["user", "llm", "tool", "llm", "tool", "llm"]
