"""Different calls that one unmet condition refuses: a loop if they go on for long, whatever they try."""

from __future__ import annotations

import pytest

from weighbridge.graders.loop import LoopGrader

CONDITION = "Before sending a remote command you need to set up an SSH connection."
COMMANDS = ("whoami", "getuid", "sessions -l", "cat /etc/shadow", "ls /root", "hostname -I", "env")
CONNECT = {
    "type": "tool",
    "name": "connect",
    "arguments": {"user": "root"},
    "output": "Port 22 of db-1 does not answer.",
}


def refused(count, text=CONDITION):
    return [
        {"type": "tool", "name": "remote", "arguments": {"cmd": command}, "output": text}
        for command in COMMANDS[:count]
    ]


def kinds(steps, **config):
    given = [{"id": f"s{at}", **step} for at, step in enumerate(steps, 1)]
    result = LoopGrader(config=config).grade({"format": "weighbridge", "steps": given})
    return [(loop["kind"], loop["repeats"]) for loop in result["details"]["loops"]]


def read(number):
    output = f"Line {number} tells of ferry {number * 37}."
    return {"type": "tool", "name": "read", "arguments": {"line": number}, "output": output}


@pytest.mark.parametrize(
    "text",
    [
        CONDITION,
        "You must first open a document.",
        '{"error": "No presentation is currently loaded or the id is invalid"}',
        "Please log in with your card first.",
        "Session ended: not logged in.",
    ],
)
def test_six_calls_that_one_condition_refuses_are_a_loop(text):
    assert kinds(refused(6, text)) == [("same_failure", 6)]
    assert kinds(refused(5, text)) == []
    assert kinds(refused(4, text), max_repeats=2) == [("same_failure", 4)]


def test_attempts_to_meet_the_condition_may_lie_between():
    steps = refused(6)
    assert kinds([*steps[:2], CONNECT, *steps[2:4], CONNECT, *steps[4:]]) == [("same_failure", 6)]


@pytest.mark.parametrize(
    "steps",
    [
        pytest.param([*refused(3), *map(read, range(5)), *refused(6)[3:]], id="other work between"),
        pytest.param(
            [each for at, step in enumerate(refused(6)) for each in (step, read(at), read(at + 9))],
            id="few among others",
        ),
        pytest.param([*refused(3), {"type": "user", "output": "Try db-2, please."}, *refused(6)[3:]],
                     id="a new request"),
        pytest.param([step | {"output": f"Before sending to db-{at} you need to wait."}
                      for at, step in enumerate("abcdef") for step in refused(1)], id="other words"),
        pytest.param(refused(6, CONDITION + " The manual says how." * 60), id="a long page"),
    ],
)  # fmt: skip
def test_fewer_refusals_are_none(steps):
    assert kinds(steps) == []


def denied(*names, text="Access denied: log '{}' is not in the list of allowed logs"):
    return [
        {
            "type": "tool",
            "name": "write_log",
            "arguments": {"log": name},
            "output": text.format(name),
        }
        for name in names
    ]


NAMES = ("alerts", "audit", "exam", "alerts", "data", "audit", "exam", "alerts/main", "data")


def between_reads(*steps):
    return [each for at, step in enumerate(steps) for each in (step, read(at))][:-1]


def test_nine_denials_of_a_few_things_are_a_loop():
    assert kinds(between_reads(*denied(*NAMES))) == [("same_failure", 9)]
    assert kinds(between_reads(*denied(*NAMES[:8]))) == []


@pytest.mark.parametrize(
    "steps",
    [
        pytest.param(denied(*(f"log-{chr(97 + at)}" for at in range(12))), id="another each time"),
        pytest.param(denied(*NAMES, text="Log '{}' got the line."), id="no denial"),
    ],
)
def test_denials_of_many_things_are_none(steps):
    assert kinds(between_reads(*steps)) == []
