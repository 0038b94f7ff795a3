"""Screens that were all seen before: a loop if few states and actions come again, or if half of the actions fail."""

from __future__ import annotations

import random

import pytest

from weighbridge.graders.loop import LoopGrader

PAGE = [
    "Harbour news - front page",
    "[0]<button>Menu</button>",
    "[1]<a>Ferries</a>",
    "[2]<a>Weather</a>",
    "Step 3 of the guided tour",
]
CONSENT = [
    "We value your privacy",
    "[0]<button>Accept all</button>",
    "[1]<button>Settings</button>",
    "Harbour news - front page",
]
DRAWER = ["Menu", "[0]<button>Close</button>", "[1]<a>Ferries</a>", "[2]<a>Contact</a>"]
#: Accepted, the consent dialog comes back now and then, and so does the menu, which the same button opens.
SEEN = [CONSENT, PAGE, DRAWER, CONSENT, CONSENT, PAGE, PAGE, DRAWER, PAGE, CONSENT, DRAWER, PAGE, CONSENT]  # fmt: skip


def step(tool, arguments, lines):
    return {"type": "tool", "name": tool, "arguments": arguments, "output": "\n".join(lines)}


def kinds(steps, **config):
    given = [{"id": f"s{at}", **each} for at, each in enumerate(steps, 1)]
    result = LoopGrader(config=config).grade({"format": "weighbridge", "steps": given})
    return [(loop["kind"], loop["repeats"]) for loop in result["details"]["loops"]]


def clicks(screens, index=lambda at: int(at % 5 == 4)):
    return [step("click", {"index": index(at)}, screen) for at, screen in enumerate(screens)]


def test_a_dialog_that_comes_back_nine_times_is_a_loop():
    assert kinds(clicks(SEEN)) == [("nothing_new", 13)]
    assert kinds(clicks(SEEN[:11])) == []
    assert kinds(clicks(SEEN[:11]), max_repeats=2) != []


def test_clocks_and_turns_are_no_news():
    timed = [[*screen, f"14:0{at % 10}:31 T:{at + 7}"] for at, screen in enumerate(SEEN)]
    assert kinds(clicks(timed)) == [("nothing_new", 9)]
    towns = ("Oslo", "Riga", "Porto")
    clocks = [[f"{town} 14:{at + 10}:31" for town in towns] for at in range(len(SEEN))]
    shown = [[*screen, *lines] for screen, lines in zip(SEEN, clocks, strict=True)]
    assert kinds(clicks(shown)) == [("nothing_new", 13)]


def test_after_a_new_request_screens_may_be_looked_at_again():
    request = {"type": "user", "output": "Now look for the harbour's telephone number, please."}
    assert kinds([*clicks(SEEN[:3]), request, *clicks(SEEN[:11])]) == []
    assert kinds([*clicks(SEEN), request, *clicks([PAGE])]) == [("nothing_new", 13)]


def test_a_confirmation_is_no_known_screen():
    confirmed = step("click", {"index": 0}, ["Saved."])
    assert kinds([*clicks(SEEN[:8]), confirmed, *clicks(SEEN[8:])]) == []


@pytest.mark.parametrize(
    "screens",
    [
        pytest.param([[*each, f"Tickets left: {99 - at}"] for at, each in enumerate(SEEN)],
                     id="a number that moves"),
        pytest.param([[*each, *["One ferry has arrived"] * (at == 6)] for at, each in enumerate(SEEN)],
                     id="something new in between"),
    ],
)  # fmt: skip
def test_screens_that_show_something_new_are_no_loop(screens):
    assert kinds(clicks(screens)) == []


def test_other_actions_on_known_screens_are_no_loop():
    assert kinds(clicks(SEEN, lambda at: at)) == []


def test_a_walk_through_rooms_that_look_alike_is_no_loop():
    ways = ["north", "east", "south", "north", "west"]
    walk = [step("go", {"to": ways[at % 5]}, screen) for at, screen in enumerate(SEEN)]
    assert kinds(walk) == []


def test_known_screens_are_a_loop_although_four_of_ten_actions_are_steps_of_a_walk():
    steps = clicks(SEEN, lambda _: 0)
    for at in (5, 7, 10, 12):
        steps[at] = step("go", {"to": "north"}, SEEN[at])
    assert kinds(steps) == [("nothing_new", 12)]


def board(rng, done):
    """Return rows of a board of which each was seen before, in an arrangement that was not."""
    rows = ["| x . . |", "| . x . |", "| . . x |", "| x x . |", "| . x x |", "| x . x |"]
    while True:
        made = tuple(rng.sample(rows, 5))
        if made not in done:
            done.add(made)
            return made


def test_a_board_whose_known_rows_come_in_new_arrangements_is_no_loop():
    rng, done = random.Random("board"), set()
    boards = [board(rng, done) for _ in range(40)]
    assert kinds([step("push", {"box": at % 4}, rows) for at, rows in enumerate(boards)]) == []


def rooms(count, blocked):
    """Return steps in a cellar, of which some are blocked, while a cat walks about in it."""
    rng, made = random.Random("cellar"), []
    for at in range(count):
        first = "[Move blocked: there is a wall.]" if blocked(at) else "[Moved.]"
        way = ("north", "east", "south", "west")[rng.randrange(4)]
        cat = rng.randrange(7)
        rows = [
            rng.choice(("|@......|", "|.@.....|", "|..@....|")),
            f"|{'.' * cat}c{'.' * (6 - cat)}|",
            "|.......|",
        ]
        made.append(step("move", {"to": way}, [first, *rows, f"HP: {9 + rng.randrange(5)} of 14"]))
    return made


def test_moves_that_are_blocked_half_of_the_time_without_anything_new_are_a_loop():
    stuck = rooms(70, lambda at: at % 3 > 0)
    assert [kind for kind, _ in kinds(stuck)] == ["nothing_new"]
    assert kinds(stuck[:30]) == []


def test_moves_that_work_are_no_loop_although_the_places_are_known():
    assert kinds(rooms(70, lambda at: at % 3 == 0)) == []
