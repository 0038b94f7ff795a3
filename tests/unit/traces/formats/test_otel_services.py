"""Spans in the formats of services: MLflow's traces, Phoenix's API, rows of Logfire. The records are synthetic."""

from __future__ import annotations

import json

import pytest

from weighbridge.traces import Step, Usage, read_trace
from weighbridge.traces.fields import time_of
from weighbridge.traces.formats import otel
from weighbridge.traces.split import opens_session, single_traces

NOON = time_of("2025-01-01T12:00:00Z")
CALL = {"id": "c1", "type": "function", "function": {"name": "search", "arguments": '{"q": "x"}'}}
ANSWER = {
    "choices": [{"message": {"role": "assistant", "content": "I search.", "tool_calls": [CALL]}}]
}
ASKED = {"model": "m", "messages": [{"role": "user", "content": "Find x."}]}


def shown(trace):
    return [(step.type, step.name, step.output) for step in trace.steps]


def mlflow(version):
    def span(own, parent, name, kind, sent, answered, **more):
        attributes = {
            "mlflow.spanType": json.dumps(kind),
            "mlflow.spanInputs": json.dumps(sent),
            "mlflow.spanOutputs": json.dumps(answered),
            **more,
        }
        if version == 2:
            ids = {"context": {"trace_id": "t", "span_id": own}, "parent_id": parent}
            times = {"start_time": NOON, "end_time": NOON + 10**9, "status_code": "OK"}
        else:
            ids = {"trace_id": "t", "span_id": own, "parent_span_id": parent}
            times = {"start_time_unix_nano": NOON, "end_time_unix_nano": NOON + 10**9, "status": {"code": "STATUS_CODE_OK"}}  # fmt: skip
        return {"name": name, "attributes": attributes, **ids, **times}

    used = json.dumps({"input_tokens": 5, "output_tokens": 2, "total_tokens": 7})
    return {
        "info": {"trace_id": "tr-1", "state": "OK"},
        "data": {
            "spans": [
                span("a", None, "agent", "AGENT", ASKED, "Done."),
                span("b", "a", "chat", "CHAT_MODEL", ASKED, ANSWER, **{"mlflow.chat.tokenUsage": used, "mlflow.llm.model": '"gpt-x"'}),
                span("c", "a", "search", "TOOL", {"q": "x"}, "some"),
            ]
        },
    }  # fmt: skip


def test_mlflows_traces_are_read_in_either_version():
    for version in (2, 3):
        trace = read_trace(mlflow(version))
        assert trace.id == "tr-1"
        assert shown(trace) == [
            ("agent", "agent", '"Done."'),
            ("user", None, "Find x."),
            ("llm", None, "I search."),
            ("tool", "search", "some"),
        ]
        answer = trace.steps_of("llm")[0]
        assert (answer.model, answer.usage) == ("gpt-x", Usage(5, 2, 7))
        assert trace.steps_of("tool")[0].arguments == {"q": "x"}


def test_mlflow_states_the_cost_of_a_trace_beside_its_spans():
    value = mlflow(3)
    value["info"]["trace_metadata"] = {"mlflow.trace.cost": '{"total_cost": 0.25}'}
    trace = read_trace(value)
    assert (trace.cost_usd, trace.totals_from) == (0.25, "mlflow.trace.cost")
    value["info"]["trace_metadata"] = {"mlflow.trace.cost": '["0.25"]'}
    assert read_trace(value).cost_usd is None


def test_phoenix_tells_a_spans_kind_beside_its_attributes():
    def span(own, parent, name, kind, **attributes):
        return {
            "id": f"global-{own}",
            "name": name,
            "context": {"trace_id": "t", "span_id": own},
            "span_kind": kind,
            "parent_id": parent,
            "start_time": "2025-01-01T12:00:00Z",
            "end_time": "2025-01-01T12:00:01Z",
            "status_code": "OK",
            "status_message": "",
            "attributes": attributes,
            "events": [],
        }

    told = {
        "llm.model_name": "m",
        "llm.token_count.prompt": 5,
        "llm.token_count.completion": 2,
        "llm.output_messages.0.message.content": "I search.",
    }
    page = {
        "data": [
            span("b", "a", "chat", "LLM", **told),
            span(
                "c", "a", "search", "TOOL", **{"input.value": '{"q": "x"}', "output.value": "some"}
            ),
            span("a", None, "agent", "AGENT"),
        ],
        "next_cursor": None,
    }
    trace = read_trace(page)
    assert shown(trace) == [
        ("agent", "agent", None),
        ("llm", None, "I search."),
        ("tool", "search", "some"),
    ]
    assert trace.steps_of("llm")[0].usage == Usage(5, 2)


