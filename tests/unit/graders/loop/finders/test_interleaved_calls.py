"""Calls that are made again in any order, with others between: a loop if their results say nothing new."""

from __future__ import annotations

import pytest

from weighbridge.graders.loop import LoopGrader

ROOMS = ["attic", "cellar", "hall", "porch", "pantry", "study"]


def tool(name, arguments, output):
    return {"type": "tool", "name": name, "arguments": arguments, "output": output}


def bash(command, output):
    return tool("bash", {"command": command}, output)


def act(text, output):
    return tool("act", {"action": text}, output)


def look(room):
    return act(f"examine {room}", f"In the {room} there is a lamp and the door to the garden")


def kinds(steps, **config):
    given = [{"id": f"s{at}", **step} for at, step in enumerate(steps, 1)]
    result = LoopGrader(config=config).grade({"format": "weighbridge", "steps": given})
    return [(loop["kind"], loop["steps"]) for loop in result["details"]["loops"]]


def looks(order):
    return [look(ROOMS[int(at)]) for at in order]


def test_reading_six_things_a_second_time_is_none():
    assert kinds(looks("012345" + "341052")) == []


def fill(at):
    arguments = {"cell": f"C{at}", "formula": f"=SUM(A{at}:B{at})"}
    return tool("set_cell_formula", arguments, f"C{at}: formula set successfully")


@pytest.mark.parametrize(("again", "found"), [("1231421", []), ("123142153416", ["nothing_new"])])
def test_work_that_is_done_again_is_a_loop_only_after_twice_as_many_calls(again, found):
    steps = [*map(fill, range(1, 7)), *[fill(int(at)) for at in again]]
    assert [kind for kind, _ in kinds(steps)] == found


CONDITIONS = ["year > 1990", "city <> ''", "id > 0", "name IS NOT NULL", "price < 10", "sold = 1"]


def test_a_question_that_finds_nothing_finds_no_more_with_further_conditions():
    asked = [f"SELECT name FROM pots WHERE {' AND '.join(CONDITIONS[: at + 1])}" for at in range(6)]
    for empty in ("[]", "[(0,)]", "[(None,)]"):
        steps = [tool("sql", {"statement": text}, empty) for text in asked]
        assert [count for _, count in kinds(steps)] == [6]


def test_two_known_results_in_turn_to_a_growing_question_are_a_loop():
    steps = []
    for at in range(4):
        more = " AND ".join(CONDITIONS[: at + 1])
        failed = "Error: column 'maker' is ambiguous"
        steps += [
            tool("sql", {"query": f"SELECT maker FROM pots JOIN lids WHERE {more}"}, failed),
            tool("sql", {"query": f"SELECT pots.maker FROM pots JOIN lids WHERE {more}"}, "[]"),
        ]
    assert [kind for kind, _ in kinds(steps)] == ["nothing_new"]


def test_a_shell_that_names_another_program_reports_the_same_failure():
    wordings = ["the first", "a first", "the last", "a last", "the only", "an only"]
    steps = [
        bash(
            f"Please print {word} number of it's load, then quit",
            f"{'bash' if at < 3 else 'the'}: -c: line {at}: unexpected EOF while looking for matching `''",
        )
        for at, word in enumerate(wordings)
    ]
    assert kinds(steps) == [("same_failure", 6)]


def test_turns_that_a_harness_counts_down_are_noise():
    presses = [
        tool("press", {"key": "F5"}, f"The page is still blank. You have {20 - at} turns left.")
        for at in range(4)
    ]
    assert kinds(presses) == [("identical", 4)]
    steps = [
        tool("job_status", {"job": "j1"}, f"The job runs; {20 - at} steps left.") for at in range(4)
    ]
    assert kinds(steps) == []


def test_answers_that_a_harness_does_not_understand_are_refused():
    spoken = ["It is seven.", "Seven, I think.", "So the sum is seven", "7 it is", "Seven again"]
    steps = []
    for at, text in enumerate(spoken):
        reply = f"I don't understand your input. Use <answer>. You have {9 - at} steps left."
        steps += [{"type": "llm", "output": text}, {"type": "user", "output": reply}]
    assert kinds(steps) == [("refused", 5)]


