"""Results of promptfoo: those with messages or tool calls are traces, those of texts alone are cases for other graders."""

from __future__ import annotations

import json

import pytest

from support.trace_examples.evaluation_tools import PROMPTFOO, PROMPTFOO_ROW
from weighbridge.errors import UnknownTraceFormatError
from weighbridge.traces import Step, Usage, read_trace, read_traces
from weighbridge.traces.split import single_traces

CALL = {"id": "c1", "name": "search", "arguments": '{"q": "x"}'}
ASKED = [("search", {"q": "x"})]


def row(output="Here.", raw=None, provider="openai:gpt-4o", **response):
    prompt = {"raw": raw} if raw is not None else PROMPTFOO_ROW["prompt"]
    answer = {"output": output, **response}
    return PROMPTFOO_ROW | {"prompt": prompt, "provider": {"id": provider}, "response": answer}


def called(trace):
    return [(tool.name, tool.arguments) for tool in trace.steps_of("tool")]


def test_a_result_with_messages_is_a_trace_of_one_request():
    trace = read_trace(PROMPTFOO)
    assert trace.steps == (
        Step(id="s1", type="system", output="You find."),
        Step(id="s2", type="user", output="Find x."),
        Step(id="s3", type="llm", model="gpt-4o-mini", usage=Usage(10, 73, 83), cost_usd=0.25),
        Step(id="call_1", type="tool", parent_id="s3", name="search", arguments={"q": "x"}),
    )
    assert (trace.id, [tool.name for tool in trace.tools]) == ("2-1", ["search"])
    assert trace.metadata == {"provider": "mini", "success": True, "score": 1}


@pytest.mark.parametrize(
    "wrap", [lambda rows: {"results": rows}, lambda rows: {"results": {"results": rows}}]
)
def test_each_result_of_a_document_is_a_trace(wrap):
    text = row("Hi.", raw="Say hi.") | {"testIdx": 3}
    first, second = read_traces(wrap([PROMPTFOO_ROW, text]))
    assert [(step.type, step.output) for step in second.steps] == [
        ("user", "Say hi."),
        ("llm", "Hi."),
    ]
    parts = single_traces(wrap([PROMPTFOO_ROW, text]))
    assert [(name, read_trace(part)) for name, part in parts] == [("2-1", first), ("3-1", second)]


def test_a_part_of_a_document_keeps_the_tools_of_its_provider():
    [(_, part)] = single_traces(PROMPTFOO)
    assert read_trace(part) == read_trace(PROMPTFOO)


@pytest.mark.parametrize(
    "value",
    [
        {"results": {"results": [row("Hi.", raw="Say hi.")]}},
        row("[1, 2]", raw="Say hi."),
        row({"a": 1}, raw='["a"]'),
        {"results": []},
        {"results": {"results": [5, PROMPTFOO_ROW]}},
        PROMPTFOO_ROW | {"prompt": "text"},
    ],
)
def test_results_of_texts_alone_are_no_traces(value):
    with pytest.raises(UnknownTraceFormatError):
        read_trace(value)


@pytest.mark.parametrize(
    ("output", "text"),
    [
        (CALL, None),
        (json.dumps([CALL]), None),
        ({"content": "I look.", "tool_calls": [CALL]}, "I look."),
        (
            'I look.\n\nNow.\n\n{"type":"tool_use","id":"c1","name":"search","input":{"q":"x"}}',
            "I look.\n\nNow.",
        ),
    ],
)
def test_calls_are_read_from_each_form_of_an_output(output, text):
    trace = read_trace(row(output, raw="Find x."))
    assert ([step.output for step in trace.steps_of("llm")], called(trace)) == ([text], ASKED)


def test_an_output_that_is_an_object_without_calls_is_the_answer():
    assert read_trace(row({"a": 1})).steps[-1].output == {"a": 1}


def test_answers_in_a_prompt_are_no_calls_of_this_request():
    raw = json.dumps([{"role": "user", "content": "A?"}, {"role": "assistant", "content": "B."}])
    trace = read_trace(row(raw=raw))
    assert [step.type for step in trace.steps] == ["user", "other", "llm"]
    assert "answers and results in prompts, read as other messages (1)" in trace.not_carried


@pytest.mark.parametrize(
    ("provider", "is_known"),
    [
        ("openai:gpt-5-codex", True),
        ("anthropic:messages:claude-x", True),
        ("file://agent.py", False),
        ("openai:codex-sdk", False),
        ("anthropic:claude-agent-sdk", False),
    ],
)
def test_the_calls_of_a_provider_that_is_a_program_are_not_known(provider, is_known):
    trace = read_trace(row(provider=provider))
    assert {"llm_calls", "tool_calls"}.isdisjoint(trace.missing) == is_known


def test_tools_that_an_agent_reports_have_their_results():
    ran = [{"id": "t1", "name": "Bash", "input": {"q": "x"}, "output": "no", "is_error": True}]
    trace = read_trace(
        row(raw="Go.", provider="anthropic:claude-agent-sdk", metadata={"toolCalls": ran})
    )
    [tool] = trace.steps_of("tool")
    assert (tool.name, tool.arguments, tool.output, tool.error) == ("Bash", {"q": "x"}, "no", "no")
    assert "llm_calls" in trace.missing
    assert "tool_calls" not in trace.missing


@pytest.mark.parametrize(
    ("result", "error"),
    [
        ({"error": "the output is wrong", "failureReason": 1}, None),
        ({"error": "no quota", "failureReason": 2}, "no quota"),
        ({"response": {"error": "no quota"}}, "no quota"),
    ],
)
def test_only_the_error_of_a_request_is_that_of_its_answer(result, error):
    assert read_trace(row() | result).steps[-1].error == error


def test_cached_answers_are_told_and_tokens_of_zero_are_not_known():
    usage = {"total": 0, "prompt": 0, "completion": 0}
    trace = read_trace(row(cached=True, tokenUsage=usage))
    assert trace.steps[-1].usage is None
    assert "answers from promptfoo's cache (1)" in trace.not_carried
