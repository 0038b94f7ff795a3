"""Why a model's answer ended: one word for it, whichever provider or program recorded it."""

from __future__ import annotations

import json

import pytest

from support.trace_examples import EXAMPLES
from weighbridge.traces import read_trace
from weighbridge.traces.fields import finish_reason_of
from weighbridge.traces.formats.native import to_native


@pytest.mark.parametrize(
    ("recorded", "reason"),
    [
        ("end_turn", "stop"),
        ("STOP", "stop"),
        ("max_tokens", "length"),
        ("MAX_TOKENS", "length"),
        ("FinishReason.MAX_TOKENS", "length"),
        (["length", "stop"], "length"),
        ("tool-calls", "tool_call"),
        ("toolUse", "tool_call"),
        ("SAFETY", "content_filter"),
        ("MALFORMED_FUNCTION_CALL", "error"),
        ("pause_turn", "pause_turn"),
        ("x" * 100, "x" * 60),
        ("", None),
        ([], None),
        (7, None),
        ({"reason": "stop"}, None),
    ],
)
def test_providers_words_become_those_of_opentelemetry_and_others_stay(recorded, reason):
    assert finish_reason_of(recorded) == reason


def reasons(value):
    return [step.finish_reason for step in read_trace(value).steps_of("llm")]


def gemini(text, **more):
    return {"candidates": [{"content": {"role": "model", "parts": [{"text": text}]}, **more}]}


SAID = {"role": "assistant", "content": "Well"}
CUT_COMPLETION = {"choices": [{"message": SAID, "finish_reason": "length"}]}
#: One answer that was cut off at the output limit, as each API returns it.
BODIES = {
    "OpenAI chat": CUT_COMPLETION,
    "OpenAI chat with its request": {
        "request": {"messages": [{"role": "user", "content": "Hi."}]},
        "response": CUT_COMPLETION,
    },
    "chunks of OpenAI chat": [
        {"object": "chat.completion.chunk", "id": "a", "choices": [{"index": 0, "delta": SAID}]},
        {
            "object": "chat.completion.chunk",
            "id": "a",
            "choices": [{"index": 0, "delta": {}, "finish_reason": "length"}],
        },
    ],
    "OpenAI responses": {
        "object": "response",
        "status": "incomplete",
        "incomplete_details": {"reason": "max_output_tokens"},
        "output": [{"type": "message", "role": "assistant", "content": "Well"}],
    },
    "Anthropic": {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "text", "text": "Well"}],
        "stop_reason": "max_tokens",
    },
    "events of Anthropic": [
        {"type": "message_start", "message": {"id": "m", "role": "assistant", "content": []}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "a"}},
        {"type": "message_delta", "delta": {"stop_reason": "max_tokens"}},
    ],
    "Gemini": gemini("Well", finishReason="MAX_TOKENS"),
    "pieces of Gemini": [gemini("We"), gemini("ll", finishReason="MAX_TOKENS")],
    "Bedrock": {
        "output": {"message": {"role": "assistant", "content": [{"text": "Well"}]}},
        "stopReason": "max_tokens",
    },
    "Ollama": {"model": "m", "message": SAID, "done": True, "done_reason": "length"},
    "a message": [{"role": "user", "content": "Hi."}, {**SAID, "finish_reason": "length"}],
}


@pytest.mark.parametrize("api", BODIES)
def test_an_answer_that_was_cut_off_at_the_output_limit_ended_for_its_length(api):
    assert reasons(BODIES[api]) == ["length"]


def test_a_log_of_request_and_completion_lines_has_it():
    request = {"model": "m", "messages": [{"role": "user", "content": "How?"}], "temperature": 0}
    again = {
        **request,
        "messages": [*request["messages"], SAID, {"role": "user", "content": "So?"}],
    }
    answer = {**CUT_COMPLETION, "object": "chat.completion", "model": "m"}
    assert reasons([request, answer, again, answer]) == ["length", "length"]


@pytest.mark.parametrize("api", ["OpenAI chat", "OpenAI responses", "Anthropic", "Gemini"])
def test_a_log_of_requests_has_it_for_each_answer(api):
    asked = [{"role": "user", "content": "How?"}, SAID, {"role": "user", "content": "And then?"}]
    log = [
        {"request": {"messages": messages}, "response": BODIES[api]}
        for messages in (asked[:1], asked)
    ]
    assert read_trace(log).format == "request-log"
    assert reasons(log) == ["length", "length"]


