"""Phoenix's database: a trace with the rows of its spans, or these rows alone."""

from __future__ import annotations

import json

import pytest

from support.trace_examples.observability import PHOENIX_STORED
from weighbridge.traces import read_trace
from weighbridge.traces.formats.otel import IMPORTER
from weighbridge.traces.split import single_traces

ROWS = PHOENIX_STORED["rows"]


def test_spans_have_their_nested_attributes_and_their_costs():
    trace = read_trace(PHOENIX_STORED)
    assert (trace.format, trace.id) == ("otel", "0" * 31 + "b")
    assert [(step.type, step.name) for step in trace.steps] == [
        ("agent", "finder"),
        ("user", None),
        ("llm", None),
        ("tool", "search"),
    ]
    call = trace.steps[2]
    assert (call.model, call.output, call.cost_usd) == ("m", "I search.", 0.25)
    assert (call.usage.input_tokens, call.usage.output_tokens) == (9, 2)
    assert (trace.steps[3].arguments, trace.steps[3].output) == ({"q": "x"}, "none")
    assert call.started_at == 1_735_732_802 * 10**9
    assert not {"llm_calls", "tool_calls", "cost"} & trace.missing.keys()


def test_rows_alone_are_traces_by_the_number_of_their_trace():
    other = [{**row, "trace_rowid": 2} for row in ROWS]
    traces = [read_trace(held) for _, held in single_traces([*ROWS, *other])]
    assert [len(trace.steps) for trace in traces] == [4, 4]
    assert traces[0].steps[2].cost_usd is None


def test_a_failed_span_has_the_message_of_its_status_or_its_exception():
    raised = {"name": "exception", "attributes": {"exception.message": "no such table"}}
    failed = {**ROWS[2], "status_code": "ERROR", "events": json.dumps([raised])}
    assert read_trace([*ROWS[:2], failed]).steps[3].error == "no such table"
    failed["status_message"] = "failed"
    assert read_trace([*ROWS[:2], failed]).steps[3].error == "failed"


@pytest.mark.parametrize("attributes", ["{", None, "[]", 5])
def test_rows_whose_attributes_cannot_be_read_leave_lower_bounds(attributes):
    rows = [*ROWS, {**ROWS[0], "span_id": "00000000000000a9", "attributes": attributes}]
    for value in (rows, {**PHOENIX_STORED, "rows": rows}):
        assert {"llm_calls", "tool_calls"} <= read_trace(value).missing.keys()


def test_rows_of_other_tables_are_not_claimed():
    assert not IMPORTER.matches([{"trace_rowid": 1, "total_cost": 0.5}])
    assert not IMPORTER.matches({"session": {}, "rows": [{"trace_rowid": 1}]})
    assert not IMPORTER.matches({**ROWS[0], "trace_rowid": None})
