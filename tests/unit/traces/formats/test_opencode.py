"""opencode's sessions: a model call for each step of a message, with its own tokens."""

from __future__ import annotations

import copy
import dataclasses
import json

import pytest

from support.trace_examples import claiming
from support.trace_examples.command_line_agents import OPENCODE, OPENCODE_LOG, OPENCODE_STORED
from weighbridge.traces import Step, Usage, read_trace, read_traces
from weighbridge.traces.fields import time_of
from weighbridge.traces.split import opens_session, single_traces


def at(second):
    return time_of(f"2025-01-01T12:00:0{second}Z")


def test_each_step_of_a_message_is_a_model_call():
    trace = read_trace(OPENCODE)
    assert (trace.format, trace.id, trace.metadata["title"]) == ("opencode", "s", "Find")
    calls = {"type": "tool", "parent_id": "m2", "started_at": at(2), "ended_at": at(3)}
    answer = {"type": "llm", "model": "m", "cost_usd": 0.25, "started_at": at(1)}
    assert trace.steps == (
        Step(id="m1", type="user", output="Find x.", started_at=at(0)),
        Step(
            id="m2",
            output="I search.",
            finish_reason="tool_call",
            usage=Usage(12, 3, None, 4, 3),
            **answer,
        ),
        Step(id="c1", name="search", arguments={"q": "x"}, output="some", **calls),
        Step(id="c2", name="read", arguments={}, output="no", error="no", **calls),
        Step(
            id="m2#2",
            output="Here.",
            finish_reason="stop",
            usage=Usage(9, 1),
            ended_at=at(5),
            **answer,
        ),
    )


def test_a_message_whose_parts_tell_no_tokens_tells_them_itself():
    value = copy.deepcopy(OPENCODE)
    parts = value["messages"][1]["parts"]
    value["messages"][1]["parts"] = [part for part in parts if "step" not in part["type"]]
    [answer] = read_trace(value).steps_of("llm")
    assert (answer.usage, answer.cost_usd) == (Usage(12, 3, None, 4, 3), 0.5)


@pytest.mark.parametrize(("status", "error"), [(1, "some"), (0, None), (None, None), ("1", None)])
def test_a_command_with_an_exit_code_other_than_0_failed(status, error):
    value = copy.deepcopy(OPENCODE)
    call = next(part for part in value["messages"][1]["parts"] if part.get("callID") == "c1")
    call["state"]["metadata"] = {"exit": status}
    assert read_trace(value).steps_of("tool")[0].error == error


def test_an_attempt_that_broke_off_before_it_said_anything_is_no_model_call():
    value = copy.deepcopy(OPENCODE)
    broken_off = [{"type": "step-start"}, {"type": "reasoning", "text": "Hm."}]
    value["messages"][1]["parts"] = broken_off + value["messages"][1]["parts"]
    trace = read_trace(value)
    assert trace.steps == read_trace(OPENCODE).steps
    added = set(trace.not_carried) - set(read_trace(OPENCODE).not_carried)
    assert added == {
        "attempts at an answer that broke off (1)",
        "content parts of type 'reasoning' (1)",
    }


@pytest.mark.parametrize(
    ("more", "calls"),
    [
        ({}, 0),
        ({"error": {"name": "MessageAbortedError"}}, 0),
        ({"error": {"name": "APIError"}}, 1),
        ({"error": {"name": ["APIError"]}}, 1),
        ({"error": {"data": {"message": "overloaded"}}}, 1),
        ({"error": "rate limited"}, 1),
        ({"cost": 0.5}, 1),
        ({"tokens": {"input": "9k", "output": -1}}, 1),
        ({"tokens": {"input": 9, "output": 1}}, 1),
    ],
)
def test_an_answer_without_parts_is_a_model_call_only_if_it_failed_or_used_tokens(more, calls):
    empty = {
        "info": {"role": "assistant", "id": "empty", "tokens": {"input": 0}, **more},
        "parts": [],
    }
    session = {**OPENCODE, "messages": [*OPENCODE["messages"], empty]}
    before, after = (len(read_trace(each).steps_of("llm")) for each in (OPENCODE, session))
    assert after == before + calls


def test_messages_alone_are_a_session_too():
    assert read_trace(OPENCODE["messages"]).steps == read_trace(OPENCODE).steps


def test_printed_events_are_read_once_each():
    kinds = {"step-start": "step_start", "tool": "tool_use", "step-finish": "step_finish"}
    parts = [part | {"id": f"p{number}"} for number, part in enumerate(OPENCODE["messages"][1]["parts"])]  # fmt: skip
    events = [
        {"type": kinds.get(part["type"], part["type"]), "timestamp": 1, "sessionID": "s", "part": part}
        for part in [*parts[:3], parts[2], *parts[3:]]
    ]  # fmt: skip
    events.append({"type": "error", "timestamp": 1, "sessionID": "s", "error": {"name": "Slow"}})
    assert opens_session(events[0])
    trace = read_trace(events)
    assert [(step.type, step.output) for step in trace.steps][:4] == [
        ("llm", "I search."),
        ("tool", "some"),
        ("tool", "no"),
        ("llm", "Here."),
    ]
    assert trace.id == "s"
    assert trace.steps[-1].error == "Slow"


