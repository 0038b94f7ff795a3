"""Failures that a tool states in the fields of its result, which MCP's `isError` and a framework's status do not repeat."""

from __future__ import annotations

import re
from typing import Any

from weighbridge.traces.fields import json_in, object_of, string_of

#: Keys of which the result of a command has one, beside its exit code.
_OF_COMMANDS = frozenset({"command", "output", "stdout", "stderr"})
_SUCCESS = "success"
_EXIT_CODES = ("exit_code", "exitCode", "exitcode", "returncode", "return_code")
_names_outcome = re.compile("|".join((_SUCCESS, *_EXIT_CODES))).search
_ERROR_TEXTS = ("error", "error_message", "error_details", "message", "stderr")
_MARKS = ("isError", "is_error")  #: keys of MCP's mark
_STRUCTURED = ("structuredContent", "structured_content")


def stated_failure(result: dict[str, Any]) -> str | bool:
    """Return whether an object that a tool returned says that the call failed, or the error if it states it.

    It does with `success: false`, and if it is that of a command, with an exit code other than 0.
    """
    codes = [result[name] for name in _EXIT_CODES if type(result.get(name)) is int]
    has_failed = result.get(_SUCCESS) is False or (
        any(codes) and not _OF_COMMANDS.isdisjoint(result)
    )
    if not has_failed:
        return False
    return next(filter(None, (string_of(result.get(name)) for name in _ERROR_TEXTS)), True)


def mcp_failure(result: Any) -> str | bool:
    """Return whether the result of an MCP server's tool is that of a failed call, or the error if it states it.

    Without the server's mark, what the tool returned counts: the structured content, or the only text if that is an object.
    """
    held = object_of(result)
    if any(held.get(mark) is True for mark in _MARKS):
        return True
    if failure := stated_failure(held):
        return failure
    structured = next((held[name] for name in _STRUCTURED if type(held.get(name)) is dict), None)
    if structured is None and not held.keys().isdisjoint(_MARKS):
        structured = _object_in(held.get("content"))
    return stated_failure(structured) if structured else False


def _object_in(content: Any) -> dict[str, Any] | None:
    """Return the object that is the only text of a content, which servers without structured content write so."""
    text = (
        object_of(content[0]).get("text") if type(content) is list and len(content) == 1 else None
    )
    if type(text) is not str or not (text.lstrip().startswith("{") and _names_outcome(text)):
        return None
    try:
        return object_of(json_in(text))
    except ValueError:
        return None
