"""The forms in which results are compared."""

from __future__ import annotations

import pytest

from weighbridge.graders.loop.history.results import CallResult


@pytest.mark.parametrize(
    ("output", "text"),
    [
        ("Tool 'check_syntax' executed successfully. Result:\nSorry: IndentationError: line 4", "Sorry: IndentationError: line 4"),
        ("[Tool 'check_syntax' output]\n  4 lines", "  4 lines"),
        ("check_syntax returned: 4 lines", "4 lines"),
        # Nothing is below it, another tool is named, or it is no heading.
        ("Tool 'check_syntax' executed successfully.", "Tool 'check_syntax' executed successfully."),
        ("Tool 'other' executed successfully. Result:\n4", "Tool 'other' executed successfully. Result:\n4"),
        ("(check_syntax completed with no output)", "(check_syntax completed with no output)"),
    ],
)  # fmt: skip
def test_a_heading_that_names_the_tool_is_no_part_of_the_result(output, text):
    assert CallResult(output, _tool="check_syntax").text == text


def test_a_failure_below_a_heading_is_one():
    heading = "Tool 'check_syntax' executed successfully. Result:\n"
    assert CallResult(f"{heading}Sorry: IndentationError: line 4", _tool="check_syntax").has_failed
    assert not CallResult(f"{heading}4 lines", _tool="check_syntax").has_failed


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
    assert not CallResult(output).text
    failed = output.replace("0", "1")
    assert failed == output or CallResult(failed).text
