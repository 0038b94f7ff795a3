"""JSON data as a validator can take it: no deeper than its stack, and with nothing in it that is not JSON.

A validator walks its data recursively, and a stack overflow in it kills the whole process.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from weighbridge.text import encodable

if TYPE_CHECKING:
    from collections.abc import Iterator

DEPTH_LIMIT = 254  #: of nesting; as deep as orjson writes
_EXACT_TYPES = (
    orjson.OPT_PASSTHROUGH_SUBCLASS
    | orjson.OPT_PASSTHROUGH_DATETIME
    | orjson.OPT_PASSTHROUGH_DATACLASS
)
_INTEGERS = range(-(2**63), 2**64)
_LEAST_USUAL, _MOST_USUAL = 1e-12, 1e30


class NotJsonError(Exception):
    """A value is not JSON, or nested too deeply; its text says which."""


class JsonData(NamedTuple):
    """A value that is JSON, and how it is written."""

    value: Any
    text: bytes


def json_data(value: Any) -> JsonData:
    """Return a value as JSON data, itself where it is such; raise NotJsonError where it cannot be.

    An integer beyond 64 bits becomes the nearest float, as JSON parsers read it, and a lone surrogate U+FFFD.
    """
    try:
        return JsonData(value, orjson.dumps(value, option=_EXACT_TYPES))
    except (TypeError, ValueError, RecursionError):
        copy = _copy(value, DEPTH_LIMIT)
        return JsonData(copy, orjson.dumps(copy))


def _copy(value: Any, levels: int) -> Any:
    kind = type(value)
    if kind is dict or kind is list:
        if not levels:
            raise NotJsonError(f"nested deeper than {DEPTH_LIMIT} levels")
        if kind is list:
            return [_copy(item, levels - 1) for item in value]
        return {_key(key): _copy(item, levels - 1) for key, item in value.items()}
    if kind is str:
        return encodable(value)
    if kind is int:
        return value if value in _INTEGERS else _nearest_float(value)
    if kind is float or kind is bool or value is None:
        return value
    raise NotJsonError("it contains a value that is not JSON")


def _key(key: Any) -> str:
    if type(key) is not str:
        raise NotJsonError("it contains a key that is not text")
    return encodable(key)


def _nearest_float(number: int) -> float:
    try:
        return float(number)
    except OverflowError:
        raise NotJsonError("it contains a number that is too large for a float") from None


class Shape(NamedTuple):
    """How many values stand at each depth, and how large they are."""

    values: list[int]
    characters: list[int]
    """Of the texts at that depth, the keys of its objects, and the keys that lead to it."""
    members: list[int]  #: of the object at that depth that has the most
    extreme: list[int]  #: numbers at that depth that are slow to divide exactly

    def inside(self, depth: int) -> tuple[int, int]:
        """Return how many values stand at a depth and below it, and how many characters."""
        return sum(self.values[depth:]), sum(self.characters[depth:])


def shape_of(value: Any) -> Shape:
    """Measure JSON data, depth by depth."""
    shape = Shape([], [], [], [])
    keys = 0
    level = [value]
    while level:
        below: list[Any] = []
        characters, keys = keys, 0
        members = extreme = 0
        for item in level:
            kind = type(item)
            if kind is str:
                characters += len(item)
            elif kind is dict:
                keys += sum(map(len, item))
                members = max(members, len(item))
                below.extend(item.values())
            elif kind is list:
                below.extend(item)
            elif kind is float:
                extreme += is_extreme(item)
        shape.values.append(len(level))
        shape.characters.append(characters + keys)
        shape.members.append(members)
        shape.extreme.append(extreme)
        level = below
    return shape


def is_extreme(number: float) -> bool:
    """Whether an exact division of a number, or by it, takes integers of hundreds of bits."""
    size = abs(number)
    return size != 0 and not _LEAST_USUAL <= size <= _MOST_USUAL


def lengths_of_texts(value: Any, keys: frozenset[str], any_key: str) -> Iterator[int]:
    """Yield how long the texts are that one of the keys leads to, or any with `any_key` among them; keys too."""
    of_any = any_key in keys
    pending = [(value, of_any)]
    while pending:
        item, is_led_to = pending.pop()
        if type(item) is str:
            if is_led_to:
                yield len(item)
        elif type(item) is list:
            pending += ((inner, is_led_to) for inner in item)
        elif type(item) is dict:
            if of_any:
                yield from map(len, item)
            pending += ((inner, of_any or key in keys) for key, inner in item.items())
