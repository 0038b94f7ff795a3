"""Failures that tools state in the fields of their results."""

from __future__ import annotations

import json

import pytest

from weighbridge.traces import read_trace
from weighbridge.traces.chat.stated_failures import mcp_failure, stated_failure


@pytest.mark.parametrize(
    ("result", "failure"),
    [
        ({"success": False}, True),
        ({"success": False, "message": "timed out"}, "timed out"),
        ({"success": False, "error": "no key", "message": "timed out"}, "no key"),
        ({"stdout": "", "stderr": "denied", "exit_code": 1}, "denied"),
        ({"command": "ls", "exitCode": -1}, True),
        ({"output": "", "returncode": 0}, False),
        ({"output": "", "returncode": True}, False),
        ({"job": "build", "exit_code": 1}, False),  # of something that the tool was asked about
        ({"success": True, "error": "a warning"}, False),
        ({"success": "false"}, False),
        ({}, False),
    ],
)
def test_an_object_states_a_failure_by_its_success_or_by_a_commands_exit_code(result, failure):
    assert stated_failure(result) == failure


FAILED = {"success": False, "message": "timed out"}


def content(*texts):
    return [{"type": "text", "text": text} for text in texts]


@pytest.mark.parametrize(
    ("result", "failure"),
    [
        ({"content": content("no"), "isError": True}, True),
        ({"content": content("no"), "is_error": True}, True),
        ({"content": [], "structuredContent": FAILED, "isError": False}, "timed out"),
        ({"content": [], "structured_content": FAILED}, "timed out"),
        ({"content": content(json.dumps(FAILED)), "isError": False}, "timed out"),
        ({"content": [], "success": False, "isError": False}, True),
        ({"content": content(json.dumps(FAILED))}, False),  # any program's text
        ({"content": content(json.dumps(FAILED), "more"), "isError": False}, False),
        ({"content": content('{"success": fals'), "isError": False}, False),
        ({"content": content('["success"]'), "isError": False}, False),
        ({"content": content("success: false"), "isError": False}, False),
        ({"content": content(json.dumps(FAILED)), "structuredContent": {"x": 1}, "isError": False}, False),
        ({"content": [None], "isError": False}, False),
        ("success: false", False),
        (None, False),
    ],
)  # fmt: skip
def test_a_result_of_mcp_has_failed_by_its_mark_or_by_what_the_tool_states(result, failure):
    assert mcp_failure(result) == failure


RESULT = {"content": content("down"), "structuredContent": FAILED, "isError": False}


def ui_message():
    part = {"type": "dynamic-tool", "toolCallId": "c", "toolName": "ping", "input": {}}
    user = {"id": "u", "role": "user", "parts": [{"type": "text", "text": "Ping."}]}
    return [user, {"id": "a", "role": "assistant", "parts": [part | {"output": RESULT}]}]


def codex_exec():
    item = {
        "id": "i",
        "type": "mcp_tool_call",
        "server": "s",
        "tool": "ping",
        "status": "completed",
    }
    items = [{"type": "item.completed", "item": item | {"result": RESULT}}]
    return [{"type": "thread.started", "thread_id": "t"}, {"type": "turn.started"}, *items]


def goose():
    asked = {"type": "toolRequest", "id": "c", "toolCall": {"status": "success", "value": {"name": "ping", "arguments": {}}}}  # fmt: skip
    told = {"type": "toolResponse", "id": "c", "toolResult": {"status": "success", "value": RESULT}}
    return [
        {"role": "assistant", "created": 1, "content": [asked]},
        {"role": "user", "created": 2, "content": [told]},
    ]


@pytest.mark.parametrize("record", [ui_message, codex_exec, goose])
def test_the_importers_of_results_of_mcp_agree(record):
    [call] = read_trace(record()).steps_of("tool")
    assert (call.name, bool(call.error)) == ("ping", True)


def chat(arguments, result, **facts):
    """Return the only call of a chat, with these arguments and this result."""
    function = {"name": "find", "arguments": json.dumps(arguments) if isinstance(arguments, dict) else arguments}  # fmt: skip
    call = {"id": "c", "type": "function", "function": function}
    messages = [
        {"role": "user", "content": "Find it."},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": result, **facts},
    ]
    [found] = read_trace(messages).steps_of("tool")
    return found


@pytest.mark.parametrize(
    "arguments", [{}, {"order": "W1"}, {"command": "str_replace", "path": "/a"}, '{"order": "W1"']
)
@pytest.mark.parametrize("wrap", [str, lambda told: [{"type": "text", "text": told}]])
def test_a_tools_text_that_begins_with_error_is_its_failure(arguments, wrap):
    told = "Error: order not found"
    assert chat(arguments, wrap(told)).error == told


def test_the_text_of_a_call_whose_arguments_are_not_known_may_be_what_a_command_prints():
    assert chat("", "Error: order not found").error is None


@pytest.mark.parametrize(
    "told",
    ["error: order not found", "No error: all is well", " Error: x", "Errors: 0", "2 errors", "Error"],
)  # fmt: skip
def test_texts_that_talk_of_errors_are_no_failures(told):
    assert chat({"order": "W1"}, told).error is None


@pytest.mark.parametrize("key", ["command", "cmd", "commands", "code", "script"])
def test_what_a_command_prints_first_is_not_what_its_tool_says(key):
    assert chat({key: "cat log"}, "Error: disk full\nok").error is None


@pytest.mark.parametrize(
    ("mark", "error"),
    [
        ({"error": "gone"}, "gone"),
        ({"error": False}, None),
        ({"is_error": False}, None),
        ({"status": "success"}, None),
    ],
)
def test_the_marks_of_a_source_count_where_it_has_them(mark, error):
    assert chat({"order": "W1"}, "Error: order not found", **mark).error == error


def test_the_marks_in_parts_count_too():
    part = {"type": "tool_result", "tool_use_id": "c", "content": "Error: x", "is_error": False}
    assert chat({"order": "W1"}, [part]).error is None
    assert chat({"order": "W1"}, [part | {"is_error": None}]).error == "Error: x"
