"""OTLP-JSON and similar formats: all shapes of spans and log records."""

from __future__ import annotations

import base64
import json
from functools import partial

import pytest

from support.growth import assert_takes_at_most
from support.spans import CHAT
from support.trace_examples import claiming
from weighbridge.errors import TraceError, UnknownTraceFormatError
from weighbridge.traces import Usage, read_trace, read_traces
from weighbridge.traces.split import single_traces

TRACE = "5b8efff798038103d269b633813fc60c"
NOON = 1_735_732_800 * 10**9  #: 2025-01-01T12:00:00Z


def attributes(values):
    return [{"key": key, "value": {"stringValue": value}} for key, value in values.items()]


def otlp_span(span_id="00f067aa0ba902b7", parent="", told=CHAT, trace_id=TRACE, **facts):
    return {
        "traceId": trace_id,
        "spanId": span_id,
        "parentSpanId": parent,
        "name": "chat m",
        "startTimeUnixNano": str(NOON),
        "endTimeUnixNano": str(NOON + 5),
        "attributes": attributes(told),
    } | facts


def request(*spans):
    return {"resourceSpans": [{"scopeSpans": [{"spans": list(spans)}]}]}


@pytest.mark.parametrize(
    "wrap",
    [
        lambda spans: {"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]},
        lambda spans: {"resource_spans": [{"scope_spans": [{"spans": spans}]}]},
        lambda spans: {"resourceSpans": [{"instrumentationLibrarySpans": [{"spans": spans}]}]},
        lambda spans: {"batches": [{"scopeSpans": [{"spans": spans}]}]},
        lambda spans: {"batches": [{"instrumentationLibrarySpans": [{"spans": spans}]}]},
        lambda spans: {"resource": {}, "scopeSpans": [{"spans": spans}]},
        lambda spans: {"scope_spans": [{"spans": spans}]},
        lambda spans: [{"instrumentationLibrarySpans": [{"spans": [span]}]} for span in spans],
        lambda spans: "\n".join(json.dumps({"scopeSpans": [{"spans": [each]}]}) for each in spans),
        lambda spans: {"trace": request(*spans)},
        lambda spans: {"result": request(*spans)},
        lambda spans: [request(spans[0]), request(*spans[1:])],
        lambda spans: json.dumps(request(spans[0])) + "\n" + json.dumps(request(*spans[1:])),
        lambda spans: spans,
        lambda spans: {"spans": spans},
    ],
)
def test_spans_are_found_in_each_shape_of_a_document(wrap):
    trace = read_trace(wrap([otlp_span(), otlp_span("00f067aa0ba902b8", "00f067aa0ba902b7")]))
    assert trace.format == "otel"
    assert trace.id == TRACE
    [model] = trace.steps
    assert (model.id, model.started_at, model.ended_at) == ("00f067aa0ba902b8", NOON, NOON + 5)


def test_snake_case_names_and_numbers_for_times_are_read():
    span = {
        "trace_id": TRACE,
        "span_id": "00f067aa0ba902b7",
        "parent_span_id": "",
        "name": "chat m",
        "start_time_unix_nano": NOON,
        "end_time_unix_nano": NOON + 5,
        "status": {"code": "STATUS_CODE_ERROR", "message": "late"},
        "attributes": [
            {"key": "gen_ai.operation.name", "value": {"string_value": "chat"}},
            {"key": "gen_ai.usage.input_tokens", "value": {"int_value": "7"}},
        ],
    }
    [step] = read_trace({"resource_spans": [{"scope_spans": [{"spans": [span]}]}]}).steps
    assert (step.started_at, step.ended_at, step.usage) == (NOON, NOON + 5, Usage(7))
    assert step.error == "late"


@pytest.mark.parametrize(
    ("start", "end"),
    [
        ("start_ns", "end_ns"),
        ("startNs", "endNs"),
        ("start_time_ns", "end_time_ns"),
        ("startTimeNs", "endTimeNs"),
    ],
)
def test_times_that_name_nanoseconds_are_read(start, end):
    own = own_exporters_span(**{start: NOON, end: str(NOON + 5)})
    [step] = read_trace([own]).steps
    assert (step.started_at, step.ended_at) == (NOON, NOON + 5)


@pytest.mark.parametrize(
    ("status", "error"),
    [
        ("ERROR", "late"),
        ("error", "late"),
        ("StatusCode.ERROR", "late"),
        ("STATUS_CODE_ERROR", "late"),
        ("StatusCode.OK", None),
        ("UNSET", None),
        ("no error", None),
    ],
)
def test_a_status_may_be_a_text_of_its_own(status, error):
    own = own_exporters_span(status=status, status_message="late")
    [step] = read_trace([own]).steps
    assert step.error == error


def own_exporters_span(**facts):
    ids = {"trace_id": TRACE, "span_id": "00f067aa0ba902b7", "parent_span_id": None}
    return {"name": "chat m", **ids, "attributes": CHAT, **facts}


def test_ids_that_protobuf_wrote_in_base64_become_hexadecimal():
    def encoded(text):
        return base64.b64encode(bytes.fromhex(text)).decode()

    span = otlp_span(
        encoded("00f067aa0ba902b8"), encoded("00f067aa0ba902b7"), trace_id=encoded(TRACE)
    )
    agent = otlp_span(told={"gen_ai.operation.name": "invoke_agent"})
    trace = read_trace(request(agent, span))
    assert trace.id == TRACE
    assert [(step.id, step.parent_id) for step in trace.steps] == [
        ("00f067aa0ba902b7", None),
        ("00f067aa0ba902b8", "00f067aa0ba902b7"),
    ]


def test_each_kind_of_attribute_value_is_read():
    messages = {
        "arrayValue": {
            "values": [
                {
                    "kvlistValue": {
                        "values": [
                            {"key": "role", "value": {"stringValue": "assistant"}},
                            {"key": "content", "value": {"stringValue": "Here."}},
                        ]
                    }
                }
            ]
        }
    }
    values = {
        "gen_ai.operation.name": {"stringValue": "chat"},
        "gen_ai.usage.input_tokens": {"intValue": "7"},
        "gen_ai.usage.output_tokens": {"intValue": 2},
        "llm.cost.total": {"doubleValue": 0.5},
        "error": {"boolValue": True},
        "gen_ai.output.messages": messages,
        "empty": {},
        "none": None,
    }
    told = [{"key": key, "value": value} for key, value in values.items()]
    [step] = read_trace(request(otlp_span(attributes=told))).steps
    assert (step.usage, step.cost_usd, step.error) == (Usage(7, 2), 0.5, "error")
    assert step.output == "Here."


def test_spans_as_the_python_sdk_prints_them_are_read():
    printed = {
        "name": "chat m",
        "context": {"trace_id": f"0x{TRACE}", "span_id": "0x00f067aa0ba902b7"},
        "kind": "SpanKind.CLIENT",
        "parent_id": None,
        "start_time": "2025-01-01T12:00:00.000005Z",
        "end_time": "2025-01-01T12:00:01Z",
        "status": {"status_code": "ERROR", "description": "late"},
        "attributes": CHAT | {"gen_ai.usage.input_tokens": 7},
        "events": [{"name": "gen_ai.choice", "attributes": {"message": "Here."}}],
        "resource": {"attributes": {"service.name": "helper"}},
    }
    trace = read_trace([printed])
    [step] = trace.steps
    assert (trace.id, step.id, step.output) == (TRACE, "00f067aa0ba902b7", "Here.")
    assert (step.started_at, step.ended_at, step.error) == (NOON + 5000, NOON + 10**9, "late")
    assert trace.metadata == {"services": ["helper"]}


def go_attributes(values):
    """Return attributes as OpenTelemetry for Go prints them."""
    types = {str: "STRING", int: "INT64", list: "STRINGSLICE"}
    return [
        {"Key": key, "Value": {"Type": types[type(value)], "Value": value}}
        for key, value in values.items()
    ]


def go_span(span_id, parent="0" * 16, told=CHAT, trace_id=TRACE, **facts):
    own = {"TraceID": trace_id, "SpanID": span_id, "TraceFlags": "01", "TraceState": ""}
    return {
        "Name": "chat m",
        "SpanContext": own,
        "Parent": own | {"SpanID": parent},
        "SpanKind": 3,
        "StartTime": "2025-01-01T13:00:00.000005+01:00",
        "EndTime": "2025-01-01T13:00:01.123456789+01:00",
        "Attributes": go_attributes(told),
        "Events": None,
        "Status": {"Code": "Unset", "Description": ""},
        "Resource": go_attributes({"service.name": "helper"}),
        "InstrumentationScope": {"Name": "agent", "Attributes": None},
    } | facts


def test_spans_as_the_go_sdk_prints_them_are_read():
    tool = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "search"}
    choice = {"Name": "gen_ai.choice", "Attributes": go_attributes({"message": "Here."})}
    failed = {"Code": "Error", "Description": "late"}
    used = CHAT | {"gen_ai.usage.input_tokens": 7, "gen_ai.response.finish_reasons": ["stop"]}
    spans = [
        go_span("0000000000000002", "0000000000000001", tool, Status=failed),
        go_span("0000000000000001", told=used, Events=[choice]),
    ]
    trace = read_trace(spans)
    by_type = {step.type: step for step in trace.steps}
    llm, call = by_type["llm"], by_type["tool"]
    assert (trace.id, llm.id, llm.output) == (TRACE, "0000000000000001", "Here.")
    assert (llm.usage.input_tokens, llm.started_at // 10**6) == (7, NOON // 10**6)
    assert llm.ended_at // 10**6 == (NOON + 1_123_456_000) // 10**6
    assert (call.name, call.error) == ("search", "late")
    assert trace.metadata == {"services": ["helper"]}
    assert claiming(spans) == claiming(spans[0]) == ["otel"]
    others = [go_span("1" * 16, trace_id="1" * 32), *spans]
    assert [found for found, _ in single_traces(others)] == ["1" * 32, TRACE]
    lines = "\n".join(map(json.dumps, spans))
    assert read_trace(lines).steps == trace.steps


def log(name, body, span_id="00f067aa0ba902b7", **facts):
    return {
        "traceId": TRACE,
        "spanId": span_id,
        "attributes": attributes({"event.name": name}),
        "body": body,
    } | facts


def logs(*records):
    return {"resourceLogs": [{"scopeLogs": [{"logRecords": list(records)}]}]}


def test_log_records_are_the_messages_of_the_span_that_they_name():
    said = {"kvlistValue": {"values": attributes({"content": "Find x."})}}
    records = logs(
        log("gen_ai.user.message", said),
        log("", {"stringValue": '{"message": {"content": "Here."}}'}, eventName="gen_ai.choice"),
        log("gen_ai.user.message", said, span_id="ffffffffffffffff"),
        log("http.request", said, span_id="ffffffffffffffff"),
    )
    for document in (request(otlp_span()) | records, [records, request(otlp_span())]):
        trace = read_trace(document)
        assert [(step.type, step.output) for step in trace.steps] == [
            ("user", "Find x."),
            ("llm", "Here."),
        ]
        assert trace.not_carried == ("log records of no span (1)",)


def test_a_log_record_of_the_operations_details_tells_the_messages():
    details = {"kvlistValue": {"values": attributes({"gen_ai.output.messages": '"Here."'})}}
    name = "gen_ai.client.inference.operation.details"
    record = log(name, details, attributes=attributes({"event.name": name}))
    answer = attributes({"gen_ai.output.messages": '[{"role": "assistant", "content": "Here."}]'})
    for one in (
        record | {"attributes": record["attributes"] + answer},
        log(name, {"kvlistValue": {"values": answer}}),
    ):
        assert read_trace(request(otlp_span()) | logs(one)).steps[-1].output == "Here."


def test_several_trace_ids_are_several_traces():
    other = "a" * 32
    traces = read_traces(request(otlp_span(), otlp_span(trace_id=other)))
    assert [trace.id for trace in traces] == [TRACE, other]


def test_resources_on_lines_of_their_own_are_split_and_joined_by_trace_id():
    other = "a" * 32
    lines = [request(otlp_span(trace_id=trace_id))["resourceSpans"][0] for trace_id in (TRACE, other, TRACE)]  # fmt: skip
    parts = single_traces(lines)
    assert [trace_id for trace_id, _ in parts] == [TRACE, other]
    assert [len(part["resourceSpans"]) for _, part in parts] == [2, 1]
    assert [read_trace(part).id for _, part in parts] == [TRACE, other]
    records = logs(log("gen_ai.choice", {"stringValue": '{"message": {"content": "Here."}}'}))
    trace = read_trace([request(otlp_span()), *records["resourceLogs"]])
    assert trace.steps[-1].output == "Here."


def test_ids_may_be_numbers_and_the_parent_a_context():
    agent = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "a"}
    model = {
        "gen_ai.operation.name": "call_llm",
        "gen_ai.usage.input_cost": 0.25,
        "gen_ai.usage.output_cost": 0.5,
        "gen_ai.output": "Hi.",
    }
    tool = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "f", "gen_ai.tool.args": '{"a": 1}', "gen_ai.output": "done"}  # fmt: skip
    spans = [
        {
            "name": "x",
            "context": {"trace_id": 9, "span_id": at},
            "parent": parent,
            "attributes": told,
        }
        for at, parent, told in (
            (1, None, agent),
            (2, {"trace_id": 9, "span_id": 1}, model),
            (3, {"trace_id": 9, "span_id": 1}, tool),
        )
    ]
    trace = read_trace({"spans": spans})
    assert [(step.id, step.type, step.parent_id, step.output) for step in trace.steps] == [
        *(("1", "agent", None, None), ("2", "llm", "1", "Hi."), ("3", "tool", "1", "done"))
    ]
    assert trace.steps[1].cost_usd == 0.75
    assert trace.steps[2].arguments == {"a": 1}


