"""Bytes to values and back: strict JSON in, result lines out, canonical JSON for receipts."""

from __future__ import annotations

import math
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import jiter
import msgspec
import orjson
import rfc8785

from weighbridge.errors import LineError
from weighbridge.jobs.model import NAME_LIMIT, VALID_NAME, ErrorCode
from weighbridge.jobs.strays import advice_on

if TYPE_CHECKING:
    from collections.abc import Mapping

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
JSON_SPACE = b" \t\r\n"  #: what may stand around a value; a line of nothing else is blank
DEPTH_LIMIT = 200  #: jiter's own
_LARGE_INPUTS_BYTES = 256 * 1024
_SHORT_FLOATS = 1e15  #: beyond it some write exponents
INT_MIN, INT_MAX = -(2**63), 2**64 - 1


class _Identity(msgspec.Struct):
    custom_id: Any = None


_identity = msgspec.json.Decoder(_Identity)


def peek_custom_id(line: bytes) -> str | None:
    """Return the custom_id of a line that is JSON, as cheaply as can be; None where it has no valid one.

    Producer and worker both ask here, so that they agree on which line owns an id.
    """
    try:
        name = _identity.decode(line).custom_id
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return None
    return name if type(name) is str and is_valid_name(name) else None


def is_valid_name(name: str) -> bool:
    """Whether a string can be a custom_id or a label: 1 to 256 characters, none of them control characters."""
    # Printable is the common case, and tested much faster.
    return (0 < len(name) <= NAME_LIMIT and name.isprintable()) or bool(VALID_NAME.fullmatch(name))


def decode_line(line: bytes) -> dict[str, Any]:
    """Return the object on a line; LineError for all that is not strict JSON within our limits."""
    try:
        value = jiter.from_json(line, catch_duplicate_keys=True, allow_inf_nan=False)
    except ValueError as error:
        raise _explain(line, str(error)) from None
    if type(value) is not dict:
        raise LineError(
            ErrorCode.NOT_AN_OBJECT,
            f"the line is a JSON {_json_type(value)}, not an object",
            advice_on(value) or 'write one case a line: {"custom_id": ..., "inputs": {...}}',
        )
    _check_numbers(value)
    return value


def _check_numbers(root: dict[str, Any]) -> None:
    stack: list[Any] = [root]
    for node in stack:
        for value in node.values() if type(node) is dict else node:
            kind = type(value)
            if kind is str or value is None or kind is bool:
                continue
            if kind is dict or kind is list:
                stack.append(value)
            elif (kind is int and not INT_MIN <= value <= INT_MAX) or (
                kind is float and not math.isfinite(value)
            ):
                raise LineError(
                    ErrorCode.NUMBER_OUT_OF_RANGE,
                    "a number is larger than 64 bits can hold",
                    "write very large numbers as strings",
                )


def _explain(line: bytes, reason: str) -> LineError:
    """Say in our words what jiter found wrong with a line."""
    place = reason.rpartition(" column ")[2]
    at = f" at byte {place}" if place.isdigit() else ""
    if line.startswith(BYTE_ORDER_MARK):
        return LineError(
            ErrorCode.BYTE_ORDER_MARK,
            "the line starts with a byte-order mark",
            "remove the three bytes EF BB BF; joined files often have them in the middle",
        )
    try:
        line.decode()
    except UnicodeDecodeError as error:
        return LineError(
            ErrorCode.INVALID_UTF8,
            f"byte {error.start + 1} is not UTF-8: 0x{line[error.start]:02x}",
            "save the file as UTF-8",
        )
    known = (
        (
            "recursion limit",
            ErrorCode.TOO_DEEP,
            f"nested deeper than {DEPTH_LIMIT} levels{at}",
            "flatten the value",
        ),
        (
            "number out of range",
            ErrorCode.NUMBER_OUT_OF_RANGE,
            f"a number is too long{at}",
            "write it as a string",
        ),
        (
            "hex escape",
            ErrorCode.LONE_SURROGATE,
            f"half of a surrogate pair{at}",
            "write both halves, or U+FFFD",
        ),
        (
            "surrogate",
            ErrorCode.LONE_SURROGATE,
            f"half of a surrogate pair{at}",
            "write both halves, or U+FFFD",
        ),
        (
            "EOF while",
            ErrorCode.INVALID_JSON,
            f"the JSON ends too early{at}",
            "the line may have been cut off",
        ),
    )
    if "duplicate key" in reason:  # before the rest, for the key may read like any of it
        key = reason.partition('key "')[2].rpartition('" at ')[0]
        return LineError(
            ErrorCode.DUPLICATE_KEY,
            f"the key {key[:80]!r} stands twice in one object",
            "keep one of them",
        )
    for sign, code, message, hint in known:
        if sign in reason:
            return LineError(code, message, hint)
    token = line[int(place) - 1 :] if place.isdigit() else b""
    if token.lstrip(b"-").startswith((b"NaN", b"Infinity")):
        return LineError(
            ErrorCode.NUMBER_OUT_OF_RANGE,
            f"NaN and Infinity are not JSON{at}",
            "write null or a string instead",
        )
    return LineError(
        ErrorCode.INVALID_JSON,
        f"not JSON: {reason.partition(' at line ')[0]}{at}",
        "write one JSON object a line",
    )


