"""Calls in a described world that only show what was read before."""

from __future__ import annotations

import pytest

from weighbridge.graders.loop import LoopGrader

SEEN = {
    "hanger 1": "On the hanger 1, you see nothing.",
    "cabinet 4": "The cabinet 4 is closed.",
    "shelf 2": "On the shelf 2, you see a towel 1 and a candle 3.",
    "sink 1": "In the sink 1, you see a soapbar 2.",
}


def found_in(actions):
    steps = [{"id": "q", "type": "user", "output": "Put a soapbottle in the garbagecan."}]
    for at, (action, result) in enumerate(actions):
        step = {"id": f"c{at}", "type": "tool", "name": "act", "arguments": {"action": action}}
        steps.append({**step, "output": result})
    result = LoopGrader().grade({"format": "weighbridge", "steps": steps})
    return [loop["rule"] for loop in result["details"]["loops"]]


def go(place):
    return f"go to {place}", f"You arrive at {place}. {SEEN[place]}"


def look(place):
    return f"examine {place}", SEEN[place]


ROUND = [go(place) for place in SEEN]
IN_VAIN = [
    *(look("sink 1"), go("hanger 1"), look("hanger 1"), go("cabinet 4"), look("cabinet 4")),
    *(go("shelf 2"), look("shelf 2"), go("hanger 1")),
]


def test_places_that_are_looked_at_again_and_again_are_a_loop_whatever_the_words():
    assert found_in([*ROUND, *IN_VAIN]) == ["known_observations"]
    assert found_in([*ROUND, *IN_VAIN[:-1]]) == []


def test_one_in_four_may_show_something_else_and_more_may_not():
    bag = ("inventory", "You are carrying a soapbar 1 and a knife 2.")
    assert found_in([*ROUND, *IN_VAIN[:4], bag, *IN_VAIN[4:]]) == ["known_observations"]
    news = [(f"open drawer {at}", f"You open the drawer {at}. It is empty.") for at in range(3)]
    assert found_in([*ROUND, *IN_VAIN[:4], *news, *IN_VAIN[4:]]) == []


def test_each_place_looked_at_once_more_is_no_loop():
    places = {
        f"box {at}": f"In the box {at} lies a coin of the year {1900 + at}." for at in range(10)
    }
    steps = [(f"go to {name}", f"You arrive. {text}") for name, text in places.items()]
    again = [(f"examine {name}", text) for name, text in places.items()]
    assert found_in([*steps, *again]) == []


@pytest.mark.parametrize(
    ("verb", "is_look"), [("inspect", True), ("turn to", False), ("clean", False)]
)
def test_steps_in_a_direction_and_what_handles_things_are_not_examined(verb, is_look):
    acts = [(f"{verb} {name}", text) for name, text in SEEN.items()] * 3
    found = found_in([*ROUND, ("inventory", "You carry nothing."), *acts[:9]])
    assert ("known_observations" in found) == is_look


@pytest.mark.parametrize(
    ("ask", "answers"),
    [
        ("check seat {}A", ("The seat is free.", "The seat is taken.")),
        ("lint src/module{}/errors.py", ("No errors were found.", "2 errors were found.")),
        ("classify image_{}.png", ("The image shows a cat.", "The image shows a dog.")),
    ],
)
def test_one_of_two_answers_for_each_of_many_things_is_news(ask, answers):
    order = (0, 1, 0, 0, 1, 0, 1, 1, 0, 0, 1, 0)
    assert found_in([(ask.format(at), answers[each]) for at, each in enumerate(order)]) == []
