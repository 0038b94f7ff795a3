"""Plans of several actions that fail again and again: a loop if each part of their answers is known from an earlier one."""

from __future__ import annotations

import random
import string

import pytest

from weighbridge.graders.loop import LoopGrader
from weighbridge.graders.loop.finders.sequences.known_ranges import ranges

ANSWERS = {
    "go": "go: went towards shelf 12",
    "scan": "scan: scanned",
    "lift": "lift: tried to lift",
    "turn": "turn: turned",
    "wave": "wave: waved",
}
#: The same few actions in several plans, of which most come again.
PLANS = [
    ("go", "scan"),
    ("go", "scan", "lift"),
    ("go", "lift"),
    ("go", "scan"),
    ("scan", "go", "lift"),
    ("go", "scan", "lift"),
    ("go", "lift"),
    ("go", "turn", "scan"),
    ("scan", "go", "lift"),
    ("go", "scan"),
    ("go", "turn", "scan"),
    ("go", "lift"),
]
NAMES = [
    *("fetch_box", "get_box_now", "reach_shelf", "clear_way", "safe_fetch", "look_then_lift"),
    *("fetch_again", "slow_fetch", "check_shelf", "pick_up", "finish_fetch", "last_try"),
]


def plan(name, actions, answers, *, done=False, seen=""):
    arguments = {"name": name, "steps": list(actions)}
    lines = ", ".join(f'"{answer}"' for answer in answers)
    output = f"{seen}[{lines}]\nsuccess: {done} box: none"
    return {"type": "tool", "name": "robot_plan", "arguments": arguments, "output": output}


def plans(numbers=12, *, done=(), also=lambda _: ""):
    """Return plans with a name of their own each; `done` are those that work, `also` what was seen in one."""
    return [
        plan(f"{NAMES[at % 12]}_{at // 12}", PLANS[at % 12],
             [ANSWERS[action] for action in PLANS[at % 12]], done=at in done, seen=also(at))
        for at in (range(numbers) if isinstance(numbers, int) else numbers)
    ]  # fmt: skip


def kinds(steps, **config):
    given = [{"id": f"s{at}", **step} for at, step in enumerate(steps, 1)]
    result = LoopGrader(config=config).grade({"format": "weighbridge", "steps": given})
    return [(loop["kind"], loop["repeats"]) for loop in result["details"]["loops"]]


def test_plans_that_vary_a_few_refused_actions_are_a_loop():
    assert kinds(plans()) == [("same_failure", 12)]
    assert kinds(plans(8)) == []


@pytest.mark.parametrize("seed", range(20))
def test_plans_in_any_order_are_a_loop_unless_each_says_something_new(seed):
    rng = random.Random(seed)
    order = rng.sample(range(240), 36)
    assert [kind for kind, _ in kinds(plans(order))] == ["same_failure"]
    goods = {at: "".join(rng.sample(string.ascii_lowercase, 6)) for at in order}
    assert kinds(plans(order, also=lambda at: f"sees a crate of {goods[at]}\n")) == []


def test_a_third_of_the_plans_may_seem_to_work():
    assert [kind for kind, _ in kinds(plans(24, done=range(0, 24, 4)))] == ["same_failure"]


def test_a_new_part_now_and_then_takes_twice_as_many():
    def noticed(at):
        return f"lamp {at // 3} blinks\n" if at % 3 == 0 else ""

    assert [kind for kind, _ in kinds(plans(36, also=noticed))] == ["same_failure"]
    assert kinds(plans(8, also=noticed)) == []


HONEST = {
    "plans that mostly work": plans(24, done=[at for at in range(24) if at % 2]),
    "plans that get nearer each time": plans(24, also=lambda at: f"the robot is at aisle {at}\n"),
    "plans of which every fourth has no known result": [
        {**each, "output": None} if at % 4 == 3 else each for at, each in enumerate(plans(12))
    ],
    "plans for one box each": [
        plan(f"fetch_box_{name}", ("go", "scan", "lift"), [ANSWERS["go"], f"box {name} is not here"])
        for name in ("oak", "elm", "fir", "yew", "ash", "box", "fig", "bay", "may", "nut", "pea", "rye")
    ],
    "people of a few families": [
        {"type": "tool", "name": "find", "arguments": {"name": f"{first} {['Moore', 'Stone', 'Wu'][at % 3]}"}, "output": "Not found."}
        for at, first in enumerate(("Ada", "Ben", "Cem", "Dan", "Eve", "Flo", "Gus", "Hal", "Ida", "Jon", "Kim", "Leo"))
    ],
    "each combination of actions once": [
        plan("try", (first, second, "go"), [ANSWERS[first], ANSWERS[second], f"no {first} {second}"])
        for first in ANSWERS
        for second in ANSWERS
    ],
    "another tool between": [
        step
        for at, each in enumerate(plans(24))
        for step in (each, {"type": "tool", "name": "open_aisle", "arguments": {"no": at}, "output": f"aisle {at}"})
    ],
    "a longer time each time": [
        {"type": "tool", "name": "call", "arguments": {"seconds": 2**at, "to": "dock"}, "output": "Error: no answer"}
        for at in range(12)
    ],
}  # fmt: skip


@pytest.mark.parametrize("name", HONEST)
def test_plans_that_get_on_or_go_through_a_list_are_not_a_loop(name):
    assert kinds(HONEST[name]) == []


def test_moves_that_are_refused_in_turn_are_a_loop():
    board = "\nBoard now:\nx.o\nxxo\no.x\n"
    moves = [
        {
            "type": "tool",
            "name": "place",
            "arguments": {"player": 1, "cell": at % 2},
            "output": f"Outcome: Already taken{board if at < 5 else ''}",
        }
        for at in range(6)
    ]
    assert [kind for kind, _ in kinds(moves)] == ["same_failure"]
    assert kinds(moves[:3]) == []


@pytest.mark.parametrize(
    ("known", "per_new", "found"),
    [
        ("-++-", 4, []),
        ("-+++-", 4, [(1, 4)]),
        ("+++", 4, [(0, 3)]),
        ("++-+--", 4, []),
        ("+++-+++", 3, [(0, 3), (4, 7)]),
        ("++++-++--", 3, [(0, 7)]),
    ],
)
def test_a_range_has_enough_known_results_in_all_and_for_each_new_one(known, per_new, found):
    assert [*ranges([each == "+" for each in known], per_new, 3)] == found
