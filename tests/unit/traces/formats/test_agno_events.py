"""Agno's events of a streamed run: answers from their pieces, calls and failures once, tokens of each model call."""

from __future__ import annotations

import json

import pytest

from support.trace_examples.agent_frameworks import AGNO_EVENTS
from weighbridge.traces import Usage, read_trace
from weighbridge.traces.recognition import recognised


@pytest.mark.parametrize("events", [AGNO_EVENTS, "\n".join(map(json.dumps, AGNO_EVENTS))])
def test_events_have_each_call_failure_and_token_once(events):
    trace = read_trace(events)
    assert [(step.name, step.output, step.model, step.usage) for step in trace.steps_of("llm")] == [
        ("A", "I look.", "m", Usage(9, 2, 11, 4, 0)),
        ("A", "It is 3.", "m", Usage(12, 3, 15)),
    ]
    assert [(step.name, step.output, step.error) for step in trace.steps_of("tool")] == [
        ("search", "3", None),
        ("fetch", "gone", "gone"),
    ]
    assert (trace.id, trace.usage) == ("r", Usage(21, 5, 26))
    assert set(trace.missing) == {"tool_definitions"}


def test_members_of_a_team_that_answer_in_turns_keep_their_own_pieces():
    def event(name, run, agent, **fields):
        return {"event": name, "created_at": 1, "run_id": run, "agent_id": agent} | fields

    started = [event("ModelRequestStarted", run, run) for run in "ab"]
    said = [event("RunContent", run, run, content=text) for run, text in ("a1", "b2", "a3", "b4")]
    ended = [event("ModelRequestCompleted", run, run, input_tokens=1) for run in "ab"]
    answers = read_trace([*started, *said, *ended]).steps_of("llm")
    assert [step.output for step in answers] == ["13", "24"]


def test_events_without_those_of_model_calls_leave_their_number_open():
    events = [event for event in AGNO_EVENTS if not event["event"].startswith("ModelRequest")]
    trace = read_trace(events)
    assert "ModelRequestCompleted" in trace.missing["llm_calls"]
    assert len(trace.steps_of("tool")) == 2


def test_the_usage_of_several_runs_is_their_sum_unless_one_has_none():
    further = [event | {"run_id": "r2"} for event in AGNO_EVENTS]
    assert read_trace([*AGNO_EVENTS, *further]).usage == Usage(42, 10, 52)
    assert read_trace([*AGNO_EVENTS, *further[:-1]]).usage is None


def test_a_run_inside_another_adds_no_usage_of_its_own():
    inner = [event | {"run_id": "r2", "agent_id": "b"} for event in AGNO_EVENTS]
    assert read_trace([AGNO_EVENTS[0], *inner, *AGNO_EVENTS[1:]]).usage == Usage(21, 5, 26)


def test_calls_without_ids_get_their_own_results():
    events = [
        event | ({"tool": event["tool"] | {"tool_call_id": None}} if "tool" in event else {})
        for event in AGNO_EVENTS
    ]
    calls = read_trace([*events, *events]).steps_of("tool")
    assert [(step.name, step.output, step.error) for step in calls] == [
        ("search", "3", None),
        ("fetch", "gone", "gone"),
    ] * 2


def test_a_run_that_failed_has_the_reason():
    events = [AGNO_EVENTS[0], {**AGNO_EVENTS[-1], "event": "RunError", "content": "no quota"}]
    assert read_trace(events).steps[-1].error == "no quota"


@pytest.mark.parametrize("left_out", ["run_id", "created_at", "agent_id"])
def test_other_events_of_such_names_are_not_taken_for_agnos(left_out):
    events = [{key: item for key, item in e.items() if key != left_out} for e in AGNO_EVENTS]
    found = recognised(events)
    assert found is None or found.importer.id != "agno-events"
