"""Standstills that the agent reports itself."""

from __future__ import annotations

import pytest

from weighbridge.graders.loop import LoopGrader

REPORTS = (
    "Still no output. Let me add a flag.",
    "The output is still empty. Let me write it to a file.",
    "Same result as before. Let me look at the wrapper.",
    "It still prints nothing. Let me call it directly.",
    "Nothing has changed. Let me try it in a container.",
    "Still empty. Let me try the batch mode.",
    "The same output again. Let me turn on logging.",
    "Still no output. Let me trace it.",
)
COMMANDS = (
    *("make test", "make test | cat", "make -B test > out; cat out", "sh -x make.sh test", "docker run build make"),
    *("docker run build make -B", "make --debug=n test", "strace -f -o log make test", "env -i make test"),
)  # fmt: skip


def turn(at, said, command, output, tool="bash"):
    call = {"command": command} if tool == "bash" else {"path": command, "text": f"line {at}"}
    return [
        {"id": f"m{at}", "type": "llm", "output": said},
        {"id": f"t{at}", "type": "tool", "parent_id": f"m{at}", "name": tool, "arguments": call, "output": output},
    ]  # fmt: skip


def run(reports=REPORTS[:7], outputs=("rc=0",) * 9, others=1, tool="bash"):
    """A run that tries twice, and then reports after each attempt; before each report it looks at `others` things."""
    steps = turn(0, "Let me run the tests.", COMMANDS[0], outputs[0], tool)
    at = 1
    for index, said in enumerate(reports, 1):
        for _ in range(others):
            steps += turn(at, f"Now part {at}.", f"ls part{at}", f"{at} files, {at * 7} folders")
            at += 1
        steps += turn(at, f"Let me try it, {at}.", f"{COMMANDS[index]} {at}", outputs[index], tool)
        steps += turn(at + 1, said, f"cat file{at}", f"{at * 3} lines, the last is line {at * 11}")
        at += 2
    return steps


def loops(steps, **config):
    result = LoopGrader(config=config).grade({"format": "weighbridge", "steps": steps})
    return result["details"]["loops"], result["evidence"]


def test_seven_reports_that_nothing_has_changed_are_a_loop():
    found, evidence = loops(run())
    assert [(loop["kind"], loop["repeats"], loop["step_ids"]) for loop in found] == [
        ("standstill", 7, ["m3", "m6", "m9", "m12", "m15", "m18", "m21"])
    ]
    assert evidence[0]["description"].startswith(
        "reports that nothing has changed, 7 times, limit 6, each after an outcome"
    )
    assert loops(run(REPORTS[:6]))[0] == []


def test_reports_up_to_eight_turns_apart_belong_together():
    assert loops(run(others=6))[0]
    assert loops(run(others=7))[0] == []


def test_the_limit_follows_the_one_for_repeats():
    assert loops(run(others=1), max_repeats=4)[0] == []


@pytest.mark.parametrize(
    "steps",
    [
        run(outputs=[f"{at} of {at * 3} rows, the first from place {'xyzuvwabc'[at]}" for at in range(9)]),
        run([f"{said.split('.')[0]}: still running, so I look again." for said in REPORTS[:7]]),
        run([f"I still need to write part {at} of the report." for at in range(7)]),
        run([f"Let me look at part {at} of it." for at in range(7)]),
    ],
    ids=["new outcomes", "work in progress", "work to do", "no report"],
)  # fmt: skip
def test_what_is_no_standstill(steps):
    assert loops(steps)[0] == []


def test_a_new_request_begins_anew():
    asked = {
        "id": "u",
        "type": "user",
        "output": "Thank you. Now find out why the build is silent.",
    }
    steps = run()
    assert loops([asked, *steps])[0]
    assert loops([*steps[:20], asked, *steps[20:]])[0] == []


def test_what_was_written_may_take_effect_later():
    steps = run(outputs=["File saved."] * 9, tool="write_file")
    assert loops(steps)[0] == []


def test_calls_that_are_a_loop_are_reported_once():
    steps = run(others=0)
    for step in steps:
        if step["type"] == "tool":
            step["arguments"], step["output"] = {"command": "make"}, "rc=0"
    assert [loop["kind"] for loop in loops(steps)[0]] == ["identical"]


JUDGED = (
    "Failed - the field still has the wrong city.\nClear the field, and enter the city again.",
    "Failed - the city could not be entered.\nOpen the list of cities first.",
    "Failure: the list closed at once.\nType the city letter by letter.",
    "Failed - the field is empty now.\nPaste the name of the harbour.",
    "Verdict: Failure. The harbour is not known here.\nEnter the city again.",
    "Unsuccessful: the old city came back.\nReload the page, then enter it.",
    "Failed - the page shows the old city.\nEnter the new one with the keyboard.",
)


def judged(texts):
    return [
        step
        for at, said in enumerate(texts, 1)
        for step in turn(at, said, f"f{at}", f"clicked element {at * 7}", tool="click")
    ]


def kinds(steps, **config):
    result = LoopGrader(config=config).grade({"format": "weighbridge", "steps": steps})
    return [(loop["rule"], loop["repeats"]) for loop in result["details"]["loops"]]


def test_seven_steps_in_a_row_that_the_agent_says_have_failed_are_a_loop():
    assert kinds(judged(JUDGED)) == [("failed_steps", 7)]
    assert kinds(judged(JUDGED[:6])) == []
    assert kinds(judged(JUDGED[:5]), max_repeats=2) == [("failed_steps", 5)]


@pytest.mark.parametrize(
    "texts",
    [
        (*JUDGED[:4], "Success - the city stands there.\nEnter the date.", *JUDGED[4:]),
        [f"Failed tests: {9 - at}.\nMend the next of them." for at in range(8)],
        [f"I looked at pier {at}, where the last step failed." for at in range(8)],
    ],
    ids=["a success between", "a number that falls", "a report of a failure"],
)
def test_steps_of_which_some_succeed_are_no_loop(texts):
    assert kinds(judged(texts)) == []


def test_a_new_request_restarts_the_count_of_failed_steps():
    asked = {
        "id": "u",
        "type": "user",
        "output": "Then take the other form for the boats of the north.",
    }
    again = [{**step, "id": f"again {step['id']}"} for step in judged(JUDGED[3:])]
    assert kinds([*judged(JUDGED[:4]), asked, *again]) == []
