"""Loops of actions on a screen that does not move: clicks and keys, each of which is answered with the same page."""

from __future__ import annotations

import re
from itertools import groupby
from typing import TYPE_CHECKING

from weighbridge.graders.loop.finders.findings import Finding
from weighbridge.graders.loop.finders.rules import Rule
from weighbridge.graders.loop.history.call_kinds import acts_on_screen, may_act_on_screen
from weighbridge.graders.loop.history.result_kinds import reports_success
from weighbridge.graders.loop.work_budget import WorkBudget

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from weighbridge.graders.loop.history.actions import Call
    from weighbridge.graders.loop.work_budget import Limits

_SCREENS = 7  #: maximum different screens
#: Minimum different results of one line: fewer of them may be confirmations, as more describe what is seen.
_DESCRIPTIONS = 3
_SCREEN_CHARACTERS = 40  #: a shorter result says what was done
_PAGE_CHARACTERS = 300  #: a shorter result may be a confirmation
#: Number that a harness gives an element, often another one after each action.
_ELEMENT = re.compile(r"\[(?:ref=)?\w{0,3}\d{1,6}\]|\b(?:ref|uid|bid)=\w{0,4}\d[\d_]{0,8}\b")


def unmoved_screens(
    calls: Sequence[Call | None], limits: Limits, known: set[int]
) -> Iterator[Finding]:
    """Find `4 * max_repeats` actions in a row that show one of few screens seen before, whatever was clicked or pressed.

    Only the numbers of elements may differ. Rows of which some are in `known` loops are not examined.
    """
    least = Rule.UNMOVED_SCREEN.least(limits)
    last_of = {call.tool: call for call in calls if call is not None}
    if not any(map(may_act_on_screen, last_of.values())):
        return
    acting = [call is not None and acts_on_screen(call) and _shows_screen(call) for call in calls]
    if sum(acting) <= least:
        return
    budget = WorkBudget()
    for is_acting, group in groupby(range(len(calls)), acting.__getitem__):
        row = [*group] if is_acting else []
        seen: dict[str, None] = {}
        run: list[int] = []
        for index in (*row, -1):
            call = calls[index] if index >= 0 else None
            shown = _shown(call, budget) if call is not None and len(row) > least else ""
            if shown in seen:
                run.append(index)
                continue
            is_shown = len(seen) >= _DESCRIPTIONS or all("\n" in each for each in seen)
            if len(run) >= least and len(seen) <= _SCREENS and is_shown and known.isdisjoint(run):
                yield Finding.by(Rule.UNMOVED_SCREEN, run, least)
            run = []
            seen[shown] = None


def _shows_screen(call: Call) -> bool:
    text = call.result.text or ""
    if len(text) < _SCREEN_CHARACTERS or call.result.has_failed:
        return False
    return len(text) >= _PAGE_CHARACTERS or not reports_success(text)


def _shown(call: Call, budget: WorkBudget) -> str:
    text = call.result.text or ""
    if not budget.is_left:
        return text
    bare, marks = _ELEMENT.subn("#", text)
    budget.count_masking(text, marks)
    return bare
