"""Braintrust's spans: rows of a trace, their versions, and what scorers did."""

from __future__ import annotations

import json

import pytest

from support.trace_examples import claiming
from support.trace_examples.observability import BRAINTRUST
from weighbridge.traces import Step, ToolDefinition, Usage, read_trace, read_traces
from weighbridge.traces.split import opens_session, single_traces

NOON = 1_735_732_800  #: 2025-01-01T12:00:00Z


def at(second):
    return (NOON + second) * 10**9


def test_spans_become_steps():
    trace = read_trace(BRAINTRUST)
    assert (trace.format, trace.id) == ("braintrust", "root")
    assert trace.steps == (
        Step(id="s1", type="system", output="You find."),
        Step(id="s2", type="user", output="Find x."),
        Step(id="llm-1", type="llm", finish_reason="tool_call", model="m", usage=Usage(9, 5, 14, 4), cost_usd=0.5, started_at=at(1), ended_at=at(2)),
        Step(id="search", type="tool", parent_id="llm-1", name="search", arguments={"q": "x"}, output="none", error="too slow", started_at=at(2), ended_at=at(3)),
        Step(id="llm-2", type="llm", finish_reason="stop", model="m", output="Not there.", usage=Usage(12, 3, 15), started_at=at(3), ended_at=at(4)),
    )  # fmt: skip
    assert trace.tools == (ToolDefinition("search", {"type": "object"}),)


def test_what_scorers_did_is_not_the_agents():
    assert "spans of scorers (2)" in read_trace(BRAINTRUST).not_carried


def test_a_judge_of_another_trace_judges_only_that():
    judged = {**BRAINTRUST[0], "span_attributes": {"type": "score"}, "root_span_id": "other"}
    assert read_traces([judged, *BRAINTRUST])[0].steps == read_trace(BRAINTRUST).steps


def test_tokens_written_to_a_cache_are_input():
    (answer,) = read_trace([BRAINTRUST[3] | {"metrics": {"prompt_tokens": 2, "completion_tokens": 3, "tokens": 12, "prompt_cached_tokens": 1, "prompt_cache_creation_tokens": 6}}]).steps_of("llm")  # fmt: skip
    assert answer.usage == Usage(9, 3, 12, 1, 6)


def test_answers_of_the_api_queries_and_lines_are_the_same():
    expected = read_trace(BRAINTRUST)
    assert read_trace({"events": BRAINTRUST, "cursor": "x"}) == expected
    assert read_trace({"data": BRAINTRUST, "schema": {}}) == expected
    assert read_trace("\n".join(map(json.dumps, BRAINTRUST))) == expected
    assert opens_session(BRAINTRUST[0])


def test_objects_may_be_text():
    rows = [
        {key: json.dumps(held) if type(held) in {dict, list} else held for key, held in row.items()}
        for row in BRAINTRUST
    ]
    assert read_trace(rows) == read_trace(BRAINTRUST)


def test_each_root_is_a_trace():
    others = [{**row, "root_span_id": "other"} for row in BRAINTRUST]
    assert [trace.id for trace in read_traces([*BRAINTRUST, *others])] == ["root", "other"]
    assert [name for name, _ in single_traces([*BRAINTRUST, *others])] == ["root", "other"]


def test_a_row_that_adds_to_a_span_is_part_of_it():
    added = [
        {"_is_merge": True, "span_id": row["span_id"], "root_span_id": "root", "span_parents": None, "metrics": row["metrics"], "output": row["output"]}
        for row in BRAINTRUST
    ]  # fmt: skip
    begun = [
        {**row, "metrics": {"start": row["metrics"]["start"]}, "output": None} for row in BRAINTRUST
    ]
    assert read_trace([*begun, *added]) == read_trace(BRAINTRUST)


def test_of_several_versions_the_latest_counts_or_else_the_first():
    expected = read_trace(BRAINTRUST).steps
    older = [{**row, "error": "old", "output": "old"} for row in BRAINTRUST[:5]]
    assert read_trace([*BRAINTRUST, *older]).steps == expected
    newer = [{**row, "_xact_id": "1000"} for row in BRAINTRUST]
    assert read_trace([*({**row, "_xact_id": "999"} for row in older), *newer]).steps == expected


def test_a_request_for_a_servers_tools_is_no_call():
    listing = {
        **BRAINTRUST[2],
        "span_id": "l",
        "span_attributes": {"name": "List Tools (x)", "type": "tool"},
    }
    assert len(read_trace([*BRAINTRUST, listing]).steps_of("tool")) == 1


def test_spans_of_responses_are_no_responses():
    items = [{"type": "function_call", "call_id": "c1", "name": "search", "arguments": "{}"}]
    rows = [{**row, "output": items} for row in BRAINTRUST]
    for value in (rows, rows[1]):
        assert claiming(value) == ["braintrust"]
    assert [step.name for step in read_trace(rows[:2]).steps_of("tool")] == ["search"]


@pytest.mark.parametrize(
    ("name", "output"), [("Embedding", {"embedding_length": 3}), ("mistral.embeddings", {"embeddings_count": 1}), ("Moderation", [])]
)  # fmt: skip
def test_embeddings_are_no_model_calls(name, output):
    attributes = {"name": name, "type": "llm"}
    other = {**BRAINTRUST[3], "span_id": "e", "span_attributes": attributes, "output": output}
    trace = read_trace([*BRAINTRUST, other])
    assert [step.id for step in trace.steps_of("llm")] == ["llm-1", "llm-2"]
    assert [step.id for step in trace.steps_of("other")] == ["e"]


def test_a_span_of_a_call_that_is_only_asked_for_is_not_another_call():
    asked = {**BRAINTRUST[2], "span_id": "asked", "span_parents": ["llm-1"], "output": None}
    asked |= {"error": None, "metadata": {"tool_type": "function_call", "call_id": "c1"}}
    trace = read_trace([*BRAINTRUST[:2], asked, *BRAINTRUST[2:]])
    assert trace.steps == read_trace(BRAINTRUST).steps
    alone = read_trace([*BRAINTRUST[:1], asked])
    assert [step.name for step in alone.steps_of("tool")] == ["search"]
