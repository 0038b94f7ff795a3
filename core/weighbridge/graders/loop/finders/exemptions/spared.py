"""What looks like a loop, and is spared: work that goes on unseen, waits that end, and what several agents or the user want."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from enum import StrEnum
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from weighbridge.graders.loop.finders.exemptions.moving_calls import (
    has_ended,
    has_waited,
    least_of_explorers,
    opens_new_pages,
)
from weighbridge.graders.loop.finders.exemptions.ordered_repeats import Orders
from weighbridge.graders.loop.finders.exemptions.unseen_effects import had_effect
from weighbridge.graders.loop.finders.findings import Finding, merged
from weighbridge.graders.loop.finders.rules import Rule
from weighbridge.graders.loop.history.actions import calls_at
from weighbridge.graders.loop.history.call_kinds import acts_outside
from weighbridge.graders.loop.history.tool_names import votes

if TYPE_CHECKING:
    from weighbridge.graders.loop.history.actions import Call, History
    from weighbridge.graders.loop.work_budget import Limits

_ONE_VOTE = 1.5  #: minimum number of votes for each equal one
_CHORUS = 3  #: minimum agents that may do the same one after the other
_SHARED = 2  #: minimum mean number of agents that do each thing


class Reason(StrEnum):
    """Why repetition is spared."""

    MOVES = "moves"  #: each call may lead to another place, whatever its result
    EXPLORES = "explores"  #: each call may have shown something, of which its result does not tell
    OPENS_NEW_PAGES = "opens_new_pages"  #: the harness shows something new after most calls
    WAITED = "waited"  #: what was waited for came
    ENDED = "ended"  #: the same call soon had another result
    HAD_EFFECT = "had_effect"  #: looks at the effect of actions show that they had one
    CHORUS = "chorus"  #: several agents did the same things once each
    AGREEMENT = "agreement"  #: several agents did the same, and the trace lacks the results
    VOTES = "votes"  #: players vote anew in each round
    ORDERED = "ordered"  #: the user wanted it so often

    @property
    def in_words(self) -> str:
        """The reason as the end of a sentence that begins with `no loop, because`."""
        return _IN_WORDS[self]


_IN_WORDS = {
    Reason.MOVES: "most of them move, and each may lead to another place",
    Reason.EXPLORES: "each call may have found something that its result does not tell",
    Reason.OPENS_NEW_PAGES: "something new was shown after most of them",
    Reason.WAITED: "the waiting ended with something new",
    Reason.ENDED: "the same call soon had another result",
    Reason.HAD_EFFECT: "a look afterwards showed that they had an effect",
    Reason.CHORUS: "several agents did the same once each",
    Reason.AGREEMENT: "several agents agreed on it, as far as the trace tells",
    Reason.VOTES: "players vote anew in each round",
    Reason.ORDERED: "the user ordered it",
}


class Spared(NamedTuple):
    """A finding that is no loop, and why."""

    finding: Finding
    reason: Reason


def sorted_out(
    findings: Sequence[Finding], calls: Sequence[Call | None], limits: Limits
) -> tuple[list[Finding], list[Spared]]:
    """Return the findings that are loops, and those that are spared for what the calls do and show."""
    loops: list[Finding] = []
    spared: list[Spared] = []
    for finding in findings:
        made = calls_at(calls, finding.indices)
        least = least_of_explorers(made, limits)
        reason = Reason.EXPLORES if len(made) < least else _reason(finding, made, calls, limits)
        if reason:
            spared.append(Spared(finding, reason))
        else:
            loops.append(finding.with_least(least))
    return loops, spared


def without_ordered(
    findings: Sequence[Finding], history: History
) -> tuple[list[Finding], list[Spared]]:
    """Return the findings that are loops, and those that the user ordered."""
    orders = Orders(history)
    loops: list[Finding] = []
    spared: list[Spared] = []
    for finding in findings:
        if orders.cover(finding):
            spared.append(Spared(finding, Reason.ORDERED))
        else:
            loops.append(finding)
    return loops, spared


def summed_up(spared: Sequence[Spared]) -> list[Spared]:
    """Merge overlapping findings that are spared for one reason, and return them in order."""
    each = [
        Spared(finding, reason)
        for reason in Reason
        for finding in merged([each.finding for each in spared if each.reason is reason])
    ]
    return sorted(each, key=lambda each: each.finding.indices[0])


def _reason(
    finding: Finding, made: Sequence[Call], calls: Sequence[Call | None], limits: Limits
) -> Reason | None:
    indices = finding.indices
    if _are_votes(made, calls):
        return Reason.VOTES
    if opens_new_pages(made):
        return Reason.OPENS_NEW_PAGES
    if has_waited(indices, calls):
        return Reason.WAITED
    # An act that is refused in the end was done before, so that the refusal is not what it was repeated for.
    if has_ended(indices, calls, limits) and not _is_act(finding, made):
        return Reason.ENDED
    if had_effect(indices, calls, limits):
        return Reason.HAD_EFFECT
    if _is_chorus(made) and not _fail_in_turn(indices, calls):
        return Reason.CHORUS
    return Reason.AGREEMENT if _is_agreement(made, limits) else None


def _are_votes(made: Sequence[Call], calls: Sequence[Call | None]) -> bool:
    """Return whether calls are votes that count, and the trace does not tell whose; of all votes, a third or more are others."""
    if not all(
        call.speaker is None and votes(call.tool) and not call.result.has_failed for call in made
    ):
        return False
    cast = Counter([call.arguments_id for call in calls if call is not None and votes(call.tool)])
    return _ONE_VOTE * max(cast.values()) <= cast.total()


def _is_act(finding: Finding, made: Sequence[Call]) -> bool:
    """Return whether a finding is a payment or a message that is made again."""
    return finding.measure.rule is Rule.REPEATED_CHANGE and acts_outside(made[0])


def _is_chorus(made: Sequence[Call]) -> bool:
    """Return whether several agents do the same things, each of them once, as players who make the same move in each round.

    Failed calls of one tool are one thing.
    """
    speakers = [call.speaker for call in made]
    if None in speakers or len(set(speakers)) < _CHORUS:
        return False
    things = [call.tool if call.result.has_failed else call.pair_id for call in made]
    is_once_each = len(set(zip(speakers, things, strict=True))) == len(made)
    return is_once_each and _SHARED * len(set(things)) <= len(made)


def _is_agreement(made: Sequence[Call], limits: Limits) -> bool:
    """Return whether two agents or more do the same, none of them more often than an agent may, and the trace lacks the results."""
    times = Counter([call.speaker for call in made])
    return (
        None not in times
        and len(times) > 1
        and max(times.values()) <= limits.max_repeats
        and all(call.result.text is None for call in made)
    )


def _fail_in_turn(found: Sequence[int], calls: Sequence[Call | None]) -> bool:
    """Return whether calls all fail, and each agent began after the call of the one before, with what this one did not achieve."""
    made = [(index, call) for index in found if (call := calls[index]) is not None]
    return all(call.result.has_failed for _, call in made) and all(
        call.began > before for (before, _), (_, call) in pairwise(made)
    )