def _json_type(value: object) -> str:
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
    """Say what is wrong with a custom_id or a label."""
    if not isinstance(name, str):
        kind = _json_type(name)
        article = "an" if kind in {"array", "object"} else "a"
        return f"it is {article} {kind}, not a string"
    if not name:
        return "it is empty"
    if len(name) > NAME_LIMIT:
        return f"it has {len(name):,} characters, at most {NAME_LIMIT} are allowed"
    return "it has control characters"


def canonical_json(value: object) -> bytes:
    """Return a JSON value in RFC 8785 canonical form; integers over 2^53, which it leaves open, in all their digits."""
    try:
        text = orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    except TypeError:  # an integer over 64 bits
        return _canonical_slowly(value)
    # Keys sort by UTF-16 there and by UTF-8 here, which is the same for ASCII.
    if not (text.isascii() or _has_ascii_keys(value)):
        return _canonical_slowly(value)
    if _is_plain(value):
        return text
    try:
        return orjson.dumps(_with_plain_floats(value), option=orjson.OPT_SORT_KEYS)
    except TypeError:
        return _canonical_slowly(value)


def _is_plain(node: Any) -> bool:
    """Whether there is nothing in a value that orjson writes otherwise than RFC 8785, floats above all."""
    kind = type(node)
    if kind is not dict and kind is not list:
        return kind is str or kind is int or kind is bool or node is None
    for value in node.values() if kind is dict else node:
        kind = type(value)
        if kind is str or kind is bool or value is None or kind is int:
            continue
        if kind is float and _is_plain_float(value):
            continue
        if (kind is not dict and kind is not list) or not _is_plain(value):
            return False
    return True


def _with_plain_floats(node: Any) -> Any:
    """Return a value in which floats stand as RFC 8785 writes them; TypeError for a type that JSON does not have."""
    kind = type(node)
    if kind is dict:
        return {key: _with_plain_floats(item) for key, item in node.items()}
    if kind is list:
        return [_with_plain_floats(item) for item in node]
    if kind is str or kind is int or kind is bool or node is None:
        return node
    if kind is not float:
        raise TypeError
    if _is_plain_float(node):
        return node
    is_short = abs(node) < _SHORT_FLOATS and node.is_integer()
    return int(node) if is_short else orjson.Fragment(rfc8785.dumps(node))


def _is_plain_float(number: float) -> bool:
    """Whether a float is written with digits and a point alone, by both."""
    return 1e-4 < abs(number) < _SHORT_FLOATS and not number.is_integer()


def _has_ascii_keys(node: object) -> bool:
    if type(node) is dict:
        return "".join(node).isascii() and all(map(_has_ascii_keys, node.values()))
    return type(node) is not list or all(map(_has_ascii_keys, node))


def _canonical_slowly(value: object) -> bytes:
    """Write containers and large integers here, and leave floats to the library."""
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


def receipt(subject: bytes, inputs: bytes, result: Mapping[str, Any]) -> str:
    """Return the SHA-256 that ties a result to grader, version, config and inputs.

    It is taken over the canonical form of `{"config", "grader", "grader_version", "inputs", "result"}`;
    `subject` is the beginning of that, up to the inputs (see `receipt_subject`), and `inputs` are canonical already.
    """
    # The score is the one float of most results; whole, it reads as an integer in RFC 8785.
    score = result["score"]
    judged = {**result, "score": int(score)} if score == 1.0 or score == 0.0 else result  # noqa: PLR1714 - faster
    parts = (subject, inputs, canonical_json(judged))
    if len(inputs) < _LARGE_INPUTS_BYTES:
        return sha256(b'%b"inputs":%b,"result":%b}' % parts).hexdigest()
    # Joined, a large case would be in memory once more than it has to.
    digest = sha256(subject)
    for part in (b'"inputs":', inputs, b',"result":', parts[2], b"}"):
        digest.update(part)
    return digest.hexdigest()


def receipt_subject(grader: str, version: int, config: dict[str, Any]) -> bytes:
    """Return the part of a receipt that is the same for every job of one grader and config."""
    subject = canonical_json({"config": config, "grader": grader, "grader_version": version})
    return subject[:-1] + b","


def encode_result(line: dict[str, Any]) -> bytes:
    """Return a result as one line of JSON, newline included."""
    return orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE)