#: What a record of each format says of an answer that ended by itself or for calls, and of one that was cut off.
RECORDED = {
    "ai-studio": ('"finishReason": "STOP"', '"finishReason": "MAX_TOKENS"'),
    "crush": ("tool_use", "max_tokens"),
    "hermes": ('"finish_reason": "stop"', '"finish_reason": "length"'),
    "kimi-code": ('"finishReason": "tool_use"', '"finishReason": "max_tokens"'),
    "opencode": ('"reason": "stop"', '"reason": "length"'),
    "openclaw": ('"stopReason": "toolUse"', '"stopReason": "length"'),
    "trae": ('"finish_reason": "tool_use"', '"finish_reason": "max_tokens"'),
    "autogen-runtime-log": (
        '"finish_reason": "function_call"',
        '"finish_reason": "length"',
    ),
    "tarko": ('"finishReason": "stop"', '"finishReason": "length"'),
    "opik": ('"finish_reason": "stop"', '"finish_reason": "length"'),
    "braintrust": ('"finish_reason": "stop"', '"finish_reason": "length"'),
}


@pytest.mark.parametrize("format_id", RECORDED)
def test_programs_record_that_an_answer_was_cut_off(format_id):
    whole = json.dumps(EXAMPLES[format_id])
    said, cut = RECORDED[format_id]
    assert said in whole
    assert "length" not in reasons(json.loads(whole))
    assert "length" in reasons(json.loads(whole.replace(said, cut)))


LANGCHAIN_ANSWER = {
    "text": "Hi.",
    "message": {
        "lc": 1,
        "type": "constructor",
        "id": ["langchain", "schema", "messages", "AIMessage"],
        "kwargs": {"content": "Hi.", "response_metadata": {"finish_reason": "length"}},
    },
}
#: For formats whose examples do not have it: a field of the objects that get more fields, its value, and these fields.
ADDED = {
    "google-adk": ("author", "root", {"finish_reason": "MAX_TOKENS"}),
    "langsmith": ("run_type", "llm", {"outputs": {"generations": [[LANGCHAIN_ANSWER]]}}),
    "mini-swe-agent": ("role", "assistant", {"extra": {"response": CUT_COMPLETION}}),
    "pydantic-ai": ("kind", "response", {"finish_reason": "length"}),
}


def added(value, name, held, fields):
    if type(value) is list:
        return [added(item, name, held, fields) for item in value]
    if type(value) is not dict:
        return value
    whole = {key: added(item, name, held, fields) for key, item in value.items()}
    return whole | fields if whole.get(name) == held else whole


@pytest.mark.parametrize("format_id", ADDED)
def test_more_formats_may_record_it(format_id):
    name, held, fields = ADDED[format_id]
    assert reasons(EXAMPLES[format_id]) == [None]
    assert reasons(added(EXAMPLES[format_id], name, held, fields)) == ["length"]


def langchain(**metadata):
    return {
        "type": "ai",
        "data": {"type": "ai", "content": "Well", "response_metadata": metadata},
    }


@pytest.mark.parametrize(
    "metadata",
    [{"finish_reason": "length"}, {"stop_reason": "max_tokens"}, {"done_reason": "length"}],
)
def test_langchain_records_it_in_the_providers_words(metadata):
    human = {"type": "human", "data": {"type": "human", "content": "Hi."}}
    assert reasons([human, langchain(**metadata)]) == ["length"]


def test_a_line_of_claude_code_that_ends_an_answer_states_why():
    lines = [
        {
            "type": "assistant",
            "sessionId": "s",
            "uuid": f"u{number}",
            "message": {
                "id": "m1",
                "role": "assistant",
                "content": [{"type": "text", "text": "Well"}],
                "stop_reason": reason,
            },
        }
        for number, reason in enumerate((None, "max_tokens"))
    ]
    assert reasons(lines) == ["length"]


def test_only_model_calls_have_one():
    messages = [{"role": "user", "content": "Hi.", "finish_reason": "stop"}, SAID]
    assert [step.finish_reason for step in read_trace(messages).steps] == [None, None]


@pytest.mark.parametrize(
    ("written", "reason"), [("max_tokens", "length"), ("length", "length"), ("paused", "paused")]
)
def test_the_native_form_takes_the_words_of_providers_and_writes_those_of_opentelemetry(
    written, reason
):
    step = {"type": "llm", "output": "Well", "finish_reason": written}
    trace = read_trace({"steps": [step]})
    assert trace.steps[0].finish_reason == reason
    assert read_trace(to_native(trace)).steps == trace.steps
    assert to_native(trace)["steps"][0]["finish_reason"] == reason
