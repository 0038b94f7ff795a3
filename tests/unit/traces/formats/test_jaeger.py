"""Jaeger JSON: its tags, references, logs and times; the meaning of tags is tested with the other spans."""

from __future__ import annotations

import json

import pytest

from support.spans import CHAT
from weighbridge.errors import TraceError, UnknownTraceFormatError
from weighbridge.traces import Usage, read_trace, read_traces
from weighbridge.traces.split import single_traces

TRACE = "5b8efff798038103d269b633813fc60c"
NOON = 1_735_732_800 * 10**6  #: 2025-01-01T12:00:00Z, in microseconds
TYPES = {bool: "bool", int: "int64", float: "float64", str: "string"}
AGENT = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "helper"}


def tags(values):
    return [
        {"key": key, "type": TYPES[type(value)], "value": value} for key, value in values.items()
    ]


def child_of(span_id, trace_id=TRACE, kind="CHILD_OF"):
    return {"refType": kind, "traceID": trace_id, "spanID": span_id}


def jaeger_span(span_id="a", *references, told=CHAT, **facts):
    return {
        "traceID": TRACE,
        "spanID": span_id,
        "operationName": "chat m",
        "references": list(references),
        "startTime": NOON,
        "duration": 1500,
        "tags": tags(told),
        "logs": [],
        "processID": "p1",
    } | facts


def document(*spans, trace_id=TRACE):
    processes = {"p1": {"serviceName": "helper", "tags": []}}
    trace = {"traceID": trace_id, "spans": list(spans), "processes": processes, "warnings": None}
    return {"data": [trace], "total": 0, "limit": 0, "offset": 0, "errors": None}


@pytest.mark.parametrize(
    "wrap",
    [
        lambda whole: whole,
        lambda whole: whole["data"],
        lambda whole: whole["data"][0],
        lambda whole: {"trace": whole},
        json.dumps,
    ],
)
def test_a_trace_is_read_out_of_an_answer_a_list_and_alone(wrap):
    trace = read_trace(wrap(document(jaeger_span(told=CHAT | {"gen_ai.usage.input_tokens": 7}))))
    assert (trace.format, trace.id, trace.metadata) == ("jaeger", TRACE, {"services": ["helper"]})
    [step] = trace.steps
    assert (step.id, step.usage) == ("a", Usage(7))
    assert (step.started_at, step.ended_at) == (NOON * 1000, NOON * 1000 + 1_500_000)


@pytest.mark.parametrize(
    ("references", "parent"),
    [
        ([child_of("a")], "a"),
        ([child_of("a", kind="FOLLOWS_FROM")], "a"),
        ([child_of("b", kind="FOLLOWS_FROM"), child_of("a")], "a"),
        ([child_of("a", trace_id="another")], None),
        ([child_of("nowhere")], None),
        ([], None),
    ],
)
def test_the_parent_is_the_span_referred_to(references, parent):
    agents = [jaeger_span(name, told=AGENT) for name in ("a", "b")]
    trace = read_trace(document(*agents, jaeger_span("c", *references)))
    assert {step.id: step.parent_id for step in trace.steps}["c"] == parent


def test_an_older_span_names_its_parent_in_a_field():
    trace = read_trace(document(jaeger_span(told=AGENT), jaeger_span("b", parentSpanID="a")))
    assert trace.steps[1].parent_id == "a"


@pytest.mark.parametrize(
    ("told", "error"),
    [
        ({"error": True}, "error"),
        ({"error": "true"}, "error"),
        ({"error": True, "otel.status_description": "late"}, "late"),
        ({"otel.status_code": "ERROR"}, "error"),
        ({"otel.status_code": "OK"}, None),
        ({"error": False}, None),
    ],
)
def test_tags_tell_that_a_span_failed(told, error):
    [step] = read_trace(document(jaeger_span(told=CHAT | told))).steps
    assert step.error == error


def test_logs_are_events():
    logs = [
        {"timestamp": NOON, "fields": tags({"event": "gen_ai.choice", "message": "Here."})},
        {"timestamp": NOON, "fields": tags({"event": "exception", "exception.message": "late"})},
    ]
    [step] = read_trace(document(jaeger_span(logs=logs))).steps
    assert (step.output, step.error) == ("Here.", "late")


def test_numbers_that_a_storage_keeps_as_text_are_numbers():
    told = [
        *tags(CHAT),
        {"key": "gen_ai.usage.input_tokens", "type": "int64", "value": "7"},
        {"key": "llm.cost.total", "type": "float64", "value": "0.5"},
        {"key": "error", "type": "bool", "value": "false"},
        {"key": "gen_ai.usage.output_tokens", "type": "int64", "value": "many"},
    ]
    [step] = read_trace(document(jaeger_span(tags=told, duration="1500"))).steps
    assert (step.usage, step.cost_usd, step.error) == (Usage(7), 0.5, None)
    assert step.ended_at == NOON * 1000 + 1_500_000


def test_each_trace_of_an_answer_is_a_trace():
    other = document(jaeger_span(traceID="b" * 32), trace_id="b" * 32)["data"]
    whole = document(jaeger_span())
    traces = read_traces(whole | {"data": whole["data"] + other})
    assert [trace.id for trace in traces] == [TRACE, "b" * 32]


def test_traces_that_are_no_agents_are_counted_in_the_first_one_that_is():
    services = [
        document(jaeger_span(told={"http.method": "GET"}, traceID=name), trace_id=name)["data"][0]
        for name in ("b" * 32, "c" * 32)
    ]
    data = [services[0], *document(jaeger_span())["data"], services[1]]
    [(name, part)] = single_traces({"data": data}) or []
    trace = read_trace(part)
    assert (name, trace.id, len(trace.steps)) == (TRACE, TRACE, 1)
    assert trace.not_carried == ("traces without a model call, tool call or agent (2)",)
    [(_, part)] = single_traces({"data": services}) or []
    with pytest.raises(TraceError, match="none of 2 spans"):
        read_trace(part)


@pytest.mark.parametrize("value", [{"data": []}, {"data": [{"spans": []}]}, {"spans": [{}]}])
def test_what_holds_no_jaeger_span_is_not_taken_for_it(value):
    with pytest.raises(UnknownTraceFormatError):
        read_traces(value)


@pytest.mark.parametrize("field", sorted(jaeger_span() | {"parentSpanID": "", "process": {}}))
def test_a_damaged_field_of_a_span_does_not_lose_the_other_spans(field):
    whole = jaeger_span(told=CHAT | {"gen_ai.usage.input_tokens": 7})
    for junk in (None, 7, "x", [], {}, [None], [[]], {"x": 1}, -1, 2**70, 1e308):
        traces = read_traces(document(whole, jaeger_span("b") | {field: junk}))
        assert Usage(7) in [step.usage for trace in traces for step in trace.steps], junk
