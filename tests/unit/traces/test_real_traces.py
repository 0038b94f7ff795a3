"""Real traces, compared with counts made without the importers, if the data set is present."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from dataclasses import replace
from datetime import datetime
from functools import cache
from pathlib import Path

import pytest

from weighbridge.traces import read_trace
from weighbridge.traces.formats.native import to_native

FOLDER = Path(__file__).resolve().parents[4] / "shared" / "data" / "traces"
TAU_AIRLINE, TAU_RETAIL = "tau_bench_airline_gpt4o", "tau_bench_retail_toolcalling"
TAU2, GENERAL, SWE = "tau2_airline_toolorchestra", "general_agentbench_dev", "swe_agent_demos"
RECORDS = {TAU_AIRLINE: 200, TAU_RETAIL: 60, TAU2: 40, GENERAL: 85, SWE: 22}
CHATS = [TAU_AIRLINE, TAU_RETAIL, TAU2, GENERAL]

pytestmark = pytest.mark.skipif(
    not all((FOLDER / f"{name}.jsonl.gz").exists() for name in RECORDS),
    reason="the data set is not there",
)


@cache
def records(name):
    with gzip.open(FOLDER / f"{name}.jsonl.gz") as lines:
        return [json.loads(line) for line in lines]


@cache
def traces(name):
    return [read_trace(record) for record in records(name)]


def pairs(name):
    """Return each record's messages, or the trace in it, with the imported trace."""
    inner = {
        GENERAL: lambda record: record["record"]["trace"],
        SWE: lambda record: record["record"],
    }
    return [
        (inner.get(name, dict)(record), trace)
        for record, trace in zip(records(name), traces(name), strict=True)
    ]


def messages_of(record):
    return record["messages"] if "messages" in record else record["traj"]


def nanoseconds(text):
    since = datetime.fromisoformat(text + "+00:00") - datetime.fromisoformat(
        "1970-01-01T00:00+00:00"
    )
    return (since.days * 86_400 + since.seconds) * 10**9 + since.microseconds * 1000


@pytest.mark.parametrize("name", RECORDS)
def test_every_record_is_one_trace_of_its_format(name):
    expected = {
        TAU_AIRLINE: "tau-bench",
        TAU_RETAIL: "tau-bench",
        TAU2: "tau2",
        GENERAL: "general-agentbench",
        SWE: "swe-agent",
    }
    assert Counter(trace.format for trace in traces(name)) == {expected[name]: RECORDS[name]}


@pytest.mark.parametrize("name", RECORDS)
def test_every_trace_comes_back_from_the_native_form_as_it_was(name):
    for trace in traces(name):
        data = to_native(trace)
        assert read_trace(data) == replace(trace, format="native", not_carried=())
        assert read_trace(json.dumps(data)) == read_trace(data)


@pytest.mark.parametrize("name", CHATS)
def test_every_message_and_call_is_a_step_with_its_result(name):
    for record, trace in pairs(name):
        messages = messages_of(record)
        greetings = sum(step.name == "greeting" for step in trace.steps)
        assert greetings == (name == TAU2)
        messages = messages[greetings:]
        roles = Counter(message["role"] for message in messages)
        asked = [
            (message["role"], call.get("function", call), call["id"])
            for message in messages
            for call in message.get("tool_calls") or []
        ]
        # In this data every result follows its call before the next call under the same id.
        results = [message for message in messages if message["role"] == "tool"]
        assert [call_id for _, _, call_id in asked] == [
            message.get("tool_call_id") or message["id"] for message in results
        ]
        by_agent = Counter(role for role, _, _ in asked)["assistant"]
        assert Counter(step.type for step in trace.steps) == +Counter(
            llm=roles["assistant"],
            user=roles["user"],
            system=roles["system"],
            tool=by_agent,
            other=len(asked) - by_agent + greetings,
        )
        calls = [step for step in trace.steps if step.parent_id is not None]
        for step, (_, call, call_id), result in zip(calls, asked, results, strict=True):
            given = call["arguments"]
            assert step.id.partition("#")[0] == call_id
            assert step.name == call["name"]
            assert step.arguments == (json.loads(given) if type(given) is str else given)
            assert step.output == result["content"]
        said = [step.output for step in trace.steps_of("llm")]
        assert said == [
            message["content"] for message in messages if message["role"] == "assistant"
        ]


@pytest.mark.parametrize(
    ("name", "calls", "by_users"),
    [(TAU_AIRLINE, 1164, 0), (TAU_RETAIL, 501, 0), (TAU2, 447, 0), (GENERAL, 1505, 98)],
)
def test_the_agents_calls_are_as_many_as_the_data_set_says_and_a_users_apart(name, calls, by_users):
    steps = [step for trace in traces(name) for step in trace.steps if step.name != "greeting"]
    found = Counter(step.type for step in steps)
    assert (found["tool"], found["other"]) == (calls, by_users)


