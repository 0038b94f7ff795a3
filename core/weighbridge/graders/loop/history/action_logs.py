"""Logs of the agent's own calls in results: a harness adds each call to a line, so that no result equals an earlier one."""

from __future__ import annotations

import re
from typing import Any

from weighbridge.graders.loop.history.arguments import canonical

_ENTRY_CHARACTERS = 200  #: maximum length of what one call adds to a log
_LOG_CHARACTERS = 12  #: minimum length of a log, with its heading
_CALL_CHARACTERS = 400  #: a call with longer arguments is not logged in words
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
    tool, arguments = call
    said = canonical(arguments)
    if len(said) > _CALL_CHARACTERS:
        return text
    words = _words(f"{tool} {said.decode(errors='replace')}")
    kept = [line for line in lines if line in earlier or not _has_grown(line, gone, words)]
    return text if len(kept) == len(lines) else "\n".join(kept)


def _has_grown(line: str, gone: set[str], said: set[str]) -> bool:
    """Return whether a line is one of those that are gone, followed by words of the call."""
    for log in gone:
        start = log.rstrip(" ]).")
        added = line[len(start) :]
        is_entry = 0 < len(added) <= _ENTRY_CHARACTERS and len(start) >= _LOG_CHARACTERS
        if is_entry and line.startswith(start):
            words = _words(added)
            return bool(words) and words <= said
    return False


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.casefold()))
