"""Result records of benchmarks: the tokens, times, errors and totals next to their chat messages."""

from __future__ import annotations

import pytest

from weighbridge.traces import Step, Usage, read_trace
from weighbridge.traces.split import single_traces

SECOND = 10**9
NOON = 1_735_732_800 * SECOND  #: 2025-01-01T12:00:00Z


def at(seconds):
    return f"2025-01-01T12:00:{seconds:09.6f}"


def call(call_id, name="look_up"):
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": "{}"}}


def asks(*calls, content=""):
    return {"role": "assistant", "content": content, "tool_calls": list(calls)}


def result(call_id, content="found"):
    return {"role": "tool", "tool_call_id": call_id, "content": content}


def says(content, role="assistant", **fields):
    return {"role": role, "content": content, **fields}


TAU = {
    "task_id": 3,
    "trial": 1,
    "reward": 1.0,
    "info": {"task": {"instruction": "..."}, "user_cost": 0.01},
    "traj": [
        says("You are an agent.", "system"),
        says("Book it.", "user"),
        asks(call("c")),
        result("c", "Error: no such flight"),
        says("Sorry."),
    ],
}


def test_a_tau_bench_record_is_named_after_task_and_trial():
    trace = read_trace(TAU)
    assert (trace.format, trace.id) == ("tau-bench", "task-3/trial-1")
    assert trace.metadata == {"task_id": 3, "trial": 1, "reward": 1.0}
    assert [step.type for step in trace.steps] == ["system", "user", "llm", "tool", "llm"]
    assert read_trace({**TAU, "trial": None}).id == "task-3"


def test_a_tau_bench_result_that_tells_an_error_is_one():
    (step,) = read_trace(TAU).steps_of("tool")
    assert step.error == step.output == "Error: no such flight"


def test_what_the_simulated_user_cost_is_not_the_agents():
    trace = read_trace(TAU)
    assert trace.cost_usd is None
    assert trace.not_carried == ("costs of the simulated user (1)",)
    assert trace.missing["cost"] == (
        "tau-bench records what the simulated user cost, not what the agent did"
    )


def test_a_tau_bench_run_that_broke_off_has_no_steps_and_tells_why():
    trace = read_trace({**TAU, "traj": [], "info": {"error": "timed out", "traceback": "..."}})
    assert trace.steps == ()
    assert trace.metadata["error"] == "timed out"


def tau2_call(call_id, requestor="assistant"):
    return {"id": call_id, "name": "look_up", "arguments": {"x": 1}, "requestor": requestor}


def tau2_result(call_id, content="found", requestor="assistant", **fields):
    return {"id": call_id, "role": "tool", "content": content, "requestor": requestor, **fields}


TAU2 = {
    "id": "sim-1",
    "task_id": "7",
    "trial": 0,
    "start_time": at(0),
    "end_time": at(30),
    "duration": 30.0,
    "termination_reason": "user_stop",
    "agent_cost": 0.25,
    "user_cost": 0.5,
    "reward_info": {"reward": 1.0},
    "messages": [
        says("Hi! How can I help you today?", tool_calls=None, turn_idx=0, cost=0.0),
        says("No signal.", "user", usage={"prompt_tokens": 50, "completion_tokens": 5}, cost=0.5),
        says(
            None,
            tool_calls=[tau2_call("a")],
            usage={"prompt_tokens": 90, "completion_tokens": 10},
            cost=0.25,
            timestamp=at(5),
            generation_time_seconds=1.5,
        ),
        tau2_result("a", timestamp=at(6), error=False),
        says(None, "user", tool_calls=[tau2_call("u", "user")]),
        tau2_result("u", "Airplane mode is off.", "user"),
        says(
            "Done.",
            usage={"prompt_tokens": 95, "completion_tokens": 4},
            cost=0.0,
            timestamp=at(9),
        ),
    ],
}


def test_a_tau2_simulation_has_its_run_totals():
    trace = read_trace(TAU2)
    assert (trace.format, trace.id, trace.cost_usd) == ("tau2", "sim-1", 0.25)
    assert (trace.started_at, trace.ended_at) == (NOON, NOON + 30 * SECOND)
    assert trace.metadata == {
        "task_id": "7",
        "trial": 0,
        "reward": 1.0,
        "termination_reason": "user_stop",
        "duration_seconds": 30.0,
    }
    assert set(trace.missing) == {"tool_definitions"}


