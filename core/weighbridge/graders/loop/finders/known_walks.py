"""Walks in circles: moves among places that were all seen before, where each move leads to where it led before."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from weighbridge.graders.loop.finders.findings import Finding
from weighbridge.graders.loop.finders.rules import Rule
from weighbridge.graders.loop.finders.sequences.known_ranges import ranges
from weighbridge.graders.loop.history.call_kinds import handles_things, observes, walks

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from weighbridge.graders.loop.history.actions import Call
    from weighbridge.graders.loop.work_budget import Limits

_OFTEN = 3  #: minimum mean number of visits to a place
_PLACES = 4  #: minimum places; with fewer, the moves are a cycle or alternate
_PLACE_CHARACTERS = 40  #: a shorter result does not describe a place


def known_walks(calls: Sequence[Call | None], limits: Limits, known: set[int]) -> Iterator[Finding]:
    """Find `6 * max_repeats` calls in a row with known results, most of which walk, and reach each place three times on average.

    If the same move leads from one place to different places, some places look alike, and the walk is no loop. Nor is a
    walk with a call that changed something. Ranges that are all in `known` loops are left out.
    """
    flags = _have_known_results(calls)
    least = Rule.WALK_IN_CIRCLES.least(limits)
    for first, last in ranges(flags, len(flags), least):
        made = [call for call in calls[first:last] if call is not None]
        if not known.issuperset(range(first, last)) and _is_circle(made):
            yield Finding.by(Rule.WALK_IN_CIRCLES, range(first, last), least)


def _have_known_results(calls: Sequence[Call | None]) -> list[bool]:
    """Return for each call whether its result was seen before, since the user's last request."""
    seen: set[str] = set()
    flags = []
    for call in calls:
        text = call.result.text if call is not None else None
        flags.append(text in seen)
        if call is None:
            seen.clear()
        elif text is not None:
            seen.add(text)
    return flags


def _is_circle(made: Sequence[Call]) -> bool:
    moves = [call for call in made if walks(call)]
    reached = [call for call in moves if len(call.result.text or "") >= _PLACE_CHARACTERS]
    places = {call.result.text for call in reached}
    return (
        2 * len(moves) >= len(made)
        and _PLACES <= len(places) <= len(reached) / _OFTEN
        and all(map(_changes_nothing, made))
        and _lead_where_they_led(reached)
    )


def _changes_nothing(call: Call) -> bool:
    """Return whether a call with a known result only walks or looks, or has no effect."""
    walks_only = walks(call) and not handles_things(call)
    return walks_only or observes(call) or call.result.is_unsuccessful


def _lead_where_they_led(moves: Sequence[Call]) -> bool:
    """Return whether the same move from a place always leads to the same place."""
    leads: dict[tuple[str, int], str] = {}
    for before, move in pairwise(moves):
        place, reached = before.result.text or "", move.result.text or ""
        if leads.setdefault((place, move.arguments_id), reached) != reached:
            return False
    return True
