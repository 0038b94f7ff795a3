"""Answers of other providers than OpenAI, in whose names messages, counts and calls stand."""

from __future__ import annotations

import pytest

from weighbridge.traces import Usage, read_trace

CALL = {"id": "t", "type": "function", "function": {"name": "search", "arguments": '{"q": "x"}'}}


def test_an_answer_of_cohere_counts_the_tokens_that_were_used_and_not_those_that_were_billed():
    usage = {"billed_units": {"input_tokens": 5}, "tokens": {"input_tokens": 50, "output_tokens": 9}}  # fmt: skip
    message = {"role": "assistant", "tool_calls": [CALL]}
    body = {"id": "a", "finish_reason": "TOOL_CALL", "message": message, "usage": usage}
    trace = read_trace(body)
    assert trace.steps_of("llm")[0].usage == Usage(50, 9)
    assert [(step.name, step.arguments) for step in trace.steps_of("tool")] == [("search", {"q": "x"})]  # fmt: skip


def test_an_answer_of_ollama_has_its_counts_and_time():
    message = {"role": "assistant", "content": "Hi."}
    body = {"model": "m", "created_at": "2025-01-01T12:00:00Z", "message": message, "done": True, "prompt_eval_count": 5, "eval_count": 7}  # fmt: skip
    [answer] = read_trace(body).steps
    assert (answer.output, answer.model, answer.usage) == ("Hi.", "m", Usage(5, 7))
    assert answer.started_at == 1735732800 * 10**9


def gemini(*parts, **counts):
    return {"candidates": [{"content": {"role": "model", "parts": list(parts)}}], "usageMetadata": counts}  # fmt: skip


def test_code_that_gemini_ran_is_a_call_with_its_output():
    code = {"executableCode": {"language": "PYTHON", "code": "print(1)"}}
    ran = {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1"}}
    trace = read_trace(gemini(code, ran, {"text": "One."}))
    [call] = trace.steps_of("tool")
    assert (call.name, call.arguments, call.output) == ("code_execution", {"code": "print(1)"}, "1")
    assert "tool_calls" not in trace.missing


def test_thoughts_of_an_answer_without_text_are_output():
    body = gemini(promptTokenCount=5, thoughtsTokenCount=7, totalTokenCount=12)
    assert read_trace(body).steps[0].usage == Usage(5, 7, 12)


def test_answers_that_were_blocked_are_model_calls_that_failed():
    [refused] = read_trace({"candidates": [{"finishReason": "SAFETY", "index": 0}]}).steps
    assert (refused.type, refused.output) == ("llm", None)
    [blocked] = read_trace({"promptFeedback": {"blockReason": "SAFETY"}}).steps
    assert (blocked.type, blocked.error) == ("llm", "the prompt was blocked: SAFETY")


def test_an_older_completion_of_openai_is_one_model_call():
    body = {"object": "text_completion", "model": "m", "choices": [{"text": "Hi.", "index": 0}], "usage": {"prompt_tokens": 5, "completion_tokens": 7}}  # fmt: skip
    [answer] = read_trace(body).steps
    assert (answer.output, answer.usage) == ("Hi.", Usage(5, 7))


@pytest.mark.parametrize(
    ("response", "error"),
    [
        ({"error": "No file."}, "No file."),
        ({"error": {"message": "No file."}}, "No file."),
        ({"error": {"code": 5}}, "error"),
        ({"output": "a", "error": ""}, None),
        ({"output": "a", "error": None}, None),
        ({"output": {"error": "a"}}, None),
        ("error", None),
    ],
)
def test_the_error_in_a_response_of_geminis_is_that_of_its_call(response, error):
    contents = [
        {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": response}}]},
    ]
    [tool] = read_trace({"contents": contents}).steps_of("tool")
    assert (tool.output, tool.error) == (response, error)
