"""Loops of calls with which the agent ends its work, although it is ended already, or does not end."""

from __future__ import annotations

import re
from collections import Counter
from itertools import compress
from typing import TYPE_CHECKING

from weighbridge.graders.loop.finders.findings import Finding
from weighbridge.graders.loop.finders.rules import Rule
from weighbridge.graders.loop.finders.sequences.known_ranges import ranges
from weighbridge.graders.loop.history.actions import calls_at
from weighbridge.graders.loop.history.call_kinds import claims_done, ends_work
from weighbridge.graders.loop.history.words import words_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from weighbridge.graders.loop.history.actions import Call
    from weighbridge.graders.loop.work_budget import Limits

_WORD = re.compile(r"\w+")
_PER_OTHER = 2  #: minimum endings for each other call between them
_CLAIM_WORDS = 5  #: an ending with fewer words may be of one of several things
_OWN = 0.25  #: maximum share of words that only one ending has, as one that ends something else has many


def repeated_endings(
    calls: Sequence[Call | None], limits: Limits, known: set[int]
) -> Iterator[Finding]:
    """Find more than `2 * max_repeats` calls of one tool that report the same work as done within one request.

    At most half as many other calls lie between. Their results only acknowledge or repeat what they say, and hardly a word of
    any is in none of the others. Calls in `known` loops are not examined.
    """
    least = Rule.ENDED_AGAIN.least(limits)
    last_of = {call.tool: call for call in calls if call is not None}
    if not any(map(ends_work, last_of.values())):
        return
    ends = [
        call is not None and index not in known and _ends(call) for index, call in enumerate(calls)
    ]
    if sum(ends) < least:
        return
    start = 0
    for index, call in enumerate((*calls, None)):
        if call is None:
            for first, last in ranges(ends[start:index], _PER_OTHER, least):
                places = range(start + first, start + last)
                found = [*compress(places, ends[places.start : places.stop])]
                if _end_the_same(calls_at(calls, found)):
                    yield Finding.by(Rule.ENDED_AGAIN, found, least)
            start = index + 1


def _ends(call: Call) -> bool:
    """Return whether a call ends the work with a sentence, and its result says nothing of its own."""
    if not claims_done(call) or call.arguments.texts.count(" ") < _CLAIM_WORDS - 1:
        return False
    return not (call.result.is_long or call.result.has_failed)


def _end_the_same(made: Sequence[Call]) -> bool:
    said = [frozenset(words_in(call.arguments.texts.casefold(), _WORD)) for call in made]
    counts = Counter(word for words in said for word in words)
    own = sum(sum(counts[word] == 1 for word in words) / max(1, len(words)) for words in said)
    return len({call.tool for call in made}) == 1 and own <= _OWN * len(made)
