"""What the text of a result says of its call."""

from __future__ import annotations

import pytest

from weighbridge.graders.loop import LoopGrader
from weighbridge.graders.loop.history.result_kinds import (
    reports_failure,
    reports_no_effect,
    reports_no_results,
    was_not_run,
)

REQUEST = '{"query": "boat", "total": 0, "results": [], "took_ms": 58, '
HINT = '"hint": "' + "older mail is in another folder, " * 8 + '"}'


@pytest.mark.parametrize(
    ("text", "has_failed"),
    [
        ("illegal move: e1g1", True),
        ("cc -o x x.c\nmake[1]: *** [Makefile:3: x] Error 1", True),
        ("npm ERR! missing script: build", True),
        ("go: go.mod file not found in current directory or any parent directory", True),
        ("go: downloading golang.org/x/net v0.20.0", False),
        ('{"status": "denied", "code": "FARE_NOT_REFUNDABLE", "ref": "R6241"}', True),
        ('{"status": "delivered", "code": "OK"}', False),
        ("Rejected: the limit is 9", True),
        ("HTTP/1.1 422 Unprocessable Entity\nx-request-id: 17", True),
        ("HTTP/2 503 Service Unavailable", True),
        ("HTTP/1.1 530 Origin DNS Error", True),
        ("550 No such user here", True),
        ("HTTP/1.1 200 OK\n", False),
        ("[main b55798c] Keep all\n 477 files changed, 53469 insertions(+)\n", False),
        ("Selenium Error: the port refused the connection", True),
        ("The error of the scale: 3 grams", False),
        ("Result: 10:05:12 job 7\n* Failed", True),
        ("[10:05:12]\nobservation: Denied", True),
        (f"7 {'x' * 100}\nDenied", False),
        ("job done\nDenied", False),
        ("The move is legal", False),
        ("Three of the legal moves, one illegal move", False),
    ],
)
def test_a_failure_is_told_at_the_beginning(text: str, *, has_failed: bool) -> None:
    assert reports_failure(text) == has_failed


def test_advice_after_a_result_is_no_refusal():
    written = "Created file src/a.ts with requested content.\nRun it as soon as you can."
    assert not reports_no_effect(f"{written} Don't ask for permission.")
    assert reports_no_effect("I don't see any such room here.")
    assert reports_no_effect("We don't have an entry on this.")


@pytest.mark.parametrize(
    ("text", "is_nothing"),
    [
        (REQUEST + HINT, True),
        (REQUEST.replace("[]", '["a"]') + HINT, False),
        ("Found: " + REQUEST + HINT, False),
        (REQUEST + HINT * 3, False),
        ("no results", True),
        ("No files found", True),
        ("No files were changed", False),
    ],
)
def test_an_object_without_results_found_nothing_whatever_it_hints(
    text: str, *, is_nothing: bool
) -> None:
    assert reports_no_results(text) == is_nothing


@pytest.mark.parametrize(
    "refusal",
    [
        "EDIT LIMIT REACHED: run the tests now; do not make a second edit.",
        "BLOCKED: the previous run was red for the current change.",
        "TOOL DISABLED: run the tests first.",
        "ROLLBACK_COMPLETE. Reason: not authorized to perform sqs:createqueue",
        "Job for pier.service failed because the control process exited",
        "src/pier.c:12:5: error: 'boat' undeclared",
        "pier.ts(41,9): error TS2322: Type 'number' is not assignable",
    ],
)
def test_refusals_of_a_harness_and_errors_with_their_place_are_failures(refusal):
    assert reports_failure(refusal)


@pytest.mark.parametrize(
    "text",
    [
        "<tool_use_error>Sibling tool call errored</tool_use_error>",
        "<tool_use_error>Cancelled: parallel tool call Bash(git add notes.md) errored</tool_use_error>",
    ],
)
def test_a_call_beside_one_that_failed_was_not_run(text):
    assert was_not_run(text)
    assert not was_not_run(f"It says: {text}")
    assert not was_not_run(None)
    copies = [
        {
            "id": f"s{at}",
            "type": "tool",
            "name": "Bash",
            "arguments": {"command": f"cp notes-{at}.md docs/"},
            "error": text,
        }
        for at in range(8)
    ]
    result = LoopGrader().grade({"format": "weighbridge", "steps": copies})
    assert result["details"]["loops"] == []
    failing = [{**step, "error": "permission denied"} for step in copies]
    result = LoopGrader().grade({"format": "weighbridge", "steps": failing})
    assert len(result["details"]["loops"]) == 1
