"""Loops of calls in a described world whose descriptions have no sentence that was not read before."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from weighbridge.graders.loop.finders.findings import Finding
from weighbridge.graders.loop.finders.rules import Rule
from weighbridge.graders.loop.finders.sequences.stretches import ranges
from weighbridge.graders.loop.history.call_kinds import is_wait, runs_code, writes
from weighbridge.graders.loop.history.moves_and_looks import (
    handles_things,
    leads_somewhere,
    polls,
)
from weighbridge.graders.loop.history.result_kinds import tells_nothing
from weighbridge.graders.loop.history.words import words_in
from weighbridge.graders.loop.work_budget import WorkBudget

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from weighbridge.graders.loop.history.actions import Call
    from weighbridge.graders.loop.work_budget import Limits

#: Minimum number of known observations for each call between them that has another result.
_PER_NEW = 3
#: Length of a description; a longer text is read for what stands in it.
_LEAST_CHARACTERS, _MOST_CHARACTERS = 12, 600
_TIMES = 1.5  #: minimum mean number of times that an observation comes again
_WORD = re.compile(r"[^\W\d_]{1,40}|\d{1,40}")
_SMALL = frozenset({"to", "the", "at", "in", "on", "a", "of"})
_THINGS_REMEMBERED = 8  #: by which one sentence was shown
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")


class _Observation(NamedTuple):
    what: str  #: the last longest sentence: going to a place tells no more than looking at it
    #: Whether it names what the call asks about: a search or a guess may have any answer.
    names_thing: bool
    is_known: bool


class _Seen:
    """What was read so far: the sentences, and for each longest one the things that calls asked about that showed it."""

    def __init__(self) -> None:
        self.sentences: set[str] = set()
        self._things: defaultdict[str, list[frozenset[str]]] = defaultdict(list)

    def was_shown(self, what: str, thing: frozenset[str]) -> bool:
        """Return whether a call about the same thing showed this before, and remember the thing."""
        known = self._things[what]
        if thing in known or any(
            thing and each and (thing <= each or each <= thing) for each in known
        ):
            return True
        if len(known) < _THINGS_REMEMBERED:
            known.append(thing)
        return False


def known_observations(
    calls: Sequence[Call | None], limits: Limits, known: set[int]
) -> Iterator[Finding]:
    """Find `2 * max_repeats + 2` calls that only show what was read before, each thing again and again.

    Each sentence of their short results has come before, since the user's last request, and one in four calls between them
    may have another result. Each asks about a thing as an earlier call did that showed the same: an equal answer about
    something else is news. Half of the results name that thing. They are at most as many things as a cycle may have steps.
    Steps in some direction, which may lead elsewhere from a place that looks like another, are not examined, nor are waits,
    polls, code, and what handles or writes something. Ranges that are all in `known` loops are left out.
    """
    least = Rule.KNOWN_OBSERVATIONS.least(limits)
    seen = _Seen()
    observed: list[_Observation | None] = []
    budget = WorkBudget()
    for call in calls:
        if call is None:
            seen = _Seen()
        observed.append(_observation(call, seen, budget) if call is not None else None)
    flags = [each is not None and each.is_known for each in observed]
    for start, end in ranges(flags, _PER_NEW, least):
        indices = [index for index in range(start, end) if flags[index]]
        shown = [each for index in indices if (each := observed[index]) is not None]
        things = {each.what for each in shown}
        if (
            None not in calls[start:end]
            and 1 < len(things) <= limits.max_period
            and len(indices) >= _TIMES * len(things)
            and 2 * sum(each.names_thing for each in shown) >= len(shown)
            and not known.issuperset(indices)
        ):
            yield Finding.by(Rule.KNOWN_OBSERVATIONS, indices, least)


def _observation(call: Call, seen: _Seen, budget: WorkBudget) -> _Observation | None:
    """Return what a call shows, and remember its sentences; None for a call that is not examined, or tells nothing."""
    text = call.result.text or ""
    if not _LEAST_CHARACTERS <= len(text) <= _MOST_CHARACTERS or not budget.is_left:
        return None
    sentences = [sentence for each in _SENTENCE.split(text) if (sentence := each.strip())]
    budget.count_reading(text, len(sentences))
    is_known = seen.sentences.issuperset(sentences)
    seen.sentences.update(sentences)
    if call.result.has_failed or tells_nothing(text) or _acts(call):
        return None
    what = max(reversed(sentences), key=len, default="")
    thing = _thing(call)
    names_thing = bool(thing) and thing.issubset(words_in(what.casefold(), _WORD))
    return _Observation(what, names_thing, seen.was_shown(what, thing) and is_known)


def _thing(call: Call) -> frozenset[str]:
    """Return the words of what a call asks about: those of its arguments but the first, which may be a verb, and small ones."""
    arguments = call.arguments.key.decode(errors="replace") if call.arguments.is_comparable else ""
    values = arguments.partition(":")[2] or arguments  # without the first name
    return frozenset(words_in(values.casefold(), _WORD)[1:]) - _SMALL


def _acts(call: Call) -> bool:
    """Return whether a call does more than look, or may lead elsewhere than before."""
    return (
        is_wait(call)
        or polls(call)
        or runs_code(call)
        or writes(call)
        or handles_things(call)
        or leads_somewhere(call)
    )
