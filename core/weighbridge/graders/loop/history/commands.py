"""The command line that a call runs."""

from __future__ import annotations

import re
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


def command_of(tool: str, arguments: Any) -> str | None:
    """Return the command line that a call of a tool with these arguments runs, or None."""
    command = arguments
    if type(arguments) is dict:
        command = arguments.get("command", arguments.get("cmd"))
        if command is None and len(arguments) == 1:
            command = arguments.get("action", arguments.get("input"))
            if type(command) is str and READING_QUERY.match(command):
                return None
    if type(command) is not str or not command:
        return None
    return command if not tool or _is_shell(tool) else None
