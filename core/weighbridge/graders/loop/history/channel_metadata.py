"""What an agent's gateway to chat channels writes around a user's message: who sent it, when, and to which channel."""

from __future__ import annotations

import re

_MARK = "(untrusted"
#: As OpenClaw does: `Conversation info (untrusted metadata):`, and an object in a block of code.
_HEADING = re.compile(
    r"(?:^|\n)[A-Z][\w ]{3,60} \(untrusted\b[^)\n]{0,80}\):\s{0,3}```json\r?\n", re.ASCII
)
_ID = re.compile(r'"message_id"\s?:\s?"([^"\n]{1,80})"')
_ID_CHARACTERS = 2_000  #: of a message that are searched for its ID
_END = "\n```"


def without_metadata(text: str) -> str:
    """Return a message without the blocks of metadata in it, or unchanged if there is nothing else."""
    if _MARK not in text:
        return text
    kept, start = [], 0
    for heading in _HEADING.finditer(text):
        if heading.start() < start:  # within a block
            continue
        end = text.find(_END, heading.end() - 1)
        if end < 0:
            break
        kept.append(text[start : heading.start()])
        start = end + len(_END)
    said = "".join([*kept, text[start:]]).strip() if kept else ""
    return said or text


def message_id(text: str) -> str | None:
    """Return the ID that a gateway gives a message, which it keeps where it sends the message again."""
    found = _ID.search(text, 0, _ID_CHARACTERS) if _MARK in text else None
    return found[1] if found else None
