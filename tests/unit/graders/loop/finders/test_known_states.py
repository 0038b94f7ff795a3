"""Answers in free words that lead back and forth between a few states of before."""

from __future__ import annotations

import pytest

from weighbridge.graders.loop import LoopGrader

PLACES = {
    "hall": "You are in the hall. A door leads north, and a corridor leads east to a window.",
    "yard": "You are in the yard. A wall is on three sides, and the hall lies to the south.",
    "shed": "You are in the shed. There are rakes, a bucket, and a narrow way to the yard.",
    "loft": "You are in the loft. Straw covers the floor, and a ladder leads down to the shed.",
}


def found_in(steps):
    result = LoopGrader().grade({"format": "weighbridge", "steps": steps})
    return [(loop["rule"], loop["steps"]) for loop in result["details"]["loops"]]


def walk(*places, kind="user"):
    """Return a walk of an agent who says what it does in ever new words, each with the place that it comes to."""
    steps = [{"id": "q", "type": "user", "output": "Find the way out. You are in the cellar."}]
    for at, place in enumerate(places):
        words = f"Thought {at}: that was no exit, so door number {at * 37 % 101} it is"
        steps.append({"id": f"a{at}", "type": "llm", "output": words})
        steps.append({"id": f"r{at}", "type": kind, "output": PLACES.get(place, place)})
    return steps


START = ("loft", "shed", "yard", "hall")


@pytest.mark.parametrize("kind", ["user", "other"])
def test_twelve_answers_that_lead_back_and_forth_are_a_loop(kind):
    assert found_in(walk(*START, *["yard", "hall"] * 6, kind=kind)) == [("known_states", 12)]
    assert found_in(walk(*START, *["yard", "hall"] * 5, "yard", kind=kind)) == []


def test_a_new_place_between_is_no_way_out_by_itself():
    bump = "You walk directly into a wall, and hit your nose. Mind the directions that are open."
    found = found_in(walk(*START, *["yard", "hall"] * 3, bump, *["yard", "hall"] * 3))
    assert found == [("known_states", 12)]
    new = [f"{bump} It is wall number {at}." for at in range(5)]
    assert found_in(walk(*START, *["yard", "hall"] * 3, *new, *["yard", "hall"] * 3)) == []


def test_a_way_back_through_many_places_is_none():
    rooms = [f"You are in room {at} of a long row of rooms, each with doors." for at in range(20)]
    assert found_in(walk(*rooms, *reversed(rooms))) == []


def test_what_a_harness_says_by_turns_from_the_beginning_is_no_state():
    think = "Think about what you have seen so far, and whether your plan still holds as it is."
    act = "Now choose the next action, and name the element of the page that it is for, please."
    assert found_in(walk(*[think, act] * 10)) == []


def test_one_reply_again_and_again_is_no_way():
    assert found_in(walk(*START, *["yard"] * 14)) == []


FORM = (
    "Please give the name of the person in this row, first name and last name, as text.",
    "Thank you, the name has been recorded. Now please give the age of this person in years.",
)


def test_a_form_that_is_filled_in_row_by_row_is_no_way_back():
    greetings = (
        "Welcome to the office for the census of this town.",
        "There are eight rows to fill in.",
    )
    steps = walk(*greetings, *FORM * 8)
    for at, step in enumerate(steps[1::2]):
        step["output"] = (
            f"The person is called Person {at}" if at % 2 else f"{at + 30} years, born {at}"
        )
    assert found_in(steps) == []
