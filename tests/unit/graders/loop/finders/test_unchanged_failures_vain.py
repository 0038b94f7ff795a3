"""Changes after each of which a run fails for one reason: a loop, however it is run."""

from __future__ import annotations

import pytest

from weighbridge.graders.loop import LoopGrader

NAMES = (
    "anchor",
    "bell",
    "chart",
    "deck",
    "engine",
    "ferry",
    "galley",
    "helm",
    "island",
    "jetty",
    "keel",
    "lamp",
)
REASON = 'Database Error: relation "raw.harbour_fees" does not exist'


def edit(at):
    arguments = {"path": "models/fees.sql", "old": f"-- {NAMES[at - 1]}", "new": f"-- {NAMES[at]}"}
    return {"type": "tool", "name": "edit_file", "arguments": arguments, "output": "The file was edited."}  # fmt: skip


def run(at, reason=REASON):
    command = f"dbt run --select {NAMES[at]} --threads {at + 2}"
    said = f"{at + 3} of {at + 20} models of {NAMES[at]}\nCompiled {NAMES[-at]} again\n{reason}"
    return {"type": "tool", "name": "bash", "arguments": {"command": command}, "output": said, "error": said}  # fmt: skip


def rounds(count, reason=REASON, changed=edit):
    steps = [
        step
        for at in range(count)
        for step in (changed(at), run(at, reason.format(name=NAMES[at])))
    ]
    return [step for step in steps if step]


def kinds(steps):
    given = [{"id": f"s{at}", **step} for at, step in enumerate(steps, 1)]
    result = LoopGrader().grade({"format": "weighbridge", "steps": given})
    return [(loop["kind"], loop["repeats"]) for loop in result["details"]["loops"]]


def test_nine_runs_that_fail_for_one_reason_whatever_is_changed_are_a_loop():
    assert kinds(rounds(9)) == [("same_failure", 9)]
    assert kinds(rounds(8)) == []


def test_another_reason_each_time_is_progress():
    assert (
        kinds(rounds(12, 'Database Error: relation "{name}" does not exist in schema {name}')) == []
    )


def test_a_run_that_succeeds_between_is_progress():
    passed = {**run(5), "output": "Completed successfully", "error": None}
    assert kinds([*rounds(6), passed, *rounds(6)]) == []


@pytest.mark.parametrize(
    "between", [{"type": "user", "output": "Now try it with the other schema, please."},
                {"type": "tool", "name": "sleep", "arguments": {"seconds": 60}, "output": ""}]
)  # fmt: skip
def test_a_request_or_a_wait_restarts_the_count(between):
    assert kinds([*rounds(6), between, *rounds(6)]) == []


def test_runs_without_changes_between_are_a_survey():
    def listed(at):
        return {"type": "tool", "name": "read_file", "arguments": {"path": f"{NAMES[at]}.yml"}, "output": f"name: {NAMES[at]}"}  # fmt: skip

    assert kinds(rounds(10, changed=listed)) == []


SYMBOL = "error: cannot find symbol of the harbour"


@pytest.mark.parametrize(
    "failure",
    [
        lambda at: f"src/{NAMES[at]}.java:12: {SYMBOL}",
        lambda at: f"src/Port.java:{10 + at * 13}: {SYMBOL}",
        lambda at: f"src/Port.java:10: {SYMBOL}\nFound {40 - at} errors.",
    ],
)
def test_runs_that_fail_elsewhere_or_in_fewer_things_each_time_get_on(failure):
    assert kinds([step for at in range(11) for step in (edit(at), run(at, failure(at)))]) == []


def test_runs_that_fail_in_a_few_places_by_turns_do_not_get_on():
    places = [f"src/Port.java:{10 + at % 3 * 7}: {SYMBOL}" for at in range(11)]
    steps = [step for at, place in enumerate(places) for step in (edit(at), run(at, place))]
    assert kinds(steps) == [("same_failure", 11)]
