"""Rows of Mastra's telemetry."""

from __future__ import annotations

import pytest

from support.trace_examples.agent_frameworks import MASTRA_SPANS
from weighbridge.traces import Step, Usage, read_trace, read_traces
from weighbridge.traces.split import is_trace, opens_session, single_traces

NOON = 1_735_732_800 * 10**9  #: 2025-01-01T12:00:00Z
MS = 10**6
RUN, FAILED = MASTRA_SPANS[:3], MASTRA_SPANS[3:4]


def test_a_run_is_read_from_the_spans_of_its_model_calls():
    trace = read_trace(RUN)
    assert (trace.format, trace.id) == ("otel", "a")
    assert trace.steps == (
        Step(id="s1", type="user", output="Find x."),
        Step(id="a3", type="llm", output="It is there.", model="m", usage=Usage(9, 2), started_at=NOON + 3 * MS, ended_at=NOON + 3 * MS + MS // 2),
    )  # fmt: skip
    assert [tool.name for tool in trace.tools] == ["search"]
    [call] = read_trace(FAILED).steps_of("llm")
    assert call.error == "no key"


def test_rows_of_a_table_are_traces_by_their_ids():
    rows = [row for row in MASTRA_SPANS if row["traceId"] != "b"]
    assert [name for name, _ in single_traces(rows)] == ["a", "c"]
    assert [trace.id for trace in read_traces(rows)] == ["a", "c"]
    assert all(map(opens_session, rows))


def test_a_row_whose_attributes_cannot_be_read_leaves_lower_bounds():
    trace = read_trace([*RUN, RUN[2] | {"id": "a9", "attributes": "{"}])
    assert "damaged line" in trace.missing["llm_calls"]


@pytest.mark.parametrize("changed", [{"traceId": 1}, {"attributes": None}, {"id": None}])
def test_other_rows_are_not_claimed(changed):
    assert not is_trace([RUN[2] | changed])
