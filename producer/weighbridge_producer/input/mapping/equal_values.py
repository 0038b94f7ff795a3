"""Numbers and times that are equal but written otherwise, such as `3.00` and `3`, or `1,500` and `1500`, which are different texts."""

from __future__ import annotations

import re
from datetime import datetime
from typing import TYPE_CHECKING

from weighbridge.graders.number_notation import PERCENT, numbers_in
from weighbridge.text import pluralize

if TYPE_CHECKING:
    from decimal import Decimal

    from weighbridge_producer.input.mapping.answer_sides import Side

_TIME = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[T ][0-9:.]{4,20}(?:Z|[-+][0-9:]{2,6})?)?"
).fullmatch


def equal_values_hint(one: Side, other: Side) -> str:
    """Return a note that the answers of several rows are equal as numbers or as times but not as texts; empty if they are not."""
    for what, are_equal in (("numbers", _are_one_number), ("times", _are_one_time)):
        pairs = [(a, b) for a, b in zip(one.texts, other.texts, strict=True) if a and b]
        equal = [(a, b) for a, b in pairs if are_equal(a, b)]
        unequal_texts = [(a, b) for a, b in equal if a != b]
        if len(unequal_texts) * 2 >= len(equal) and len(unequal_texts) > (len(pairs) > 1):
            a, b = unequal_texts[0]
            rows = f"{len(unequal_texts)} of the first {pluralize(len(pairs), 'row')}"
            rows += " with both answers," if len(pairs) < len(one.texts) else ""
            return (
                f"{one.field} has {a!r} where {other.field} has {b!r}: in {rows} the same {what} are different texts, which"
                " are not equal; write both columns in one notation"
            )
    return ""


def _are_one_number(a: str, b: str) -> bool:
    """Return whether two texts may be the same number; a percentage is also its hundredth beside what is none."""
    if a.endswith(PERCENT) and b.endswith(PERCENT):
        a, b = (text.removesuffix(PERCENT).rstrip() for text in (a, b))
    return not _numbers(a).isdisjoint(_numbers(b))


def _numbers(text: str) -> set[Decimal]:
    """Return the numbers that a text may be, of a percentage also its hundredth."""
    if text.endswith(PERCENT):
        found = _numbers(text.removesuffix(PERCENT).rstrip())
        return {*found, *(number.scaleb(-2) for number in found)}
    return numbers_in(text)


def _are_one_time(a: str, b: str) -> bool:
    time = _time(a)
    return time is not None and time == _time(b)


def _time(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text) if _TIME(text) else None
    except ValueError:
        return None
