"""Numbers and times that are equal but written otherwise, such as `3.00` and `3`, which are different texts."""

from __future__ import annotations

import re
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING

from weighbridge.text import pluralize

if TYPE_CHECKING:
    from weighbridge_producer.input.mapping.answer_sides import Side

_NUMBER = re.compile(r"[-+]?[0-9]{1,30}(?:\.[0-9]{1,30})?(?:[eE][-+]?[0-9]{1,3})?").fullmatch
_TIME = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[T ][0-9:.]{4,20}(?:Z|[-+][0-9:]{2,6})?)?"
).fullmatch


def equal_values_hint(one: Side, other: Side) -> str:
    """Return that the answers of several rows are equal as numbers or as times but not as texts; empty if they are not."""
    for what, read in (("numbers", _number), ("times", _time)):
        pairs = [(a, b) for a, b in zip(one.texts, other.texts, strict=True) if a and b]
        equal = [(a, b) for a, b in pairs if (value := read(a)) is not None and value == read(b)]
        unequal_texts = [(a, b) for a, b in equal if a != b]
        if len(unequal_texts) * 2 >= len(equal) and len(unequal_texts) > (len(pairs) > 1):
            a, b = unequal_texts[0]
            rows = f"{len(unequal_texts)} of the first {pluralize(len(pairs), 'row')}"
            return (
                f"{one.field} has {a!r} where {other.field} has {b!r}: in {rows} the same {what} are different texts, which"
                " are not equal; write both columns in one notation"
            )
    return ""


def _number(text: str) -> Decimal | None:
    return Decimal(text) if _NUMBER(text) else None


def _time(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text) if _TIME(text) else None
    except ValueError:
        return None
