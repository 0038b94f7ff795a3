"""OpenAI chat messages made of sessions of Codex and Claude Code: which results are failures."""

from __future__ import annotations

import pytest

from weighbridge.traces import read_trace

DONE = "Chunk ID: 1a\nWall time: 0.1000 seconds\nProcess exited with code 0\nOutput:\nok"
FAILED = DONE.replace("code 0", "code 2")
NAMED = f"Command: /bin/sh -c 'make\n# Wall time: 9'\n{FAILED}"


def errors(*results):
    """Return the errors of calls with these names and results."""
    messages = []
    for number, (name, content) in enumerate(results):
        call = {"id": f"c{number}", "type": "function", "function": {"name": name, "arguments": "{}"}}  # fmt: skip
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": f"c{number}", "content": content})
    trace = read_trace({"messages": messages})
    assert trace.format == "openai-chat"
    return [step.error for step in trace.steps_of("tool")]


@pytest.mark.parametrize(
    ("name", "result"),
    [
        ("exec_command", FAILED),
        ("write_stdin", NAMED),
        ("shell", "Exit code: 127\nWall time: 0.2 seconds\nOutput:\n"),
        ("shell", '{"output":"no","metadata":{"exit_code":1,"duration_seconds":0.1}}'),
        ("run_it", FAILED),  # the form is Codex's own, whatever the tool is named
        ("Bash", "Exit code 1\nmake: no rule"),
        ("Bash", "Exit code 137"),
        ("Edit", "<tool_use_error>File has not been read yet.</tool_use_error>"),
        (
            "Write",
            "The user doesn't want to proceed with this tool use. The tool use was rejected (eg.",
        ),
    ],
)
def test_a_result_that_is_the_text_of_an_agent_for_a_failure_is_the_error(name, result):
    assert errors((name, result), (name, "ok")) == [result, None]


def test_a_result_in_parts_is_read_as_a_text():
    assert errors(("exec_command", [{"type": "tool_output", "text": FAILED}])) == [FAILED]


def test_a_call_that_codex_refused_has_failed_beside_a_command_of_codex():
    refused = ("exec_command", "exec_command failed for `ls`: CreateProcess { }")
    assert errors(refused, ("exec_command", DONE)) == [refused[1], None]
    assert errors(refused) == [None]
    assert errors(("search", refused[1]), ("exec_command", DONE)) == [None, None]


@pytest.mark.parametrize(
    ("name", "result"),
    [
        ("exec_command", DONE),
        ("exec_command", "Process exited with code 1"),
        ("Bash", "ok\nExit code 1"),
        ("Bash", "Exit code 0\nok"),
        ("Bash", "Exit code 1 means a failure"),
        ("bash", "Exit code 1\nno"),
        ("Read", "1\t<tool_use_error>"),
        ("shell", '{"output":"no","metadata":{"exit_code":0}}'),
    ],
)
def test_a_text_that_others_may_write_is_no_failure(name, result):
    assert errors((name, result)) == [None]


def test_an_error_that_the_message_has_is_kept():
    call = {"id": "c", "type": "function", "function": {"name": "Bash", "arguments": "{}"}}
    answer = {"role": "tool", "tool_call_id": "c", "content": "Exit code 1\nno", "error": "killed"}
    trace = read_trace([{"role": "assistant", "content": None, "tool_calls": [call]}, answer])
    assert trace.steps_of("tool")[0].error == "killed"