@pytest.mark.parametrize("name", [TAU_AIRLINE, TAU_RETAIL])
def test_tau_bench_runs_are_named_and_lack_what_the_benchmark_does_not_record(name):
    for record, trace in pairs(name):
        assert trace.id == f"task-{record['task_id']}/trial-{record['trial']}"
        assert trace.metadata["reward"] == record["reward"]
        assert set(trace.missing) == {"token_usage", "timing", "cost", "tool_definitions"}
        errors = sum(
            message["role"] == "tool" and message["content"].startswith("Error:")
            for message in record["traj"]
        )
        assert sum(step.error is not None for step in trace.steps) == errors
    assert len({trace.id for trace in traces(name)}) == RECORDS[name]


def test_tau2_runs_have_the_times_of_the_simulation():
    for record, trace in pairs(TAU2):
        assert trace.id == record["id"]
        assert trace.started_at == nanoseconds(record["start_time"])
        assert trace.ended_at == nanoseconds(record["end_time"])
        assert set(trace.missing) == {"token_usage", "cost", "tool_definitions"}
        assert trace.metadata["termination_reason"] == record["termination_reason"]


def test_general_agentbench_runs_have_the_tokens_of_every_round_and_of_the_run():
    rounds = 0
    for record, trace in pairs(GENERAL):
        told = [step.usage for step in trace.steps_of("llm") if step.usage]
        assert [
            (usage.input_tokens, usage.output_tokens, usage.total_tokens) for usage in told
        ] == [
            (one["prompt_tokens"], one["output_tokens"], one["round_total_tokens"])
            for one in record["rounds"]
        ]
        rounds += len(told)
        if record["total_tokens"]:
            assert trace.usage.total_tokens == record["total_tokens"]
            assert trace.usage.input_tokens == record["total_prompt_tokens"]
            assert trace.usage.output_tokens == record["total_output_tokens"]
            assert "token_usage" not in trace.missing
        else:
            assert trace.usage is None
            assert {"token_usage", "cost"} < set(trace.missing)
    assert rounds == 1463


def test_general_agentbench_runs_have_the_times_and_errors_of_the_log():
    errors = 0
    for record, trace in pairs(GENERAL):
        assert (trace.started_at, trace.ended_at) == (
            nanoseconds(record["start_time"]),
            nanoseconds(record["end_time"]),
        )
        asked, results = (
            [entry for entry in record["steps"] if entry["message_type"] == kind]
            for kind in ("tool_call", "tool_result")
        )
        calls = trace.steps_of("tool")
        assert [step.started_at for step in calls] == [nanoseconds(e["timestamp"]) for e in asked]
        assert [step.ended_at for step in calls] == [nanoseconds(e["timestamp"]) for e in results]
        assert [step.error is not None for step in calls] == [e["tool_error"] for e in results]
        assert all(step.started_at for step in trace.steps_of("llm"))
        errors += sum(entry["tool_error"] for entry in results)
    assert errors == 6


def test_swe_agent_turns_are_model_calls_and_the_actions_calls_named_by_their_first_word():
    calls = 0
    for record, trace in pairs(SWE):
        turns = record.get("trajectory") or [
            {"action": item["action"], "response": item["content"], "observation": after["content"]}
            for item, after in zip(record["history"], record["history"][1:], strict=False)
            if item["role"] == "assistant"
        ]
        assert [step.output for step in trace.steps_of("llm")] == [t["response"] for t in turns]
        tools = trace.steps_of("tool")
        calls += len(tools)
        assert [step.output for step in tools] == [turn["observation"] for turn in turns]
        for step, turn in zip(tools, turns, strict=True):
            assert turn["action"].split()[0] == step.name
            rest = step.arguments.get("argument", "")
            assert f"{step.name} {rest}".split() == turn["action"].split()
    assert calls == 232


def test_swe_agent_runs_have_their_tokens_and_cost_where_these_were_counted():
    counted = 0
    for record, trace in pairs(SWE):
        stats = record.get("info", {}).get("model_stats", {})
        if stats.get("tokens_sent"):
            counted += 1
            assert trace.usage.input_tokens == stats["tokens_sent"]
            assert trace.usage.output_tokens == stats["tokens_received"]
            assert trace.cost_usd == stats["instance_cost"]
        else:
            assert (trace.usage, trace.cost_usd) == (None, None)
            assert {"token_usage", "cost"} < set(trace.missing)
    assert counted == 3