def test_traces_without_an_agents_step_are_no_parts():
    spans = [
        *(otlp_span(trace_id="a" * 32, told={"http.method": "GET"}), otlp_span(trace_id="b" * 32)),
        *(otlp_span(trace_id="c" * 32, told={"db.system": "x"}), otlp_span(trace_id="d" * 32)),
        otlp_span(trace_id="e" * 32, told={"gen_ai.operation.name": "create_agent"}),
    ]
    flat = [{"name": "x", **one, "attributes": spread(one)} for one in spans]
    for value in (request(*spans), flat):
        parts = single_traces(value)
        assert parts
        assert [trace_id for trace_id, _ in parts] == ["b" * 32, "d" * 32]
        traces = [read_trace(part) for _, part in parts]
        assert [len(trace.steps) for trace in traces] == [1, 1]
        assert traces[0].not_carried == ("traces without a model call, tool call or agent (3)",)
        assert traces[1].not_carried == ()
    assert len(single_traces(request(*spans[::2]))) == 1


def spread(one):
    return {item["key"]: item["value"]["stringValue"] for item in one["attributes"]}


def test_a_document_without_an_agents_spans_is_refused_and_says_what_is_wanted():
    with pytest.raises(TraceError, match="none of 1 spans has attributes known to mark"):
        read_traces(request(otlp_span(told={"http.method": "GET"})))
    with pytest.raises(TraceError, match="none of 0 spans"):
        read_traces(logs(log("gen_ai.choice", {})))


