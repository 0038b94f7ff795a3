"""One failure that comes back after each change: a loop, whatever was changed."""

from __future__ import annotations

import json

import pytest

from weighbridge.graders.loop import LoopGrader

REPORT = (
    "Lines written, the result of the tests is the following:\nThere is 1 failing test, here is its log:\n"
    "--- harbour.PierTest::opens_without_a_key\njava.io.IOException: KEY_ERR: the key is one of another harbour\n"
    "Note: you are now in the state 'trying out fixes'\n"
)
FIXES = (
    "Pier pier = harbour.open(key, name);",
    "Pier pier = harbour.open(key, name); // the right key",
    "Pier pier = harbour.open(keys.peek(), name);",
    "Pier pier = harbour.open(keys.get(name), name); // by name",
    "Pier pier = harbour.open(key == null ? keys.peek() : key, name);",
    "Pier pier = harbour.open(keys.first(), name);",
    "Pier pier = harbour.open(keys.last(), name);",
)
WORDS = ("north", "south", "upper", "lower", "inner", "outer", "wide", "narrow")
LOOK = {
    "type": "tool",
    "name": "read_range",
    "arguments": {"path": "Pier.java", "start": 80},
    "output": "80: void open() {",
}
BACK = {
    "type": "tool",
    "name": "discard_hypothesis",
    "arguments": {"reason": "it still fails"},
    "output": "You are back at 'collect'.",
}


def fixes(count=6, *, report=REPORT, between=()):
    steps = []
    for at, line in enumerate(FIXES[:count]):
        change = {"file": "src/harbour/Pier.java", "line": 91, "modified_line": line}
        steps.append(
            {
                "type": "tool",
                "name": "write_fix",
                "arguments": change,
                "output": report.format(word=WORDS[at]),
            }
        )
        steps += [{**step, "arguments": {"place": f"{WORDS[at]} {number}"}, "output": f"{WORDS[-at]}: {number}"}
                  if step["type"] == "tool" else {**step, "output": f"{step['output']} {WORDS[at] * 3}"}
                  for number, step in enumerate(between)]  # fmt: skip
    return steps


def kinds(steps, **config):
    given = [{"id": f"s{at}", **step} for at, step in enumerate(steps, 1)]
    result = LoopGrader(config=config).grade({"format": "weighbridge", "steps": given})
    return [(loop["kind"], loop["repeats"]) for loop in result["details"]["loops"]]


def test_a_test_that_fails_in_one_way_after_each_fix_is_a_loop():
    assert kinds(fixes(5, between=(BACK, LOOK))) == [("same_failure", 5)]
    assert kinds(fixes(4, between=(BACK, LOOK))) == []


def test_the_limit_follows_max_repeats():
    assert kinds(fixes(4, between=(BACK,)), max_repeats=2) == [("same_failure", 4)]
    assert kinds(fixes(5, between=(BACK,)), max_repeats=4) == []


def test_five_looks_between_two_fixes_are_not_much_other_work():
    assert kinds(fixes(6, between=(LOOK,) * 5)) == [("same_failure", 6)]
    assert kinds(fixes(6, between=(LOOK,) * 6)) == []


@pytest.mark.parametrize(
    ("report", "between"),
    [
        (REPORT.replace("of another harbour", "of the {word} harbour"), ()),
        (REPORT.replace("1 failing test", "no test that did not pass").replace("IOException: KEY_ERR", "Log"), ()),
        (REPORT.replace("the key is one of another harbour", "503 service unavailable"), (LOOK,) * 6),
        (REPORT, ({**LOOK, "name": "wait"},)),
        (REPORT, ({"type": "user", "output": "Please go on with the next one of the piers."},)),
        (REPORT, (LOOK, BACK) * 3),
    ],
    ids=["another failure", "no failure", "an outage", "waits", "requests", "much other work"],
)  # fmt: skip
def test_what_changes_or_lies_far_apart_is_no_loop(report, between):
    assert kinds(fixes(7, report=report, between=between)) == []


def test_tests_that_end_alike_after_each_edit_are_a_loop():
    def edited(count, end):
        return [
            {
                "type": "tool",
                "name": "edit",
                "arguments": {"path": "pier.py", "old": f"bound = {'a + ' * at}1", "new": f"bound = {'b * ' * at}2"},
                "output": f"The file pier.py has been edited:\n{'line ' * at}{at}\n\n{end.format(at=at)}",
            }
            for at in range(count)
        ]  # fmt: skip

    assert kinds(edited(6, "167 passed. 3 failed. 1 errors.")) == [("same_failure", 6)]
    assert kinds(edited(5, "167 passed. 3 failed. 1 errors.")) == []
    assert kinds(edited(9, "17{at} passed. {at} failed. 1 errors.")) == []
    assert kinds(edited(9, "170 passed in all three folders.")) == []


