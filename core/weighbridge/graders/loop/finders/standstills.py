"""Standstills that the agent reports itself: again and again it says that nothing has changed, or that its last step failed."""

from __future__ import annotations

import re
from itertools import groupby
from typing import TYPE_CHECKING, Any

from weighbridge.graders.loop.finders.findings import Finding
from weighbridge.graders.loop.finders.rules import Rule
from weighbridge.graders.loop.finders.sequences.stretches import long_rows
from weighbridge.graders.loop.history.call_kinds import is_wait, writes
from weighbridge.graders.loop.history.progress import count_one_way
from weighbridge.graders.loop.linear_patterns import occurs
from weighbridge.text import encodable

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Sequence

    from weighbridge.graders.loop.history.actions import Call, Message
    from weighbridge.graders.loop.work_budget import Limits

_HEAD_CHARACTERS = 160  #: first characters of a text, in which an agent says what it saw
_GAP = 8  #: maximum distance of two reports in turns
#: Judgement of the last step with which an answer begins: `Failed - the page is the same`, `Verdict: Failure`.
_judges_failed = re.compile(
    r"\W{0,5}(?:(?:verdict|evaluation|result|status|last (?:step|action|goal))\W{1,5})?(?:failed|failure|unsuccessful)\b",
    re.IGNORECASE,
).match
_TAG = re.compile(r"</?[a-z_]{1,20}>")
_reports_no_change = occurs(
    r"\bstill\b|\bsame (?:error|result|issue|problem|output|outcome|thing|response|message|failure|screen|page|state)s?\b|\b(?:no|not|nothing|n't) (?:\w{1,12} )?chang(?:e|ed|es)\b|\bunchanged\b"
)
#: What is still to come is no standstill, and what takes its time is waited for.
_expects_more = occurs(
    r"""\b(?:can|may|will) still be\b|\bstill (?:need|ha(?:ve|s)|want|must|should|to\b|room|time|more|left|some|one|two|open to|possible|works?\b|pass|fine|good|correct|true|running|in progress|going|waiting|pending|loading
|building|processing|installing|downloading|compiling|training|starting|executing|computing|working on|queued)|\bwait"""
)


def standstills(
    turns: Sequence[Message], looped_ids: Container[Any], limits: Limits
) -> Iterator[Finding]:
    """Find more than `2 * max_repeats` reports of no change, each after an outcome that the run has had before.

    Between two of them are at most eight turns, and no new request. Reports beside calls in a loop, whose step ids are
    given, are left out.
    """
    reporting = [index for index, turn in enumerate(turns) if _reports_standstill(turn.text)]
    if len(reporting) < Rule.STANDSTILL.least(limits):
        return
    known = _known_outcomes(turns[: reporting[-1]])
    together: list[int] = []
    for index in reporting:
        calls = turns[index - 1].calls + turns[index].calls
        if index not in known or any(call.step.id in looped_ids for call in calls):
            continue
        if together and not _belong_together(turns, together[-1], index):
            yield from _finding(together, limits)
            together = []
        together.append(index)
    yield from _finding(together, limits)


def failed_steps(turns: Sequence[Message], limits: Limits) -> Iterator[Finding]:
    """Find more than `2 * max_repeats` answers in a row that begin with the judgement that the last step has failed.

    No new request lies between them. Numbers in them that only rise, or only fall, are progress.
    """
    least = Rule.FAILED_STEPS.least(limits)
    for row in long_rows(turns, lambda turn: _judges_failed(turn.text) is not None, least):
        for _, indices in groupby(row, lambda index: turns[index].requests_before):
            found = list(indices)
            if len(found) >= least and not count_one_way([turns[index].text for index in found]):
                yield Finding.by(Rule.FAILED_STEPS, found, least)


def _known_outcomes(turns: Sequence[Message]) -> set[int]:
    """Return the indices of the turns directly after an outcome that the run has had before."""
    seen: set[tuple[str, ...]] = set()
    known = set()
    for index, turn in enumerate(turns):
        outcome = _outcome(turn)
        if outcome in seen and not any(map(_may_take_time, turn.calls)):
            known.add(index + 1)
        if outcome:
            seen.add(outcome)
    return known


def _outcome(turn: Message) -> tuple[str, ...]:
    """Return what a turn brought without noise; empty if it is not recorded."""
    if not turn.calls:
        return (turn.reply,) if turn.reply else ()
    if any(call.result.text is None for call in turn.calls):
        return ()
    return tuple([call.result.masked for call in turn.calls])


def _reports_standstill(text: str) -> bool:
    head = text[:_HEAD_CHARACTERS].lower()
    if not ("still" in head or "same" in head or "chang" in head):
        return False  # as most texts, which saves the search
    head = encodable(_TAG.sub(" ", head))
    return _reports_no_change(head) and not _expects_more(head)


def _may_take_time(call: Call) -> bool:
    """Return whether a call waits, or has written something, after which work goes on elsewhere."""
    return is_wait(call) or (writes(call) and not call.result.is_unsuccessful)


def _belong_together(turns: Sequence[Message], one: int, other: int) -> bool:
    return other - one <= _GAP and turns[one].requests_before == turns[other].requests_before


def _finding(reports: list[int], limits: Limits) -> Iterator[Finding]:
    least = Rule.STANDSTILL.least(limits)
    if len(reports) >= least:
        yield Finding.by(Rule.STANDSTILL, reports, least)