def test_an_undefined_name_is_a_failure():
    steps = [
        bash(
            f"awk '{{print hex($1)}}' {room}.txt | sort -u",
            "awk: line 2: function hex never defined",
        )
        for room in ROOMS
    ]
    assert kinds(steps) == [("same_failure", 6)]


LISTING = (
    '#!/usr/bin/env python3\nimport os\nimport requests\n\ndef route():\n    return "sharks"\n'
)


def reads_between_others(count, command="sed -n '1,260p' /srv/app/server.py", output=LISTING):
    """Return equal commands, each after two others, of which one brings something new."""
    return [
        step
        for at in range(count)
        for step in (
            bash(f"find /srv/app -name '*.{at}' -printf '%p'", f"/srv/app/found.{at}"),
            bash("grep -rn sharks /srv/app", "/srv/app/notes.txt:7: sharks have fins"),
            bash(command, output.format(at=at)),
        )
    ]


def test_one_file_read_five_times_is_a_loop_although_other_things_are_new():
    assert kinds(reads_between_others(5)) == [("interleaved", 5)]
    assert kinds(reads_between_others(4)) == []


def test_one_file_read_again_and_again_is_none_if_most_other_things_are_new():
    looks = [bash(f"ls /srv/app/{at}", f"{at}.py is a file") for at in range(9)]
    rounds = zip(looks, *[iter(reads_between_others(9))] * 3, strict=True)
    assert kinds([step for each in rounds for step in each]) == []


def test_the_number_of_such_reads_follows_max_repeats():
    assert kinds(reads_between_others(4), max_repeats=2) == [("interleaved", 4)]
    assert kinds(reads_between_others(5), max_repeats=4) == []


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("sed -n '1,260p' /srv/app/server.py", LISTING + "# {at}\n"),
        ("sed -n '1,260p' /srv/app/server.py", "import os\n"),
        ("sleep 60; cat /srv/app/server.log", LISTING),
        ("kubectl get pods -n harbour", LISTING),
        ("make install --prefix=/srv/app", "Successfully installed: " + LISTING),
    ],
    ids=["it changes", "short", "a wait", "a poll", "a confirmation"],
)
def test_other_commands_may_be_repeated_seven_times_between_others(command, output):
    assert kinds(reads_between_others(8, command, output)) == []


@pytest.mark.parametrize(
    "work",
    [
        lambda at: tool("edit", {"path": f"m{at}.py", "text": f"x = {at}" * at}, "edited"),
        lambda at: bash(f"grep -rn shark{at} /srv/app", f"notes.txt:{at}: {'fin ' * at}"),
    ],
    ids=["edits", "new questions"],
)
def test_tests_that_pass_and_files_that_are_read_beside_other_work_are_no_loop(work):
    passed = "." * 72 + " [100%]\n72 passed"
    for again in (
        bash("python -m pytest -q tests", passed),
        bash("cat /srv/app/server.py", LISTING),
    ):
        assert kinds([step for at in range(9) for step in (work(at), again)]) == []


def test_a_file_read_once_or_twice_for_each_request_is_no_loop():
    steps = reads_between_others(9)
    asked = ["the sharks", "their fins", "its teeth"]
    given = [{"type": "user", "output": f"And now look after {what}, will you?"} for what in asked]
    assert kinds([*given[:1], *steps[:9], *given[1:2], *steps[9:18], *given[2:], *steps[18:]]) == []


def test_cells_that_are_filled_one_by_one_are_a_list_although_one_mistake_lets_all_fail():
    steps = [
        tool(
            "set_cell_formula",
            {"cell": f"E{at}", "file": "model.xlsx", "formula": f"=(D{at}-$B$4)/7+1"},
            f'{{"cell": "E{at}", "success": false, "error": "Cell D{at}: a text is no date"}}',
        )
        for at in range(8, 24)
    ]
    assert kinds(steps) == []
