"""Exported prompts of Copilot's chat log in VS Code."""

from __future__ import annotations

import copy

import pytest

from support.trace_examples.copilot import COPILOT_CHAT_REPLAY as EXPORT
from weighbridge.errors import UnknownTraceFormatError
from weighbridge.traces import Counts, Step, ToolDefinition, Usage, read_trace, read_traces
from weighbridge.traces.fields import time_of

[PROMPT] = EXPORT["prompts"]
ELEMENT, FIRST, CALL, LAST = PROMPT["logs"]


def at(second):
    return time_of(f"2025-01-01T12:00:0{second}Z")


def with_logs(*entries):
    return {**PROMPT, "logs": list(entries)}


def test_requests_are_model_calls_and_tools_that_ran_are_their_calls():
    trace = read_trace(EXPORT)
    assert trace.steps == (
        Step(id="s1", type="user", output="Find x."),
        Step(id="s2", type="system", output="You find."),
        Step(
            id="r1",
            type="llm",
            output="I look.",
            model="m-1",
            usage=Usage(20, 5, 25, 8),
            started_at=at(1),
            ended_at=at(2),
        ),
        Step(
            id="c1__vscode-17",
            type="tool",
            parent_id="r1",
            name="search",
            arguments={"q": "x"},
            output="none",
            ended_at=at(3),
        ),
        Step(id="r2", type="llm", model="m-1", error="busy", started_at=at(4)),
    )
    assert trace.tools == (ToolDefinition("search", {"type": "object"}, "Finds."),)
    assert (trace.counts, trace.missing) == (None, {})
    assert trace.not_carried == ("log entries of type 'element' (1)",)
    assert read_trace(PROMPT).steps == trace.steps


def test_a_call_whose_result_is_the_error_of_the_tool_failed():
    raised = CALL | {"response": ["ERROR while calling tool: no such folder"]}
    [step] = read_trace(with_logs(FIRST, raised)).steps_of("tool")
    assert step.error == step.output == "ERROR while calling tool: no such folder"


def test_a_prompt_that_goes_on_says_nothing_twice():
    parts = [with_logs(ELEMENT, FIRST), {**with_logs(CALL, LAST), "hasSeen": True}]
    assert read_trace({**EXPORT, "prompts": parts}).steps == read_trace(EXPORT).steps
    again = read_trace({**EXPORT, "prompts": [PROMPT, {**PROMPT, "logs": [LAST]}]})
    assert [step.output for step in again.steps_of("user")] == ["Find x.", "Find x."]


def test_calls_whose_entries_the_log_has_dropped_are_counted_and_missing():
    trace = read_trace(with_logs(LAST))
    assert trace.counts == Counts(llm_calls=2, tool_calls=1)
    assert trace.missing["tool_calls"] == (
        "requestMessages states 1 tool calls, of which 0 were read"
    )


def test_calls_of_earlier_prompts_are_not_those_of_this_one():
    later = copy.deepcopy(LAST)
    later["requestMessages"]["messages"].append({"role": 1, "content": "And y?"})
    trace = read_trace(with_logs(later))
    assert (trace.counts, "tool_calls" in trace.missing) == (None, False)


def test_a_cancelled_request_is_a_model_call_and_shown_markdown_is_none():
    cancelled = {**LAST, "type": "ChatMLCancelation", "response": {"type": "canceled"}}
    shown = {"id": "m", "kind": "request", "type": "MarkdownContentRequest", "content": "x"}
    trace = read_trace(with_logs(FIRST, CALL, cancelled, shown))
    assert [step.error for step in trace.steps_of("llm")] == [None, "canceled"]
    assert trace.not_carried == ("log entries of type 'MarkdownContentRequest' (1)",)


@pytest.mark.parametrize(
    "value",
    [
        {"prompts": []},
        {"prompts": [{"prompt": "x", "logs": []}]},
        {"prompts": ["x"]},
        {"prompt": "x", "logCount": 1, "logs": [{"kind": "other"}]},
        {"prompt": "x", "logs": [ELEMENT]},
    ],
)
def test_other_prompts_are_no_export(value):
    with pytest.raises(UnknownTraceFormatError):
        read_traces(value)


@pytest.mark.parametrize("junk", [None, 7, "x", [], {}, [None], {"x": 1}, 2**70])
@pytest.mark.parametrize("field", ["metadata", "requestMessages", "response", "type", "id"])
def test_a_damaged_field_of_an_entry_does_not_lose_the_others(field, junk):
    trace = read_trace(with_logs(FIRST, CALL, {**LAST, field: junk}))
    assert [step.id for step in trace.steps][2:4] == ["r1", "c1__vscode-17"]
