"""Lines before they are fully parsed: their custom_id and surrounding whitespace."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import msgspec

from weighbridge.jobs.damaged_data import DAMAGED_DATA
from weighbridge.jobs.limits import NAME_LIMIT, VALID_NAME

if TYPE_CHECKING:
    from collections.abc import Sequence

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
JSON_SPACE = b" \t\r\n"  #: whitespace in JSON; a line of only these is blank


class _Identity(msgspec.Struct, gc=False):
    custom_id: Any = None


class _Name(msgspec.Struct, gc=False):
    custom_id: str = ""


_identity = msgspec.json.Decoder(_Identity)
_named = msgspec.json.Decoder(_Name)


def peek_custom_id(line: bytes) -> str | None:
    """Return the custom_id of a JSON line with minimal parsing; None if it has no valid one.

    Producer and worker both use this, so that they agree on which line owns an id.
    """
    try:
        name = _identity.decode(line).custom_id
    except DAMAGED_DATA:
        return None
    if type(name) is not str:
        return None
    # The fast path of `is_valid_name`, inlined.
    is_plain = name.isprintable() and 0 < len(name) <= NAME_LIMIT
    return name if is_plain or is_valid_name(name) else None


def split_lines(
    raw: bytes, rows: Sequence[bytes] = ()
) -> tuple[Sequence[bytes], Sequence[str | None]]:
    """Return some lines stripped of whitespace, and what `peek_custom_id` returns for each, in less time.

    `rows` are the lines without their newlines, if they are at hand.
    """
    if b"\r" in raw:
        raw, rows = raw.replace(b"\r\n", b"\n"), ()
    raw = raw.removesuffix(b"\n")
    lines = rows or raw.split(b"\n")
    # Each line is an object: no JSON value goes on in the next line, as it has no line break within a string, and nowhere
    # a "}" before a "{". There is no whitespace to strip either.
    if raw[:1] + raw[-1:] == b"{}" and raw.count(b"}\n{") == len(lines) - 1:
        with suppress(*DAMAGED_DATA):
            names = [identity.custom_id for identity in _named.decode_lines(raw)]
            is_plain = "".join(names).isprintable() and max(map(len, names)) <= NAME_LIMIT
            if len(names) == len(lines) and is_plain and all(names):
                return lines, names
    lines = [line.strip(JSON_SPACE) for line in lines]
    return lines, [peek_custom_id(line) if line else None for line in lines]


def is_valid_name(name: str) -> bool:
    """Return whether a string is valid as a custom_id or label: 1 to 256 characters, without control characters."""
    # Most names are printable, which is much faster to test.
    return (0 < len(name) <= NAME_LIMIT and name.isprintable()) or bool(VALID_NAME.fullmatch(name))


def json_type(value: object) -> str:
    """Return JSON's name for the type of a parsed value."""
    names = {
        list: "array",
        str: "string",
        bool: "boolean",
        int: "number",
        float: "number",
        type(None): "null",
    }
    return names.get(type(value), "object")


def describe_name_fault(name: object) -> str:
    """Return the problem with an invalid custom_id or label."""
    if not isinstance(name, str):
        kind = json_type(name)
        article = "an" if kind in {"array", "object"} else "a"
        return f"it is {article} {kind}, not a string"
    if not name:
        return "it is empty"
    if len(name) > NAME_LIMIT:
        return f"it has {len(name):,} characters, at most {NAME_LIMIT} are allowed"
    return "it has control characters"
