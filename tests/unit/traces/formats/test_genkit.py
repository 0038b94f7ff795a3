"""Traces that Genkit stores."""

from __future__ import annotations

import json

import pytest

from weighbridge.errors import TraceError
from weighbridge.traces import Step, ToolDefinition, Usage
from weighbridge.traces.formats.genkit import IMPORTER

NOON = 1_735_732_800_000  #: 2025-01-01T12:00:00Z, in milliseconds
SECOND = 10**9


def at(second):
    return NOON * 10**6 + second * SECOND


def span(own_id, parent, start, end, kind, sent=None, answered=None, **fields):
    name = fields.pop("name", kind)
    attributes = {
        "genkit:type": "action",
        "genkit:name": name,
        "genkit:metadata:subtype": kind,
        "genkit:input": json.dumps(sent),
        "genkit:output": json.dumps(answered),
        "genkit:state": "success",
        **fields.pop("attributes", {}),
    }
    return {
        "spanId": own_id,
        "traceId": "g",
        "parentSpanId": parent,
        "startTime": NOON + start * 1000.0,
        "endTime": NOON + end * 1000.0,
        "displayName": name,
        "attributes": {key: held for key, held in attributes.items() if held is not None},
        "status": {"code": 0},
        "timeEvents": {"timeEvent": []},
        **fields,
    }


UTIL = {"genkit:type": "util", "genkit:metadata:subtype": None}
ASKED = [
    {"role": "system", "content": [{"text": "You find."}]},
    {"role": "user", "content": [{"text": "Find x."}]},
]
CALL = {"toolRequest": {"name": "search", "ref": "r1", "input": {"q": "x"}}}
TOOLS = [{"name": "search", "description": "Finds.", "inputSchema": {"type": "object"}}]
FIRST = {
    "message": {"role": "model", "content": [{"reasoning": "Where?"}, {"text": "I look."}, CALL]},
    "finishReason": "stop",
    "usage": {"inputTokens": 10, "outputTokens": 5, "totalTokens": 18, "thoughtsTokens": 3, "cachedContentTokens": 4},
}  # fmt: skip
LAST = {
    "message": {"role": "model", "content": [{"text": "Not there."}]},
    "usage": {"inputTokens": 20, "outputTokens": 2, "totalTokens": 22},
    "raw": {"modelVersion": "m-1"},
}
RESULT = {"toolResponse": {"name": "search", "ref": "r1", "output": "none"}}
GREW = [*ASKED, FIRST["message"], {"role": "tool", "content": [RESULT]}]
SPANS = [
    span("flow", None, 0, 9, "flow", "Find x.", "Not there.", name="main"),
    span("gen-1", "flow", 1, 8, "util", {"messages": ASKED}, LAST, name="generate", attributes=UTIL),
    span("model-1", "gen-1", 2, 3, "model", {"messages": ASKED, "tools": TOOLS}, FIRST, name="p/m"),
    span("tool", "gen-1", 4, 5, "tool", {"q": "x"}, "none", name="web/search"),
    span("gen-2", "gen-1", 6, 8, "util", {"messages": GREW}, LAST, name="generate", attributes=UTIL),
    span("model-2", "gen-2", 6, 7, "model", {"messages": GREW, "tools": TOOLS}, LAST, name="p/m"),
]  # fmt: skip


def trace_of(*spans, **fields):
    return {"traceId": "g", "spans": {each["spanId"]: each for each in spans}, **fields}


EXAMPLE = trace_of(*SPANS, displayName="main", startTime=NOON, endTime=NOON + 9000)


def read(value):
    assert IMPORTER.matches(value)
    [trace] = IMPORTER.read(value)
    return trace


def usage_of(**answer):
    [call] = read(trace_of(span("a", None, 0, 1, "model", {}, {**LAST, **answer}))).steps_of("llm")
    return call.usage


def test_spans_of_actions_become_steps_and_those_around_them_do_not():
    trace = read(EXAMPLE)
    assert trace.steps == (
        Step(id="s1", type="system", output="You find."),
        Step(id="s2", type="user", output="Find x."),
        Step(id="model-1", type="llm", output="I look.", model="p/m", usage=Usage(10, 8, 18, 4), started_at=at(2), ended_at=at(3)),
        Step(id="tool", type="tool", parent_id="model-1", name="search", arguments={"q": "x"}, output="none", started_at=at(4), ended_at=at(5)),
        Step(id="model-2", type="llm", output="Not there.", model="m-1", usage=Usage(20, 2, 22), started_at=at(6), ended_at=at(7)),
    )  # fmt: skip
    assert (trace.format, trace.id, trace.metadata) == ("genkit", "g", {"name": "main"})
    assert trace.tools == (ToolDefinition("search", {"type": "object"}, "Finds."),)
    assert trace.missing == {}
    assert set(trace.not_carried) == {
        "parts of the model's reasoning (1)",
        "spans that are no step, such as HTTP, a database or a chain (3)",
    }


def test_each_trace_of_a_list_is_a_trace():
    other = {**EXAMPLE, "traceId": "h", "displayName": "other"}
    value = {"traces": [EXAMPLE, other]}
    assert IMPORTER.matches(value)
    traces = IMPORTER.read(value)
    assert [(trace.id, trace.metadata["name"]) for trace in traces] == [
        ("g", "main"),
        ("h", "other"),
    ]
    assert IMPORTER.parts(value) == [("g", EXAMPLE), ("h", other)]