def test_the_rows_of_a_database_are_the_session_that_an_export_has():
    value = copy.deepcopy(OPENCODE_STORED)
    for name in ("rows", "parts"):
        value[name].reverse()
    assert claiming(value) == ["opencode"]
    assert read_trace(value) == read_trace(OPENCODE)


def test_a_sessions_own_totals_count_where_they_are_more_than_its_steps_and_show_that_answers_are_gone():
    exported = read_trace(OPENCODE)
    changed = copy.deepcopy(OPENCODE_STORED)
    changed["session"] |= {"tokens_output": 90, "cost": 0.75}
    assert read_trace(changed) == dataclasses.replace(
        exported,
        usage=Usage(21, 91, None, 4, 3),
        cost_usd=0.75,
        totals_from="tokens and cost of the session",
        missing={
            **exported.missing,
            **dict.fromkeys(
                ("llm_calls", "tool_calls"),
                "the session used more tokens than the answers that it still has",
            ),
        },
    )


def test_what_answers_without_tokens_may_have_used_does_not_show_that_others_are_gone():
    changed = copy.deepcopy(OPENCODE)
    ends = [
        part
        for message in changed["messages"]
        for part in message["parts"]
        if part["type"] == "step-finish"
    ]
    del ends[-1]["tokens"]
    spent = sum(step.usage.total for step in read_trace(changed).steps if step.usage)
    for more, is_gone in ((1, False), (10 * spent, True)):
        changed["info"]["tokens"] = {"input": spent, "output": more}
        trace = read_trace(changed)
        assert trace.usage.total == spent + more
        assert ("llm_calls" in trace.missing) == is_gone


def test_parts_whose_message_is_gone_and_damaged_rows_leave_lower_bounds():
    value = copy.deepcopy(OPENCODE_STORED)
    del value["rows"][1]
    assert read_trace(value).missing == read_trace(OPENCODE).missing
    assert [step.type for step in read_trace(value).steps].count("llm") == 2
    value["rows"][0]["data"] = "{"
    assert "tool_calls" in read_trace(value).missing


def as_text(row):
    return row | {"data": json.dumps(row["data"])}


@pytest.mark.parametrize(
    "rows",
    [
        pytest.param(OPENCODE_LOG, id="in order"),
        pytest.param(OPENCODE_LOG[::-1], id="numbered"),
        pytest.param([as_text(row) for row in OPENCODE_LOG], id="as SQLite keeps them"),
    ],
)
def test_rows_of_the_event_log_are_a_session_in_its_last_state(rows):
    assert claiming(rows) == ["opencode"]
    assert all(map(opens_session, rows))
    trace, exported = read_trace(rows), read_trace(OPENCODE)
    assert (trace.id, trace.metadata, trace.steps) == ("s", exported.metadata, exported.steps)
    assert trace.not_carried == exported.not_carried


def test_each_session_of_an_event_log_is_a_trace():
    other = [row | {"aggregate_id": "s2"} for row in OPENCODE_LOG[1:-1]]
    mixed = [row for rows in zip(OPENCODE_LOG[1:-1], other, strict=True) for row in rows]
    traces = read_traces(mixed)
    assert [trace.id for trace in traces] == ["s", "s2"]
    assert traces[0].steps == traces[1].steps == read_trace(OPENCODE).steps
    parts = single_traces(mixed)
    assert [name for name, _ in parts] == ["s", "s2"]
    assert [read_trace(part) for _, part in parts] == traces
    assert single_traces(OPENCODE) == [(None, OPENCODE)]


def test_a_message_of_an_event_log_that_no_row_describes_is_an_answer_if_its_parts_are_of_one():
    rows = [row for row in OPENCODE_LOG if row["type"] == "message.part.updated.1"]
    trace = read_trace(rows)
    assert [step.type for step in trace.steps] == [step.type for step in read_trace(OPENCODE).steps]
    assert trace.id == "s"


@pytest.mark.parametrize(
    "row",
    [
        {"type": "message.removed.1", "aggregate_id": "s", "data": {"messageID": "m2"}},
        {"type": "session.next.agent.switched.1", "aggregate_id": "s", "data": "{"},
    ],
)
def test_events_of_other_types_are_noted(row):
    trace = read_trace([*OPENCODE_LOG, row])
    assert trace.steps == read_trace(OPENCODE).steps
    assert f"events of type {row['type'][:-2]!r} (1)" in trace.not_carried


@pytest.mark.parametrize(
    "row",
    [
        {"type": "order.created.1", "aggregate_id": "s", "data": {}},
        {"type": "session.created", "aggregate_id": "s", "data": {}},
        {"type": "session.created.1", "aggregate_id": 7, "data": {}},
        {"type": "session.created.1", "aggregate_id": "s", "data": []},
        {"type": "session.created.1", "aggregate_id": "s"},
    ],
)
def test_rows_of_other_event_logs_are_not_those_of_opencode(row):
    assert claiming([row, row]) == []


def test_a_row_without_its_session_does_not_keep_the_others_from_being_read():
    *others, stray = read_traces([*OPENCODE_LOG, {}])
    assert others == read_traces(OPENCODE_LOG)
    assert (stray.steps, stray.id) == ((), None)
