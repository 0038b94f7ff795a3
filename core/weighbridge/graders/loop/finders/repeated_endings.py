"""Loops of calls with which the agent ends its work, although it is ended already, or does not end."""

from __future__ import annotations

from itertools import compress
from typing import TYPE_CHECKING

from weighbridge.graders.loop.finders.findings import Finding
from weighbridge.graders.loop.finders.rules import Rule
from weighbridge.graders.loop.finders.sequences.known_ranges import ranges
from weighbridge.graders.loop.history.call_kinds import claims_done

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from weighbridge.graders.loop.history.actions import Call
    from weighbridge.graders.loop.work_budget import Limits

_PER_OTHER = 2  #: minimum endings for each other call between them


def repeated_endings(
    calls: Sequence[Call | None], limits: Limits, known: set[int]
) -> Iterator[Finding]:
    """Find more than `2 * max_repeats` calls that report the work as done within one request, with few other calls between.

    Their results only acknowledge or repeat what they say. Calls in `known` loops are not examined.
    """
    least = Rule.ENDED_AGAIN.least(limits)
    ends = [
        call is not None and index not in known and _ends(call) for index, call in enumerate(calls)
    ]
    if sum(ends) < least:
        return
    start = 0
    for index, call in enumerate((*calls, None)):
        if call is None:
            for first, last in ranges(ends[start:index], _PER_OTHER, least):
                found = range(start + first, start + last)
                yield Finding.by(
                    Rule.ENDED_AGAIN, compress(found, ends[found.start : found.stop]), least
                )
            start = index + 1


def _ends(call: Call) -> bool:
    return claims_done(call) and not (call.result.is_long or call.result.has_failed)