def test_a_call_without_a_span_is_in_the_answer_and_has_the_result_of_the_next_request():
    [call] = read(trace_of(*SPANS[:3], *SPANS[4:])).steps_of("tool")
    assert (call.id, call.name, call.output) == ("r1", "search", "none")


@pytest.mark.parametrize(
    "about",
    [
        {"genkit:key": "/model/p/m"},
        {"genkit:path": "/{main,t:flow}/{p/m,t:action,s:model}"},
        {},
    ],
)
def test_a_model_without_a_subtype_is_found(about):
    told = {"genkit:metadata:subtype": None, **about}
    old = span("a", None, 0, 1, "model", {"messages": ASKED}, {"candidates": [LAST]}, attributes=told)  # fmt: skip
    assert [step.output for step in read(trace_of(old)).steps_of("llm")] == ["Not there."]


def test_tokens_of_caches_are_input():
    apart = {"cache_read_input_tokens": 7, "cache_creation_input_tokens": 2}
    stated = {"inputTokens": 10, "outputTokens": 3}
    assert usage_of(usage={**stated, "custom": apart}) == Usage(19, 3, None, 7, 2)
    raw = {"usage": {"input_tokens": 10, "output_tokens": 3, **apart}}
    assert usage_of(usage=stated, raw=raw) == Usage(19, 3, None, 7, 2)
    told = {"prompt_tokens": 10, "completion_tokens": 3, "total_tokens": 13, "prompt_tokens_details": {"cached_tokens": 6}}  # fmt: skip
    assert usage_of(usage=stated, raw={"usage": told}) == Usage(10, 3, 13, 6)


def test_tokens_of_reasoning_that_are_in_the_output_count_once():
    stated = {"inputTokens": 10, "outputTokens": 8, "totalTokens": 18, "thoughtsTokens": 3}
    assert usage_of(usage=stated) == Usage(10, 8, 18)
    assert usage_of(usage={}) is None


def test_a_failure_has_its_message_and_an_interrupt_is_none():
    failed = span("a", None, 0, 1, "tool", {}, status={"code": 2, "message": "broken"})
    silent = span("b", None, 2, 3, "tool", {}, attributes={"genkit:state": "error"})
    raised = {"exception.type": "ToolInterruptError", "exception.message": ""}
    events = {"timeEvent": [{"time": 1, "annotation": {"description": "exception", "attributes": raised}}]}  # fmt: skip
    asks = span("c", None, 4, 5, "tool", {}, status={"code": 2}, timeEvents=events)
    trace = read(trace_of(failed, silent, asks))
    assert [step.error for step in trace.steps] == ["broken", "error", None]


def test_images_are_marked_and_results_of_several_parts_are_opened():
    media = {"media": {"url": "data:image/png;base64,AAAABBBB", "contentType": "image/png"}}
    shown = [{"role": "user", "content": [{"text": "See"}, media]}]
    model = span("a", None, 0, 1, "model", {"messages": shown}, LAST)
    tool = span("b", None, 2, 3, "tool.v2", {}, {"output": 5, "content": []})
    steps = read(trace_of(model, tool)).steps
    assert steps[0].output.startswith("See\n[image ")
    assert steps[-1].output == 5


def test_times_in_microseconds_are_read():
    early = span("a", None, 0, 1, "tool", {}, startTime=NOON * 1000, endTime=NOON * 1000 + 1e6)
    [step] = read(trace_of(early)).steps
    assert (step.started_at, step.ended_at) == (at(0), at(1))


def test_a_trace_without_a_model_or_a_tool_is_an_error():
    with pytest.raises(TraceError):
        IMPORTER.read(trace_of(SPANS[0]))


def test_what_was_removed_is_not_read_as_a_text():
    removed = {"genkit:input": "<redacted>", "genkit:output": "<redacted>"}
    spans = (span("a", None, 0, 1, kind, attributes=removed) for kind in ("model", "tool"))
    for each in spans:
        [step] = read(trace_of(each)).steps
        assert (step.arguments, step.output) == (None, None)


@pytest.mark.parametrize(
    "value",
    [
        None,
        [],
        {},
        {"spans": {}},
        {"spans": [SPANS[0]]},
        {"spans": {"a": {"spanId": "a", "attributes": {"gen_ai.system": "x"}}}},
        {"spans": {"a": {"spanId": 1, "attributes": {"genkit:type": "action"}}}},
        {"traces": []},
        [EXAMPLE],
    ],
)
def test_other_values_are_not_claimed(value):
    assert not IMPORTER.matches(value)


@pytest.mark.parametrize("wrong", [None, 1, -1.5, "x", [], {}, [1, {"a": []}], {"id": 1}, True])
def test_values_of_wrong_types_are_no_failure(wrong):
    changed = [{**EXAMPLE, key: wrong} for key in EXAMPLE]
    for index, each in enumerate(SPANS):
        others = [*SPANS[:index], *SPANS[index + 1 :]]
        changed += [trace_of(*others, spans={"a": {**each, key: wrong}}) for key in each]
        for key in each["attributes"]:
            for held in (wrong, json.dumps(wrong), json.dumps({"message": wrong, "messages": wrong, "usage": wrong})):  # fmt: skip
                told = {**each, "attributes": {**each["attributes"], key: held}}
                changed.append(trace_of(*others, told))
    for value in changed:
        try:
            IMPORTER.matches(value)
            json.dumps([str(trace) for trace in IMPORTER.read(value)])
        except TraceError:
            pass
