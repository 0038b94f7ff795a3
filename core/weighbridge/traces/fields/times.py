"""Times in untrusted JSON, in nanoseconds since 1970 UTC."""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

from weighbridge.traces.fields.unreadable import note_unreadable
from weighbridge.traces.fields.usage import duration_of

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_NANOSECONDS_LIMIT = 2**63  #: the year 2262
_LONGEST_SECONDS = 10**9  #: longest duration that a run can have
_NANOSECONDS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}
_SECONDS_LIMIT = 10**11  #: the year 5138; a larger number counts something shorter than seconds
_BELOW_MICROSECONDS = re.compile(r"[.,]\d{6}(\d{1,3})")


def time_of(value: Any, unit: Literal["s", "ms", "us", "ns"] = "s") -> int | None:
    """Return a time in nanoseconds since 1970 UTC, from ISO 8601 or from a number (or its digits) in that unit.

    A time without a zone is taken as UTC; a number too large for seconds as milli-, micro- or nanoseconds, by its
    size. None for anything that is no time, which is noted unless it stands for none.
    """
    time = _time_of(value, unit)
    if time is None and not _is_unset(value):
        note_unreadable("timing")
    return time


def _is_unset(value: Any) -> bool:
    """Return whether a value stands for no time: nothing, 0, or the first year, which Go writes."""
    if type(value) is str:
        return value.strip("0") == "" or value.startswith("0001-01-01")
    return value is None or (value == 0 and type(value) is not bool)


def _time_of(value: Any, unit: Literal["s", "ms", "us", "ns"]) -> int | None:
    if type(value) is str:
        if not (value.isdecimal() and len(value) <= 20):
            return _iso_time(value)
        value = int(value)
    if type(value) is float and not math.isfinite(value):
        return None
    if type(value) is not int and type(value) is not float:
        return None
    if unit == "s" and value >= _SECONDS_LIMIT:
        unit = "ms" if value < _SECONDS_LIMIT * 10**3 else "us" if value < 10**17 else "ns"
    if not 0 < value < _NANOSECONDS_LIMIT:
        return None
    if type(value) is float:
        # A float with today's seconds has microseconds; smaller digits are its rounding.
        nanoseconds = round(value * (_NANOSECONDS[unit] / 1000)) * 1000
    else:
        nanoseconds = int(value) * _NANOSECONDS[unit]
    return nanoseconds if 0 < nanoseconds < _NANOSECONDS_LIMIT else None


def time_after(began: int | None, seconds: Any) -> int | None:
    """Return a time in nanoseconds plus a number of seconds; None if one is not known, or the seconds are more than a run takes."""
    passed = duration_of(seconds)
    if began is None or passed is None or passed > _LONGEST_SECONDS:
        return None
    return time_of(began + int(passed * 10**9), "ns")


def _iso_time(text: str) -> int | None:
    try:
        moment = datetime.fromisoformat(text)
        since = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - _EPOCH
    except (ValueError, OverflowError):
        return None
    # `datetime` stops at microseconds.
    rest = _BELOW_MICROSECONDS.search(text)
    seconds = since.days * 86_400 + since.seconds
    below = int(rest[1].ljust(3, "0")) if rest else 0
    nanoseconds = seconds * 10**9 + since.microseconds * 1000 + below
    return nanoseconds if 0 < nanoseconds < _NANOSECONDS_LIMIT else None


def iso_time(nanoseconds: int) -> str:
    """Write a time as ISO 8601, in as many digits as it has."""
    whole = moment_of(nanoseconds).strftime("%Y-%m-%dT%H:%M:%S")
    digits = f".{nanoseconds % 10**9:09d}".rstrip("0").rstrip(".")
    return f"{whole}{digits}Z"


def moment_of(nanoseconds: int) -> datetime:
    """Return the second in which a time lies."""
    return _EPOCH + timedelta(seconds=nanoseconds // 10**9)
