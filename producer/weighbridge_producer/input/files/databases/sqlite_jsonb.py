"""SQLite's binary JSON (JSONB), which the `sqlite3` module of most Pythons cannot read.

Format: https://sqlite.org/jsonb.html. An element has a header with its type and the size of its payload.
"""

from __future__ import annotations

from typing import Any

import orjson

#: The largest size that stands in the first byte; for a larger one, the byte says how many bytes have the size.
_MOST_INLINE = 11
_CONSTANTS: tuple[Any, ...] = (None, True, False)
_INTEGERS, _FLOATS = frozenset({3, 4}), frozenset({5, 6})
_PLAIN_TEXTS, _ESCAPED_TEXTS = frozenset({7, 10}), frozenset({8, 9})
_ARRAY, _OBJECT = 11, 12


def json_of_jsonb(blob: bytes) -> Any:
    """Return the value in a blob; raises ValueError if it is not JSONB."""
    try:
        value, end = _element(blob, 0, len(blob))
    except (IndexError, RecursionError):
        raise ValueError("not JSONB") from None
    if end != len(blob):
        raise ValueError("bytes after the value")
    return value


def _element(blob: bytes, at: int, limit: int) -> tuple[Any, int]:
    """Return the element that begins at a position, and where it ends, which is not beyond the limit."""
    kind, size = blob[at] & 15, blob[at] >> 4
    at += 1
    if size > _MOST_INLINE:
        width = 1 << (size - _MOST_INLINE - 1)
        size = int.from_bytes(blob[at : at + width], "big")
        at += width
    end = at + size
    if end > limit:
        raise ValueError("an element is longer than what holds it")
    if kind in {_ARRAY, _OBJECT}:
        return _container(blob, at, end, is_object=kind == _OBJECT), end
    return _scalar(kind, blob[at:end].decode()), end


def _container(blob: bytes, at: int, end: int, *, is_object: bool) -> Any:
    items = []
    while at < end:
        item, at = _element(blob, at, end)
        items.append(item)
    if not is_object:
        return items
    names = items[::2]
    if len(items) % 2 or not all(type(name) is str for name in names):
        raise ValueError("an object has a name without a value, or one that is no text")
    return dict(zip(names, items[1::2], strict=True))


def _scalar(kind: int, text: str) -> Any:
    if kind < len(_CONSTANTS):
        return _CONSTANTS[kind]
    if kind in _INTEGERS:
        return int(text, 0)
    if kind in _FLOATS:
        return float(text)
    if kind in _PLAIN_TEXTS:
        return text
    if kind in _ESCAPED_TEXTS:
        return orjson.loads(f'"{text}"')
    raise ValueError("an element of an unknown type")
