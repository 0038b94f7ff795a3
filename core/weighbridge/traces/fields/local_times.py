"""Local times without a zone that stand beside times since 1970 in one record, and their offset from UTC."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from weighbridge.traces.fields.times import time_of

if TYPE_CHECKING:
    from collections.abc import Iterable

_MINUTE = 60 * 10**9  #: in nanoseconds
_CLOCK_ERROR = _MINUTE  #: largest difference between two clocks that are set right
#: what is longer may be a change of the zone, such as to summer time
_LONGEST_ANSWER = 60 * _MINUTE
#: Offsets of time zones that are not whole hours, in minutes.
_UNEVEN_OFFSETS = (-570, -210, -150, 210, 270, 330, 345, 390, 525, 570, 630, 765, 825)
_OFFSETS = sorted({*range(-12 * 60, 14 * 60 + 1, 60), *_UNEVEN_OFFSETS})


class LocalClock:
    """The clock of a record's times without a zone, found by times since 1970 of the same events.

    `answers` are pairs of the time at which an answer was recorded, and the time since 1970 of the model's response, which
    is earlier or nearly the same. Without pairs, the clock is taken as that of UTC.
    """

    def __init__(self, answers: Iterable[tuple[Any, Any]]) -> None:
        delays: list[int] = []
        for recorded, created in answers:
            local, instant = time_of(recorded), time_of(created)
            if local is not None and instant is not None and _is_local(recorded):
                delays.append(local - instant)
        #: Nanoseconds from UTC; None if no zone explains all pairs, so that the times are not comparable.
        self.offset: int | None = _offset_of(delays) if delays else 0

    def time_of(self, value: Any) -> int | None:
        """Return a time in nanoseconds since 1970; None if it is a local one and its offset is not known."""
        time = time_of(value)
        if time is None or not _is_local(value):
            return time
        return None if self.offset is None else time_of(time - self.offset, "ns")


def _offset_of(delays: list[int]) -> int | None:
    """Return the offset of the zone in which each delay is between zero and that of the longest answer."""
    shortest = min(delays) + _CLOCK_ERROR
    known: list[int] = [minutes * _MINUTE for minutes in _OFFSETS if minutes * _MINUTE <= shortest]
    if not known or max(delays) - known[-1] >= _LONGEST_ANSWER:
        return None
    return known[-1]


def _is_local(value: Any) -> bool:
    """Return whether a time is written in ISO 8601 without a zone."""
    if type(value) is not str or value.isdecimal():
        return False
    try:
        return datetime.fromisoformat(value).tzinfo is None
    except ValueError:
        return False
