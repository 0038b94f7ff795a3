"""Prompts that Google AI Studio saves."""

from __future__ import annotations

import pytest

from support.trace_examples.chat_apps import AI_STUDIO
from weighbridge.errors import TraceError
from weighbridge.traces import Step, Usage, read_trace
from weighbridge.traces.fields import time_of


def prompt(*chunks, **more):
    return {"chunkedPrompt": {"chunks": list(chunks)}, **more}


def model(**more):
    return {"role": "model", **more}


def at(second):
    return time_of(f"2026-01-01T12:00:0{second}Z")


def test_chunks_become_steps():
    trace = read_trace(AI_STUDIO)
    assert trace.steps == (
        Step(id="s1", type="system", output="You compute."),
        Step(id="s2", type="user", output="2 + 2?"),
        Step(id="s3", type="llm", output="I run it.", model="m", usage=Usage(None, 16), ended_at=at(3)),
        Step(id="s4", type="tool", parent_id="s3", name="code_execution", arguments={"code": "print(2 + 2)"}, output="4", started_at=at(2), ended_at=at(3)),
        Step(id="s5", type="llm", finish_reason="stop", output="It is 4.", model="m", usage=Usage(None, 4), ended_at=at(4)),
    )  # fmt: skip
    assert [tool.name for tool in trace.tools] == ["code_execution"]
    assert trace.not_carried == (
        "content parts of type 'driveDocument' (1)",
        "counts of tokens that were sent (2)",
        "inputs that were not sent (1)",
        "parts of the model's reasoning (1)",
    )


def test_functions_are_called_and_answer():
    declared = '[{"name": "f", "parameters": {"type": "OBJECT"}}]'
    trace = read_trace(
        prompt(
            {"role": "user", "text": "Go."},
            model(functionCall={"name": "f", "args": {"a": 1}}, tokenCount=2),
            {"role": "user", "functionResponse": {"name": "f", "response": {"error": "no"}}},
            model(parts=[{"functionCall": {"name": "f", "args": {}}}], model="models/n"),
            {"role": "user", "functionResponse": {"name": "f", "response": {"a": 2}}},
            model(text="Done."),
            runSettings={"functionDeclarations": declared, "googleSearch": {}},
        )
    )
    assert [(step.type, step.name, step.error) for step in trace.steps] == [
        *(("user", None, None), ("llm", None, None), ("tool", "f", "no"), ("llm", None, None)),
        *(("tool", "f", None), ("llm", None, None)),
    ]
    assert trace.steps[3].model == "n"
    assert [(tool.name, tool.schema) for tool in trace.tools] == [
        ("f", {"type": "object"}),
        ("google_search", None),
    ]


def test_code_and_its_outcome_may_be_parts_of_one_chunk():
    parts = [
        {"executableCode": {"code": "1/0"}},
        {"codeExecutionResult": {"outcome": "OUTCOME_FAILED", "output": "ZeroDivisionError"}},
        {"text": "It failed."},
    ]
    parts.insert(2, {"inlineData": {"mimeType": "image/png"}})
    ran = parts[1]["codeExecutionResult"]
    beside = {"executableCode": parts[0]["executableCode"], "codeExecutionResult": ran}
    for some, after in (({"parts": parts}, ["llm"]), ({"text": "Look.", **beside}, [])):
        trace = read_trace(prompt({"role": "user", "text": "Go."}, model(tokenCount=9, **some)))
        assert [step.type for step in trace.steps] == ["user", "llm", "tool", *after]
        assert trace.steps[2].error == "ZeroDivisionError"
        assert [step.usage for step in trace.steps if step.usage] == [Usage(None, 9)]


def test_an_answer_may_fail_and_lack_a_count():
    trace = read_trace(
        prompt(
            {"role": "user", "driveImage": {"id": "i"}},
            model(text="hm", isThought=True, tokenCount=3),
            model(errorMessage="overloaded", branchParent={"promptId": "p"}),
        )
    )
    assert trace.steps[1].error == "overloaded"
    assert trace.steps[1].usage == Usage(None, 3, is_partial=True)
    assert "chunk field 'branchParent' (1)" in trace.not_carried


@pytest.mark.parametrize(
    "chunks",
    [
        [],
        [{"role": "model", "parts": [1], "tokenCount": -1, "functionCall": []}],
        [{"role": "user", "functionResponse": {"response": [[]]}, "createTime": {}}],
        [{"role": "model", "executableCode": 1}, {"role": "model", "codeExecutionResult": []}],
        [{"role": "model"}, {"role": 1}, 1],
    ],
)
def test_damaged_prompts_are_read_or_refused(chunks):
    try:
        steps = read_trace(prompt(*chunks, runSettings=1, systemInstruction=[])).steps
    except TraceError:
        steps = ()
    assert bool(steps) == bool(chunks and 1 not in chunks)
