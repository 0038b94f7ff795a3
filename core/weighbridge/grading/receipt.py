"""Receipts: a SHA-256 over canonical JSON (RFC 8785) that binds a result to its inputs."""

from __future__ import annotations

from hashlib import sha256
from math import inf
from typing import TYPE_CHECKING, Any

import orjson
import rfc8785

if TYPE_CHECKING:
    from collections.abc import Mapping

_CONFIG_DIGITS = 16  #: hexadecimal digits
_SHORT_FLOATS = 1e15  #: larger floats may be written with exponents
#: Python writes larger floats as RFC 8785 does, in a tenth of the library's time.
_LONG_FLOATS = 1e21
_PLAIN = frozenset({str, int, bool, type(None)})  #: encoded identically by orjson and RFC 8785
#: The first bytes of UTF-8 characters beyond U+FFFF.
_FOUR_BYTE_LEADS = tuple(bytes([lead]) for lead in range(0xF0, 0xF5))


def canonical_json(value: object) -> bytes:
    """Return a JSON value in RFC 8785 canonical form; integers over 2^53, which it does not define, have all digits."""
    try:
        text = orjson.dumps(_with_plain_floats(value), option=orjson.OPT_SORT_KEYS)
    except TypeError:  # an integer over 64 bits, or a type that JSON lacks
        return _canonical_slowly(value)
    # RFC 8785 sorts keys by UTF-16 and orjson by UTF-8, which differ only for characters beyond U+FFFF.
    if text.isascii() or not any(map(text.__contains__, _FOUR_BYTE_LEADS)):
        return text
    return text if _has_ascii_keys(value) else _canonical_slowly(value)


def _with_plain_floats(node: Any) -> Any:
    """Return a value whose floats orjson encodes as RFC 8785 requires: the value itself if it has no other floats.

    Raises TypeError for a type that JSON lacks.
    """
    kind = type(node)
    if kind is dict or kind is list:
        copied = None
        for key, value in node.items() if kind is dict else enumerate(node):
            if type(value) in _PLAIN:
                continue
            plain = _with_plain_floats(value)
            if plain is not value:
                copied = node.copy() if copied is None else copied
                copied[key] = plain
        return node if copied is None else copied
    if kind is not float:
        if kind in _PLAIN:
            return node
        raise TypeError
    if _is_plain_float(node):
        return node
    size = abs(node)
    if size < _SHORT_FLOATS and node.is_integer():
        return int(node)
    return orjson.Fragment(repr(node) if _LONG_FLOATS <= size < inf else rfc8785.dumps(node))


def _is_plain_float(number: float) -> bool:
    """Return whether both encode a float with digits and a point only."""
    return 1e-4 < abs(number) < _SHORT_FLOATS and not number.is_integer()


def _has_ascii_keys(node: object) -> bool:
    if type(node) is dict:
        return "".join(node).isascii() and all(map(_has_ascii_keys, node.values()))
    return type(node) is not list or all(map(_has_ascii_keys, node))


def _canonical_slowly(value: object) -> bytes:
    """Encode containers and large integers here, and other values with the rfc8785 library."""
    if isinstance(value, dict):
        items = sorted(value.items(), key=lambda item: str.encode(item[0], "utf-16-be"))
        members = (orjson.dumps(key) + b":" + _canonical_slowly(item) for key, item in items)
        return b"{" + b",".join(members) + b"}"
    if isinstance(value, (list, tuple)):
        return b"[" + b",".join(map(_canonical_slowly, value)) + b"]"
    if type(value) is int:
        return str(value).encode()
    if isinstance(value, float):
        return rfc8785.dumps(value)
    return orjson.dumps(value)


class Receipts:
    """Receipts for one grader and config: the SHA-256 that binds a result to them, to the version, and to the inputs.

    It is computed over the canonical form of `{"config", "grader", "grader_version", "inputs", "result"}`. If results
    `are_plain` (see `Grader.has_plain_results`), a receipt takes half the time.
    """

    __slots__ = ("_are_plain", "_begun", "config_digest")

    def __init__(
        self, grader: str, version: int, config: dict[str, Any], *, are_plain: bool = False
    ) -> None:
        subject = canonical_json({"config": config, "grader": grader, "grader_version": version})
        self._begun = sha256(subject[:-1] + b',"inputs":')
        self._are_plain = are_plain
        #: Identifies the configuration in result lines: the first 64 bits of the SHA-256 over its canonical form.
        self.config_digest = sha256(canonical_json(config)).hexdigest()[:_CONFIG_DIGITS]

    def of(self, inputs: bytes, result: Mapping[str, Any]) -> str:
        """Return the receipt of a result for inputs in canonical form."""
        # The score is the only float in most results; RFC 8785 encodes a whole number as an integer.
        score = result["score"]
        is_whole = score == 1.0 or score == 0.0  # noqa: PLR1714 - faster
        judged = {**result, "score": int(score)} if is_whole else result
        if self._are_plain and is_whole:
            canonical = orjson.dumps(judged, option=orjson.OPT_SORT_KEYS)
        else:
            canonical = canonical_json(judged)
        digest = self._begun.copy()
        digest.update(inputs)
        digest.update(b',"result":%b}' % canonical)
        return digest.hexdigest()
