"""Semantic Kernel's chat histories: the items of messages, in the names of .NET and of Python."""

from __future__ import annotations

import re

import pytest

from support.trace_examples.vendor_sdks import SEMANTIC_KERNEL
from weighbridge.traces import Step, Usage, read_trace
from weighbridge.traces.split import opens_session

NOON = 1_735_732_800 * 10**9  #: 2025-01-01T12:00:00Z
FAILURE = "Error: Exception while invoking function. Too slow."
NAMED = {"name": "web-search", "function_name": "search", "plugin_name": "web"}
PYTHON = {
    "messages": [
        {"content_type": "message", "role": "user", "items": [{"content_type": "text", "text": "Find x."}]},
        {
            "content_type": "message",
            "role": "assistant",
            "ai_model_id": "m",
            "metadata": {"id": "a", "created": 1_735_732_800, "usage": {"prompt_tokens": 9, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 4}}},
            "items": [{"content_type": "function_call", "id": "c1", **NAMED, "arguments": '{"q": "x"}'}],
        },
        {
            "content_type": "message",
            "role": "tool",
            "items": [{"content_type": "function_result", "id": "c1", **NAMED, "result": "none"}],
        },
    ]
}  # fmt: skip


def renamed(value):
    """Return a value with the names that .NET writes for the web."""
    if type(value) is dict:
        return {re.sub("^[A-Z]", lambda first: first[0].lower(), name): renamed(held) for name, held in value.items()}  # fmt: skip
    return list(map(renamed, value)) if type(value) is list else value


def changed(number, **fields):
    history = list(SEMANTIC_KERNEL)
    history[number] = {**history[number], **fields}
    return history


def test_messages_become_steps():
    trace = read_trace(SEMANTIC_KERNEL)
    assert trace.format == "semantic-kernel"
    assert trace.steps == (
        Step(id="s1", type="system", output="You find."),
        Step(id="s2", type="user", output="Find x."),
        Step(id="s3", type="llm", output="I look.", model="m", usage=Usage(9, 5, 14, 4), started_at=NOON),
        Step(id="c1", type="tool", parent_id="s3", name="web-search", arguments={"q": "x"}, output=FAILURE, error=FAILURE),
        Step(id="s5", type="llm", output="Not there."),
    )  # fmt: skip


def test_names_for_the_web_and_wrapped_histories_are_the_same():
    assert read_trace(renamed(SEMANTIC_KERNEL)) == read_trace(SEMANTIC_KERNEL)
    assert read_trace({"ChatHistory": SEMANTIC_KERNEL}) == read_trace(SEMANTIC_KERNEL)
    assert opens_session(SEMANTIC_KERNEL[0])


def test_histories_of_python_are_read():
    trace = read_trace(PYTHON)
    assert trace.format == "semantic-kernel"
    assert trace.steps == (
        Step(id="s1", type="user", output="Find x."),
        Step(id="s2", type="llm", model="m", usage=Usage(9, 5, None, 4), started_at=NOON),
        Step(id="c1", type="tool", parent_id="s2", name="web-search", arguments={"q": "x"}, output="none"),
    )  # fmt: skip


def test_older_histories_have_the_call_in_its_result_or_in_the_metadata():
    text = {"$type": "TextContent", "Text": "none"}
    call = {"$type": "FunctionCallContent", "Id": "c1", "FunctionName": "search"}
    result = {"$type": "FunctionResultContent", "FunctionCall": call, "Result": "none"}
    of_tool = {"ChatCompletionsToolMessage.ToolCallId": "c1"}
    for history in (changed(3, Items=[result]), changed(3, Items=[text], Metadata=of_tool)):
        assert [step.output for step in read_trace(history).steps_of("tool")] == ["none"]
    [call] = read_trace(changed(2, Items=[])).steps_of("tool")
    assert (call.id, call.name, call.output) == ("c1", "web-search", FAILURE)
    first = changed(4, Items=None, Content="Not there.")
    assert read_trace(first).steps == read_trace(SEMANTIC_KERNEL).steps


@pytest.mark.parametrize(
    "metadata",
    [
        {"Usage": {"PromptTokens": 9, "CompletionTokens": 5, "TotalTokens": 14}},
        {"Usage": {"InputTokens": 9, "OutputTokens": 5, "TotalTokens": 14}},
        {"PromptTokenCount": 9, "CandidatesTokenCount": 5, "TotalTokenCount": 14},
    ],
)
def test_usage_is_read_in_the_names_of_each_connector(metadata):
    assert read_trace(changed(2, Metadata=metadata)).steps[2].usage == Usage(9, 5, 14)


def test_items_that_are_not_read_are_noted():
    items = [*SEMANTIC_KERNEL[1]["Items"], {"$type": "ImageContent", "Uri": "x"}]
    trace = read_trace(changed(1, Items=items))
    assert trace.not_carried == ("content parts of type 'ImageContent' (1)",)


def test_a_call_in_a_message_that_is_no_answer_is_a_call_without_a_model():
    trace = read_trace(changed(2, Role={"Label": "tool"}))
    assert [step.id for step in trace.steps_of("tool")] == ["c1"]
    assert len(trace.steps_of("llm")) == 1


def test_a_result_of_the_model_context_protocol_may_be_an_error():
    def called(**result):
        item = {**SEMANTIC_KERNEL[3]["Items"][0], "Result": result}
        [call] = read_trace(changed(3, Items=[item])).steps_of("tool")
        return call.output, call.error

    content = [{"type": "text", "text": "No disk."}]
    assert called(content=content, isError=True) == ("No disk.", "No disk.")
    assert called(content=content, isError=False) == ("No disk.", None)
    assert called(found=1) == ({"found": 1}, None)


@pytest.mark.parametrize(
    "text",
    [
        "The tool call with name `f` is not part of the provided tools, please try again.",
        "Missing required argument(s): ['q']. Please revise the arguments.",
        "Received unexpected argument(s): ['p']. Please revise the arguments.",
    ],
)
def test_a_call_that_the_kernel_refused_failed(text):
    call = {"content_type": "function_call", "id": "c", "name": "f", "arguments": "{}"}
    result = {"content_type": "function_result", "id": "c", "name": "f", "result": text}
    history = [
        {"content_type": "message", "role": "assistant", "items": [call]},
        {"content_type": "message", "role": "tool", "items": [result]},
    ]
    [step] = read_trace({"messages": history}).steps_of("tool")
    assert step.error == text


def test_a_call_of_the_responses_api_has_the_id_that_its_result_names():
    call, answer = ({**NAMED, "id": "fc_1", "call_id": "call_1"} for _ in range(2))
    listed = [
        {"content_type": "message", "role": "user", "items": [{"content_type": "text", "text": "Find x."}]},
        {"content_type": "message", "role": "assistant", "items": [{"content_type": "function_call", "arguments": "{}", **call}]},
        {"content_type": "message", "role": "tool", "items": [{"content_type": "function_result", "result": "none", **answer}]},
    ]  # fmt: skip
    (tool,) = read_trace({"messages": listed}).steps_of("tool")
    assert (tool.id, tool.output) == ("call_1", "none")
