"""Strict JSON: parses the object on a line, with a precise error if it is invalid."""

from __future__ import annotations

import math
from typing import Any

import jiter

from weighbridge.errors import Fault, LineError
from weighbridge.grading.hints import hint_for
from weighbridge.jobs.error_codes import ErrorCode
from weighbridge.jobs.line import BYTE_ORDER_MARK, JSON_SPACE, json_type

SAVE_AS_UTF8 = "save the file as UTF-8"
DEPTH_LIMIT = 200  #: jiter's limit
INT_MIN, INT_MAX = -(2**63), 2**64 - 1
_NO_NUMBERS = frozenset({str, bool, type(None)})
_HALF_SURROGATE = (
    ErrorCode.LONE_SURROGATE,
    "lone surrogate",
    "write both halves of the surrogate pair, or U+FFFD",
)
#: By a text in jiter's error: the code, what is wrong, and the hint.
_REASONS = {
    "recursion limit": (
        ErrorCode.TOO_DEEP,
        f"nested deeper than {DEPTH_LIMIT} levels",
        "flatten the value",
    ),
    "number out of range": (
        ErrorCode.NUMBER_OUT_OF_RANGE,
        "a number is too long",
        "write it as a string",
    ),
    "hex escape": _HALF_SURROGATE,
    "surrogate": _HALF_SURROGATE,
    "expected ident": (
        ErrorCode.INVALID_JSON,
        "not JSON: without quotes, only null, true, false and numbers are values",
        "put texts in double quotes; in a file, write one JSON object on each line",
    ),
    "EOF while": (
        ErrorCode.INVALID_JSON,
        "the JSON ends too early",
        "the line may have been cut off",
    ),
}


def decode_line(line: bytes) -> dict[str, Any]:
    """Parse the object on a line; raises LineError for anything but strict JSON within our limits."""
    try:
        value = jiter.from_json(line, catch_duplicate_keys=True, allow_inf_nan=False)
    except ValueError as error:
        raise _explain(line, str(error)) from None
    if type(value) is not dict:
        raise LineError(
            ErrorCode.NOT_AN_OBJECT,
            f"the line is a JSON {json_type(value)}, not an object",
            hint_for(value) or 'write one case per line: {"custom_id": ..., "inputs": {...}}',
        )
    _check_numbers(value)
    return value


def decode_row(line: bytes) -> tuple[dict[str, Any], Fault | None]:
    """Parse the object on a line, with the fault of a number that is out of range, which counts if it is used.

    Raises LineError as `decode_line` does for all else.
    """
    try:
        return decode_line(line), None
    except LineError as error:
        if error.fault.code != ErrorCode.NUMBER_OUT_OF_RANGE:
            raise
        try:
            value = jiter.from_json(line, catch_duplicate_keys=True, allow_inf_nan=True)
        except ValueError:
            value = None
        if type(value) is not dict:
            raise
        return value, error.fault


def _check_numbers(root: dict[str, Any]) -> None:
    stack: list[Any] = [root]
    for node in stack:
        for value in node.values() if type(node) is dict else node:
            kind = type(value)
            if kind in _NO_NUMBERS:
                continue
            if kind is dict or kind is list:
                stack.append(value)
            elif not (INT_MIN <= value <= INT_MAX if kind is int else math.isfinite(value)):
                raise LineError(
                    ErrorCode.NUMBER_OUT_OF_RANGE,
                    "a number does not fit into 64 bits",
                    "write very large numbers as strings",
                )


def utf8_fault(text: bytes, first_line: int = 0) -> Fault | None:
    """Return the fault for text that is not UTF-8; it names the line of the file if the text begins at one with a number."""
    try:
        text.decode()
    except UnicodeDecodeError as error:
        begin = text.rfind(b"\n", 0, error.start) + 1
        line = first_line + text.count(b"\n", 0, begin)
        where = f"line {line:,}: " if first_line else ""
        message = f"{where}byte {error.start - begin + 1} is not UTF-8: 0x{text[error.start]:02x}"
        return Fault(ErrorCode.INVALID_UTF8, message, SAVE_AS_UTF8)
    return None


def _explain(line: bytes, reason: str) -> LineError:
    """Convert jiter's error for a line to a LineError."""
    if line.startswith(BYTE_ORDER_MARK):
        return LineError(
            ErrorCode.BYTE_ORDER_MARK,
            "the line starts with a byte-order mark",
            "remove the three bytes EF BB BF; joined files often have them in the middle",
        )
    if fault := utf8_fault(line):
        return LineError(fault.code, fault.message, fault.hint)
    # First, because the quoted key may contain any of the other texts.
    if "duplicate key" in reason:
        key = reason.partition('key "')[2].rpartition('" at ')[0]
        return LineError(
            ErrorCode.DUPLICATE_KEY,
            f"the key {key[:80]!r} occurs twice in one object",
            "keep one of them",
        )
    return _invalid(line, reason)


def _invalid(line: bytes, reason: str) -> LineError:
    """Convert jiter's error for text that is not JSON, or that this parser refuses."""
    column = reason.rpartition(" column ")[2]
    at = f" at byte {column}" if column.isdigit() else ""
    for sign, (code, message, hint) in _REASONS.items():
        if sign in reason:
            return LineError(code, f"{message}{at}", hint)
    token = line[int(column) - 1 :] if column.isdigit() else b""
    if token.lstrip(b"-").startswith((b"NaN", b"Infinity")):
        return LineError(
            ErrorCode.NUMBER_OUT_OF_RANGE,
            f"NaN and Infinity are not JSON{at}",
            "write null or a string instead",
        )
    if reason.startswith("trailing characters") and token.lstrip(JSON_SPACE)[:1] in (b"{", b"["):
        return LineError(
            ErrorCode.INVALID_JSON,
            f"the line has several JSON values, the second{at}",
            "write each on a line of its own, as jq -c does",
        )
    return LineError(
        ErrorCode.INVALID_JSON,
        f"not JSON: {reason.partition(' at line ')[0]}{at}",
        "write strict JSON; in a file, one object on each line",
    )