@pytest.mark.parametrize(
    "value",
    [
        {"resourceSpans": []},
        {"resourceSpans": {}},
        {"resourceSpans": [1]},
        {"scopeSpans": []},
        {"resource": {}, "scopeSpans": {"spans": []}},
        {"trace": {"resourceSpans": None}},
        {"spans": [{"name": "x"}]},
        [{"traceId": 1.5, "spanId": True, "name": "x"}],
    ],
)
def test_what_only_resembles_otlp_is_not_taken_for_it(value):
    with pytest.raises(UnknownTraceFormatError):
        read_traces(value)


@pytest.mark.parametrize("field", sorted(otlp_span() | {"events": [], "status": {}, "kind": 1}))
def test_a_damaged_field_of_a_span_does_not_lose_the_other_spans(field):
    whole = otlp_span(told=CHAT | {"gen_ai.usage.input_tokens": "7"})
    for junk in (None, 7, "x", [], {}, [None], [[]], {"x": 1}, 2**70, "\ud800"):
        traces = read_traces(request(whole, otlp_span("00f067aa0ba902b8") | {field: junk}))
        assert Usage(7) in [step.usage for trace in traces for step in trace.steps], junk


def test_attributes_nested_beyond_reason_are_left_as_they_are():
    value = {"stringValue": "deep"}
    for _ in range(400):
        value = {"arrayValue": {"values": [value]}}
    told = [*attributes(CHAT), {"key": "gen_ai.output.messages", "value": value}]
    assert read_trace(request(otlp_span(attributes=told))).steps[-1].type == "llm"


