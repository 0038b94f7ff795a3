"""Calls that fail in known ways far more often than any brings something new: a loop, although some succeed between."""

from __future__ import annotations

import json

from weighbridge.graders.loop import LoopGrader

INVALID = '{"code": 99402, "error": "field validation failed: the space is no container for %s"}'
MISSING = "404 page not found"
ATTEMPTS = (
    "curl -s $API/wiki/spaces/761/nodes",
    "TOKEN=$(cat token) && curl -s -X POST $API/wiki/spaces/761/nodes -d @body.json",
    "curl -s $API/docs/v1/spaces | jq .items",
    "python3 scripts/publish.py --space 761 --title Report",
    'curl -s -X PUT $API/drive/files/folder -d \'{"name": "Report"}\'',
    "curl -s $API/wiki/v2/spaces/761/members?page=1",
    "node tools/upload.js report.md",
    "curl -s $API/auth/scopes | head -20",
)


def called(command, output, **step):
    return {"type": "tool", "name": "exec", "arguments": {"command": command}, "output": output, **step}  # fmt: skip


def attempts(count, start=0):
    """Return attempts of all kinds, two of three of which are invalid, and the others find no such page."""
    return [
        called(
            f"{ATTEMPTS[at % 8]} # {'again ' * (at // 8)}",
            MISSING if at % 3 == 2 else INVALID % ("pages" if at % 2 else "files"),
        )
        for at in range(start, start + count)
    ]


def loops(steps, **config):
    given = [{"id": f"s{at}", **step} for at, step in enumerate(steps, 1)]
    result = LoopGrader(config=config).grade({"format": "weighbridge", "steps": given})
    return [(loop["rule"], loop["repeats"]) for loop in result["details"]["loops"]]


def created(name):
    return called(f"curl -s $API/docs/{name}", f'{{"code": 0, "document": "{name}"}}')


def test_known_failures_with_a_few_successes_between_are_a_loop():
    steps = attempts(16)
    among = [*steps[:5], created("draft"), *steps[5:11], created("copy"), *steps[11:]]
    assert loops(among) == [("failing_stretch", 14)]
    more = [*map(created, ("c", "d", "e", "f"))]
    assert loops([*among[:10], *more, *among[10:]]) == []


def test_each_success_that_shows_something_new_makes_up_for_one_failure():
    steps = [step for at in range(12) for step in (*attempts(1, at), created(f"d{at}"))]
    assert loops(steps) == []
    shown = created("same")
    known = [step for at in range(12) for step in (*attempts(1, at), shown)]
    assert loops([shown, *known[:12], created("draft"), *known[12:]]) == [("failing_stretch", 10)]


def test_a_request_of_the_user_restarts_the_count():
    asked = {"type": "user", "output": "Leave the wiki alone, and make a folder in my drive."}
    steps = attempts(16)
    among = [*steps[:5], created("draft"), *steps[5:8], asked, *steps[8:11], created("copy")]
    assert loops([*among, *steps[11:]]) == []


def chat(*messages):
    """Return calls as a chat has them: each message with some calls, and their results."""
    steps = [{"role": "user", "content": "Publish the report in the wiki."}]
    for at, calls in enumerate(messages):
        made = [
            {
                "id": f"c{at}-{number}",
                "type": "function",
                "function": {"name": call["name"], "arguments": json.dumps(call["arguments"])},
            }
            for number, call in enumerate(calls)
        ]
        steps.append({"role": "assistant", "content": None, "tool_calls": made})
        steps += [
            {"role": "tool", "tool_call_id": each["id"], "content": call["output"]}
            for each, call in zip(made, calls, strict=True)
        ]
    result = LoopGrader().grade({"messages": steps})
    return [loop["rule"] for loop in result["details"]["loops"]]


def test_calls_of_one_message_count_once_wherever_the_one_that_fails_stands():
    steps = attempts(16)
    among = [*steps[:5], created("draft"), *steps[5:11], created("copy"), *steps[11:]]
    known = {"type": "tool", "name": "todo_list", "arguments": {}, "output": "1. publish the report"}  # fmt: skip
    assert chat(*[[call] for call in among]) == ["failing_stretch"]
    assert chat(*[[call, known] for call in among]) == ["failing_stretch"]
    assert chat(*[[known, call] for call in among]) == ["failing_stretch"]


def checks(failures, change):
    """Return runs of the tests, of which so many fail, with a change before each."""
    said = "[ERROR] Tests run: 40, Failures: %d, Errors: 0, Skipped: 0\n[ERROR] There are test failures in the module"  # fmt: skip
    return [
        step
        for at, count in enumerate(failures)
        for step in (
            called(f"{change} src/F{at}.java", ""),
            called(f"mvn -q test -pl part{at % 2}", said % count, error=said % count),
        )
    ]


def test_failures_with_other_details_after_changes_by_a_shell_are_no_loop():
    counts = (38, 31, 33, 24, 20, 21, 14, 9, 10, 4)
    done = called("mvn -q test", "[INFO] BUILD SUCCESS, 40 tests")
    for change in ("sed -i 's/x/y/'", "perl -pi -e s/x/y/", "git apply fix.patch &&"):
        assert loops([*checks(counts, change), done]) == []


def test_what_works_in_the_end_was_waited_for():
    steps = attempts(16)
    among = [*steps[:5], created("draft"), *steps[5:11], created("copy"), *steps[11:]]
    assert loops([*among, {**steps[15], "output": "The report is published."}]) == []
    assert loops([*among, created("last")]) == [("failing_stretch", 14)]
