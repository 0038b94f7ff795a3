"""Results of the batch APIs of OpenAI and Anthropic."""

from __future__ import annotations

import pytest

from support.trace_examples.model_apis import BATCH_RESULT
from weighbridge.traces import Step, Usage, read_trace
from weighbridge.traces.formats.batch_results import IMPORTER

MESSAGE = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "claude",
    "content": [{"type": "tool_use", "id": "t1", "name": "find", "input": {"q": "x"}}],
    "stop_reason": "tool_use",
    "usage": {"input_tokens": 10, "output_tokens": 3},
}
RESPONSE = {
    "id": "resp_1",
    "object": "response",
    "model": "gpt-5",
    "output": [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Hi"}]}],
    "usage": {"input_tokens": 4, "output_tokens": 1, "total_tokens": 5},
}  # fmt: skip


def of_openai(body, error=None):
    response = None if body is None else {"status_code": 200, "body": body}
    return {"id": "b", "custom_id": "r1", "response": response, "error": error}


def of_anthropic(kind, **fields):
    return {"custom_id": "r1", "result": {"type": kind, **fields}}


@pytest.mark.parametrize(
    ("value", "output", "usage", "calls"),
    [
        (BATCH_RESULT, "Hi", Usage(3, 2, 5), 0),
        (of_openai(RESPONSE), "Hi", Usage(4, 1, 5), 0),
        (of_anthropic("succeeded", message=MESSAGE), None, Usage(10, 3), 1),
    ],
)
def test_an_answer_is_a_model_call_with_its_usage(value, output, usage, calls):
    trace = read_trace(value)
    assert (trace.id, trace.format) == ("r1", "batch-results")
    [model] = trace.steps_of("llm")
    assert (model.output, model.usage) == (output, usage)
    assert len(trace.steps_of("tool")) == calls


@pytest.mark.parametrize(
    ("value", "error"),
    [
        (of_openai({"error": {"message": "too long", "code": "x"}}), "too long"),
        (of_openai(None, {"code": "batch_expired", "message": "late"}), "late"),
        (of_openai(None, {"code": "batch_expired"}), "batch_expired"),
        (of_openai({"object": "list", "data": []}), "no answer that can be read"),
        (of_anthropic("errored", error={"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}), "busy"),
        (of_anthropic("expired"), "expired"),
    ],
)  # fmt: skip
def test_a_request_without_an_answer_is_a_failed_model_call(value, error):
    trace = read_trace(value)
    assert trace.steps == (Step(id="s1", type="llm", error=error),)
    assert "token_usage" in trace.missing


@pytest.mark.parametrize(
    "value",
    [
        {"custom_id": "a", "inputs": {}, "response": {"body": {}}, "error": None},
        {"custom_id": "a", "response": "yes", "error": None},
        {"custom_id": "a", "response": None, "error": None},
        {"custom_id": "a", "result": {"type": "pass"}},
        {"custom_id": 1, "response": {"body": {}}, "error": None},
        {"response": {"body": {}}, "error": None},
    ],
)
def test_other_values_are_not_claimed(value):
    assert not IMPORTER.matches(value)
