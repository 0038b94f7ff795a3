"""Repeats with the agent's notes to itself between them: a loop where the same repeats without notes are one."""

from __future__ import annotations

import pytest

from weighbridge.graders.loop import LoopGrader

HALL = "You stand in a hall. An oak door leads to the north."
YARD = "You stand in a yard. A path leads back to the hall."


def call(name, arguments, output=None):
    return {"type": "tool", "name": name, "arguments": arguments, "output": output}


def note(text):
    return call("think", {"thought": text}, "noted")


READ = call("read_file", {"path": "ferry.py"}, "def deck(): return 7")
CHECK = call("run", {"command": "pytest"}, "1 failed: test_deck")


def graded(steps):
    given = [{"id": f"s{at}", **each} for at, each in enumerate(steps, 1)]
    return LoopGrader().grade({"format": "weighbridge", "steps": given})


def loops(steps):
    return [(loop["rule"], loop["step_ids"]) for loop in graded(steps)["details"]["loops"]]


def test_rounds_with_notes_in_some_of_them_are_a_loop():
    thought = [note(f"The {part} may be wrong") for part in ("deck", "mast")]
    rounds = [READ, thought[0], CHECK, READ, CHECK, thought[1], READ, CHECK]
    assert loops(rounds) == [("same_cycle", ["s1", "s3", "s4", "s5", "s7", "s8"])]
    assert loops(rounds[:-1]) == []


def test_other_calls_between_are_no_notes():
    look = [call("list_files", {"path": part}, f"the {part}") for part in ("deck", "mast")]
    assert loops([READ, look[0], CHECK, READ, CHECK, look[1], READ, CHECK]) == []


#: Repeats that are no loop, since each may have shown something else.
MOVES = {
    "scrolls that are not recorded": [call("scroll", {"direction": "down"})] * 20,
    "edits of which nothing is recorded": [
        call(
            "edit_file",
            None,
            "The file was updated, and all of its changes were saved. Go on with the next step.",
        )
    ]
    * 20,
    "steps that lead elsewhere and back": [
        call("go", {"to": "north"}, place) for place in [HALL] * 4 + [YARD] + [HALL] * 4
    ],
}


@pytest.mark.parametrize("moves", MOVES.values(), ids=MOVES)
@pytest.mark.parametrize("place", [0, 2, None])
def test_moves_are_no_loop_because_of_a_note(moves, place):
    end = len(moves) if place is None else place
    assert graded(moves)["verdict"] == "pass"
    assert graded([*moves[:end], note("I go on."), *moves[end:]])["verdict"] == "pass"
