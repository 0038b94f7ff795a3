"""Calls that differ, and whose long results the same tools gave before."""

from __future__ import annotations

import pytest

from weighbridge.graders.loop import LoopGrader

RULES = '{"topic": "%s", "rules": "%s"}'
REPORT = "no data for the winter, the spring, the summer or the autumn; " * 6
ASKED = (
    *("Tides of the harbour, second study", "Optimizing the harbour's tides for the second study"),
    *("How a pilot plans for tides", "Second study of tides and the pilot of the harbour"),
    *("The best plan for tides against the pilot", "Plans of the harbour: tides"),
)


def call(name, arguments, output, **more):
    return {"type": "tool", "name": name, "arguments": arguments, "output": output, **more}


def rounds(count):
    """Calls of two tools in turns, each with other arguments, of which the first repeats its own in its result."""
    steps = []
    for topic in ASKED[:count]:
        steps.append(call("study_topic", {"topic": topic}, RULES % (topic, REPORT)))
        steps.append(call("weigh_strategy", {"data": [len(steps), topic[::-1]]}, REPORT))
    return steps


def rules(steps):
    given = [{"id": f"s{at}", **step} for at, step in enumerate(steps, 1)]
    result = LoopGrader().grade({"format": "weighbridge", "steps": given})
    return [loop["rule"] for loop in result["details"]["loops"]]


def test_six_calls_with_long_results_of_before_are_a_loop():
    assert rules(rounds(4)) == ["known_long_results"]
    assert rules(rounds(4)[:7]) == []


@pytest.mark.parametrize(
    "between",
    [
        call("study_topic", {"topic": "ebb"}, RULES % ("ebb", "falls " * 80)),
        call("write_file", {"path": "a.md", "content": "b"}, "written"),
        {"type": "user", "output": "And how are the tides of the eastern harbour?"},
    ],
)
def test_something_new_a_change_or_a_request_between_begins_again(between):
    steps = rounds(5)
    assert rules([*steps[:5], between, *steps[5:]]) == []


def test_short_results_may_be_the_same_for_different_things():
    assert rules([{**step, "output": "no data"} for step in rounds(4)]) == []


def test_a_look_back_at_many_files_is_none():
    files = [
        call("open_page", {"page": f"{name}.html"}, f"{name}: {REPORT}")
        for name in ("gulls", "terns", "rails", "swans", "ducks", "geese", "crows", "doves")
    ]
    assert rules([*files, *[{**each, "name": "open_page"} for each in reversed(files)]]) == []
