"""The arguments of a call: in one canonical form, and compared part by part."""

from __future__ import annotations

import re
from typing import Any

import orjson

from weighbridge.graders.loop.likeness import Described
from weighbridge.graders.loop.wording import Wording

_PARTS_LIMIT = 500  #: arguments with more parts are the same or not, never nearly the same
_NODES_LIMIT = 10_000  #: of a value that JSON cannot hold
_DIGITS = re.compile(rb"\d+")
_TRIFLES = b" \t\r\n.!?;\"'\\"
_NUMBER = re.compile(r"-?\d{1,15}(?:\.\d{1,15})?")
#: What tells one attempt from another, and changes nothing about what is asked for; and the agent's own remarks.
_IDLE_KEYS = frozenset(
    [
        "attempt",
        "attempt_number",
        "attemptNumber",
        "retry",
        "retry_count",
        "retryCount",
        "retry_number",
        "request_id",
        "requestId",
        "idempotency_key",
        "idempotencyKey",
        "correlation_id",
        "trace_id",
        "call_id",
        "tool_call_id",
        "nonce",
        "explanation",
        "rationale",
        "reasoning",
        "justification",
        "thought",
        "thoughts",
    ]
)
_SCRIPT_KEYS = frozenset(("command", "cmd", "code", "script"))


def essential(arguments: Any) -> Any:
    """Leave out what does not matter: an attempt's number, a request's id, the agent's own remarks."""
    if type(arguments) is not dict:
        return arguments
    is_described = "description" in arguments and not _SCRIPT_KEYS.isdisjoint(arguments)
    if not is_described and _IDLE_KEYS.isdisjoint(arguments):
        return arguments
    kept = {
        key: value
        for key, value in arguments.items()
        if key not in _IDLE_KEYS and not (is_described and key == "description")
    }
    return kept or arguments


def canonical(value: Any) -> bytes:
    """Return a value as bytes that are the same for equal values, whatever the order of their keys."""
    if type(value) is str:
        return value.encode("utf-8", "surrogatepass")
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    except (TypeError, ValueError, RecursionError):
        return _spelled_out(value)


def _spelled_out(value: Any) -> bytes:
    """Write what JSON cannot hold: deep values, huge numbers, keys that are no strings."""
    pieces: list[str] = []
    pending: list[Any] = [value]
    for _ in range(_NODES_LIMIT):
        if not pending:
            break
        item = pending.pop()
        kind = type(item)
        pieces.append(kind.__name__ if kind in _PLAIN_TYPES else "?")
        if kind is dict:
            entries = sorted(((_key(key), entry) for key, entry in item.items()), key=_first)
            pending += [part for entry in entries for part in entry]
        elif kind in (list, tuple):
            pieces.append(str(len(item)))
            pending += item
        elif kind is int:
            pieces.append(hex(item))
        elif kind in _PLAIN_TYPES:
            pieces.append(str(item))
    return "\n".join(pieces).encode("utf-8", "surrogatepass")


_PLAIN_TYPES = frozenset((dict, list, tuple, int, float, bool, str, type(None)))


def _first(entry: tuple[str, Any]) -> str:
    return entry[0]


def _key(key: Any) -> str:
    if type(key) is str:
        return key
    return hex(key) if type(key) is int else f"?{type(key) in _PLAIN_TYPES}"


class Arguments:
    """The arguments of one call."""

    __slots__ = ("_described", "digits", "key", "value")

    def __init__(self, value: Any) -> None:
        self.value = value
        self.key = canonical(value)  #: the same for equal arguments
        self.digits = tuple(_DIGITS.findall(self.key))  #: the runs of digits in them, in order
        self._described: Described | None = None

    @property
    def gist(self) -> tuple[bytes, tuple[bytes, ...]]:
        """The arguments without differences of case, white space, quotes and stops; the digits keep their places."""
        key = self.key.replace(b"\\n", b"").replace(b"\\t", b"")
        return key.lower().translate(None, _TRIFLES), self.digits

    @property
    def texts(self) -> str:
        """All texts in them, in order."""
        return "\n".join(text.text for text in self.described.texts)

    @property
    def described(self) -> Described:
        """The arguments as texts, and all that is none."""
        if self._described is None:
            self._described = _described(self.value, self.key)
        return self._described


def _described(value: Any, key: bytes) -> Described:
    """Take arguments apart: the shape is places and all that is no text."""
    shape: list[object] = []
    texts: list[str] = []
    pending: list[tuple[str, Any]] = [("", value)]
    while pending:
        if len(shape) > _PARTS_LIMIT:
            return Described(key, ())
        place, item = pending.pop()
        kind = type(item)
        if kind is dict:
            # A null says no more than a key that is not there.
            entries = [
                (entry, inner)
                for entry, inner in item.items()
                if type(entry) is str and inner is not None
            ]
            shape.append((place, "object"))
            pending += sorted(entries, key=_first)
        elif kind is list:
            shape.append((place, "array", len(item)))
            pending += [(place, inner) for inner in item[: _PARTS_LIMIT + 1]]
        elif kind is str and not _NUMBER.fullmatch(item.strip()):
            shape.append(place)
            texts.append(item)
        else:
            shape.append((place, item.strip().encode() if kind is str else canonical(item)))
    return Described(tuple(shape), [Wording(text) for text in texts])
