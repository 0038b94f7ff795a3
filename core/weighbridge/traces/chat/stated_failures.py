"""Failures that a tool states in its result, in fields or in the first word, which no mark of the message repeats."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from msgspec import structs

from weighbridge.traces.chat.roles import RESULT_ROLES
from weighbridge.traces.fields import json_in, object_of, objects_of, string_of

if TYPE_CHECKING:
    from weighbridge.traces.model import Step

#: Keys of which the result of a command has one, beside its exit code.
_OF_COMMANDS = frozenset({"command", "output", "stdout", "stderr"})
_SUCCESS = "success"
ERROR_MARK = "Error:"  #: start of the text of a tool that failed, as programs write it that keep no other mark
#: Arguments of calls that run a command or code, whose output may begin with any word.
_RUN = frozenset({"command", "cmd", "commands", "code", "script"})
_PATH = "path"  #: argument of an editor, beside which `command` is the name of what it does
_EXIT_CODES = ("exit_code", "exitCode", "exitcode", "returncode", "return_code")
_names_outcome = re.compile("|".join((_SUCCESS, *_EXIT_CODES))).search
_ERROR_TEXTS = ("error", "error_message", "error_details", "message", "stderr")
_MARKS = ("isError", "is_error")  #: keys of MCP's mark
_FAILURE_MARKS = (*_MARKS, "error", "status")  #: keys of marks in messages and in their parts
_STRUCTURED = ("structuredContent", "structured_content")


def with_errors_named(steps: tuple[Step, ...], messages: list[Any]) -> tuple[Step, ...]:
    """Return steps, each tool call with its result as its error if that is a text that begins with `ERROR_MARK`.

    They are returned as they are if a result in their messages is marked. So are calls with a command or code: what a command
    prints is not the tool's own text.
    """
    named = {
        number
        for number, step in enumerate(steps)
        if step.type == "tool"
        and type(step.output) is str
        and step.output.startswith(ERROR_MARK)
        and step.error is None
        and not _runs_command(step.arguments)
    }
    if not named or _are_marked(messages):
        return steps
    return tuple(
        structs.replace(step, error=step.output) if number in named else step
        for number, step in enumerate(steps)
    )


def _are_marked(messages: list[Any]) -> bool:
    """Return whether any result among chat messages, or among their parts, has a mark that says whether the call failed."""
    for message in objects_of(messages):
        parts = objects_of(message.get("content"))
        results = [message, *parts] if message.get("role") in RESULT_ROLES else parts
        if any(held.get(mark) is not None for held in results for mark in _FAILURE_MARKS):
            return True
    return False


def _runs_command(arguments: Any) -> bool:
    """Return whether these may be the arguments of a call that runs a command; an object that is no JSON was not run."""
    if type(arguments) is not dict:
        return not (type(arguments) is str and arguments.startswith("{"))
    return _PATH not in arguments and not _RUN.isdisjoint(arguments)


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
