"""The outcome that the calls of a loop have in common: what is quoted where a call has an output and an error."""

from __future__ import annotations

import pytest

from weighbridge.graders.loop import LoopGrader


def outcome_of(outputs, error, calls=6):
    steps = [
        {"id": f"s{at}", "type": "tool", "name": "run", "arguments": {"x": 1}}
        | {"output": outputs[at % len(outputs)], "error": error}
        for at in range(calls)
    ]
    result = LoopGrader().grade({"format": "weighbridge", "steps": steps})
    [loop] = result["details"]["loops"]
    return loop["outcome"], result["evidence"][0]["description"]


@pytest.mark.parametrize(
    ("outputs", "error", "text"),
    [
        (["none"], "E1", "E1"),
        (["none", "boom"], "E1", "E1"),
        (["<html>", "<body>"], "no such file", "no such file"),
        (["Error: no such column"], "E1", "Error: no such column"),
        (["table locked"], "exit status 1", "table locked"),
        (["none"], "x" * 60, "x" * 60),
        ([""], "E1", "E1"),
        ([None], "E1", "E1"),
    ],
)
def test_the_failure_is_what_says_why_the_calls_failed(outputs, error, text):
    outcome, description = outcome_of(outputs, error)
    assert outcome == {"text": text, "times": 6, "compared": 6, "failed": True}
    assert f'all 6 failed: "{text}"' in description


def test_errors_that_differ_in_noise_are_one_failure_whatever_the_outputs_are():
    steps = [
        {"id": f"s{at}", "type": "tool", "name": "run", "arguments": {"x": 1}}
        | {"output": "none", "error": f"locked at 10:00:{at:02}"}
        for at in range(6)
    ]
    result = LoopGrader().grade({"format": "weighbridge", "steps": steps})
    assert 'all 6 failed: "locked at 10:00:00"' in result["evidence"][0]["description"]
