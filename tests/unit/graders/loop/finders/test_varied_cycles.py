"""Cycles in which a failing attempt or the length of a wait varies: a loop, unless something moves in them."""

from __future__ import annotations

import pytest

from weighbridge.graders.loop import LoopGrader

PROGRAMS = ["exiftool", "binwalk", "zsteg"]
EDITS = ["def g():", "def g( ):", "async def g():", "def g(self):", "class G:"]
WAITS = [5, 10, 5, 20, 10]


def tool(name, arguments, output):
    return {"type": "tool", "name": name, "arguments": arguments, "output": output}


def kinds(steps, **config):
    given = [{"id": f"s{at}", **step} for at, step in enumerate(steps, 1)]
    result = LoopGrader(config=config).grade({"format": "weighbridge", "steps": given})
    return [(loop["kind"], loop["repeats"]) for loop in result["details"]["loops"]]


def bash(command, output):
    return tool("shell", {"command": command}, output)


def round_with(program, failure="line 1: {}: command not found"):
    return [
        bash("file a.png", "a.png: PNG image data"),
        bash("strings a.png | grep key", ""),
        bash(f"{program} a.png", failure.format(program)),
    ]


def edit_round(old, failure="Error: the old text was not found in a.py."):
    return [
        tool("open", {"path": "a.py"}, "def f():\n    return 1"),
        tool("edit", {"path": "a.py", "old": old, "new": "def h():"}, failure),
    ]


def poll(seconds, state="running"):
    return [tool("wait", {"seconds": seconds}, f"Waited {seconds} s."),
            tool("job_status", {"id": 7}, state)]  # fmt: skip


def test_three_rounds_with_one_step_of_three_that_varies_and_fails_are_a_loop():
    steps = [step for program in PROGRAMS for step in round_with(program)]
    assert kinds(steps) == [("cycle", 3)]
    assert kinds(steps[:8]) == []


def test_five_rounds_are_a_loop_if_half_of_the_steps_vary_and_fail():
    steps = [step for old in EDITS for step in edit_round(old)]
    assert kinds(steps) == [("cycle", 5)]
    assert kinds(steps[1:]) == [("same_failure", 5)]
    assert kinds(steps[2:]) == []


def test_five_rounds_of_waits_and_one_state_are_a_loop():
    steps = [step for seconds in WAITS for step in poll(seconds)]
    assert kinds(steps) == [("cycle", 5)]
    assert kinds(steps[1:]) == []


def test_six_waits_of_any_length_that_show_one_state_are_a_loop():
    steps = [bash(f"sleep {at}; tail -1 log", "epoch 3") for at in (5, 20, 10, 20, 5, 60)]
    assert kinds(steps) == [("near_identical", 6)]
    assert kinds(steps[1:]) == []


SHOES = [
    "red shoes men",
    "red running shoes for men under 60",
    "running shoes red",
    "men red shoes under 60 dollars",
]
NAMES = ["Ann Lee", "Bo Hart", "Cy Moss", "Di Ford", "Ed Nash"]


def shop_round(words):
    found = "Page 1: B07 red runner for 50, B08 blue runner for 40, B09 green boots for 30, and a next page"
    return [
        tool("act", {"action": f"search[{words}]"}, found),
        tool("act", {"action": "click[B07]"}, "Red runner, sizes 40 and 41."),
        tool("act", {"action": "click[back]"}, "Search page."),
    ]


def test_three_rounds_with_a_reworded_question_and_one_answer_are_a_loop():
    steps = [step for words in SHOES for step in shop_round(words)]
    assert kinds(steps[:9]) == [("cycle", 3)]
    assert kinds(steps[:8]) == []


def test_three_rounds_with_questions_about_different_things_are_no_loop():
    assert kinds([step for name in NAMES for step in shop_round(name)]) == []
    longer = ["Ann Lee", "Ann Lee Bo Hart Moss", "Cy Ford Dee Nash"]
    assert kinds([step for words in longer for step in shop_round(words)]) == []


@pytest.mark.parametrize(
    "steps",
    [
        pytest.param(
            [
                step
                for at, program in enumerate(PROGRAMS)
                for step in round_with(program, f"{{}}: bad magic {'xyz'[at]}")
            ],
            id="another failure each time",
        ),
        pytest.param(
            [
                step
                for at, old in enumerate(EDITS)
                for step in edit_round(old, f"Edited line {at}.")
            ],
            id="edits that succeed",
        ),
        pytest.param(
            [step for at, each in enumerate(WAITS) for step in poll(each, f"{at * 20} %")],
            id="a state that moves",
        ),
        pytest.param(
            [step for at in range(6) for step in poll(5 * 2**at)], id="waits that only grow"
        ),
        pytest.param(
            [
                bash(f"sleep {seconds}; tail -1 log", f"epoch {at}")
                for at, seconds in enumerate((5, 20, 10, 20, 5, 60))
            ],
            id="a log that moves",
        ),
        pytest.param(
            [
                step
                for name in NAMES
                for step in (
                    tool("go", {"to": "/search"}, "The form was opened."),
                    tool("type", {"text": name}, "typed"),
                    tool("press", {"key": "enter"}, "No results."),
                )
            ],
            id="one name after the other",
        ),
    ],
)
def test_rounds_in_which_something_moves_are_no_loop(steps):
    assert kinds(steps) == []
