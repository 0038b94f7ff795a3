"""Recognition of records that are text and not JSON, by their first lines."""

from __future__ import annotations

from weighbridge.traces.formats import (
    aider_llm,
    chatdev,
    cursor_export,
    opencode_export,
    specstory_parts,
)

OPENING_BYTES = 1_000  #: number of bytes by which such a record is recognised
_BY_FIRST_LINE = (aider_llm, chatdev, specstory_parts)
_BY_OPENING = (cursor_export, opencode_export)


def key_of_log(opening: str) -> str | None:
    """Return the key under which a record stands as JSON, by the characters with which it begins; None for other text."""
    opening = opening.lstrip()
    line = opening.split("\n", 1)[0]
    by_line = (log.KEY for log in _BY_FIRST_LINE if log.begins_log(line))
    by_opening = (log.KEY for log in _BY_OPENING if log.begins_log(opening))
    return next(by_line, next(by_opening, None))
