"""Agno's runs: messages with metrics, the metrics of the run, and what earlier runs said."""

from __future__ import annotations

import json

import pytest

from support.trace_examples.agent_frameworks import AGNO, AGNO_OLD_ROWS, AGNO_ROWS
from weighbridge.traces import Step, Usage, read_trace, read_traces
from weighbridge.traces.model import Counts
from weighbridge.traces.split import opens_session, single_traces

SECOND = 10**9
NOON = 1_735_732_800 * SECOND  #: 2025-01-01T12:00:00Z


def test_messages_become_steps_with_their_metrics():
    trace = read_trace(AGNO)
    assert (trace.format, trace.id) == ("agno", "r")
    assert trace.steps == (
        Step(id="s1", type="system", output="You find.", started_at=NOON),
        Step(id="s2", type="user", output="Find x.", started_at=NOON),
        Step(id="s3", type="llm", model="m", usage=Usage(5, 4, 9), started_at=NOON, ended_at=NOON + 5 * SECOND // 2),
        Step(id="c1", type="tool", parent_id="s3", name="search", arguments={"q": "x"}, output="none", ended_at=NOON),
        Step(id="c2", type="tool", parent_id="s3", name="search", arguments={"q": "x"}, output="too slow", error="too slow", ended_at=NOON),
        Step(id="s6", type="llm", model="m", output="Not there.", usage=Usage(14, 3, None, 4), cost_usd=0.5, started_at=NOON, ended_at=NOON),
    )  # fmt: skip
    assert trace.not_carried == ("messages of earlier runs (2)",)


def test_the_runs_metrics_are_its_totals():
    trace = read_trace(AGNO)
    assert trace.usage == Usage(19, 7, None, 4)
    assert trace.counts == Counts(tool_calls=2)
    assert (trace.started_at, trace.ended_at) == (NOON, NOON + 19 * SECOND // 2)


def test_input_of_other_providers_has_the_cached_tokens():
    assert read_trace({**AGNO, "model_provider": "OpenAI"}).usage == Usage(15, 7, 22, 4)


def test_metrics_of_agno_1_are_lists():
    metrics = {"input_tokens": [5, 10], "output_tokens": [4, 3], "time": [1.0, 0.5]}
    trace = read_trace({**AGNO, "model_provider": None, "metrics": metrics})
    assert trace.usage == Usage(15, 7)
    assert trace.ended_at == NOON + 3 * SECOND // 2


def test_metrics_of_agno_1_without_those_of_earlier_runs_are_the_totals():
    metrics = {"input_tokens": [99, 5, 10], "output_tokens": [9, 4, 3]}
    assert read_trace({**AGNO, "model_provider": None, "metrics": metrics}).usage == Usage(15, 7)


@pytest.mark.parametrize("created", [1735700000, 1735732805, None])
def test_a_run_starts_with_its_first_message_whatever_its_creation_time(created):
    trace = read_trace({**AGNO, "created_at": created})
    assert (trace.started_at, trace.ended_at) == (NOON, NOON + 19 * SECOND // 2)


def test_a_run_starts_with_its_start_event_if_that_is_earlier():
    events = [{"event": "RunStarted", "created_at": 1735732797}, {"created_at": "?"}, 5]
    trace = read_trace({**AGNO, "created_at": 1735700000, "events": events})
    assert (trace.started_at, trace.ended_at) == (NOON - 3 * SECOND, NOON + 13 * SECOND // 2)


def test_messages_of_earlier_runs_do_not_start_a_run():
    old = [{**message, "created_at": 1735700000} for message in AGNO["messages"][:2]]
    assert read_trace({**AGNO, "messages": old + AGNO["messages"][2:]}).started_at == NOON
    assert read_trace({**AGNO, "messages": old}).started_at == NOON


def test_a_run_without_messages_starts_with_its_start_event_or_its_creation():
    bare = {**AGNO, "messages": [], "status": "ERROR", "input": {"input_content": "Find x."}}
    failed = {"event": "RunError", "created_at": 1735732810, "content": "busy"}
    for events in (None, [failed]):
        trace = read_trace({**bare, "events": events})
        assert (trace.started_at, trace.steps[0].started_at) == (NOON, NOON)
    trace = read_trace({**bare, "events": [{"event": "RunStarted", "created_at": 1735732801}]})
    assert (trace.started_at, trace.steps[0].started_at) == (NOON + SECOND, NOON + SECOND)


def test_each_run_in_the_rows_of_a_database_is_a_trace():
    names = ["rs0", "rs1", "rt0", "rt1"]
    assert [trace.id for trace in read_traces(AGNO_ROWS)] == names
    assert [name for name, _ in single_traces(AGNO_ROWS)] == names
    assert [trace.id for trace in read_traces(AGNO_ROWS[0])] == names[:2]
    assert opens_session(AGNO_ROWS[0])


@pytest.mark.parametrize("encode", [json.dumps, dict])
def test_each_row_of_the_table_of_runs_of_agno_3_is_a_trace(encode):
    rows = [
        {"run_id": name, "session_id": "s", "status": "COMPLETED", "agent_id": "a"}
        | {"run_type": "agent", "run_data": encode({**AGNO, "run_id": name})}
        for name in ("r1", "r2")
    ]
    traces = read_traces(rows)
    assert [trace.id for trace in traces] == ["r1", "r2"]
    assert traces[0].steps == read_trace(AGNO).steps


def test_runs_in_the_memory_of_agno_1_are_read():
    (trace,) = read_traces(AGNO_OLD_ROWS)
    assert trace.steps == read_trace(AGNO).steps
    older = {**AGNO_OLD_ROWS[0], "memory": json.dumps(json.dumps({"runs": [{"response": AGNO}]}))}
    assert read_trace(older).steps == trace.steps


def test_messages_alone_are_read():
    trace = read_trace(AGNO["messages"])
    assert trace.format == "agno"
    assert [step.usage for step in trace.steps_of("llm")] == [Usage(5, 4, 9), Usage(10, 3, 13, 4)]


def test_each_run_of_a_session_is_a_trace():
    session = {"session_id": "s", "runs": [AGNO, {**AGNO, "run_id": "r2"}]}
    assert [trace.id for trace in read_traces(session)] == ["r", "r2"]
    assert [name for name, _ in single_traces(session)] == ["r", "r2"]


def test_results_for_openai_responses_name_the_second_id_of_a_call():
    said = json.loads(json.dumps(AGNO["messages"]))
    for message in said:
        for number, call in enumerate(message.get("tool_calls") or (), 1):
            call |= {"id": f"fc_{number}", "call_id": call["id"]}
    tools = [
        {**tool, "tool_call_id": f"fc_{number}"} for number, tool in enumerate(AGNO["tools"], 1)
    ]
    trace = read_trace({**AGNO, "model_provider": "OpenAI", "messages": said, "tools": tools})
    assert [(step.id, step.output, step.error) for step in trace.steps_of("tool")] == [
        ("c1", "none", None),
        ("c2", "too slow", "too slow"),
    ]
    assert "tool_calls" not in trace.missing


def test_calls_that_only_the_list_of_tools_has_are_missing():
    run = {**AGNO, "messages": [AGNO["messages"][3], AGNO["messages"][7]]}
    assert "tool_calls" in read_trace(run).missing


def test_calls_of_a_reasoning_agent_are_missing():
    asked = AGNO["messages"][4]
    other = {**asked, "tool_calls": [{**asked["tool_calls"][0], "id": "c9"}]}
    for held in ({"reasoning_messages": [other]}, {"extra_data": {"reasoning_messages": [other]}}):
        assert read_trace(AGNO | held).missing["tool_calls"].startswith("the run's reasoning made")
    assert "tool_calls" not in read_trace(AGNO | {"reasoning_messages": [asked]}).missing


def test_a_call_that_the_list_of_tools_has_twice_counts_once():
    trace = read_trace({**AGNO, "tools": AGNO["tools"] * 2})
    assert trace.counts == Counts(tool_calls=2)
    assert "tool_calls" not in trace.missing


def test_members_of_a_team_make_calls_of_their_own():
    messages = AGNO["messages"]
    team = {
        **AGNO,
        "messages": [*messages[2:4], messages[7]],
        "tools": [],
        "member_responses": [AGNO],
    }
    trace = read_trace(team)
    assert [step.type for step in trace.steps] == ["system", "user", "system", "user", "llm", "tool", "tool", "llm", "llm"]  # fmt: skip
    assert trace.steps[-1].output == "Not there."
    paused = {**AGNO, "messages": messages[:5]}
    again = read_trace({**team, "member_responses": [paused, AGNO]})
    assert (again.steps, again.usage) == (trace.steps, trace.usage)


def row(name, *runs):
    return {**AGNO_ROWS[0], "session_id": name, "runs": list(runs)}


def test_a_run_that_a_team_or_a_workflow_contains_is_no_trace_of_its_own():
    member, alone = {**AGNO, "run_id": "m"}, {**AGNO, "run_id": "alone"}
    step = {**AGNO, "run_id": "step", "step_executor_runs": [{**member, "messages": []}]}
    team = {**AGNO, "run_id": "team", "member_responses": [member, step]}
    rows = [row("s", member, alone), row("t", team, step, {**failed_run(), "run_id": "m"})]
    assert [trace.id for trace in read_traces(rows)] == ["alone", "team"]
    assert [name for name, _ in single_traces(rows)] == ["alone", "team"]
    assert [trace.id for trace in read_traces(rows[1])] == ["team"]


def test_a_run_that_a_team_contains_without_its_messages_is_a_trace_of_its_own():
    failed = {**failed_run(), "run_id": "m"}
    team = {**AGNO, "run_id": "team", "member_responses": [failed]}
    runs = [team, {**AGNO, "run_id": "m"}, failed]
    assert [bool(trace.steps_of("llm")) for trace in read_traces(row("s", *runs))] == [True, True]


def test_a_run_of_a_member_beside_that_of_its_team_is_a_trace_of_its_own():
    member = {**AGNO, "run_id": "m", "parent_run_id": "team"}
    team = {**AGNO, "run_id": "team", "member_responses": []}
    assert [trace.id for trace in read_traces([row("s", member, team)])] == ["m", "team"]


def test_of_runs_that_contain_each_other_the_first_one_is_kept():
    one, two, alone = ({**AGNO, "run_id": name} for name in "abc")
    runs = [{**one, "member_responses": [two]}, {**two, "member_responses": [one, 7]}]
    assert [trace.id for trace in read_traces(row("s", *runs))] == ["a"]
    assert [trace.id for trace in read_traces(row("s", *runs, alone))] == ["a", "c"]
    own = {**one, "member_responses": [one]}
    assert [trace.id for trace in read_traces(row("s", own))] == ["a"]


def test_no_run_is_lost_in_a_circle_of_runs_that_contain_each_other():
    one, two, three = ({**AGNO, "run_id": name} for name in "abc")
    pairs = ((one, two), (two, three), (three, one))
    runs = [{**run, "member_responses": [member]} for run, member in pairs]
    assert [trace.id for trace in read_traces(row("s", *runs))] == ["a", "c"]


def test_a_run_counts_of_which_only_a_run_that_another_one_contains_has_members():
    one, two, three = ({**AGNO, "run_id": name} for name in "abc")
    runs = [{**one, "member_responses": [two]}, {**two, "member_responses": [three]}, three]
    assert [trace.id for trace in read_traces(row("s", *runs))] == ["a", "c"]


def test_runs_whose_ids_are_given_again_in_other_sessions_are_different_ones():
    team = {**AGNO, "run_id": "1", "member_responses": [{**AGNO, "run_id": "2"}]}
    other = {**AGNO, "run_id": "2", "session_id": "t"}
    later = {**AGNO, "run_id": "2", "created_at": 1}
    assert len(read_traces(row("s", team, {**AGNO, "run_id": "2"}))) == 1
    assert len(read_traces([row("s", team), row("t", other, later)])) == 3
    name = "0191d5c2-7a40-7c3e-9f6a-8f1b7a2c4d5e"
    team["member_responses"][0]["run_id"] = other["run_id"] = name
    assert len(read_traces([row("s", team), row("t", other)])) == 1


@pytest.mark.parametrize("names", [("c1", "c2"), (None, None)])
def test_results_for_gemini_may_stand_in_one_message(names):
    messages = AGNO["messages"]
    results = [{"tool_call_id": name, "tool_name": "search", "content": "x"} for name in names]
    several = {
        **messages[5],
        "tool_call_id": None,
        "content": ["one", "two"],
        "tool_calls": results,
    }
    trace = read_trace({**AGNO, "messages": [*messages[3:5], several]})
    assert [step.output for step in trace.steps_of("tool")] == ["one", "two"]
    assert trace.not_carried == ()


def test_the_list_of_tools_has_the_errors_of_results_in_one_message():
    messages = AGNO["messages"]
    results = [{"tool_call_id": name, "tool_name": "search"} for name in ("c1", "c2")]
    several = {
        **messages[5],
        "tool_call_id": None,
        "content": ["one", "too slow"],
        "tool_calls": results,
    }
    tools = [{**each, "tool_call_error": each["tool_call_id"] == "c2"} for each in results]
    trace = read_trace({**AGNO, "messages": [*messages[3:5], several], "tools": tools})
    assert [step.error for step in trace.steps_of("tool")] == [None, "too slow"]


def test_results_for_gemini_of_an_earlier_run_are_left_out():
    earlier = {"role": "tool", "content": ["x"], "tool_calls": [{"tool_call_id": "c0"}]}
    messages = [{**earlier, "from_history": True}, *AGNO["messages"]]
    trace = read_trace({**AGNO, "messages": messages})
    assert trace.steps == read_trace(AGNO).steps
    assert "tool_calls" not in trace.missing


def failed_run(**more):
    return {
        "run_id": "f",
        "agent_id": "a",
        "session_id": "s",
        "status": "ERROR",
        "model": "m",
        "content": "User not found.",
        "input": {"input_content": "Find x."},
        "metrics": {"duration": 0.5},
        "created_at": NOON // SECOND,
        **more,
    }


def test_a_run_that_failed_without_messages_is_read():
    trace = read_trace(failed_run())
    assert (trace.format, trace.id, trace.metadata["outcome"]) == ("agno", "f", "ERROR")
    assert trace.steps == (
        Step(id="s1", type="user", output="Find x.", started_at=NOON),
        Step(id="s2", type="other", output="User not found.", error="User not found."),
    )
    assert {"llm_calls", "tool_calls", "token_usage", "cost"} <= trace.missing.keys()
    assert trace.missing["llm_calls"].startswith("the run has no messages")


def test_a_run_without_messages_counts_with_what_it_records():
    tools = [
        {"tool_call_id": "c1", "tool_name": "search", "tool_args": {"q": "x"}, "result": "none"},
        {"tool_name": "search", "result": "too slow", "tool_call_error": True},
    ]
    events = [{"event": "RunStarted"}, {"event": "RunError", "content": "Rate limit."}]
    metrics = {"input_tokens": 9, "output_tokens": 2, "total_tokens": 11}
    trace = read_trace(failed_run(tools=tools, events=events, metrics=metrics, content="I look"))
    assert [(step.type, step.output, step.error) for step in trace.steps[1:]] == [
        ("tool", "none", None),
        ("tool", "too slow", "too slow"),
        ("llm", "I look", None),
        ("other", "Rate limit.", "Rate limit."),
    ]
    assert (trace.usage, trace.counts) == (Usage(9, 2, 11), Counts(tool_calls=2))
    assert {"llm_calls", "tool_calls", "token_usage"} <= trace.missing.keys()
    silent = read_trace(failed_run(content="", metrics=metrics))
    assert [step.type for step in silent.steps] == ["user", "llm", "other"]


def test_runs_that_failed_are_traces_of_their_session():
    rows = [{"session_id": "s", "session_type": "agent", "runs": json.dumps([failed_run(), AGNO])}]
    assert [trace.id for trace in read_traces(rows)] == ["f", "r"]
    only = [{**rows[0], "runs": json.dumps([failed_run(), failed_run(run_id="g")])}]
    assert [name for name, _ in single_traces(only)] == ["f", "g"]


def test_the_runs_of_a_workflows_steps_are_its_calls():
    flow = failed_run(agent_id=None, workflow_id="w", status="COMPLETED", step_executor_runs=[AGNO])
    trace = read_trace(flow)
    assert len(trace.steps_of("llm")) == len(read_trace(AGNO).steps_of("llm"))
    assert "llm_calls" in trace.missing


def test_a_member_that_failed_without_messages_leaves_the_counts_of_its_team_open():
    trace = read_trace({**AGNO, "member_responses": [failed_run()]})
    assert [step.error for step in trace.steps if step.type == "other"] == ["User not found."]
    assert "llm_calls" in trace.missing


@pytest.mark.parametrize(
    "more", [{"status": "done"}, {"session_id": None}, {"messages": [{}]}, {"status": []}]
)
def test_an_object_that_resembles_a_run_without_messages_is_none(more):
    assert single_traces(failed_run(**more)) is None


@pytest.mark.parametrize(
    "odd", [None, 1, "x", [1], {"a": [1]}, [[]], [{"event": [], "content": {}}]]
)
@pytest.mark.parametrize(
    "field", ["content", "input", "metrics", "tools", "events", "model", "created_at"]
)
def test_odd_values_in_a_run_without_messages_are_no_obstacle(field, odd):
    assert read_trace(failed_run(**{field: odd})).steps
