"""Reasons that quote the expected and the observed text, whole or around what differs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from weighbridge.graders.text_difference import (
    common_end,
    first_difference,
    with_visible_ends,
)
from weighbridge.text import revealed, shorten

if TYPE_CHECKING:
    from weighbridge.graders.base import Difference

_QUOTED_CHARACTERS = 160  #: longer texts are quoted around their first difference
_EXPECTED, _OBSERVED = "Expected '", "' but got '"  #: in reasons
_FURTHER = re.compile(r", and [0-9,]+ more failed checks?\Z")  #: at the end of reasons
_LEAST_QUOTED = 24  #: characters of both texts together in a shortened reason


def reason_for(words: str, difference: Difference, expected: str, observed: str) -> str:
    """Return expected and observed text with the words for how they differ; long texts are quoted around their first difference."""
    if len(expected) > _QUOTED_CHARACTERS or len(observed) > _QUOTED_CHARACTERS:
        before, after = difference["before"], difference["after"]
        expected = f"{before}{difference['expected']}{after}"
        observed = f"{before}{difference['observed']}{after}"
    else:
        expected = with_visible_ends(revealed(expected))
        observed = with_visible_ends(revealed(observed))
    return f"{_EXPECTED}{expected}{_OBSERVED}{observed}'{': ' if words else ''}{words}"


def shorten_reason(text: str, most: int) -> str:
    """Return a text with a reason of `reason_for` in at most `most` characters, with what differs rather than what is equal.

    Any other text is cut at its end, or before the number of further checks that failed.
    """
    if len(text) > most and (further := _FURTHER.search(text)):
        room = most - len(further[0])
        return (
            shorten(text[: further.start()], room) + further[0] if room > 0 else shorten(text, most)
        )
    head, *rest = text.split(_EXPECTED)
    quotes = rest[0].rpartition("'") if len(rest) == 1 else ("", "", "")
    expected, between, observed = quotes[0].partition(_OBSERVED)
    room = most - (len(text) - len(expected) - len(observed))
    if len(text) <= most or not between or _OBSERVED in observed or room < _LEAST_QUOTED:
        return shorten(text, most)
    start = first_difference(expected, observed) if expected != observed else len(expected)
    tail = common_end(expected, observed, start)
    half = room // 2
    cut = [
        _around(quote, start, len(quote) - tail, max(half, room - len(other)))
        for quote, other in ((expected, observed), (observed, expected))
    ]
    return f"{head}{_EXPECTED}{cut[0]}{_OBSERVED}{cut[1]}'{quotes[2]}"


def _around(text: str, start: int, end: int, most: int) -> str:
    """Return at most `most` characters of a text around the part from `start` to `end`, of which the beginning is kept."""
    if len(text) <= most:
        return text
    part = shorten(text[start:end], most - 2)
    spare = most - 2 - len(part)
    before = min(start, max(spare // 2, spare - (len(text) - end)))
    after = min(len(text) - end, spare - before)
    return (
        f"{'…' if before < start else ''}{text[start - before : start]}{part}"
        f"{text[end : end + after]}{'…' if after < len(text) - end else ''}"
    )
