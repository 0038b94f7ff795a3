"""Edits that are undone, by the reverse edit or by a command that restores the file."""

from __future__ import annotations

import pytest

from weighbridge.graders.loop import LoopGrader

RESTORED = {"command": "git checkout ferry.py"}


def call(name, arguments, output):
    return {"type": "tool", "name": name, "arguments": arguments, "output": output}


def edit(old, new, path="ferry.py"):
    return call("edit", {"path": path, "old_str": old, "new_str": new}, "replaced 1 occurrence")


def kinds(steps, **config):
    given = [{"id": f"s{at}", **each} for at, each in enumerate(steps, 1)]
    result = LoopGrader(config=config).grade({"format": "weighbridge", "steps": given})
    return [loop["kind"] for loop in result["details"]["loops"]]


def view(line):
    return call("read_file", {"path": "ferry.py", "line": line}, f"{line}: def deck_{line}(self):")


def reversed_edits(rounds):
    """Return edits, each with other text, each undone by the reverse edit, with something read in between."""
    return [
        step
        for at in range(rounds)
        for step in (
            edit("def deck", f"def deck_{at}\n\ndef deck"),
            view(at),
            edit(f"def deck_{at}\n\ndef deck", "def deck"),
        )
    ]


def restored_edits(rounds):
    return [
        step
        for at in range(rounds)
        for step in (edit("x", f"x + {at}"), call("bash", RESTORED, "Updated 1 path"))
    ]


@pytest.mark.parametrize("undone", [reversed_edits, restored_edits])
def test_six_edits_that_are_undone_are_a_loop(undone):
    assert kinds(undone(6)) == ["nothing_new"]
    assert kinds(undone(5)) == []
    assert kinds(undone(4), max_repeats=2) == ["nothing_new"]


def test_a_check_with_a_new_result_between_an_edit_and_its_reverse_is_an_experiment():
    steps = reversed_edits(8)
    measured = [call("bash", {"command": "make bench"}, f"score {at * at}") for at in range(8)]
    tried = [each for at in range(8) for each in (*steps[3 * at : 3 * at + 2], measured[at], steps[3 * at + 2])]  # fmt: skip
    assert kinds(tried) == []
    red = call("bash", {"command": "make test"}, "FAILED test_deck: 3 != 4, and 12 tests passed")
    tried = [red, *(each for at in range(8) for each in (*steps[3 * at : 3 * at + 2], red, steps[3 * at + 2]))]  # fmt: skip
    assert kinds(tried) != []


def test_edits_of_other_files_and_edits_that_failed_undo_nothing():
    elsewhere = [each for at in range(8) for each in (edit("a", f"b{at}"), edit(f"b{at}", "a", "other.py"))]  # fmt: skip
    assert kinds(elsewhere) == []
    failed = [{**each, "output": f"Error: text {at} not found"} for at, each in enumerate(reversed_edits(8))]  # fmt: skip
    assert "nothing_new" not in kinds(failed)
    asked = {"type": "user", "output": "Now please try the same with the doors of the second deck."}
    assert kinds([*reversed_edits(3), asked, *reversed_edits(3)]) == []


@pytest.mark.parametrize(
    "given", [{"old": 1, "new": 2}, {"old": "a", "new": "a"}, {"old_a": "a", "old_b": "b", "new": "c"}, {"old": "a"}]
)  # fmt: skip
def test_arguments_that_replace_nothing_are_no_edit(given):
    assert kinds([call("edit", given | {"at": at}, f"line {at}") for at in range(14)]) == []
