"""Continue's sessions: messages, and the states of their calls."""

from __future__ import annotations

import copy

import pytest

from support.trace_examples.editor_agents import CONTINUE
from weighbridge.traces import Step, Usage, read_trace


def test_items_become_steps():
    trace = read_trace(CONTINUE)
    assert (trace.format, trace.id) == ("continue", "s")
    assert trace.steps == (
        Step(id="s1", type="user", output="Find x."),
        Step(id="s2", type="llm", output="I look.", model="n", usage=Usage(9, 5, None, 4)),
        Step(id="c1", type="tool", parent_id="s2", name="read_file", arguments={"path": "a"}, output="A"),
        Step(id="c2", type="tool", parent_id="s2", name="grep", arguments={"q": "x"}, output="no such tool", error="errored"),
        Step(id="s5", type="llm", output="Not there.", model="m"),
    )  # fmt: skip
    assert trace.not_carried == ("parts of the model's reasoning (1)",)


def test_a_call_may_stand_in_its_state_alone():
    session = copy.deepcopy(CONTINUE)
    session["history"][2]["message"]["toolCalls"] = []
    calls = [*read_trace(session).steps_of("tool")]
    assert [(call.id, call.name, call.output) for call in calls] == [("c2", "grep", "no such tool")]


def test_the_single_state_of_older_versions_is_read():
    session = copy.deepcopy(CONTINUE)
    item = session["history"][2]
    item["toolCallState"] = item.pop("toolCallStates")[1]
    del item["message"]["toolCalls"]
    (call,) = read_trace(session).steps_of("tool")
    assert (call.name, call.error) == ("grep", "errored")


def test_an_empty_answer_before_reasoning_is_no_call_of_a_model():
    session = copy.deepcopy(CONTINUE)
    empty = {"message": {"role": "assistant", "content": ""}, "contextItems": []}
    session["history"].insert(1, empty)
    assert read_trace(session).steps == read_trace(CONTINUE).steps
    # One without reasoning behind it may have been sent, and failed.
    session["history"].append(empty)
    assert len([*read_trace(session).steps_of("llm")]) == 3


def test_a_failed_command_and_a_call_that_failed_are_errors_whatever_the_messages_say():
    session = copy.deepcopy(CONTINUE)
    states = session["history"][2]["toolCallStates"]
    states[0]["output"][0]["status"] = "Command failed with exit code 1"
    session["history"].insert(4, {"message": {"role": "tool", "content": "no", "toolCallId": "c2"}})
    calls = [*read_trace(session).steps_of("tool")]
    assert [(call.output, call.error) for call in calls] == [
        ("A", "Command failed with exit code 1"),
        ("no", "errored"),
    ]
    states[0]["output"][0]["status"] = "Command completed"
    assert [call.error for call in read_trace(session).steps_of("tool")] == [None, "errored"]


def told(used, **session):
    """Return a session of the command line with an answer of that usage."""
    answer = {"role": "assistant", "content": "Here.", "usage": used}
    return {
        "sessionId": "s",
        "workspaceDirectory": "/x",
        "history": [{"message": answer}],
        **session,
    }


@pytest.mark.parametrize(
    ("more", "usage"),
    [
        ({"total_tokens": 20}, Usage(9, 5, 20)),
        ({"model": "gpt-5", "prompt_tokens_details": {"cached_tokens": 4}}, Usage(9, 5, None, 4)),
        # Anthropic's prompt is without cached tokens: it writes to caches, or reads more than the prompt from them.
        ({"prompt_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 3}, "total_tokens": 14}, Usage(16, 5, None, 4, 3)),
        ({"model": "claude-opus-4-5", "prompt_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 0}}, Usage(13, 5, None, 4)),
        ({"prompt_tokens_details": {"cached_tokens": 40}}, Usage(49, 5, None, 40)),
        ({"prompt_tokens_details": ["x"], "model": 5}, Usage(9, 5)),
    ],
)  # fmt: skip
def test_answers_of_the_command_line_have_their_usage_in_the_names_of_the_api(more, usage):
    trace = read_trace(told({"prompt_tokens": 9, "completion_tokens": 5, **more}))
    assert trace.steps[0].usage == usage
    assert (trace.usage, trace.cost_usd) == (None, None)


def test_a_session_of_the_command_line_states_the_usage_and_the_cost_of_the_run():
    details = {"cachedTokens": 0, "cacheWriteTokens": 0}
    of_run = {"totalCost": 0.25, "promptTokens": 9, "completionTokens": 5, "promptTokensDetails": details}  # fmt: skip
    answer = {"prompt_tokens": 9, "completion_tokens": 5, "model": "m", "cost_cents": 50}
    trace = read_trace(told(answer, usage=of_run))
    assert (trace.usage, trace.cost_usd, trace.totals_from) == (Usage(9, 5, None, 0), 0.25, "usage")
    assert (trace.steps[0].model, trace.steps[0].cost_usd) == ("m", 0.5)
    unused = told(None, usage={"totalCost": 0, "promptTokens": 0, "completionTokens": 0})
    assert {"token_usage", "cost"} <= read_trace(unused).missing.keys()
