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

if TYPE_CHECKING:
    from collections.abc import Mapping

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
DEPTH_LIMIT = 200  #: jiter's own
INT_MIN, INT_MAX = -(2**63), 2**64 - 1
EXACT_INT = (
    2**53
)  #: beyond it a JSON number is not exact everywhere, and RFC 8785 does not define it


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
    return name if type(name) is str and VALID_NAME.fullmatch(name) else None


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
            'write one case a line: {"custom_id": ..., "inputs": {...}}',
        )
    _check_numbers(value)
    return value


def _check_numbers(root: dict[str, Any]) -> None:
    stack: list[Any] = [root]
    while stack:
        node = stack.pop()
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
    for sign, code, message, hint in known:
        if sign in reason:
            return LineError(code, message, hint)
    if "duplicate key" in reason:
        key = reason.partition('key "')[2].rpartition('" at ')[0]
        return LineError(
            ErrorCode.DUPLICATE_KEY,
            f"the key {key[:80]!r} stands twice in one object",
            "keep one of them",
        )
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
        return f"it is a {_json_type(name)}, not a string"
    if not name:
        return "it is empty"
    if len(name) > NAME_LIMIT:
        return f"it has {len(name):,} characters, at most {NAME_LIMIT} are allowed"
    return "it has control characters"


def canonical_json(value: object) -> bytes:
    """Return a JSON value in RFC 8785 canonical form; integers over 2^53, which it leaves open, in all their digits."""
    if _is_plain(value):
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    return _canonical_slowly(value)


def _is_plain(root: object) -> bool:
    """Whether orjson with sorted keys writes the value as RFC 8785 does: no float, exact integers, ASCII keys."""
    nodes: list[Any] = [[root]]
    for node in nodes:
        if type(node) is dict:
            if not "".join(node).isascii():
                return False
            node = node.values()  # noqa: PLW2901 - the list that grows while it is walked is the point
        for value in node:
            kind = type(value)
            if kind is str or kind is bool or value is None:
                continue
            if kind is dict or kind is list:
                nodes.append(value)
            elif kind is not int or not -EXACT_INT < value < EXACT_INT:
                return False
    return True


def _canonical_slowly(value: object) -> bytes:
    """Write containers here and leave every scalar to the library, so that one odd number costs nothing else."""
    if isinstance(value, dict):
        items = sorted(value.items(), key=lambda item: item[0].encode("utf-16-be"))
        return (
            b"{"
            + b",".join(rfc8785.dumps(key) + b":" + canonical_json(item) for key, item in items)
            + b"}"
        )
    if isinstance(value, list):
        return b"[" + b",".join(map(canonical_json, value)) + b"]"
    if type(value) is int and not -EXACT_INT < value < EXACT_INT:
        return str(value).encode()
    return rfc8785.dumps(value)  # type: ignore[arg-type]


def receipt(subject: bytes, inputs: object, result: Mapping[str, Any]) -> str:
    """Return the SHA-256 that ties a result to grader, version, config and inputs.

    It is taken over the canonical form of `{"config", "grader", "grader_version", "inputs", "result"}`;
    `subject` is the canonical form of the first three without its closing brace (see `receipt_subject`).
    """
    # The score is the one float of most results; whole, it reads as an integer in RFC 8785.
    score = result["score"]
    judged = {**result, "score": int(score)} if score in (0.0, 1.0) else result
    return sha256(
        subject + b"," + canonical_json({"inputs": inputs, "result": judged})[1:]
    ).hexdigest()


def receipt_subject(grader: str, version: int, config: dict[str, Any]) -> bytes:
    """Return the part of a receipt that is the same for every job of one grader and config."""
    return canonical_json({"config": config, "grader": grader, "grader_version": version})[:-1]


def encode_result(line: dict[str, Any]) -> bytes:
    """Return a result as one line of JSON, newline included."""
    return orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE)
