"""Moatless's trajectories."""

from __future__ import annotations

import copy

import pytest

from support.trace_examples.swe_agents import MOATLESS, MOATLESS_TREE
from weighbridge.errors import TraceError
from weighbridge.traces import Step, Usage, read_trace
from weighbridge.traces.formats.moatless import IMPORTER

NOON = 1_735_732_800 * 10**9  #: 2025-01-01T12:00:00Z
SECOND = 10**9


def node(**fields):
    return {"node_id": 0, "visits": 0, "action_steps": [], "possible_actions": [], **fields}


def steps_of(**fields):
    return read_trace({"root": node(**fields)}).steps


def test_retries_of_completions_are_counted_if_every_action_has_its_completion():
    told = copy.deepcopy(MOATLESS)
    for transition in told["transitions"]:
        actions = [action for action in transition.get("actions") or [] if action.get("completion")]
        transition["actions"] = actions
    trace = read_trace(told)
    assert trace.counts.llm_calls == 3
    assert "llm_calls" not in trace.missing


def test_actions_of_transitions_are_calls():
    trace = read_trace(MOATLESS)
    assert (trace.id, trace.cost_usd, trace.totals_from) == ("i", 1.0, "info.total_cost")
    assert trace.metadata == {"status": "error", "duration": 2.5}
    assert trace.steps == (
        Step(id="s1", type="user", output="It fails."),
        Step(id="s2", type="tool", name="SearchCode", arguments={"scratch_pad": "Look.", "query": "x"}, output={"ranked_spans": []}),
        Step(id="s3", type="llm", output="I look.", model="m", usage=Usage(9, 2, 11), cost_usd=0.5, started_at=NOON),
        Step(id="s4", type="tool", parent_id="s3", name="EditCode", arguments={"content": "<replace>"}, output="It is the same.", error="It is the same."),
        Step(id="s5", type="llm", output="I look.", model="m", usage=Usage(11, 1, 12), cost_usd=0.5, started_at=NOON),
        Step(id="s6", type="tool", parent_id="s5", name="EditCode", arguments={"content": "<reject>"}, output={"message": "no"}),
    )  # fmt: skip
    assert trace.counts is None
    for lacking in ("llm_calls", "token_usage"):
        assert trace.missing[lacking] == "the completions of some actions are not recorded"
    assert "cost" not in trace.missing
    assert set(trace.not_carried) == {
        "actions whose completion is not recorded (1)",
        "completion field 'input' (2)",
    }


def test_all_nodes_of_a_tree_are_read_and_each_completion_once():
    trace = read_trace(MOATLESS_TREE)
    assert (trace.id, trace.format) == ("i", "moatless")
    assert trace.steps == (
        Step(id="s1", type="user", output="It fails."),
        Step(id="s2", type="llm", output="I search.", model="m", usage=Usage(3, 2), cost_usd=0.5),
        Step(id="s3", type="tool", parent_id="s2", name="SemanticSearch", arguments={"query": "x"}, output="a.py", error="no_spans_added"),
        Step(id="s4", type="llm", name="execute_action", output="It is in a.py.", model="m", usage=Usage(4, 3, None, 3), cost_usd=0.5),
        Step(id="s5", type="llm", name="value_function", output="I look.", model="m", usage=Usage(5, 1, 6), cost_usd=0.5, started_at=NOON),
        Step(id="s6", type="llm", output="I look.", error="no action", model="m", usage=Usage(8, 1, 9), cost_usd=0.5, started_at=NOON),
        Step(id="s7", type="llm", output="Again."),
        Step(id="s8", type="tool", parent_id="s7", name="SemanticSearch", arguments={"query": "x"}),
    )  # fmt: skip
    assert "actions of nodes that repeat another one, which did not run (1)" in trace.not_carried


