"""Walks in circles among known places: a loop if each move leads where it led before, and nothing is changed."""

from __future__ import annotations

import pytest

from weighbridge.graders.loop import LoopGrader

#: Places on a ring, and what one sees there.
RING = {
    "Attic": "You stand in a dusty attic below a skylight. A ladder leads down.",
    "Hall": "The hall smells of wax. Doors open to the north and to the south.",
    "Kitchen": "Copper pans hang above a cold stove. There is a hatch in the wall.",
    "Cellar": "Barrels line the cellar, and water drips from the vault above them.",
    "Garden": "A walled garden with one pear tree. The gate is rusted shut, it seems.",
}
NAMES = [*RING]
#: Moves on the ring, 1 clockwise and -1 back, in an order that is no cycle: places come back in changing order.
THERE_AND_BACK = [1, 1, 1, 1, 1, -1, 1, 1, -1, -1, -1, 1, -1, -1, -1, -1, 1, 1, 1, -1, 1, 1, 1, 1, -1, -1]  # fmt: skip


def go(way, seen):
    return {"type": "tool", "name": "go", "arguments": {"to": way}, "output": seen}


def walk(moves=THERE_AND_BACK, seen=RING.get):
    place, steps = 0, []
    for move in moves:
        place = (place + move) % len(NAMES)
        steps.append(go("east" if move == 1 else "west", seen(NAMES[place])))
    return steps


def kinds(steps, **config):
    given = [{"id": f"s{at}", **step} for at, step in enumerate(steps, 1)]
    result = LoopGrader(config=config).grade({"format": "weighbridge", "steps": given})
    return [(loop["kind"], loop["repeats"]) for loop in result["details"]["loops"]]


def test_a_walk_among_known_places_is_a_loop_from_six_times_the_limit_on():
    assert kinds(walk()) == [("nothing_new", 26)]
    assert kinds(walk()[:22]) == []
    assert kinds(walk(), max_repeats=4) == []


@pytest.mark.parametrize(
    ("other", "found"),
    [
        ({"name": "look", "arguments": {}, "output": "You see nothing of use here."}, 33),
        ({"name": "inventory", "arguments": {}, "output": "You carry a lamp."}, 33),
        ({"name": "goal", "arguments": {}, "output": "Find the clock."}, 33),
        ({"name": "take", "arguments": {"what": "a pear"}, "output": "You pick up a pear."}, 0),
        ({"name": "pick_up", "arguments": {}, "output": "You pick up a box."}, 0),
        ({"name": "act", "arguments": {"what": "put box down"}, "output": "You lay it down."}, 0),
        ({"name": "act", "arguments": {"what": "turn lamp on"}, "output": "There is light."}, 0),
    ],
)
def test_calls_between_must_change_nothing(other, found):
    looked = {"type": "tool", **other}
    steps = [looked]
    for at, step in enumerate(walk()):
        steps += [step, looked] if at % 4 == 3 else [step]
    assert sum(repeats for _, repeats in kinds(steps)) == found


def test_places_that_look_alike_are_no_circle():
    """From two places that look alike, one move leads to different places."""
    alike = {**RING, "Cellar": RING["Hall"]}
    assert kinds(walk(seen=alike.get)) == []


def test_a_way_back_through_known_places_is_no_circle():
    rooms = [
        f"Room {at}: a plain room of grey stone, number {at} of the east wing" for at in range(25)
    ]
    there = [go("east", room) for room in rooms]
    back = [go("west", room) for room in reversed(rooms[:-1])]
    assert kinds([*there, *back]) == []


def test_what_is_new_or_a_request_of_the_user_begins_anew():
    found = {
        "type": "tool",
        "name": "search",
        "arguments": {},
        "output": "Under the pear lies a key.",
    }
    asked = {"type": "user", "output": "Now walk on and tell me in which room the clock hangs."}
    for between in (found, asked):
        steps = walk()
        assert kinds([*steps[:14], between, *steps[14:]]) == []
