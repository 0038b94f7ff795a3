"""One JSON document on many lines between lines of text, as programs print it among their messages (`opencode export ID > FILE 2>&1`)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import orjson

from weighbridge.jobs.line import JSON_SPACE
from weighbridge.settings import MIB
from weighbridge_producer.input.files.log_prefixes import begins_with_tag

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_TEXTS_LIMIT = 20  #: maximum lines of text before the document
_LOOKED_AT_BYTES = MIB  #: of a document and what follows it, to find whether that is more JSON
_JSON_STARTS = (b"{", b"[", b'"')
_CLOSINGS = (b"}", b"]")
_GOES_ON_WITH = (*_CLOSINGS, b",")  #: beginnings of the next line of a document
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


def is_text_behind(raw: bytes) -> bool:
    """Return whether a line that follows one that may be a document's last is text, and does not go on with the document."""
    content = raw.lstrip(JSON_SPACE)
    if not content or content.startswith(_GOES_ON_WITH) or may_be_cut_off(raw):
        return False
    return not content.startswith(_JSON_STARTS) or begins_with_tag(content)


def may_have_ended(raw: bytes, *, before: bool) -> bool:
    """Return whether a document may have ended with a line, or, given whether it may have `before`, before it.

    Its last line has nothing but a closing bracket that is not indented.
    """
    if raw.rstrip(JSON_SPACE) in _CLOSINGS:
        return True
    return before and (not raw.strip(JSON_SPACE) or is_text_behind(raw))


def has_lines_of_json_behind(lines: Iterable[bytes]) -> bool:
    """Return whether a document is followed by JSON with a value on each line, given its lines from the third one on.

    A limited number of bytes is looked at.
    """
    size, is_ended = 0, False
    for raw in lines:
        size += len(raw)
        if is_ended and _is_value(raw):
            return True
        if size > _LOOKED_AT_BYTES:
            return False
        is_ended = may_have_ended(raw, before=is_ended)
    return False


def _is_value(raw: bytes) -> bool:
    """Return whether a line is an object or a list."""
    if not raw.lstrip(JSON_SPACE).startswith((b"{", b"[")):
        return False
    try:
        orjson.loads(raw)
    except ValueError:
        return False
    return True


def before_bracket(raw: bytes) -> int:
    """Return how long a line is before the opening bracket with which it ends; its whole length if it ends with none."""
    content = raw.rstrip(JSON_SPACE)
    return len(content) - 1 if content.endswith((b"{", b"[")) else len(raw)


def may_be_cut_off(raw: bytes) -> bool:
    """Return whether a line may be the rest of a line of JSON whose beginning is missing."""
    return raw.rstrip().endswith((b"}", b"]")) or b'":' in raw
