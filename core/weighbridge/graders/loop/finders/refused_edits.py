"""Loops of edits that are refused in the same words, although each names the lines that it replaces in another way."""

from __future__ import annotations

import re
from collections import defaultdict
from itertools import pairwise
from typing import TYPE_CHECKING

from weighbridge.graders.loop.finders.findings import Finding
from weighbridge.graders.loop.finders.retried_failures import CallEffects, chains_of_attempts
from weighbridge.graders.loop.finders.rules import Rule
from weighbridge.graders.loop.finders.sequences.related_attempts import (
    Attempt,
    chains_of,
    is_related,
)
from weighbridge.graders.loop.history.call_kinds import is_read_only, writes
from weighbridge.graders.loop.history.request_words import (
    combines_values,
    raises_a_limit,
    words_of,
)
from weighbridge.graders.loop.history.result_kinds import refuses_edit
from weighbridge.graders.loop.history.text_forms import lists_items
from weighbridge.graders.loop.linear_patterns import occurs
from weighbridge.graders.loop.work_budget import WorkBudget

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from weighbridge.graders.loop.history.actions import Call
    from weighbridge.graders.loop.work_budget import Limits

_CALLS_BETWEEN = 2  #: maximum calls that may change something between two attempts
_PER_OTHER = 2 / 3  #: refused edits for each other call between them
_MADE = 1 / 4  #: maximum edits that are made for each refused one
_COMMAND_CHARACTERS = 2_000  #: of a command in which an edit is looked for
_edits_in_place = occurs(
    r"\b(?:sed|perl) (?:\S{1,40} ){0,3}(?:-\w{0,5}i|--in-place)|\bgit apply\b|\bpatch (?:-|<)|\bcat ?> ?[\w./~-]"
)
_QUOTED = re.compile(r"""['"`][^'"`\n]{1,400}['"`]""")


def refused_edits(calls: Sequence[Call | None], limits: Limits) -> Iterator[Finding]:
    """Find `2 * max_repeats` related edits that are refused in the same words, whatever they quote, with few calls between.

    Edits that go through a list, or through values of an argument, are no loop, and neither are those before most of which
    something new was read. `3 * max_repeats` edits of one tool are, whatever they edit and whatever was read, if at least two
    of five calls in their range are such, and hardly an edit is made.
    """
    if limits.similarity_threshold >= 1:
        return
    yield from _edits_in_vain(calls, limits)
    refused: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
    for index, call in enumerate(calls):
        if call is not None and _is_refused(call):
            refused[call.tool, _QUOTED.sub("\u2026", call.result.masked)].append(index)
    least = Rule.REFUSED_EDITS.least(limits)
    if max(map(len, refused.values()), default=0) < least:
        return
    effects, budget, news = CallEffects(), WorkBudget(), _news(calls)
    for indices in refused.values():
        chains = chains_of_attempts(calls, indices, effects, changes=_CALLS_BETWEEN)
        for chain in chains if len(indices) >= least else ():
            attempts = [
                Attempt(index, call, words_of(call, budget))
                for index in chain
                if budget.is_left and (call := calls[index]) is not None
            ]
            for related in chains_of(attempts, lambda near, each: is_related(each.words, near)):
                tried = [each.call for each in related]
                if len(tried) >= least and not (
                    _reads_on(related, news)
                    or lists_items([call.arguments.texts for call in tried])
                    or combines_values(tried)
                    or raises_a_limit(tried)
                ):
                    found = (each.call_index for each in related)
                    yield Finding.by(Rule.REFUSED_EDITS, found, least)


def _edits_in_vain(calls: Sequence[Call | None], limits: Limits) -> Iterator[Finding]:
    least = Rule.EDITS_IN_VAIN.least(limits)
    by_tool: defaultdict[str, list[int]] = defaultdict(list)
    for index, call in enumerate(calls):
        if call is not None and _is_refused(call) and (writes(call) or not is_read_only(call)):
            by_tool[call.tool].append(index)
    for indices in by_tool.values():
        for found in _close(indices) if len(indices) >= least else ():
            if len(found) < least:
                continue
            refused, span = set(found), range(found[0], found[-1])
            made = sum(_is_made(calls[index]) for index in span if index not in refused)
            if made <= _MADE * len(found):
                yield Finding.by(Rule.EDITS_IN_VAIN, found, least)


def _close(indices: Sequence[int]) -> Iterator[Sequence[int]]:
    """Split ascending indices where more others lie between than those before allow."""
    start, credit = 0, 1.0
    for at in range(1, len(indices)):
        credit -= _PER_OTHER * (indices[at] - indices[at - 1] - 1)
        if credit <= 0:
            yield indices[start:at]
            start, credit = at, 0.0
        credit += 1
    yield indices[start:]


def _is_refused(call: Call) -> bool:
    return call.result.has_failed and refuses_edit(call.result.text or "")


def _is_made(call: Call | None) -> bool:
    """Return whether a call is an edit or the like that succeeded, or a new request."""
    if call is None:
        return True
    command = (call.command or "")[:_COMMAND_CHARACTERS]
    return not call.result.is_unsuccessful and (writes(call) or _edits_in_place(command))


def _news(calls: Sequence[Call | None]) -> set[int]:
    """Return the indices of calls that show pairs of lines that no result before them has."""
    known: set[tuple[str, str]] = set()
    news: set[int] = set()
    for index, call in enumerate(calls):
        if call is not None and not call.result.has_failed:
            text = call.result.text or ""
            # Without the first line, which may be a heading.
            pairs = set(pairwise(text.split("\n")[1:])) or {("", text)}
            if not pairs <= known:
                news.add(index)
            known |= pairs
    return news


def _reads_on(attempts: Sequence[Attempt], news: set[int]) -> bool:
    """Return whether calls before most attempts but the first show something new."""
    told = sum(
        not news.isdisjoint(range(before.call_index, attempt.call_index))
        for before, attempt in pairwise(attempts)
    )
    return 2 * told > len(attempts) - 1