def test_a_tau2_message_has_its_tokens_cost_and_times():
    asked, _ = read_trace(TAU2).steps_of("llm")
    assert (asked.usage, asked.cost_usd) == (Usage(90, 10), 0.25)
    assert (asked.started_at, asked.ended_at) == (NOON + 3_500_000_000, NOON + 5 * SECOND)
    (tool,) = read_trace(TAU2).steps_of("tool")
    assert (tool.arguments, tool.output, tool.ended_at) == ({"x": 1}, "found", NOON + 6 * SECOND)


@pytest.mark.parametrize("said", ["Hi! How can I help you today?", "Welcome."])
def test_the_greeting_of_tau2_is_no_model_call(said):
    greeting = {**TAU2["messages"][0], "content": said}
    greeted = read_trace({**TAU2, "messages": [greeting, *TAU2["messages"][1:]]}).steps[0]
    assert greeted == Step(id="s1", type="other", name="greeting", output=said, cost_usd=0.0)


def test_without_any_tokens_in_the_file_only_the_constant_of_tau2_is_a_greeting():
    messages = [{**message, "usage": None} for message in TAU2["messages"]]
    trace = read_trace({**TAU2, "messages": messages})
    assert (trace.steps[0].type, trace.steps[0].usage) == ("other", None)
    own = [{**messages[0], "content": "Welcome."}, *messages[1:]]
    assert read_trace({**TAU2, "messages": own}).steps[0].type == "llm"
    assert trace.missing["token_usage"] == "no message of this simulation records its tokens"


def test_calls_of_the_simulated_user_are_no_tool_steps():
    trace = read_trace(TAU2)
    assert [step.id for step in trace.steps_of("tool")] == ["a"]
    _, own = trace.steps_of("other")
    assert (own.id, own.name, own.output) == ("u", "look_up", "Airplane mode is off.")
    assert trace.not_carried == (
        "simulation field 'user_cost' (1)",
        "tokens and cost of messages that are not the agent's (1)",
    )


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"error": True}, "found"),
        ({"content": "Error: no"}, "Error: no"),
        ({"content": "Error: no", "error": False}, None),
    ],
)
def test_a_tau2_result_is_an_error_where_it_says_so(fields, error):
    messages = [*TAU2["messages"][:3], {**tau2_result("a"), **fields}]
    (step,) = read_trace({**TAU2, "messages": messages}).steps_of("tool")
    assert step.error == error


def test_a_simulation_that_broke_off_has_no_steps():
    trace = read_trace({**TAU2, "messages": [], "termination_reason": "infrastructure_error"})
    assert (trace.format, trace.steps) == ("tau2", ())


def test_a_bare_simulation_is_known_by_its_turns():
    assert read_trace({"messages": [says("Hi!", turn_idx=0)]}).format == "tau2"


def round_of(message, sent, received, number=1):
    return {
        "round_number": number,
        "reasoning": message["content"],
        "prompt_tokens": sent,
        "output_tokens": received,
        "round_total_tokens": sent + received,
        "tools_executed": len(message.get("tool_calls", ())),
    }


def entry(kind, seconds, tool=None, **fields):
    return {"message_type": kind, "timestamp": at(seconds), "tool_name": tool, **fields}


GREETING = says("Hi!")
FIRST = asks(call("a", "ls"), call("b", "cat"), content="Looking.")
LAST = says("Done.")
GENERAL = {
    "benchmark": "terminalbench",
    "domain": "debugging",
    "task_id": "fix-it",
    "trace": {
        "task_id": "fix-it",
        "messages": [
            says("Be brief.", "system"),
            GREETING,
            says("Fix it.", "user"),
            FIRST,
            result("a"),
            result("b", "Error: no such file"),
            says("On.", "user", tool_calls=[call("u", "toggle")]),
            result("u", "ok"),
            LAST,
        ],
        "rounds": [round_of(FIRST, 100, 10, 2), round_of(LAST, 200, 20, 4)],
        "steps": [
            entry("llm_response", 0),
            entry("tool_call", 1, "ls"),
            entry("tool_result", 3, "ls", tool_error=False),
            entry("tool_call", 1, "cat"),
            entry("tool_result", 4, "cat", tool_error=True),
            entry("llm_response", 5),
        ],
        "start_time": at(0),
        "end_time": at(8),
        "duration": 8.0,
        "error": None,
        "total_prompt_tokens": 300,
        "total_output_tokens": 30,
        "total_tokens": 330,
    },
}


def general(**fields):
    return {**GENERAL, "trace": {**GENERAL["trace"], **fields}}


