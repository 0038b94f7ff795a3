"""Runs that print nothing although they usually do: a loop, whatever was edited between."""

from __future__ import annotations

import pytest

from weighbridge.graders.loop import LoopGrader

PROMPT = "ida@harbour-7:~/ferry$"
SCRIPTS = ("main.py", "-u main.py", "-m ferry", "check.py", "-c 'import ferry; ferry.run()'")


def run(at, output=PROMPT):
    command = f"python3 {SCRIPTS[at % 5]}"
    return {"type": "tool", "name": "terminal", "arguments": {"command": command}, "output": output}


def edit(at):
    return {"type": "tool", "name": "edit_file", "arguments": {"diff": f"+ print({at})"}}


def loops(steps, **config):
    given = [{"id": f"s{at}", **each} for at, each in enumerate(steps, 1)]
    result = LoopGrader(config=config).grade({"format": "weighbridge", "steps": given})
    return result["details"]["loops"]


def kinds(steps, **config):
    return [loop["kind"] for loop in loops(steps, **config)]


def rules(steps):
    return [loop["rule"] for loop in loops(steps)]


def silent(count, output=PROMPT):
    return [step for at in range(count) for step in (edit(at), run(at, output))]


FIRST = run(9, "the ferry leaves at noon")


def test_nine_runs_without_output_are_a_loop_whatever_is_edited_between():
    assert kinds([FIRST, *silent(9)]) == ["nothing_new"]
    assert kinds([FIRST, *silent(9, "")]) == ["nothing_new"]
    assert kinds([FIRST, *silent(9, f"{PROMPT} python3 main.py")]) == ["nothing_new"]
    assert kinds([FIRST, *silent(8)]) == []
    assert kinds([FIRST, *silent(6)], max_repeats=2) == ["nothing_new"]


@pytest.mark.parametrize(
    "output",
    [
        "exitcode: 0 (execution succeeded)\nCode output: \n",
        "<returncode>0</returncode>\n<output>\n</output>",
        "Exit code: 0\nWall time: 0.4 seconds\nOutput:\n",
        "(no output)",
        "(Bash completed with no output)",
        "Your command ran successfully and did not produce any output.",
        "main.py executed successfully. No output.",
        '{"output": "(no output)", "exit_code": 0}',
    ],
)
def test_what_a_harness_writes_in_place_of_no_output_is_none(output):
    assert kinds([FIRST, *silent(9, output)]) == ["nothing_new"]
    failed = output.replace("0", "1")
    assert failed == output or "silence" not in rules([FIRST, *silent(9, failed)])


@pytest.mark.parametrize(
    ("command", "prints"),
    [
        ("python3 src{at}.py", True),
        ("npx tsc src{at}.ts --noEmit", False),
        ("ruff check -q src{at}", False),
        ("@'\nexport default {at}\n'@ | Set-Content src\\app{at}.ts", False),
        ("New-Item -ItemType Directory app{at} | Out-Null", False),
        ("Remove-Item -Recurse old{at}", False),
    ],
)
def test_checks_that_find_nothing_and_writes_of_powershell_print_nothing(command, prints):
    silent_runs = [
        {**run(at, ""), "arguments": {"command": command.replace("{at}", str(at % 5))}}
        for at in range(12)
    ]
    steps = [step for at, each in enumerate(silent_runs) for step in (edit(at), each)]
    assert ("silence" in rules([FIRST, *steps])) is prints


def test_a_trace_without_any_output_says_nothing_of_its_runs():
    assert kinds(silent(12)) == []


def test_output_between_runs_and_commands_that_print_nothing_restart_the_count():
    assert kinds([FIRST, *silent(6), run(0, "noon"), *silent(6)]) == []
    moves = [
        {
            "type": "tool",
            "name": "terminal",
            "arguments": {"command": f"mv a{at}.txt old/{at}"},
            "output": "",
        }
        for at in range(12)
    ]
    assert kinds([FIRST, *moves]) == []


def test_a_list_that_is_searched_for_one_thing_after_the_other_is_none():
    names = ("oak", "elm", "ash", "fir", "yew", "birch", "pine", "larch", "beech", "alder", "maple")
    looks = [{"type": "tool", "name": "terminal", "arguments": {"command": f"grep -rn {name} src"}, "output": ""} for name in names]  # fmt: skip
    assert kinds([FIRST, *looks]) == []