@pytest.mark.slow
@pytest.mark.parametrize(
    "parent_of",
    [lambda place: 0, lambda place: place - 1, lambda place: place + 1],
    ids=["flat", "deep", "ring"],
)
def test_the_time_to_read_spans_grows_with_their_number(parent_of):
    # Quadratic work would take a hundred times as long.
    assert_takes_at_most(18, partial(reading, parent_of), size=4_000, of=400)


def reading(parent_of, size):
    """Return a function that reads `size` spans; `parent_of` returns the index of each span's parent."""
    kinds = [CHAT, {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "t"}, {}]
    spans = [
        otlp_span(f"{place + 1:016x}", f"{parent_of(place) % size + 1:016x}", kinds[place % 3])
        for place in range(size)
    ]
    document = request(*spans)
    assert len(read_trace(document).steps) > size / 2
    return partial(read_trace, document)


def test_spans_that_only_create_agents_are_no_run():
    span = otlp_span(told={"gen_ai.operation.name": "create_agent", "gen_ai.agent.name": "a"})
    with pytest.raises(TraceError, match="they only create agents"):
        read_trace(request(span))


def ai_span(name, trace_id, **told):
    """Return a span of Vercel's AI SDK, as the SDK for JavaScript has it."""
    tokens = {"ai.usage.promptTokens": 7, "ai.usage.completionTokens": 2}
    facts = {"ai.operationId": name, "ai.model.id": "m", **tokens, **told}
    ids = {"traceId": trace_id * 32, "spanId": trace_id * 16}
    return {"name": name, "spanContext": ids, "attributes": facts}


