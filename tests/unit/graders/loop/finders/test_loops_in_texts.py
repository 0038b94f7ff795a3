"""Turns of an agent: equal turns have equal texts and equal calls with equal results."""

from __future__ import annotations

from weighbridge.graders.loop import LoopGrader

SAID = "I look at the order again to see in which state it is at the moment."
OTHER = "Perhaps the parcel is at the customs office, so I ask for its state."


def turn(text, *calls):
    """Return the steps of a turn: a message, and calls of one tool, each with its argument and its result."""
    return [
        {"type": "llm", "output": text},
        *(
            {"type": "tool", "name": "look", "arguments": {"q": asked}, "output": output}
            for asked, output in calls
        ),
    ]


def kinds(*turns, **config):
    steps = [step for each in turns for step in each]
    given = [{"id": f"s{at}", **step} for at, step in enumerate(steps, 1)]
    result = LoopGrader(config={"step_types": ["llm"], **config}).grade(
        {"format": "weighbridge", "steps": given}
    )
    return [(loop["kind"], loop["repeats"]) for loop in result["details"]["loops"]]


def orders(*states):
    return [("order", f"Order 4 is {state}.") for state in states]


ONE = orders("open")
TWO = orders("open", "late")
NEXT = ["packed", "sent", "lost", "found", "here"]


def test_turns_with_equal_calls_and_results_are_a_loop():
    assert kinds(*[turn("", *ONE)] * 5) == [("text", 5)]
    assert kinds(*[turn("", *TWO)] * 5) == [("text", 5)]
    assert kinds(*[turn(SAID, *TWO)] * 5) == [("text", 5)]


def test_a_turn_whose_call_has_another_result_is_another_turn():
    assert kinds(*(turn("", *orders(state)) for state in NEXT)) == []


def test_a_turn_is_another_if_any_of_its_calls_has_another_result():
    assert kinds(*(turn("", *orders("open", state)) for state in NEXT)) == []
    assert kinds(*(turn("", *orders(state, "open")) for state in NEXT)) == []


def test_a_turn_with_a_further_call_is_another_turn():
    assert kinds(turn("", *ONE), turn("", *ONE, *ONE), turn("", *TWO), turn("", *ONE)) == []


def test_equal_calls_after_different_texts_are_different_turns():
    texts = ["", SAID, OTHER, SAID[20:], OTHER[20:]]
    assert kinds(*(turn(text, *ONE) for text in texts)) == []
