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
