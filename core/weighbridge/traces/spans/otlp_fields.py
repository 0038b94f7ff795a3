"""Fields of OpenTelemetry's records, as exporters and SDKs write them: ids, times, status and attributes."""

from __future__ import annotations

import base64
import re
from typing import Any, Literal

from weighbridge.traces.chat.call_parts import first_of
from weighbridge.traces.fields import count_of, duration_of, note_unreadable, string_of, time_of

_STATUS_MESSAGES = ("message", "description", "status_message", "otel_status_message")
#: A status as a text of its own, such as `ERROR` or Python's `StatusCode.ERROR`.
_STATUS_WORD = re.compile(r"(?:STATUS_?CODE[._])?(?:ERROR|OK|UNSET)", re.IGNORECASE)
_INTEGER = re.compile(r"-?[0-9]{1,19}")
#: Keys of values, as protobuf's JSON and its Python classes name them.
_KINDS = frozenset(
    kind + suffix
    for kind in ("string", "int", "double", "bool", "bytes", "array", "kvlist")
    for suffix in ("Value", "_value")
)
_VALUE_DEPTH = 64  #: maximum depth of lists and objects in an attribute


def hex_id(value: Any, size: int) -> str:
    """Return an ID in hexadecimal; protobuf's own JSON writes its bytes in base64, and some sources write a number."""
    if type(value) is int:
        return str(value)
    if type(value) is not str:
        return ""
    if value.endswith("=") and len(value) < 4 * size:
        try:
            decoded = base64.b64decode(value, validate=True)
        except ValueError:
            return value
        return decoded.hex() if len(decoded) == size else value
    return value.removeprefix("0x").lower()


def attributes_in(listed: Any) -> dict[str, Any]:
    """Return attributes by name, from a list, as in OTLP, or from an object."""
    if type(listed) is dict:
        return dict(listed)
    return _pairs(listed, 0)


def span_time(value: dict[str, Any], end: Literal["start", "end"]) -> int | None:
    """Return when a span started or ended."""
    nanoseconds = first_of(
        value,
        (
            *(f"{end}TimeUnixNano", f"{end}_time_unix_nano"),
            *(f"{end}_time_ns", f"{end}TimeNs", f"{end}_ns", f"{end}Ns"),
        ),
    )
    if nanoseconds is not None:
        return time_of(nanoseconds, "ns")
    recorded = first_of(value, (f"{end}_time", f"{end}Time", f"{end}_timestamp"))
    if type(recorded) is list:  # seconds and nanoseconds, as the JavaScript SDK has them
        counts = [count_of(part) for part in recorded]
        if len(counts) != 2 or None in counts:
            note_unreadable("timing")
            return None
        return time_of((counts[0] or 0) * 10**9 + (counts[1] or 0), "ns")
    return time_of(recorded)


def printed_times(value: dict[str, Any]) -> tuple[int | None, int | None]:
    """Return the start and end of a span that a console exporter printed, whose times are in microseconds."""
    started_at, duration = time_of(value.get("timestamp"), "us"), duration_of(value.get("duration"))
    if started_at is None or duration is None:
        return started_at, None
    return started_at, time_of(started_at + int(duration * 1000), "ns")


def status_of(value: dict[str, Any]) -> tuple[Literal["unset", "ok", "error"], str | None]:
    """Return the status of a span and its message."""
    status = value.get("status")
    held = status if type(status) is dict else value
    codes = [first_of(held, ("code", "status_code", "statusCode", "otel_status_code"))]
    if type(status) is str and _STATUS_WORD.fullmatch(status):
        codes.append(status)
    message = string_of(first_of(held, _STATUS_MESSAGES))
    words = [code.upper() for code in codes if type(code) is str]
    if 2 in codes or any(word.endswith("ERROR") for word in words):
        return "error", message
    return ("ok" if 1 in codes or any(word.endswith("OK") for word in words) else "unset"), message


def _pairs(listed: Any, depth: int) -> dict[str, Any]:
    return {
        item["key"]: plain_value(item.get("value"), depth + 1)
        for item in (listed if type(listed) is list else ())
        if type(item) is dict and type(item.get("key")) is str
    }


def plain_value(value: Any, depth: int = 0) -> Any:
    """Return the plain value of an OTLP value such as `{"intValue": "3"}`; any other value unchanged.

    Some sources, such as Phoenix, also write the kinds that the value is not of, each as null.
    """
    if type(value) is not dict or not value or depth > _VALUE_DEPTH:
        return value
    if len(value) > 1 and _KINDS.issuperset(value):
        filled = {kind: inner for kind, inner in value.items() if inner is not None}
        return plain_value(filled, depth) if filled else None
    if len(value) != 1:
        return value
    ((kind, inner),) = value.items()
    kind = kind.removesuffix("_value").removesuffix("Value") if type(kind) is str else ""
    if kind == "int":
        return int(inner) if type(inner) is str and _INTEGER.fullmatch(inner) else inner
    if kind == "array":
        listed = inner.get("values") if type(inner) is dict else None
        return [plain_value(item, depth + 1) for item in (listed if type(listed) is list else ())]
    if kind == "kvlist":
        return _pairs(inner.get("values") if type(inner) is dict else None, depth)
    return inner if kind in {"string", "double", "bool", "bytes"} else value