def test_each_attempt_of_a_completion_is_a_model_call():
    usage = {"completion_cost": 0, "completion_tokens": 2, "prompt_tokens": 9, "cache_read_tokens": 4, "cache_write_tokens": 1}  # fmt: skip
    attempts = [
        {"usage": {}, "success": False, "failure_reason": "late", "end_time": 1735732801000.0},
        {"usage": usage, "start_time": 1735732801000.0, "end_time": 1735732802000.0},
    ]
    nodes = [
        node(user_message="Hi."),
        node(node_id=1, completions={"build_action": {"model": "m", "attempts": attempts}}, thoughts={"text": "Hm."}, error="It broke.", selection={"completion": {"model": "s", "attempts": []}}),
    ]  # fmt: skip
    trace = read_trace({"trajectory_id": "t", "project_id": "p", "metadata": {}, "nodes": nodes})
    assert trace.id == "t"
    assert trace.steps[1:] == (
        Step(id="s2", type="llm", error="late", model="m", ended_at=NOON + SECOND),
        Step(id="s3", type="llm", output="Hm.", model="m", usage=Usage(9, 2, None, 4, 1), started_at=NOON + SECOND, ended_at=NOON + 2 * SECOND),
        Step(id="s4", type="llm", name="selector", model="s"),
        Step(id="s5", type="other", error="It broke."),
    )  # fmt: skip


def test_older_nodes_have_one_action_with_its_completions():
    completions = {
        "build_action": {"model": "m", "usage": {"prompt_tokens": 2, "completion_tokens": 1}},
        "execute_action": {"model": "m", "usage": {"prompt_tokens": 5, "completion_tokens": 1}},
    }
    action = {"thoughts": "Hm.", "path": "a", "action_args_class": "x.EditActionArguments"}
    alone = {"action": action, "output": {"message": "done"}, "completions": completions}
    twice = alone | {"action_steps": [{"action": {"thoughts": "Hm."}, "observation": {"message": "done"}, "completions": completions}]}  # fmt: skip
    for fields in (alone, twice):
        called, tool, executed = steps_of(**fields)
        assert (called.output, called.usage) == ("Hm.", Usage(2, 1))
        assert (tool.name, tool.arguments, tool.output) == ("Edit", {"path": "a"}, "done")
        assert (executed.name, executed.usage) == ("execute_action", Usage(5, 1))


@pytest.mark.parametrize(
    ("own", "by_provider", "expected"),
    [
        ((3, 2, 9), {"input_tokens": 1, "output_tokens": 2}, Usage(12, 2, None, 9)),
        ((6, 4, 0), {"prompt_tokens": 3, "completion_tokens": 2}, Usage(6, 4, None, 0)),
        ((0, 0, 0), {}, None),
        ((1, None, None), {"input_tokens": True}, Usage(1, None)),
    ],
)
def test_tokens_are_those_of_all_retries(own, by_provider, expected):
    sent, received, cached = own
    usage = {"prompt_tokens": sent, "completion_tokens": received, "cached_tokens": cached}
    completion = {"usage": usage, "response": {"usage": by_provider}}
    [step] = steps_of(completions={"build_action": completion})
    assert step.usage == expected


@pytest.mark.parametrize(
    ("at", "value", "named"),
    [
        ("transitions", [{"id": 1, "name": "a", "actions": {"a": 1}}], "transition 1"),
        ("transitions", [{"id": 1, "name": "a", "actions": [1]}], "action of transition 1"),
        ("root", node(children=[1]), "node_id"),
        ("nodes", [node(), *[node()] * 30, {}], "node_id"),
    ],
)
def test_a_damaged_part_is_named(at, value, named):
    held = copy.copy(MOATLESS) if at == "transitions" else {}
    with pytest.raises(TraceError, match=named):
        read_trace({**held, at: value})


@pytest.mark.parametrize(
    "value",
    [
        [],
        {"root": {"node_id": 1}},
        {"root": 1},
        {"nodes": []},
        {"nodes": [node(), 1]},
        {**MOATLESS, "transitions": {}},
        {**MOATLESS, "transitions": [{"id": 1}]},
    ],
)
def test_other_values_are_not_claimed(value):
    assert not IMPORTER.matches(value)
