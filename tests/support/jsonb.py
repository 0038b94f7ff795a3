"""A writer of SQLite's binary JSON, which the SQLite of older Pythons lacks."""

from __future__ import annotations

from typing import Any

_CONSTANTS = {None: 0, True: 1, False: 2}


def jsonb(value: Any) -> bytes:
    """Return a value as SQLite's `jsonb()` does."""
    if value is None or type(value) is bool:
        return element(_CONSTANTS[value], b"")
    if type(value) is int:
        return element(3, str(value).encode())
    if type(value) is float:
        return element(5, repr(value).encode())
    if type(value) is str:
        return element(10, value.encode())
    if type(value) is list:
        return element(11, b"".join(map(jsonb, value)))
    return element(12, b"".join(jsonb(each) for pair in value.items() for each in pair))


def element(kind: int, payload: bytes) -> bytes:
    """Return an element with the shortest header."""
    size = len(payload)
    if size < 12:
        return bytes([kind | size << 4]) + payload
    width = next(width for width in (1, 2, 4, 8) if size < 256**width)
    return bytes([kind | (11 + width.bit_length()) << 4]) + size.to_bytes(width, "big") + payload
