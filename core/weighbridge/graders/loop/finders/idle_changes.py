"""Loops of writing that brings nothing: notes, lists or messages in a row in hardly a new word, each only confirmed."""

from __future__ import annotations

import re
from collections import Counter
from itertools import accumulate, groupby, pairwise
from typing import TYPE_CHECKING

from weighbridge.graders.loop.finders.exemptions.moving_calls import least_of_unseen
from weighbridge.graders.loop.finders.findings import Finding
from weighbridge.graders.loop.finders.rules import Rule
from weighbridge.graders.loop.history.actions import calls_at
from weighbridge.graders.loop.history.call_kinds import (
    is_command,
    is_read_only,
    is_writing_tool,
)
from weighbridge.graders.loop.history.tool_names import creates, stores, takes_notes
from weighbridge.graders.loop.history.words import words_in
from weighbridge.graders.loop.work_budget import WorkBudget

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from weighbridge.graders.loop.history.actions import Call
    from weighbridge.graders.loop.work_budget import Limits

_BETWEEN = 2  #: maximum other calls between two
_NEWS = 0.3  #: maximum mean number of new words in a call
_CHARACTERS = 4_000  #: longer arguments are content, of which a word may be the news
_CONFIRMATION_CHARACTERS = 300  #: a longer result shows something
_CONFIRMATIONS = 2  #: maximum different ones, apart from what has a digit
_NUMBERED = re.compile(r"\w*\d\w*")
_STATUS = re.compile(r'"(?:status|state|done|completed|checked)":(?:"\w{1,20}"|true|false)')


def idle_changes(
    calls: Sequence[Call | None], limits: Limits, known: set[int]
) -> Iterator[Finding]:
    """Find `4 * max_repeats` calls of one tool that write, with hardly a new word, and with one or two confirmations.

    At most `_BETWEEN` calls, which read what is known, lie between two. Calls in `known` loops are not examined. Lists in which the state of an
    item changes are progress.
    """
    least = Rule.IDLE_WRITING.least(limits)
    tools = {call.tool for call in calls if call is not None}
    writing = {tool for tool in tools if _is_writing_tool(tool)}
    if not writing:
        return
    times = Counter([call.tool for call in calls if call is not None and call.tool in writing])
    often = {tool for tool, count in times.items() if count >= least}
    places = [index for index, call in enumerate(calls) if call is not None and call.tool in often]
    if len(places) < least:
        return
    near = (later - earlier <= _BETWEEN + 1 for earlier, later in pairwise(places))
    if (
        max((sum(1 for _ in row) for is_near, row in groupby(near) if is_near), default=0)
        < least - 1
    ):
        return
    budget = WorkBudget()
    seen: set[tuple[str, str]] = set()
    row: list[int] = []
    for index, call in enumerate((*calls, None)):
        is_idle = call is not None and index not in known and call.tool in often and _writes(call)
        if row and not (is_idle and call and call.tool == _tool(calls, row)):
            told = (call.tool, call.result.text or "") if call is not None else None
            is_known = call is not None and told in seen and is_read_only(call)
            if is_idle or not is_known or index - row[-1] > _BETWEEN:
                yield from _found(calls, row, limits, budget)
                row = []
        if is_idle:
            row.append(index)
        elif call is not None:
            seen.add((call.tool, call.result.text or ""))


def _tool(calls: Sequence[Call | None], row: Sequence[int]) -> str | None:
    call = calls[row[0]]
    return call.tool if call is not None else None


def _is_writing_tool(tool: str) -> bool:
    """Return whether a tool writes, and not to make one more of several things that may be wanted."""
    return takes_notes(tool) or ((is_writing_tool(tool) or stores(tool)) and not creates(tool))


def _writes(call: Call) -> bool:
    text = call.result.text
    return (
        not is_command(call)
        and len(call.arguments.key) <= _CHARACTERS
        and text is not None
        and len(text) <= _CONFIRMATION_CHARACTERS
        and not call.result.has_failed
    )


def _found(
    calls: Sequence[Call | None], row: Sequence[int], limits: Limits, budget: WorkBudget
) -> Iterator[Finding]:
    made = calls_at(calls, row)
    least = max(Rule.IDLE_WRITING.least(limits), least_of_unseen(made, limits))
    if len(row) < least or not budget.is_left:
        return
    sums = [0, *accumulate(_news(made, budget))]
    begin = end = 0
    for first in range(len(row) - least + 1):
        if sums[first + least] - sums[first] < _NEWS * least:
            begin = first if first >= end else begin
            end = first + least
        elif end:
            break
    said = {_NUMBERED.sub("#", call.result.text or "") for call in made[begin:end]} if end else ()
    if 0 < len(said) <= _CONFIRMATIONS:
        yield Finding.by(Rule.IDLE_WRITING, row[begin:end], least)


def _news(made: Sequence[Call], budget: WorkBudget) -> Iterator[int]:
    """Yield how many words of each call none before it has; a list in which the state of an item differs is all news."""
    words: set[str] = set()
    before: list[str] | None = None
    for call in made:
        text = call.arguments.key.decode("utf-8", "replace")
        said = set(words_in(text.casefold()))
        states = sorted(_STATUS.findall(text))
        budget.count_reading(text, len(said))
        if before is None:  # the first, which the others are compared with
            yield 0
        else:
            yield len(said - words) if states == before else len(said) + 1
        words |= said
        before = states