def test_rows_of_logfire_are_spans():
    def row(own, parent, name, **attributes):
        return {
            "trace_id": "t",
            "span_id": own,
            "parent_span_id": parent,
            "span_name": name,
            "start_timestamp": "2025-01-01T12:00:00Z",
            "end_timestamp": "2025-01-01T12:00:01Z",
            "otel_status_code": None,
            "attributes": attributes,
        }

    said = [{"role": "assistant", "parts": [{"type": "text", "content": "I search."}, {"type": "tool_call", "id": "c1", "name": "search", "arguments": {"q": "x"}}]}]  # fmt: skip
    answered = {
        "gen_ai.operation.name": "chat",
        "gen_ai.output.messages": said,
        "gen_ai.usage.input_tokens": 5,
        "gen_ai.usage.output_tokens": 2,
    }
    ran = {"gen_ai.tool.name": "search", "gen_ai.tool.call.id": "c1", "tool_arguments": {"q": "x"}, "tool_response": "some"}  # fmt: skip
    failed = row("c", None, "running tool", **ran) | {"otel_status_code": "ERROR", "otel_status_message": "no"}  # fmt: skip
    trace = read_trace({"columns": [], "rows": [row("b", None, "chat m", **answered), failed]})
    assert trace.format == "otel"
    assert trace.steps == (
        Step(id="b", type="llm", output="I search.", usage=Usage(5, 2), started_at=NOON, ended_at=NOON + 10**9),
        Step(id="c", type="tool", parent_id="b", name="search", arguments={"q": "x"}, output="some", error="no", started_at=NOON, ended_at=NOON + 10**9),
    )  # fmt: skip


def phoenix_rows():
    def row(span_id, kind, **cells):
        told = {name.replace("__", "."): cell for name, cell in cells.items()}
        times = {"start_time": 1735732801000, "end_time": 1735732802000}
        return {"name": kind, "span_kind": kind, "parent_id": None, "context.span_id": span_id, "context.trace_id": "t1", "status_code": "OK", **times, **told}  # fmt: skip

    said = [{"message.role": "assistant", "message.content": "I search."}]
    return [
        row("b1", "LLM", attributes__llm__model_name="m", attributes__llm__token_count__prompt=20.0, attributes__llm__token_count__completion=7.0, attributes__llm__output_messages=said),
        row("c1", "TOOL", attributes__tool__name="search", attributes__input__value='{"q": "x"}', attributes__output__value="none", attributes__llm__token_count__prompt=None),
    ]  # fmt: skip


def test_rows_of_phoenixs_dataframes_are_spans_with_the_attributes_that_are_filled():
    rows = phoenix_rows()
    columns = {name: {str(i): row.get(name) for i, row in enumerate(rows)} for row in rows for name in row}  # fmt: skip
    for value in (rows, columns):
        trace = read_trace(value)
        assert trace.format == "otel"
        [answer] = trace.steps_of("llm")
        [called] = trace.steps_of("tool")
        assert (answer.model, answer.usage, answer.output) == ("m", Usage(20, 7), "I search.")
        assert (called.name, called.arguments, called.output) == ("search", {"q": "x"}, "none")
        assert answer.started_at == 1735732801 * 10**9
    others = [{**row, "context.trace_id": "t2"} for row in rows]
    assert [name for name, _ in single_traces([*rows, *others])] == ["t1", "t2"]
    assert opens_session(rows[0])


@pytest.mark.parametrize("held", [None, 1, [], {}, {"0": 1}])
def test_columns_without_ids_are_no_dataframe_of_spans(held):
    assert not otel.IMPORTER.matches({"context.trace_id": held, "name": held})


def test_rows_of_agentcore_hold_a_span_or_a_log_record_of_one():
    chat = {"traceId": "t", "spanId": "b", "name": "chat", "attributes": {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m", "gen_ai.usage.input_tokens": 5, "gen_ai.usage.output_tokens": 2}}  # fmt: skip
    other = {**chat, "traceId": "u"}
    record = {"traceId": "t", "spanId": "b", "attributes": {"event.name": "gen_ai.choice"}, "body": {"message": {"role": "assistant", "content": [{"text": "Done."}]}}}  # fmt: skip
    rows = [
        {"timestamp": "2026-03-04 10:00:00.000", "raw_otel_json": held}
        for held in (chat, record, other)
    ]
    trace, last = (read_trace(part) for _, part in single_traces(rows))
    assert [(step.type, step.output, step.usage) for step in trace.steps] == [
        ("llm", "Done.", Usage(5, 2))
    ]
    assert [step.output for step in last.steps] == [None]
    assert opens_session(rows[0])
    assert not otel.IMPORTER.matches(rows[1:2])
    assert not opens_session(rows[1])
    assert not opens_session({"raw_otel_json": {"raw_otel_json": chat}})


def test_phoenixs_otlp_spans_have_a_null_for_each_other_kind_of_value():
    kinds = ("array_value", "bool_value", "double_value", "int_value", "kvlist_value")

    def attribute(key, **value):
        return {"key": key, "value": dict.fromkeys((*kinds, "string_value")) | value}

    span = {
        "trace_id": "t",
        "span_id": "b",
        "parent_span_id": None,
        "name": "ChatCompletion",
        "start_time_unix_nano": NOON,
        "end_time_unix_nano": NOON + 10**9,
        "status": {"code": 1, "message": None},
        "events": None,
        "attributes": [
            attribute("openinference.span.kind", string_value="LLM"),
            attribute("llm.model_name", string_value="gpt-x"),
            attribute("llm.token_count.prompt", int_value=5),
            attribute("llm.token_count.completion", int_value=2),
            attribute("metadata"),
        ],
    }
    [answer] = read_trace({"data": [span], "next_cursor": None}).steps
    assert (answer.type, answer.model, answer.usage) == ("llm", "gpt-x", Usage(5, 2))
