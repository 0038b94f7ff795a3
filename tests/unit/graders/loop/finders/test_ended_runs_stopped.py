"""What a harness says when it stops an agent."""

from __future__ import annotations

import pytest

from weighbridge.graders.loop import LoopGrader

SAYS = (
    "Only 3 reflections allowed, stopping.",
    "AgentStuckInLoopError: Agent got stuck in a loop",
    "A potential loop was detected. This can happen due to repetitive tool calls or other model behavior. The request has been halted.",
)
ANSWERS = (
    "Please add the files.",
    "I need the sources first.",
    "Could you share main.cpp?",
    "Send me all of it.",
)
REPLIES = ("main.cpp was dropped", "config.h was dropped", "nimble.cpp was dropped")


def loops(last, answers=ANSWERS, between=()):
    steps = [{"type": "user", "output": "Merge the two setup functions into main.cpp."}]
    for said, reply in zip(answers, [*REPLIES, last], strict=False):
        steps += [{"type": "llm", "output": said}, *between]
        steps.append({"type": "user", "name": "aider", "output": reply})
    given = [{"id": f"s{at}", **step} for at, step in enumerate(steps, 1)]
    result = LoopGrader().grade({"format": "weighbridge", "steps": given})
    return [(loop["kind"], loop["step_ids"]) for loop in result["details"]["loops"]], result


@pytest.mark.parametrize("said", SAYS)
def test_the_last_answers_before_a_harness_says_that_it_stopped_the_agent_are_a_loop(said):
    found, result = loops(f"nimble.cpp was dropped\n{said}")
    assert found == [("stopped", ["s2", "s4", "s6", "s8"])]
    assert (
        "answers until the harness stopped the agent, 4 times, limit 3"
        in result["evidence"][0]["description"]
    )


@pytest.mark.parametrize(
    "said",
    [
        "nimble.cpp was dropped",
        f"{SAYS[0]}\nmain.cpp was dropped",
        "Thanks! My agent got stuck in a loop yesterday, how do I avoid that?",
        "The log says: Only 3 reflections allowed, stopping.",
    ],
)
def test_nothing_else_says_it(said):
    assert loops(said)[0] == []


@pytest.mark.parametrize("kind", ["test", "lint"])
def test_edits_that_were_applied_and_tested_are_no_repeats_however_few_are_allowed(kind):
    asked = f"1 failed\nAttempt to fix {kind} errors? yes\n{SAYS[0]}"
    assert loops(asked)[0] == []
    assert loops(f"What does 'Attempt to fix {kind} errors?' mean?\n{SAYS[0]}")[0] != []


def test_a_file_that_says_it_is_no_harness():
    read = {"type": "tool", "name": "read_file", "arguments": {"path": "log"}, "output": SAYS[1]}
    assert "stopped" not in dict(loops("done", between=[read])[0])


def test_too_few_answers_and_overlapping_stops_are_left_out():
    assert loops(SAYS[0], ANSWERS[:1])[0] == []
    steps = [
        {"id": f"s{at}", "type": ("llm", "user")[at % 2], "output": (f"{at} w", SAYS[0])[at % 2]}
        for at in range(40)
    ]
    result = LoopGrader().grade({"format": "weighbridge", "steps": steps})
    named = [step for loop in result["details"]["loops"] for step in loop["step_ids"]]
    assert len(named) == len(set(named))


@pytest.mark.parametrize(
    ("said", "is_loop"),
    [("Stalled.... Replanning...", True), ("The download has stalled. I look at the plan.", False)],
)
@pytest.mark.parametrize("kind", ["llm", "other"])
def test_an_orchestrator_that_plans_again_after_rounds_without_progress_says_it(
    said, is_loop, kind
):
    reasons = (
        "I look for the paper.",
        "Nobody opened it.",
        "Two pages are read.",
        "A sum is missing.",
    )
    steps = [
        {"id": f"s{at}", "type": "llm", "name": "Orchestrator", "output": text}
        for at, text in enumerate(reasons)
    ]
    steps.append({"id": "s4", "type": kind, "name": "Orchestrator", "output": said})
    result = LoopGrader().grade({"format": "weighbridge", "steps": steps})
    assert [loop["kind"] for loop in result["details"]["loops"]] == ["stopped"] * is_loop
