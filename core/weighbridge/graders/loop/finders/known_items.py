"""Loops of searches that are reworded again and again, and list items that earlier ones have listed."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING

from weighbridge.graders.loop.finders.findings import Finding
from weighbridge.graders.loop.finders.rules import Rule
from weighbridge.graders.loop.history.call_kinds import (
    has_question,
    is_read_only,
    is_request,
    is_wait,
    polls,
    walks,
)
from weighbridge.graders.loop.history.request_words import (
    combines_values,
    raises_a_limit,
    unshared_words,
    values_of,
)
from weighbridge.graders.loop.history.text_forms import lists_items
from weighbridge.graders.loop.work_budget import WorkBudget

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from weighbridge.graders.loop.history.actions import Call
    from weighbridge.graders.loop.work_budget import Limits

_ITEMS = 4  #: minimum items of a result
_NEW = 0.12  #: maximum share of items that no earlier result has
_BETWEEN = 3  #: maximum calls of other tools between two searches
_OWN = 0.35  #: maximum share of words that only one search has
_LONG = 4  #: multiple of `max_repeats` from which searches, which find nothing new, may have more words of their own
_OWN_IN_LONG = 0.45  #: the maximum share for these
_RESULT_CHARACTERS = 20_000  #: a longer result is taken as new
_BEGINNING_CHARACTERS = 40
_ITEM_CHARACTERS = 8  #: a shorter part of a result is no item
_ADDRESS = re.compile(r"https?://[^\s\"'<>()\[\]\\]{4,300}")
_SEPARATOR = re.compile(r"\n|\}, ?\{|\\n")


def known_items(calls: Sequence[Call | None], limits: Limits, known: set[int]) -> Iterator[Finding]:
    """Find more than `max_repeats` related searches of one tool, without others between, that list hardly anything new.

    Of other calls that only read, `2 * max_repeats` are needed. Those that are in `known` loops are not examined.
    """
    results = [text for call in calls if call is not None and (text := call.result.text)]
    if not _have_repeats(results, limits):
        return
    budget = WorkBudget()
    rows: defaultdict[str, list[tuple[int, Call, str]]] = defaultdict(list)
    for index, call in enumerate((*calls, None)):
        if call is None:
            for row in rows.values():
                if _have_repeats([text for _, _, text in row], limits):
                    for run in _runs(row, calls, budget):
                        yield from _as_loop(run, limits, known)
            rows.clear()
        elif (text := call.result.text) and len(text) <= _RESULT_CHARACTERS:
            rows[call.tool].append((index, call, text))


def _have_repeats(results: Sequence[str], limits: Limits) -> bool:
    """Return whether `max_repeats` results begin like another one: most do not, which is quicker to see than their items."""
    beginnings = {text[:_BEGINNING_CHARACTERS] for text in results}
    return len(results) - len(beginnings) >= limits.max_repeats


def _runs(
    row: Sequence[tuple[int, Call, str]], calls: Sequence[Call | None], budget: WorkBudget
) -> Iterator[list[tuple[int, Call]]]:
    """Yield consecutive searches that list known items, with a few other calls between them that only read."""
    seen: set[str] = set()
    run: list[tuple[int, Call]] = []
    for index, call, text in row:
        items = _items_in(text, budget) if _only_reads(call) and budget.is_left else set()
        is_known = len(items) >= _ITEMS and len(items - seen) <= _NEW * len(items)
        seen |= items
        if run and not (is_known and _only_read(calls[run[-1][0] + 1 : index])):
            yield run
            run = []
        if is_known:
            run.append((index, call))
    yield run


def _only_read(between: Sequence[Call | None]) -> bool:
    return len(between) <= _BETWEEN and all(call and is_read_only(call) for call in between)


def _only_reads(call: Call) -> bool:
    return is_read_only(call) and (
        has_question(call) or not (walks(call) or polls(call) or is_wait(call))
    )


def _items_in(text: str, budget: WorkBudget) -> set[str]:
    """Return the addresses of what was found, or else the lines and objects of a result."""
    addresses = set(_ADDRESS.findall(text))
    if len(addresses) >= _ITEMS:
        budget.count_reading(text, len(addresses))
        return addresses
    parts = [part.strip(" \t[]{},") for part in _SEPARATOR.split(text)]
    budget.count_reading(text, len(parts))
    return {part for part in parts if len(part) >= _ITEM_CHARACTERS}


def _as_loop(run: Sequence[tuple[int, Call]], limits: Limits, known: set[int]) -> Iterator[Finding]:
    indices = tuple(index for index, _ in run)
    made = [call for _, call in run]
    least = Rule.KNOWN_ITEMS.least(limits, other=not all(map(has_question, made)))
    if len(run) < least or not known.isdisjoint(indices):
        return
    is_long = len(run) >= _LONG * limits.max_repeats
    if (
        all(map(is_request, made))
        and unshared_words([values_of(call) for call in made])
        <= (_OWN_IN_LONG if is_long else _OWN)
        and (is_long or not lists_items([call.arguments.texts for call in made]))
        and not combines_values(made)
        and not raises_a_limit(made)
    ):
        yield Finding.by(Rule.KNOWN_ITEMS, indices, least)