def test_a_general_agentbench_run_has_its_totals():
    trace = read_trace(GENERAL)
    assert (trace.format, trace.id) == ("general-agentbench", "fix-it")
    assert trace.usage == Usage(300, 30, 330)
    assert (trace.started_at, trace.ended_at) == (NOON, NOON + 8 * SECOND)
    assert trace.metadata == {
        "benchmark": "terminalbench",
        "domain": "debugging",
        "task_id": "fix-it",
        "duration_seconds": 8.0,
    }
    assert set(trace.missing) == {"tool_definitions"}


@pytest.mark.parametrize(
    "value",
    [GENERAL["trace"], {"id": "x", "path": "y", "record": GENERAL}],
    ids=["bare", "wrapped"],
)
def test_the_run_may_stand_alone_or_in_a_wrapper(value):
    assert read_trace(value).steps == read_trace(GENERAL).steps


def test_a_rounds_tokens_go_to_the_message_that_it_made():
    steps = read_trace(GENERAL).steps_of("llm")
    assert [(step.output, step.usage) for step in steps] == [
        ("Hi!", None),
        ("Looking.", Usage(100, 10, 110)),
        ("Done.", Usage(200, 20, 220)),
    ]


def test_rounds_that_are_as_many_as_the_messages_go_to_them_in_order():
    rounds = [{"prompt_tokens": n, "output_tokens": 1} for n in (1, 2, 3)]
    steps = read_trace(general(rounds=rounds)).steps_of("llm")
    assert [step.usage for step in steps] == [Usage(1, 1), Usage(2, 1), Usage(3, 1)]


def test_the_times_and_errors_of_the_log_go_to_the_agents_calls():
    trace = read_trace(GENERAL)
    listed, read = trace.steps_of("tool")
    assert (listed.started_at, listed.ended_at) == (NOON + SECOND, NOON + 3 * SECOND)
    assert (read.started_at, read.ended_at) == (NOON + SECOND, NOON + 4 * SECOND)
    assert (listed.error, read.error) == (None, "Error: no such file")
    assert [step.started_at for step in trace.steps_of("llm")] == [
        NOON,
        NOON + SECOND,
        NOON + 5 * SECOND,
    ]
    assert trace.not_carried == ("calls whose recorded start is that of their round (2)",)


def test_a_users_call_between_them_does_not_shift_the_log():
    messages = GENERAL["trace"]["messages"]
    late = asks(call("c", "ls"), content="Again.")
    log = [*GENERAL["trace"]["steps"], entry("tool_call", 6, "ls"), entry("tool_result", 7, "ls")]
    trace = read_trace(general(messages=[*messages, late, result("c")], steps=log))
    assert trace.steps_of("tool")[-1].ended_at == NOON + 7 * SECOND
    assert trace.steps_of("other")[0].ended_at is None


def test_entries_that_name_another_tool_tell_nothing_of_a_call():
    log = [entry("tool_call", 1, "rm"), entry("tool_result", 3, "rm", tool_error=True)]
    trace = read_trace(general(steps=log))
    assert {(step.started_at, step.ended_at, step.error) for step in trace.steps_of("tool")} == {
        (None, None, None)
    }


def test_totals_of_zero_without_rounds_were_not_counted():
    totals = dict.fromkeys(("total_prompt_tokens", "total_output_tokens", "total_tokens"), 0)
    trace = read_trace(general(rounds=[], **totals))
    assert trace.usage is None
    assert set(trace.missing) == {"token_usage", "cost", "tool_definitions"}


def test_a_run_that_timed_out_before_it_began_has_no_steps():
    trace = read_trace(general(messages=[], rounds=[], steps=[], error="Task timeout"))
    assert (trace.format, trace.steps, trace.metadata["error"]) == (
        "general-agentbench",
        (),
        "Task timeout",
    )


def test_a_file_of_tau2_results_tells_the_model_of_each_simulation():
    simulation = {
        "id": "s",
        "termination_reason": "user_stop",
        "messages": [{"role": "assistant", "content": "Hi."}],
    }
    info = {"agent_info": {"implementation": "llm_agent", "llm": "gpt-4.1"}}
    found = single_traces({"info": info, "tasks": [], "simulations": [simulation, simulation]})
    assert found is not None
    traces = [read_trace(value) for _, value in found]
    assert [trace.steps[0].model for trace in traces] == ["gpt-4.1", "gpt-4.1"]
    assert traces[0].not_carried == ()


def test_a_log_of_more_calls_than_the_messages_show_makes_the_run_unfit_to_count():
    log = [{"message_type": "tool_call", "tool_name": "f"}]
    record = {"messages": [{"role": "assistant", "content": "So."}], "rounds": [], "steps": log}
    trace = read_trace(record)
    assert "tool_calls" in trace.missing
    assert trace.not_carried == ("tool calls of the log that no message shows (1)",)
