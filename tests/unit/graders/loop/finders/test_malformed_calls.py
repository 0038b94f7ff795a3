"""Calls of one tool that are all malformed: a loop, whatever each is for, and whatever lies between."""

from __future__ import annotations

import pytest

from weighbridge.graders.loop import LoopGrader

ASKED = {"type": "user", "output": "And now the next field of the form, please."}


def kinds(steps, **config):
    given = [{"id": f"s{at}", **step} for at, step in enumerate(steps, 1)]
    result = LoopGrader(config=config).grade({"format": "weighbridge", "steps": given})
    return [(loop["kind"], loop["repeats"]) for loop in result["details"]["loops"]]


def fills(count, error="invalid syntax (<string>, line {at})"):
    """Return calls that fill fields of a form with code, each for another field, after which the harness goes on."""
    names = ("colour", "advice", "city", "moral", "age group", "motive", "weather", "rewrite")
    calls = [
        {
            "type": "tool",
            "name": "execute",
            "arguments": {"code": f"fill('{name}', {'x' * at})\nThis fills the field {name}."},
            "output": f"Failed to execute an action, error: {error.format(at=at)}",
        }
        for at, name in enumerate(names[:count])
    ]
    return [step for call in calls for step in (call, ASKED)]


@pytest.mark.parametrize(
    "error",
    [
        "invalid syntax (<string>, line {at})",
        "unterminated string literal (detected at line {at})",
        "TypeError: fill() missing 1 required positional argument: 'value{at}'",
        "could not parse field {at}",
        "unknown tool 'fill{at}'",
    ],
)
def test_calls_that_are_malformed_are_a_loop_whatever_each_is_for(error):
    assert kinds(fills(5, error)) == [("same_failure", 5)]
    assert kinds(fills(4, error)) == []


def test_a_few_other_failures_among_malformed_calls_do_not_restart_the_count():
    steps = fills(8)
    steps[4]["output"] = steps[8]["output"] = "Failed to execute an action: no such field"
    assert kinds(steps) == [("same_failure", 6)]


def test_the_limit_follows_max_repeats():
    assert kinds(fills(4), max_repeats=2) == [("same_failure", 4)]
    assert kinds(fills(5), max_repeats=4) == []


def test_a_success_of_the_tool_restarts_the_count():
    steps = fills(8)
    steps[6]["output"] = "filled"
    assert kinds(steps) == []


TRIES = (
    "go to the kitchen",
    "kitchen",
    "walk",
    "make some coffee",
    "find coffee",
    "out of bed",
    "drink",
)


@pytest.mark.parametrize(
    "refusal",
    [
        "That's not a verb I recognize.\n\n>",
        "You can't see any such thing.\n\n>",
        "I don't understand that command.",
        "I only understood you as far as wanting to look.",
        "Nothing happens.",
        "You can't go that way.",
    ],
)
def test_commands_that_a_game_does_not_understand_are_a_loop(refusal):
    steps = [
        {"type": "tool", "name": "command", "arguments": {"text": text}, "output": refusal}
        for text in TRIES
    ]
    assert kinds(steps) == [("same_failure", 7)]
    assert kinds(steps[:4]) == []
    steps[3]["output"] = "The coffee smells of Sunday mornings, and Julia looks up from her book."
    assert kinds(steps) == []


def test_a_long_answer_of_a_game_that_speaks_of_not_understanding_is_an_answer():
    steps = [
        {
            "type": "tool",
            "name": "command",
            "arguments": {"text": text},
            "output": f"The old man says: I don't understand {text}. {text} " * 9,
        }
        for text in TRIES
    ]
    assert kinds(steps) == []


@pytest.mark.parametrize(
    "error",
    [
        "Error: Invalid Tool",
        'Validation failed for tool "execute":\n  - code: must have required properties code\n\nReceived arguments: {at}',
        "Tool execute not found",
    ],
)
def test_calls_that_a_framework_refuses_before_they_run_are_a_loop(error):
    steps = fills(6)
    for at, step in enumerate(steps[::2]):
        step["output"] = error.replace("{at}", f"{{fill: {at}}}")
    assert kinds(steps) == [("same_failure", 6)]


def test_commands_whose_first_words_are_tried_out_are_a_loop_later():
    verbs = ("enter", "say", "type", "open", "unlock", "decrypt", "solve", "answer", "use")
    steps = [
        {"type": "tool", "name": "command", "arguments": {"text": f"{verb} HELLO"}, "output": f"Unknown command: {verb}"}
        for verb in verbs
    ]  # fmt: skip
    assert kinds(steps) == [("same_failure", 9)]
    assert kinds(steps[:8]) == []
    assert kinds([*steps[:7], steps[0]]) == [("same_failure", 8)]