CHECK = {
    "type": "tool",
    "name": "run_tests",
    "arguments": {"target": "tests/test_pier.py"},
    "output": "F.\n=== FAILURES ===\n___ test_key ___\nE  AssertionError: assert 'upper' == 'lower'\n1 failed, 1 passed in 0.3{at}s",
}  # fmt: skip


def checks(count=7, *, between=(), last=None):
    steps = []
    for at, line in enumerate(FIXES * 2):
        if at == count:
            return [*steps, *([last] if last else ())]
        steps.append({**CHECK, "output": CHECK["output"].format(at=at)})
        edit = {"path": "pier.py", "old": FIXES[at % 7], "new": f"{line} {WORDS[at % 8]}"}
        steps.append(
            {
                "type": "tool",
                "name": "edit",
                "arguments": edit,
                "output": "Edit applied to pier.py.",
            }
        )
        steps += [
            {
                **step,
                "output": step["output"].replace("{word}", WORDS[at % 8]).replace("{at}", str(at)),
            }
            for step in between
        ]
    return steps


def test_one_check_that_fails_alike_after_each_edit_is_a_loop():
    assert kinds(checks(5)) == [("same_failure", 5)]
    assert kinds(checks(4)) == []
    assert kinds(checks(4), max_repeats=2) == [("same_failure", 4)]


def test_a_check_that_succeeds_in_the_end_may_fail_eight_times_before():
    done = {**CHECK, "output": "2 passed in 0.2s"}
    assert kinds(checks(9, last=done)) == [("same_failure", 9)]
    assert kinds(checks(8, last=done)) == []


@pytest.mark.parametrize(
    ("command", "is_check"), [("pytest -q tests", True), ("cat tests/test_pier.py", False)]
)
def test_so_may_one_that_succeeds_in_other_words_soon_after(command, is_check):
    one = {**CHECK, "name": "bash", "arguments": {"command": "pytest -q tests/test_pier.py"}}
    failed = [
        {**step, **one, "output": step["output"]} if step["name"] == CHECK["name"] else step
        for step in checks(5)
    ]
    last = {**one, "arguments": {"command": command}, "output": "2 passed in 0.2s"}
    assert kinds([*failed, last]) == ([] if is_check else [("same_failure", 5)])


@pytest.mark.parametrize(
    "between",
    [
        ({**CHECK, "output": "F.\n=== FAILURES ===\n___ test_key ___\nE  KeyError: {word} is no key of this pier or of any\n1 failed"},),
        ({**LOOK, "name": "wait"},),
        ({"type": "user", "output": "Go on with the {word} pier, please, and then look again."},),
        tuple({**LOOK, "arguments": {"path": f"{number}.java"}, "output": f"{{at}} {{word}} {number}"} for number in range(6)),
    ],
    ids=["another failure", "waits", "requests", "much other work"],
)  # fmt: skip
def test_checks_with_news_between_are_no_loop(between):
    assert ("same_failure", 7) not in kinds(checks(7, between=between))


def test_checks_of_different_things_are_no_such_loop():
    steps = checks(7)
    for at, step in enumerate(steps[::2]):
        step["arguments"] = {"target": f"tests/test_{WORDS[at]}.py"}
    assert kinds(steps) == []


def applied(lines):
    steps = []
    for at, line in enumerate(lines):
        failure = f"Error: creating bucket pier-logs: AccessDenied: not authorized to create\n  with bucket.logs, on main.tf line {line}, in resource logs"
        steps.append(
            {
                "type": "tool",
                "name": "bash",
                "arguments": {"command": "terraform apply"},
                "output": failure,
                "error": failure,
            }
        )
        change = f"sed -i 's/{WORDS[at % 8]}/{FIXES[at % 7]}/' main.tf"
        steps.append(
            {"type": "tool", "name": "bash", "arguments": {"command": change}, "output": ""}
        )
    return steps


@pytest.mark.parametrize(
    "lines", [[7, 7, 7, 7, 8, 8, 8], [7] * 7, [10, 12, 10, 12, 10, 14, 10, 12]]
)
def test_a_failure_whose_line_moves_with_the_edits_is_the_same(lines):
    assert kinds(applied(lines)) == [("same_failure", len(lines))]


@pytest.mark.parametrize(
    "lines",
    [
        [7, 12, 15, 21, 40, 44, 60],
        [10, 25, 24, 40, 55, 60, 70, 80],
        [10, 10, 10, 20, 20, 20, 30, 30],
        [80, 60, 40, 20, 70, 50, 30, 10],
    ],
)
def test_failures_in_ever_other_lines_are_mended_one_by_one(lines):
    assert kinds(applied(lines)) == []


def red(count, failure, command="make test"):
    edits = [
        {
            "type": "tool",
            "name": "edit_file",
            "arguments": {"path": "a.c", "new": f"{WORDS[at % 8]} {FIXES[at % 7]} {at}"},
            "output": f"edited, {at}",
        }
        for at in range(count)
    ]
    runs = [{"type": "tool", "name": "bash", "arguments": {"command": command}, "output": failure(at)} for at in range(count)]  # fmt: skip
    return [step for pair in zip(edits, runs, strict=True) for step in pair]


