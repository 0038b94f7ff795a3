"""Calls of several agents: each of them may do once what the others do."""

from __future__ import annotations

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
