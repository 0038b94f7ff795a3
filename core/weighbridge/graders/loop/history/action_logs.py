"""Logs of the agent's own calls in results: a harness adds each call to a line, so that no result equals an earlier one."""

from __future__ import annotations

import re
from typing import Any

from weighbridge.graders.loop.history.arguments import canonical

_ENTRY_CHARACTERS = 200  #: maximum length of what one call adds to a log
_LOG_CHARACTERS = 12  #: minimum length of a log, with its heading
_LINES_LIMIT = 20  #: results that differ in more lines are not of one template
_WORD = re.compile(r"\w+")


def without_grown_log(text: str, before: str, call: tuple[str, Any]) -> str:
    """Return a result without its line that is one of the result before it and the call, as in `Moves: East, West`.

    `call` is the tool and its arguments.
    """
    lines = text.split("\n")
    earlier = set(before.split("\n"))
    gone = earlier.difference(lines)
    if not 0 < len(gone) <= _LINES_LIMIT:
        return text
    kept = [line for line in lines if line in earlier or not _has_grown(line, gone, call)]
    return text if len(kept) == len(lines) else "\n".join(kept)


def _has_grown(line: str, gone: set[str], call: tuple[str, Any]) -> bool:
    """Return whether a line is one of those that are gone, and the call behind it."""
    for log in gone:
        start = log.rstrip(" ]).")
        added = line[len(start) :]
        if (
            len(start) >= _LOG_CHARACTERS
            and 0 < len(added) <= _ENTRY_CHARACTERS
            and line.startswith(start)
        ):
            tool, arguments = call
            words = set(_WORD.findall(added.casefold()))
            said = f"{tool} {canonical(arguments).decode(errors='replace')}".casefold()
            return bool(words) and words <= set(_WORD.findall(said))
    return False