def test_a_short_failure_after_each_edit_is_a_loop_from_nine_checks_on():
    def broken(at):
        return "a.c:12:5: error: 'pier' undeclared"

    assert kinds(red(9, broken)) == [("same_failure", 9)]
    assert kinds(red(8, broken)) == []
    assert kinds(red(12, lambda at: "FAILED")) == []  # too little to tell one failure from another


def test_a_line_that_drifts_up_and_down_is_one_failure():
    lines = [34, 38, 37, 35, 39, 36, 40, 33, 41, 32, 38, 35]
    assert kinds(red(12, lambda at: f"a.c({lines[at]},9): error C2065: undeclared")) != []
    assert kinds(red(12, lambda at: f"a.c({10 + 3 * at},9): error C2065: undeclared")) == []


BUILD = (
    "error[E0308]: mismatched types\n  --> src/pier.rs:42:18\n   | expected `u64`, found `Option<u64>`\n"
    "error: could not compile `harbour` (lib) due to 1 previous error"
)
SECONDS = (6.4, 6.1, 6.9, 6.2, 6.8, 6.3, 6.7, 6.5, 6.6)


@pytest.mark.parametrize("separators", [(",", ":"), (", ", ": ")])
@pytest.mark.parametrize(("shown", "least"), [(BUILD, 5), ("error: no pier of this name", 9)])
def test_builds_of_codex_that_fail_alike_are_a_loop_however_long_they_take(
    shown, least, separators
):
    def session(count):
        lines = []
        for at, seconds in enumerate(SECONDS[:count]):
            for command, output, code in (
                (f"sed -i '{at + 40}s/u64/usize/' src/pier.rs", "", 0),
                ("cargo build", shown, 101),
            ):
                ended = {
                    "output": output,
                    "metadata": {"exit_code": code, "duration_seconds": seconds},
                }
                given = {"command": ["bash", "-lc", command]}
                call_id = f"{command} {at}"
                lines += [
                    {
                        "type": "function_call",
                        "name": "shell",
                        "arguments": json.dumps(given),
                        "call_id": call_id,
                    },
                    {
                        "type": "function_call_output",
                        "call_id": call_id,
                        "output": json.dumps(ended, separators=separators),
                    },
                ]
        return [{"type": "response_item", "payload": line} for line in lines]

    assert LoopGrader().grade(session(least))["verdict"] == "fail"
    assert LoopGrader().grade(session(least - 1))["verdict"] == "pass"


NOT_FOUND = '{"status": "error", "code": 404, "message": "Application not found", "request_id": "%s"}\nthe edge of the harbour network answered'


def deployments(commands):
    """Changes and redeployments, after each of which a page is asked for, and a text that tells of waiting is printed."""
    steps = []
    for at, command in enumerate(commands):
        for line, output in (
            (f"cat <<EOF\nround {at}: wait for it\nEOF", f"round {at}: wait for it"),
            (f"sed -i s/{WORDS[at]}/x/ pier.toml", ""),
            (f"pier up --service {WORDS[at]}", f"deployed build {WORDS[at]}"),
            (command, NOT_FOUND % WORDS[at]),
        ):
            steps.append({"type": "tool", "name": "bash", "arguments": {"command": line}, "output": output})  # fmt: skip
    given = [{"id": f"s{at}", **step} for at, step in enumerate(steps)]
    result = LoopGrader().grade({"format": "weighbridge", "steps": given})
    return [(loop["rule"], loop["repeats"]) for loop in result["details"]["loops"]]


def test_a_check_is_the_same_however_long_it_waits_first():
    checks = ["curl -s pier.example/", *(f"sleep {at} && curl -s pier.example/" for at in (5, 9, 20, 30))]  # fmt: skip
    assert deployments(checks) == [("unchanged_check", 5)]
    assert deployments(checks[:4]) == []


def test_a_command_that_runs_in_another_folder_each_time_is_another_check():
    def tested(folders):
        given = []
        for at, folder in enumerate(folders):
            for arguments, output in (
                ({"command": f"sed -i s/x/{WORDS[at]}/ pier.test.js"}, ""),
                ({"command": "npm test", "cwd": f"/repo/{folder}"}, NOT_FOUND % WORDS[at]),
            ):
                given.append({"id": f"s{len(given)}", "type": "tool", "name": "bash", "arguments": arguments, "output": output})  # fmt: skip
        result = LoopGrader().grade({"format": "weighbridge", "steps": given})
        return [loop["rule"] for loop in result["details"]["loops"]]

    assert tested(["pier"] * 6) == ["unchanged_check"]
    assert tested(WORDS[:6]) == []
