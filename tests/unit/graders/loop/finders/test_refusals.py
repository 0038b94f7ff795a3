"""Texts in other words to which the environment answers with the same state."""

from __future__ import annotations

import pytest

from weighbridge.graders.loop import LoopGrader

CELL = "North: a wall. East: a corridor of one meter that ends at a wall. South: a wall. West: a wall. Your move?"
THOUGHTS = (
    *("Perhaps the east is a dead end, so S", "I have not been in the west yet: W"),
    *("Let me try the other way round. N", "The compass points north, I follow it. N"),
    *("South again, something may have opened. S", "A good explorer keeps left, which is W"),
    *("I count the corridors first. There is one. S", "Back to where I came from, if I can. W"),
    *("None of the walls moved. I go N", "Once more in the direction of the sun. S"),
)


def verdict(replies):
    steps = [
        {"type": "user", "output": "Find the exit of the maze, and answer with a direction."},
        *(
            step
            for thought, reply in zip(THOUGHTS, replies, strict=False)
            for step in ({"type": "llm", "output": thought}, {"type": "user", "output": reply})
        ),
    ]
    given = [{"id": f"s{at}", **step} for at, step in enumerate(steps, 1)]
    return LoopGrader(config={}).grade({"format": "weighbridge", "steps": given})["verdict"]


def test_one_state_described_nine_times_is_a_loop_whatever_the_agent_says():
    assert verdict([CELL] * 8) == "pass"
    assert verdict([CELL] * 9) == "fail"


@pytest.mark.parametrize(
    "replies",
    [
        [CELL.replace("one meter", f"{number} meters") for number in range(2, 11)],
        [*[CELL] * 4, CELL.replace("East: a corridor", "West: a corridor"), *[CELL] * 4],
        ["Please continue with the task on whatever approach you think is suitable for the user."]
        * 9,
        ["Yes."] * 9,
    ],
    ids=["other numbers", "another state between", "prompts to continue", "short answers"],
)
def test_other_states_and_prompts_are_no_loop(replies):
    assert verdict(replies) == "pass"
