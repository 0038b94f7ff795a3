"""The store of the AI SDK's DevTools."""

from __future__ import annotations

import json

import pytest

from support.trace_examples.vendor_sdks import AI_SDK_DEVTOOLS
from weighbridge.traces import Usage, read_trace, read_traces
from weighbridge.traces.formats.ai_sdk_devtools import IMPORTER
from weighbridge.traces.split import single_traces

FIRST, LAST = AI_SDK_DEVTOOLS["steps"]
ASKED = {"role": "user", "content": [{"type": "text", "text": "Find x."}]}


def store(*steps, runs=()):
    return {"runs": list(runs), "steps": list(steps)}


def step(number, prompt, output, run="run-1", **fields):
    return {
        **FIRST,
        "id": f"{run}/{number}",
        "run_id": run,
        "step_number": number,
        "started_at": f"2026-03-04T10:00:0{number}.000Z",
        "input": json.dumps({"prompt": prompt}),
        "output": json.dumps(output),
        **fields,
    }


def said(text):
    return {"textParts": [{"id": "t", "text": text}], "toolCalls": []}


def test_a_step_is_a_model_call_whose_calls_are_answered_in_the_next_prompt():
    trace = read_trace(AI_SDK_DEVTOOLS)
    assert (trace.id, trace.format) == ("run-1", "ai-sdk-devtools")
    assert [(each.id, each.type, each.output, each.error) for each in trace.steps] == [
        ("s1", "system", "You find.", None),
        ("s2", "user", "Find x.", None),
        ("step-1", "llm", "I look.", None),
        ("call_1", "tool", "no such index", "no such index"),
        ("step-2", "llm", "Not there.", None),
    ]
    call, first, last = trace.steps[3], trace.steps[2], trace.steps[4]
    assert (call.name, call.arguments, call.parent_id) == ("search", {"q": "x"}, "step-1")
    assert (first.usage, last.usage) == (Usage(10, 5, None, 4), Usage(20, 2, 22, 10))
    assert first.ended_at - first.started_at == 900 * 10**6
    assert [tool.name for tool in trace.tools] == ["search"]
    assert trace.missing == {}


def test_each_run_is_a_trace():
    other = step(1, [ASKED], said("Hello."), run="run-2")
    both = store(FIRST, other, LAST)
    assert [(trace.id, len(trace.steps)) for trace in read_traces(both)] == [
        ("run-1", 5),
        ("run-2", 2),
    ]
    parts = single_traces(both)
    assert [name for name, _ in parts] == ["run-1", "run-2"]
    assert [len(read_trace(part).steps) for _, part in parts] == [5, 2]


def test_a_run_that_a_tool_started_is_part_of_the_run_that_called_the_tool():
    inner = step(1, [ASKED], said("Hello."), run="run-2")
    runs = [{"id": "run-1"}, {"id": "run-2", "parent_run_id": "run-1", "parent_step_id": "step-1"}]
    trace = read_trace(store(FIRST, inner, LAST, runs=runs))
    assert [each.id for each in trace.steps_of("llm")] == ["step-1", "run-2/1", "step-2"]


@pytest.mark.parametrize("parent", ["run-1", "run-2", "gone", 3])
def test_a_run_whose_outermost_run_is_not_known_is_a_trace(parent):
    runs = [{"id": "run-1", "parent_run_id": parent}, {"id": "run-2", "parent_run_id": "run-1"}]
    assert len(read_traces(store(FIRST, LAST, runs=runs))) == 1


def test_a_call_without_an_answer_is_a_model_call():
    broken = step(1, [ASKED], None, usage=None, error=None, duration_ms=None)
    aborted = step(2, [ASKED], said("I"), usage=None, error="Request aborted")
    trace = read_trace(store(broken, aborted))
    assert [(each.type, each.output, each.error) for each in trace.steps] == [
        ("user", "Find x.", None),
        ("llm", None, None),
        ("llm", "I", "Request aborted"),
    ]
    assert trace.missing["token_usage"] == "no step of this run has its tokens"


def test_answers_of_earlier_runs_in_a_prompt_are_no_steps():
    earlier = {"role": "assistant", "content": [{"type": "text", "text": "Which?"}]}
    trace = read_trace(store(step(1, [ASKED, earlier, ASKED], said("There."))))
    assert [each.type for each in trace.steps] == ["user", "user", "llm"]
    assert "answers from before the run, in its first prompt (1)" in trace.not_carried


def test_results_that_a_provider_gives_with_the_answer_are_read():
    parts = [
        {"type": "tool-call", "toolCallId": "c", "toolName": "web", "input": "{}"},
        {"type": "tool-result", "toolCallId": "c", "toolName": "web", "result": "found"},
        {"type": "text", "text": "There."},
    ]
    trace = read_trace(store(step(1, [ASKED], {"content": parts})))
    assert [(each.type, each.output) for each in trace.steps[1:]] == [
        ("llm", "There."),
        ("tool", "found"),
    ]


@pytest.mark.parametrize(
    "value",
    [
        {"steps": [FIRST]},
        store(),
        store({**FIRST, "type": "tool"}),
        store({**FIRST, "input": {"prompt": []}}),
        {"runs": {}, "steps": [FIRST]},
        [FIRST],
    ],
)
def test_other_runs_and_steps_are_not_taken_for_a_store(value):
    assert not IMPORTER.matches(value)
