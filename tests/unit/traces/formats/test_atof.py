"""Events in NVIDIA's Agentic Trajectory Observability Format."""

from __future__ import annotations

import pytest

from support.trace_examples.exchange_formats import ATOF
from weighbridge.errors import TraceError
from weighbridge.traces import Step, ToolDefinition, Usage, read_trace, read_traces
from weighbridge.traces.formats.atof import IMPORTER
from weighbridge.traces.split import single_traces

NOON = 1_735_732_800 * 10**9  #: 2025-01-01T12:00:00Z
SECOND = 10**9


def at(*seconds):
    return dict(zip(("started_at", "ended_at"), (NOON + s * SECOND for s in seconds), strict=False))


def scope(category, data, answer, **fields):
    event = ATOF[1] | {"uuid": category, "parent_uuid": None, "category": category, "category_profile": None, "data": data, **fields}  # fmt: skip
    return [event, event | {"scope_category": "end", "data": answer}]


def test_scopes_become_steps():
    trace = read_trace(ATOF)
    assert (trace.id, trace.format) == ("a", "atof")
    assert trace.tools == (ToolDefinition("search", {}),)
    assert trace.steps == (
        Step(id="a", type="agent", name="finder", input="Find x.", output="None.", **at(0, 7)),
        Step(id="s2", type="user", parent_id="a", output="Find x."),
        Step(id="l", type="llm", parent_id="a", output="I look.", model="m", usage=Usage(9, 2), **at(1, 2)),
        Step(id="c2", type="tool", parent_id="l", name="fetch", arguments={}),
        Step(id="t", type="tool", parent_id="l", name="search", arguments={"q": "x"}, output={"error": "not found"}, error="not found", **at(4, 5)),
        Step(id="r", type="other", parent_id="a", name="retriever", input="x", **at(6)),
    )  # fmt: skip
    assert trace.not_carried == ("marks (1)",)
    assert set(trace.missing) == set()


@pytest.mark.parametrize(
    ("sent", "answered", "said", "usage"),
    [
        (
            {"contents": [{"role": "user", "parts": [{"text": "Hi."}]}]},
            {
                "candidates": [{"content": {"role": "model", "parts": [{"text": "Ho."}]}}],
                "usageMetadata": {"promptTokenCount": 4, "candidatesTokenCount": 1},
            },
            "Ho.",
            Usage(4, 1),
        ),
        (
            {"content": {"messages": [{"role": "user", "content": "Hi."}]}},
            {
                "choices": [{"message": {"content": "Ho."}}],
                "usage": {"prompt_tokens": 4, "completion_tokens": 1, "total_tokens": 5},
            },
            "Ho.",
            Usage(4, 1, 5),
        ),
        (None, {"content": "Ho."}, "Ho.", None),
        ({"messages": [{"role": "user", "content": "Hi."}]}, None, None, None),
    ],
)
def test_payloads_are_those_of_the_providers(sent, answered, said, usage):
    steps = read_trace(scope("llm", sent, answered)).steps
    assert [step.output for step in steps if step.type == "user"] == ["Hi."] * (sent is not None)
    assert (steps[-1].output, steps[-1].usage) == (said, usage)


def test_what_the_payload_lacks_is_in_the_annotated_response():
    call = {"name": "view", "id": "c9", "arguments": {"name": "x"}}
    usage = {"prompt_tokens": 9, "cache_read_tokens": 4, "completion_tokens": 2, "total_tokens": 11}
    profile = {"model_name": "m", "annotated_response": {"message": "Ho.", "tool_calls": [call], "usage": usage}}  # fmt: skip
    events = scope("llm", {"content": {"input": "Hi.", "instructions": "Be."}}, {"usage": {"total_tokens": 11}})  # fmt: skip
    system, user, called, tool = read_trace([events[0], events[1] | {"category_profile": profile}]).steps  # fmt: skip
    assert (system.output, user.output, called.output, called.model) == ("Be.", "Hi.", "Ho.", "m")
    assert called.usage == Usage(9, 2, 11, 4)
    assert (tool.id, tool.name, tool.arguments) == ("c9", "view", {"name": "x"})


def test_items_of_the_responses_api_are_an_answer():
    items = [
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Ho."}]},
        {"type": "function_call", "call_id": "c9", "name": "view", "arguments": "{}"},
    ]  # fmt: skip
    usage = {"input_tokens": 9, "input_tokens_details": {"cached_tokens": 4}, "output_tokens": 2, "total_tokens": 11}  # fmt: skip
    tool = scope("tool", {}, '{"content": "", "error": "binary"}', metadata={"tool_call_id": "c9"})
    answer = scope("llm", None, {"output": items, "usage": usage})
    turn = scope("function", {}, {}, uuid="turn")
    inside = [event | {"parent_uuid": "turn"} for event in (*answer, *tool)]
    called, ran = read_trace([*turn, *inside]).steps
    assert (called.output, called.usage) == ("Ho.", Usage(9, 2, 11, 4))
    assert (ran.type, ran.parent_id, ran.error) == ("tool", "llm", "binary")


@pytest.mark.parametrize(
    ("answered", "output"), [({"result": 0}, 0), ({"a": 1}, {"a": 1}), ("x", "x"), (None, None)]
)
def test_a_result_may_be_wrapped(answered, output):
    [step] = read_trace(scope("tool", {"q": "x"}, answered)).steps
    assert step.output == output


def test_scopes_of_an_unknown_category_may_be_calls():
    trace = read_trace(scope("unknown", {"raw": "a"}, {"raw": "b"}))
    assert [(step.type, step.input, step.output) for step in trace.steps] == [("other", "a", "b")]
    assert trace.missing["tool_calls"] == "scopes of an unknown category may be tool calls"


def test_each_outermost_scope_is_a_trace():
    events = [*ATOF, *scope("tool", {}, 1), *scope("agent", "x", "y", parent_uuid="lost")]
    assert [name for name, _ in single_traces(events)] == ["a", "tool", "lost"]
    assert [len(part) for _, part in single_traces(events)] == [8, 2, 2]
    assert [trace.id for trace in read_traces(events)] == ["a", "tool", "lost"]


def test_scopes_around_each_other_and_repeated_events_are_read_once():
    around = [ATOF[6] | {"uuid": "x", "parent_uuid": "y"}, ATOF[6] | {"uuid": "y", "parent_uuid": "x"}]  # fmt: skip
    trace = read_trace([*around, around[0] | {"name": "again"}])
    assert sorted(step.id for step in trace.steps) == ["x", "y"]
    assert "repeated events (1)" in trace.not_carried


@pytest.mark.parametrize(
    ("value", "named"),
    [([*ATOF, *ATOF, *ATOF, {"kind": "scope"}], "event 25"), ([ATOF[3]], "none of the events")],
)
def test_damaged_events_are_named(value, named):
    assert single_traces(value) == [(None, value)]
    with pytest.raises(TraceError, match=named):
        read_trace(value)


@pytest.mark.parametrize("value", [[], {}, [*ATOF, 1], [{"kind": "scope", "uuid": "a"}]])
def test_other_values_are_not_claimed(value):
    assert not IMPORTER.matches(value)