def test_requests_of_the_ai_sdk_with_traces_of_their_own_repeat_the_model_calls_in_them():
    inner, outer = "ai.streamText.doStream", "ai.streamText"
    spans = [ai_span(outer, "1"), ai_span(inner, "2"), ai_span(outer, "3"), ai_span(inner, "4")]
    traces = [trace for _, part in single_traces(spans) for trace in read_traces(part)]
    assert [trace.id for trace in traces] == ["2" * 32, "4" * 32]
    assert [step.usage for trace in traces for step in trace.steps] == [Usage(7, 2)] * 2
    assert "traces without a model call, tool call or agent (2)" in traces[0].not_carried
    assert [trace.id for trace in read_traces(spans)] == ["2" * 32, "4" * 32]


def test_a_request_of_the_ai_sdk_without_its_model_calls_is_a_run_beside_one_with_them():
    outer, inner = ai_span("ai.generateText", "1"), ai_span("ai.generateText.doGenerate", "1")
    inner["spanContext"]["spanId"], inner["parentSpanId"] = "2" * 16, "1" * 16
    spans = [outer, inner, ai_span("ai.generateText", "3")]
    for traces in (
        [trace for _, part in single_traces(spans) for trace in read_traces(part)],
        read_traces(spans),
    ):
        assert [trace.id for trace in traces] == ["1" * 32, "3" * 32]
        assert [len(trace.steps_of("llm")) for trace in traces] == [1, 1]


def test_a_request_of_the_ai_sdk_alone_is_at_least_one_model_call():
    trace = read_trace([ai_span("ai.generateText", "1")])
    assert [step.usage for step in trace.steps_of("llm")] == [Usage(7, 2, is_partial=True)]
    assert "AI SDK" in trace.missing["llm_calls"]


def test_embeddings_of_the_ai_sdk_are_no_runs():
    embeds = [ai_span("ai.embed", "1"), ai_span("ai.embed.doEmbed", "2")]
    spans = [*embeds, ai_span("ai.generateText.doGenerate", "3")]
    [(_, part)] = single_traces(spans)
    [trace] = read_traces(part)
    assert trace.id == "3" * 32
    [(_, part)] = single_traces(embeds)
    assert [step.type for step in read_trace(part).steps] == ["other"]
