"""Calls of several agents: each of them may do once what the others do."""

from __future__ import annotations

from itertools import combinations, cycle

import pytest

from weighbridge.graders.loop import LoopGrader


def kinds(steps):
    given = [{"id": f"s{at}", **step} for at, step in enumerate(steps, 1)]
    result = LoopGrader(config={}).grade({"format": "weighbridge", "steps": given})
    return [(loop["kind"], loop["repeats"]) for loop in result["details"]["loops"]]


def votes(speakers, target="Gemma"):
    steps = []
    for at, name in enumerate(speakers):
        steps.append({"id": f"m{at}", "type": "llm", "name": name, "output": ""})
        vote = {"type": "tool", "name": "vote", "arguments": {"target": target}, "output": "voted"}
        steps.append({**vote, "parent_id": f"m{at}"})
    return steps


def test_one_call_that_each_of_several_agents_makes_is_no_loop():
    assert kinds(votes(["Ada", "Ben", "Cleo", "Dan", "Eve"])) == []
    assert kinds(votes(["Ada"] * 5)) != []
    assert kinds(votes(["Ada", "Ben", "Ada", "Ben", "Ada"])) != []


def rounds_of(players):
    """Return a game of nine rounds in which each player's span has the same move; tokens grow by a number in each round."""
    steps = [{"id": name, "type": "agent", "name": name} for name in players]
    for turn in range(9):
        move = {"name": "contribute", "arguments": {"round": turn, "coins": 5}}
        seen = {"output": {"tokens": 15 + 3 * turn}}
        steps += [{"type": "tool", **move, **seen, "parent_id": name} for name in players]
    return steps


def test_players_who_make_the_same_move_in_each_round_are_no_loop():
    assert kinds(rounds_of(["Ada", "Ben", "Cleo", "Dan", "Eve"])) == []
    assert kinds([step for step in rounds_of(["Ada"]) for _ in range(5)]) != []


def test_an_answer_without_a_name_is_that_of_the_agent_around_it():
    names = ["Ada", "Ben", "Cleo", "Dan", "Eve"]
    steps = [{"id": name, "type": "agent", "name": name} for name in names]
    for name in names:
        steps.append({"id": f"m{name}", "type": "llm", "output": "", "parent_id": name})
        vote = {"name": "vote", "arguments": {"target": "Gemma"}, "output": "voted"}
        steps.append({"type": "tool", **vote, "parent_id": f"m{name}"})
    assert kinds(steps) == []


def test_several_agents_whose_calls_fail_alike_are_a_loop():
    vote = {"name": "vote", "arguments": {"target": "Gemma"}, "error": "no vote is open"}
    steps = []
    for at, name in enumerate(["Ada", "Ben", "Cleo"] * 3):
        steps.append({"id": f"m{at}", "type": "llm", "name": name, "output": ""})
        steps.append({"type": "tool", **vote, "parent_id": f"m{at}"})
    assert kinds(steps) != []


QUERIES = [
    f"harbour cafe {one} {other}"
    for one, other in combinations(("old", "quay", "tea", "blog", "menu"), 2)
]


def said_by(names, calls):
    """Return calls, each asked for by the next one of the agents."""
    steps = []
    for at, (name, call) in enumerate(zip(cycle(names), calls, strict=False)):
        steps.append({"id": f"m{at}", "type": "llm", "name": name, "output": ""})
        steps.append({"type": "tool", **call, "parent_id": f"m{at}"})
    return steps


def test_several_agents_who_search_in_turn_in_other_words_for_nothing_are_a_loop():
    searches = [
        {"name": "search", "arguments": {"query": query}, "output": "No results found."}
        for query in QUERIES
    ]
    assert kinds(said_by(["Ada"], searches)) != []
    assert kinds(said_by(["Ada", "Ben", "Cleo"], searches)) != []


@pytest.mark.parametrize("form", ["Step {}", "turn_{}", "agent (attempt {})", "Iteration #{}"])
@pytest.mark.parametrize("kind", ["agent", "llm"])
def test_steps_with_numbers_are_no_agents(form, kind):
    steps = []
    for at in range(9):
        steps.append({"id": f"m{at}", "type": kind, "name": form.format(at)})
        failed = {"name": "deploy", "arguments": {"to": "prod"}, "error": "no permission"}
        steps.append({"type": "tool", **failed, "parent_id": f"m{at}"})
    assert kinds(steps) != []


def test_one_agent_after_the_other_that_fails_alike_is_a_loop_and_agents_side_by_side_are_none():
    agents = [{"id": f"a{at}", "type": "agent", "name": f"clerk {at}"} for at in range(6)]
    failed = {"type": "tool", "name": "deploy", "arguments": {"to": "x"}, "error": "no permission"}
    calls = [{**failed, "parent_id": agent["id"]} for agent in agents]
    assert kinds([step for pair in zip(agents, calls, strict=True) for step in pair]) != []
    assert kinds([*agents, *calls]) == []


def test_agents_who_agree_on_a_call_without_a_recorded_result_are_no_loop():
    vote = {"name": "vote", "arguments": {"player": "Gemma"}}
    assert kinds(said_by(["Ada", "Ben"], [vote] * 4)) == []
    assert kinds(said_by(["Ada", "Ben"], [vote] * 6)) == []
    assert kinds(said_by(["Ada", "Ben"], [vote] * 7)) != []
    assert kinds(said_by(["Ada"], [vote] * 4)) != []
    assert kinds(said_by(["Ada", "Ben"], [{**vote, "output": "voted"}] * 4)) != []


@pytest.mark.parametrize(
    "output",
    [
        None,
        "done",
        '{"detail":"","status":"success"}',
        {"status": "success", "detail": ""},
        {"error": None, "ok": True},
    ],
)
def test_a_few_calls_without_an_order_need_results_that_tell_something_or_twice_as_many(output):
    names = {"n": "next page", "9": "queue 9 links", "8": "queue 8 links"}
    order = [
        {"type": "tool", "name": "use", "arguments": {"what": names[each]}, "output": output}
        for each in "n9n8n99n8nn98n9"
    ]
    assert kinds(order[:10]) == []
    assert kinds(order) != []
    told = [{**call, "output": f"The {call['arguments']['what']} is shut."} for call in order]
    assert kinds(told[:10]) != []
