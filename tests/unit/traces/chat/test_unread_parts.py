"""Parts of answers in types of an application's own."""

from __future__ import annotations

import pytest

from weighbridge.traces import read_trace

ASKED = {"role": "user", "content": "Fix it."}
TEXT = {"type": "text", "text": "I fix it."}
CALL = {"id": "c", "type": "function", "function": {"name": "run", "arguments": "{}"}}


def told(*parts, **more):
    return [ASKED, {"role": "assistant", "content": [*parts], **more}]


@pytest.mark.parametrize(
    "messages",
    [
        told(TEXT, {"type": "file_read", "file_name": "a", "status": "complete"}),
        told({"type": "lint", "success": False}),
        told(TEXT, {"tool": "lint"}),
        told(TEXT, blocks=[{"type": "file_read"}]),
        told(TEXT, steps=["x", {"tool": "lint", "type": ["y"]}]),
        told(TEXT, {"type": "file_read"}, {"type": "lint"}, tool_calls=[CALL]),
    ],
)
def test_calls_are_not_known_if_answers_have_parts_of_other_types(messages):
    trace = read_trace(messages)
    assert trace.format == "openai-chat"
    assert "types that are not read" in trace.missing["tool_calls"]
    assert "types that are not read" in trace.missing["llm_calls"]


@pytest.mark.parametrize(
    "messages",
    [
        told(TEXT, {"type": "image_url", "image_url": {"url": "x"}}, {"type": "citation"}),
        told(TEXT, {"type": "thinking", "thinking": "x"}, {"type": "data-weather", "data": {}}),
        told(TEXT, {"type": {}}, "x", 5, {"tool": 5}),
        told({"type": "think", "think": "x"}, {"type": "headline", "text": "It is fixed."}),
        told(TEXT, {"type": "file_read"}, tool_calls=[CALL]),
        told(TEXT, steps=[{"name": "x"}], notes=[{"type": "lint"}]),
        [
            {**ASKED, "content": [{"type": "file_read"}, TEXT]},
            {"role": "assistant", "content": "x"},
        ],
    ],
)
def test_calls_are_known_if_other_parts_are_said_or_shown(messages):
    trace = read_trace(messages)
    assert not {"tool_calls", "llm_calls"} & trace.missing.keys()
