"""Loops of one call whose results, as those of an agent that is asked, say the same in other words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weighbridge.graders.loop.finders.findings import Finding
from weighbridge.graders.loop.finders.rules import Rule
from weighbridge.graders.loop.history.text_forms import SMALL_WORDS
from weighbridge.graders.loop.history.words import words_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from weighbridge.graders.loop.finders.sequences.cycles import Span
    from weighbridge.graders.loop.history.actions import Call
    from weighbridge.graders.loop.work_budget import Limits

_CHARACTERS = 600  #: of a result; a longer one may show its news in familiar words
_LEAST_WORDS = 5  #: in a result; a shorter one may be a status
_SHARED = 1 / 2  #: minimum share of words that a result has in common with the one before it


def retold_results(
    calls: Sequence[Call | None], rows: Sequence[Span], limits: Limits
) -> Iterator[Finding]:
    """Find more than `max_repeats` calls in `rows` of equal ones of whose results each says a part of the one before, or the reverse.

    All words but those of the request and small ones are compared, and no word is new.
    """
    for span in rows:
        found = [call for call in calls[span.start : span.end] if call is not None]
        if len({call.pair_id for call in found}) == 1:
            continue
        asked = _words_in(found[0].arguments.key.decode("utf-8", "replace"))
        known = set(asked)
        start, before = span.start, set[str]()
        for index, call in enumerate([*found, None], span.start):
            told = _told(call)
            is_retold = told - asked <= before or (told <= known and before - asked <= told)
            if not (told and is_retold and len(told & before) >= _SHARED * len(told | before)):
                least = limits.least_length(1)
                if index - start >= least:
                    yield Finding.by(Rule.RETOLD_RESULTS, range(start, index), least, period=1)
                start = index
            before = told
            known |= told


def _told(call: Call | None) -> set[str]:
    """Return the words of a result in prose; none for any other."""
    text = (call.result.text if call else None) or ""
    is_prose = len(text) <= _CHARACTERS and "\n" not in text and text.count(" ") >= _LEAST_WORDS
    return _words_in(text) if is_prose else set()


def _words_in(text: str) -> set[str]:
    return set(words_in(text[:_CHARACTERS].casefold())) - SMALL_WORDS
