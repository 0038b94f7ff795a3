"""Files whose JSON was written as a JSON string, as programs do that write a JSON text with a JSON library once more."""

from __future__ import annotations

from itertools import chain, islice
from typing import TYPE_CHECKING

import msgspec
import orjson

from weighbridge.jobs.damaged_data import DAMAGED_DATA
from weighbridge_producer.input.source_lines import SourceLine

if TYPE_CHECKING:
    from collections.abc import Iterator

_STARTS = (b'"{', b'"[')


def without_quotes(lines: Iterator[SourceLine]) -> Iterator[SourceLine]:
    """Return the lines of a file, or what its only line quotes if that is a JSON string with an object or an array."""
    read = list(islice(lines, 1))
    if not read or read[0].fault or not read[0].raw.startswith(_STARTS):
        return chain(read, lines)
    read += islice(lines, 1)
    inner = _quoted(read[0].raw) if len(read) == 1 else None
    return iter([SourceLine(inner, None, read[0].size)]) if inner else chain(read, lines)


def _quoted(raw: bytes) -> bytes | None:
    """Return the JSON in a JSON string, on one line; None for other values."""
    try:
        text: str = msgspec.json.decode(raw, type=str)
        value = orjson.loads(text)
    except DAMAGED_DATA:
        return None
    if type(value) not in {dict, list}:
        return None
    # JSON has no raw line breaks in strings, and outside of strings they can become spaces.
    return text.replace("\n", " ").replace("\r", " ").encode() + b"\n"
