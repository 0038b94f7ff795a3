"""Places in a JSON document: the value at a JSON Pointer (RFC 6901), or the fault if there is none."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import orjson

from weighbridge.errors import Fault, InputError
from weighbridge.jobs.error_codes import ErrorCode
from weighbridge.settings import MIB
from weighbridge.text import closest, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from weighbridge_producer.input.rows.json_scanner import JsonScanner

#: Key of the list of column names in tables of W&B and of pandas (`orient="split"`).
COLUMNS = "columns"
COLUMNS_BYTES = MIB
_NAMES_SHOWN = 8  #: number of an object's names that are shown if it lacks a pointer's key
_NAMES_COMPARED = 100
#: Types of JSON values, by their first byte.
_TYPES = {
    b"{": "an object",
    b"[": "a list",
    b'"': "a text",
    b"n": "null",
    b"": "missing",
    **dict.fromkeys((b"t", b"f"), "a boolean"),
}


def keys_of(pointer: str) -> list[str]:
    """Return the keys in a JSON Pointer; raises InputError if it does not begin with /."""
    if pointer and not pointer.startswith("/"):
        raise InputError(
            f"the pointer to the rows {pointer!r} does not begin with /", "write /results/rows"
        )
    return [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]]


def pointer_of(keys: Sequence[str]) -> str:
    """Return the JSON Pointer with these keys."""
    return "".join("/" + key.replace("~", "~0").replace("/", "~1") for key in keys)


@dataclass(slots=True)
class Place:
    """A value in a document, with the open objects around it, and the names of columns before it."""

    fault: Fault | None = None  #: reason why it is not a list
    columns: list[str] = field(default_factory=list)
    around: list[Iterator[str | None]] = field(default_factory=list)

    def finish(self, scanner: JsonScanner) -> None:
        """Step over the rest of the document after the value."""
        for members in reversed(self.around):
            for _ in members:
                scanner.skip()
        scanner.end()


def step_into(scanner: JsonScanner, keys: list[str], allowed: bytes = b"[") -> Place:
    """Step to the value at a path of keys, if it begins with an allowed byte.

    If there is none, step over all other values; the result then has a fault.
    """
    place = Place()
    for depth, key in enumerate(keys):
        if scanner.peek() != b"{":
            break
        members = scanner.members()
        place.around.append(members)
        names: list[str] = []
        for name in members:
            if name == key:
                break
            if name is not None and len(names) < _NAMES_COMPARED:
                names.append(name)
            if name == COLUMNS and depth == 0:
                place.columns = names_in(scanner.cut(COLUMNS_BYTES)) or []
            else:
                scanner.skip()
        else:
            place.fault = _not_there(keys, depth, names)
            return place
    if len(place.around) < len(keys) or (scanner.peek() or b"?") not in allowed:
        place.fault = _no_list(keys, len(place.around), scanner.peek())
        scanner.skip()
    return place


def names_in(text: bytes | None) -> list[str] | None:
    """Return the names of columns; None if the text is not a list of different names."""
    try:
        names = orjson.loads(text or b"")
    except orjson.JSONDecodeError:
        return None
    is_list = type(names) is list and all(type(name) is str for name in names)
    return names if is_list and len(set(names)) == len(names) > 0 else None


def _not_there(keys: Sequence[str], depth: int, names: Sequence[str]) -> Fault:
    """Return the fault of a pointer that leads to an object without its next key."""
    has = f"it has {', '.join(map(repr, names[:_NAMES_SHOWN]))}" if names else "it is empty"
    more = " and others" if len(names) > _NAMES_SHOWN else ""
    return Fault(
        ErrorCode.MISSING_FIELD,
        f"no rows at {pointer_of(keys)!r}: {_location_of(keys, depth)} has no {keys[depth]!r}; {has}{more}",
        f"correct the pointer to the rows{did_you_mean(closest(keys[depth], names))}",
    )


def _no_list(keys: Sequence[str], depth: int, first: bytes) -> Fault:
    """Return the fault of a pointer to a value, or through a value, that begins with `first` and is not a list."""
    hint = "correct the pointer to the rows: it has to lead through objects to a list"
    if first == b"[" and depth < len(keys):
        hint += f"; rows in lists within a list can be written out: jq -c {_jq_path(keys)!r}"
    return Fault(
        ErrorCode.INVALID_FIELD,
        f"no rows at {pointer_of(keys)!r}: {_location_of(keys, depth)} is {_TYPES.get(first, 'a number')}",
        hint,
    )


def _jq_path(keys: Sequence[str]) -> str:
    """Return jq's filter for the items of all lists on the path of a pointer."""
    steps = ("[]" if key.isdecimal() else f"[{orjson.dumps(key).decode()}]" for key in keys)
    return f".{''.join(steps)}[]"


def _location_of(keys: Sequence[str], depth: int) -> str:
    return repr(pointer_of(keys[:depth])) if depth else "the document"
