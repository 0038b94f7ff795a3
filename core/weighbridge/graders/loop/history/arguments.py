"""Arguments of a call: their canonical bytes, to find equal arguments, and their texts, to find similar ones."""

from __future__ import annotations

import re
from operator import itemgetter
from typing import Any

import orjson
from msgspec import Struct

from weighbridge.graders.loop.history.similarity import ComparedItem
from weighbridge.graders.loop.history.text_forms import ComparedText
from weighbridge.graders.loop.work_budget import FOLDED_CHARACTERS, WorkBudget

_PARTS_LIMIT = 500  #: arguments with more parts are compared only for equality
_NODES_LIMIT = 10_000  #: maximum nodes of a value that JSON cannot represent
_DIGITS_ALONE = bytes(code if code in b"0123456789" else 32 for code in range(256))
_INSIGNIFICANT_CHARACTERS = b" \t\r\n.!?;\"'\\"
_SMALL_LETTERS = bytes(range(256)).lower()
_first = itemgetter(0)
_NUMBER = re.compile(r"-?\d{1,15}(?:\.\d{1,15})?")


def canonical(value: Any) -> bytes:
    """Return bytes that are equal for equal values, regardless of the order of keys."""
    if type(value) is str:
        return value.encode("utf-8", "surrogatepass")
    try:
        # Even a short result of `orjson` retains a buffer of 4 KB; a copy does not.
        return b"".join((orjson.dumps(value, option=orjson.OPT_SORT_KEYS), b""))
    except (TypeError, ValueError, RecursionError):
        return _serialize_other(value)


def _serialize_other(value: Any) -> bytes:
    """Serialize values that JSON cannot represent: deep values, huge numbers, keys that are not strings."""
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


def _key(key: Any) -> str:
    if type(key) is str:
        return key
    return hex(key) if type(key) is int else f"?{type(key) in _PLAIN_TYPES}"


class Arguments(Struct, eq=False, gc=False):
    """The arguments of one call."""

    value: Any
    key: bytes = b""  #: equal for equal arguments
    #: whether the arguments may be compared for similarity; longer ones are compared only for equality
    is_comparable: bool = True
    digits: bytes = b""  #: the runs of digits, in order; empty for long arguments
    _texts: str | None = None

    def __post_init__(self) -> None:
        """Compute the canonical form of the arguments."""
        self.key = canonical(self.value)
        self.is_comparable = len(self.key) <= FOLDED_CHARACTERS
        if self.is_comparable:
            self.digits = b" ".join(self.key.translate(_DIGITS_ALONE).split())

    @property
    def numbers(self) -> bytes:
        """The runs of digits, regardless of order."""
        digits = self.digits
        return b" ".join(sorted(digits.split())) if b" " in digits else digits

    @property
    def gist(self) -> bytes:
        """The arguments without case, white space, quotes and full stops, followed by the runs of digits."""
        if not self.is_comparable:
            return self.key
        key = self.key
        if b"\\" in key:
            key = key.replace(b"\\n", b"").replace(b"\\t", b"")
        return b"\0".join((key.translate(_SMALL_LETTERS, _INSIGNIFICANT_CHARACTERS), self.digits))

    @property
    def texts(self) -> str:
        """All texts in the arguments, in order."""
        if self._texts is None:
            parts = _parts(self.value)
            self._texts = "\n".join(parts[1]) if parts else ""
        return self._texts

    def described(self, budget: WorkBudget) -> ComparedItem:
        """Return the texts in the arguments and the shape of everything else, for comparison."""
        parts = _parts(self.value) if self.is_comparable and budget.is_left else None
        if parts is None:
            return ComparedItem(self.key, ())
        shape, texts = parts
        budget.count_lookups(len(shape))
        return ComparedItem(shape, [ComparedText(text, budget) for text in texts])


def _parts(value: Any) -> tuple[tuple[object, ...], list[str]] | None:
    """Split arguments into their shape (keys and non-text values) and texts; return None for too many parts."""
    shape: list[object] = []
    texts: list[str] = []
    pending: list[tuple[str, Any]] = [("", value)]
    while pending:
        if len(shape) + len(pending) > _PARTS_LIMIT + 1:
            return None
        key, item = pending.pop()
        kind = type(item)
        if kind is dict:
            # A null is equivalent to an absent key.
            entries = [
                (entry, inner)
                for entry, inner in item.items()
                if type(entry) is str and inner is not None
            ]
            shape.append((key, "object"))
            pending += sorted(entries, key=_first) if len(entries) <= _PARTS_LIMIT else entries
        elif kind is list:
            shape.append((key, "array", len(item)))
            pending += [(key, inner) for inner in item[: _PARTS_LIMIT + 1]]
        elif kind is str and not _NUMBER.fullmatch(item.strip()):
            shape.append(key)
            texts.append(item)
        else:
            shape.append((key, item.strip().encode() if kind is str else canonical(item)))
    return tuple(shape), texts
