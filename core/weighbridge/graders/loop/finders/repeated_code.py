"""Code that one of several agents hands in again and again, in other words, while the others ask for changes."""

from __future__ import annotations

from collections import defaultdict
from itertools import groupby, pairwise
from typing import TYPE_CHECKING

from weighbridge.graders.loop.finders.findings import Finding
from weighbridge.graders.loop.finders.rules import Rule
from weighbridge.graders.loop.history.actions import without_step_number
from weighbridge.graders.loop.history.written_edits import code_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from weighbridge.graders.loop.history.actions import Message
    from weighbridge.graders.loop.work_budget import Limits

_CODE_CHARACTERS = 200  #: shorter code may be an example that is quoted


def repeated_code(turns: Sequence[Message], limits: Limits) -> Iterator[Finding]:
    """Find `2 * max_repeats` answers in a row of one of several agents that have the same code, whatever is said of it.

    No tool is called and no new request made in between, and no program answers: it may have run the code.
    """
    least = Rule.CODE_HANDED_IN_AGAIN.least(limits)
    coded = [_code_of(turn) for turn in turns]
    if sum(map(bool, coded)) < least or len({turn.step.name for turn in turns}) == 1:
        return
    by_agent: defaultdict[object, list[int]] = defaultdict(list)
    for index, turn in enumerate(turns):
        by_agent[turn.step.name].append(index)
    for indices in by_agent.values():
        for same, group in groupby(indices, lambda index: _situation(turns[index], coded[index])):
            found = tuple(group)
            if same[0] and len(found) >= least and not _asks_others(turns, found):
                yield Finding.by(Rule.CODE_HANDED_IN_AGAIN, found, least, period=1)


def _asks_others(turns: Sequence[Message], found: Sequence[int]) -> bool:
    """Return whether another agent answers each time, as when several of them review the same code."""
    names: list[str] = []
    for first, last in pairwise(found):
        if last == first + 1:
            return False
        names += [without_step_number(turn.step.name or "") for turn in turns[first + 1 : last]]
    return 1 < len(names) == len(set(names))


def _code_of(turn: Message) -> str:
    """Return the code of an answer without calls that no program has answered; empty for short code."""
    if turn.calls or turn.reply or not turn.text:
        return ""
    code = code_in(turn.text)
    return code if len(code) >= _CODE_CHARACTERS else ""


def _situation(turn: Message, code: str) -> tuple[str, int, int]:
    return code, turn.calls_before, turn.requests_before
