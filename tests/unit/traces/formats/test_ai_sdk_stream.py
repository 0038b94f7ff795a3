"""UI message streams of the AI SDK: steps assembled from chunks, each call with its last result."""

from __future__ import annotations

import pytest

from support.trace_examples.vendor_sdks import AI_SDK_STREAM
from weighbridge.traces import Usage, read_trace, read_traces
from weighbridge.traces.split import opens_session, single_traces


def shown(value):
    return [(step.type, step.name, step.output, step.error) for step in read_trace(value).steps]


def test_chunks_become_answers_with_their_calls():
    trace = read_trace(AI_SDK_STREAM)
    assert (trace.format, trace.id, trace.usage) == ("ai-sdk-stream", "m", Usage(9, 4))
    assert shown(AI_SDK_STREAM) == [
        ("llm", None, "I search.", None),
        ("tool", "search", "some", None),
        ("tool", "wait", None, "no"),
        ("llm", None, "Here.", None),
    ]
    assert [step.arguments for step in trace.steps_of("tool")] == [{"q": "x"}, {}]


def test_a_stream_may_continue_a_message_and_answer_its_calls():
    part = {"type": "tool-search", "toolCallId": "c", "state": "approval-responded", "input": {"q": "x"}}  # fmt: skip
    before = {"id": "m", "role": "assistant", "parts": [{"type": "step-start"}, part]}
    chunks = [
        {"type": "start"},
        {"type": "tool-output-available", "toolCallId": "c", "output": "some"},
        {"type": "start-step"},
        {"type": "text-delta", "id": "t", "delta": "Here."},
        {"type": "finish-step"},
    ]
    assert shown({"messageId": "m", "lastMessage": before, "chunks": chunks}) == [
        ("llm", None, None, None),
        ("tool", "search", "some", None),
        ("llm", None, "Here.", None),
    ]


@pytest.mark.parametrize(
    ("chunks", "expected"),
    [
        ([{"type": "error", "errorText": "no"}], [("other", None, "no", "no")]),
        (
            [
                {"type": "tool-input-start", "toolCallId": "c", "toolName": "f"},
                {"type": "tool-input-delta", "toolCallId": "c", "inputTextDelta": '{"a": 1}'},
                {"type": "abort"},
            ],
            [("llm", None, None, None), ("tool", "f", None, None)],
        ),
        (
            [
                {"type": "tool-input-error", "toolCallId": "c", "toolName": "f", "input": "{", "errorText": "bad"},
                {"type": "tool-output-error", "toolCallId": "c", "errorText": "bad"},
            ],
            [("llm", None, None, None), ("tool", "f", None, "bad")],
        ),
        (
            [
                {"type": "tool-input-available", "toolCallId": "c", "toolName": "f", "input": {}},
                {"type": "tool-output-denied", "toolCallId": "c"},
            ],
            [("llm", None, None, None), ("tool", "f", None, "denied")],
        ),
    ],
)  # fmt: skip
def test_streams_that_fail_or_break_off_lose_no_call(chunks, expected):
    assert shown(chunks) == expected


def test_lines_of_chunks_are_one_session_and_several_streams_several_traces():
    assert opens_session(AI_SDK_STREAM[0])
    streams = [{"chunks": AI_SDK_STREAM}, {"chunks": AI_SDK_STREAM[:3]}]
    assert len(read_traces(streams)) == len(single_traces(streams)) == 2
