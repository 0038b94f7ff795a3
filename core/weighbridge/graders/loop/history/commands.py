"""The command line that a call runs."""

from __future__ import annotations

import re
import shlex
from typing import Any

from weighbridge.graders.loop.history.tool_names import named_like

_is_shell = named_like(
    re.compile(r"bash|shell|terminal|exec|run|command|console|cmd", re.IGNORECASE),
    splits_words=False,
)
READING_QUERY = re.compile(
    r"\s*(?:(?:select|with|show|desc|describe|explain|pragma)\b(?!.{0,2000}\b(?:insert|update|delete|into|drop)\b)|\\d)",
    re.IGNORECASE | re.DOTALL,
)
#: Programs by which a command is recognised, whatever the tool is called that runs it.
_PROGRAM = re.compile(
    r"(?:python3?|pip3?|bash|sh|cat|ls|cd|grep|find|sed|awk|head|tail|echo|curl|wget|git|npm|chmod|mkdir|xxd|openssl)\s{1,9}"
    r"(?:[-./~'\"$<]|[\w-]{1,80}[/.]\w)"
)
_has_no_command = frozenset(("command", "cmd", "code", "action", "input")).isdisjoint
_SHELLS = frozenset(("sh", "bash", "shell", "zsh", "console", "powershell", "pwsh", "ps1", "cmd"))
_SHELL_TOOL = re.compile(r"(?<![a-z])(?:bash|shell|terminal|powershell)(?![a-z])", re.IGNORECASE)
#: A shell, by its path or name, and the option with which it runs the line after it.
_runs_line = re.compile(r"(?:\S{0,80}/)?(?:ba|z|da|k)?sh -[a-z]{0,3}c").fullmatch


def command_of(tool: str, arguments: Any) -> str | None:
    """Return the command line that a call of a tool with these arguments runs, or None."""
    command = arguments
    if type(arguments) is dict:
        if _has_no_command(arguments):
            return None
        command = arguments.get("command", arguments.get("cmd"))
        if command is None and _is_shell_code(tool, arguments):
            return arguments["code"] or None
        if command is None and len(arguments) == 1:
            command = arguments.get("action", arguments.get("input"))
            if type(command) is str and READING_QUERY.match(command):
                return None
    if type(command) is list:
        command = _line_of(command)
    if type(command) is not str or not command:
        return None
    is_named = type(arguments) is dict and not arguments.keys().isdisjoint(("command", "cmd"))
    is_known = not tool or _is_shell(tool) or (is_named and _PROGRAM.match(command) is not None)
    return command if is_known else None


def _is_shell_code(tool: str, arguments: dict[str, Any]) -> bool:
    """Return whether an argument is code of a shell, by its language beside it or by the tool."""
    language = arguments.get("language", arguments.get("lang"))
    says_so = (
        type(language) is str and language.lower() in _SHELLS
        if language is not None
        else _SHELL_TOOL.search(tool) is not None
    )
    return says_so and type(arguments.get("code")) is str


def _line_of(words: list[Any]) -> str:
    """Return a command that is given as a list of words as a line; empty for another list."""
    if any(type(word) is not str for word in words):
        return ""
    is_of_shell = len(words) == 3 and _runs_line(" ".join(words[:2]))
    return words[2] if is_of_shell else shlex.join(words)
