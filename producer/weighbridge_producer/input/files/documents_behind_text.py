"""The beginning of one JSON document on many lines behind text, as programs print it behind their messages (`opencode export ID > FILE 2>&1`)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from weighbridge.jobs.line import JSON_SPACE

if TYPE_CHECKING:
    from collections.abc import Sequence

_TEXTS_LIMIT = 20  #: maximum lines of text before the document
#: Ends of a text that goes on with the bracket behind it, as in a program.
_GOES_ON = (b"=", b"(", b":", b",", b'"', b"'", b"[", b"{")
_SECOND_LINE = re.compile(rb'\s*(?:"(?:[^"\\]|\\.){0,1000}"\s*:|[\[{])')


def may_open_document(raw: bytes, texts: Sequence[bytes]) -> bool:
    """Return whether a line may be the first one of a document, given the lines of text before it.

    It ends with an opening bracket, is not indented, and has text before the bracket or in the lines before.
    """
    end = before_bracket(raw)
    before = raw[:end].rstrip()
    is_other = end == len(raw) or raw[:1].isspace() or before.endswith(_GOES_ON)
    if is_other or len(texts) >= _TEXTS_LIMIT:
        return False
    every = [*texts, before] if before else texts
    return bool(every) and not any(map(may_be_cut_off, every))


def may_follow_opening(raw: bytes) -> bool:
    """Return whether a line may be the second one of a document: a field of an object, or an item of a list."""
    return _SECOND_LINE.match(raw) is not None


def before_bracket(raw: bytes) -> int:
    """Return how long a line is before the opening bracket with which it ends; its whole length if it ends with none."""
    content = raw.rstrip(JSON_SPACE)
    return len(content) - 1 if content.endswith((b"{", b"[")) else len(raw)


def may_be_cut_off(raw: bytes) -> bool:
    """Return whether a line may be the rest of a line of JSON whose beginning is missing."""
    return raw.rstrip().endswith((b"}", b"]")) or b'":' in raw
