"""Repeats beyond a limit that are no loop because the trace lacks their results: a pass says so."""

from __future__ import annotations

import pytest

from weighbridge.graders.loop import LoopGrader

LOOK = ("look", {})
SCROLL = ("scroll", {"direction": "down"})
NEXT = ("next_page", {})
OPEN = ("click", {"at": "first"})


def graded(calls, output=None):
    steps = [{"type": "tool", "name": name, "arguments": given} for name, given in calls]
    if output is not None:
        steps = [{**step, "output": output} for step in steps]
    return LoopGrader().grade({"format": "weighbridge", "steps": steps})


def descriptions(result):
    return [entry["description"] for entry in result["evidence"]]


@pytest.mark.parametrize(
    ("calls", "check", "least"),
    [
        ([LOOK] * 4, "repeated_steps", ": without results, 8 in a row are a loop"),
        ([LOOK] * 7, "repeated_steps", ": without results, 8 in a row are a loop"),
        ([SCROLL] * 29, "repeated_steps", ": without results, 30 in a row are a loop"),
        ([NEXT, OPEN] * 3, "repeated_cycles", ""),
        ([NEXT, OPEN, LOOK] * 3, "repeated_cycles", ""),
    ],
    ids=["four", "seven", "scrolling", "two in turn", "three in turn"],
)
def test_a_pass_says_that_repeats_do_not_count_because_results_are_missing(calls, check, least):
    result = graded(calls)
    assert result["verdict"] == "pass"
    said = {entry["check"]: entry["description"] for entry in result["evidence"]}
    count = len(calls)
    assert said.pop(check).endswith(
        f"; the trace lacks the results of {count} of these {count} steps, so each may have had another{least}"
    )
    assert not any("lacks" in other for other in said.values())


@pytest.mark.parametrize(("call", "least"), [(LOOK, 8), (SCROLL, 30)], ids=["looks", "scrolling"])
def test_as_many_steps_as_a_pass_names_are_a_loop(call, least):
    assert graded([call] * least)["verdict"] == "fail"
    assert graded([call] * (least - 1))["verdict"] == "pass"


@pytest.mark.parametrize(
    ("calls", "output"),
    [([LOOK] * 3, None), ([("read", {"file": "a"})] * 3, None), ([LOOK] * 3, "a room")],
    ids=["few without results", "few that read", "few with results"],
)
def test_repeats_within_the_limits_need_no_reason(calls, output):
    result = graded(calls, output)
    assert result["verdict"] == "pass"
    assert not any("lacks" in said for said in descriptions(result))
