"""Loops of searches with a tool that never finds anything, whatever it is asked for."""

from __future__ import annotations

from collections import defaultdict
from itertools import islice
from typing import TYPE_CHECKING

from weighbridge.graders.loop.finders.findings import Finding
from weighbridge.graders.loop.finders.rules import Rule
from weighbridge.graders.loop.finders.sequences.request_lists import goes_through_list
from weighbridge.graders.loop.history.actions import calls_at
from weighbridge.graders.loop.history.call_kinds import searched_text
from weighbridge.graders.loop.history.result_kinds import holds_nothing, reports_no_results

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Sequence

    from weighbridge.graders.loop.history.actions import Call
    from weighbridge.graders.loop.work_budget import Limits

_SPECIFIC_CHARACTERS = 6  #: a shorter text may be part of a result by chance
_ROWS = 10  #: of searches that are examined
_SHOWN_CHARACTERS = 500_000  #: of all results together, in which texts are looked up
_LOOKED_UP = 50  #: searches of a row whose texts are
_BACK = 1 / 3  #: minimum share of searches that come back to one thing, and go through no list


def unanswered_searches(
    calls: Sequence[Call | None], limits: Limits, known: set[int]
) -> Iterator[Finding]:
    """Find `4 * max_repeats` searches within one request by a tool that finds nothing in the whole run.

    Either nothing new lies between them, or more than `max_repeats` of them are for a text that other results show: then the
    tool does not work, and the agent could know. Searches that go through a list are no loop, and those of which some are in
    `known` loops are not examined.
    """
    least = Rule.UNANSWERED_SEARCHES.least(limits)
    by_tool: defaultdict[str, list[Call]] = defaultdict(list)
    for call in calls:
        if call is not None:
            by_tool[call.tool].append(call)
    unanswered = {
        tool
        for tool, made in by_tool.items()
        if len(made) >= least and all(map(_finds_nothing, made))
    }
    if not unanswered:
        return
    rows = (
        (request, row)
        for request in _requests(calls)
        for row in _rows(calls, request, unanswered)
        if len(row) >= least and known.isdisjoint(row)
    )
    for request, row in islice(rows, _ROWS):
        for part in _parts(calls, request, row, limits):
            yield Finding.by(Rule.UNANSWERED_SEARCHES, part, least)


def _finds_nothing(call: Call) -> bool:
    """Return whether a call is a search for some text that finds nothing."""
    text = call.result.text
    finds_nothing = text is not None and (holds_nothing(text) or reports_no_results(text))
    return finds_nothing and searched_text(call) != ""


def _requests(calls: Sequence[Call | None]) -> Iterator[range]:
    """Yield the indices of the calls for one request each."""
    start = 0
    for index, call in enumerate((*calls, None)):
        if call is None:
            yield range(start, index)
            start = index + 1


def _rows(
    calls: Sequence[Call | None], request: range, tools: Container[str]
) -> Iterable[list[int]]:
    """Return the calls of each of some tools."""
    rows: defaultdict[str, list[int]] = defaultdict(list)
    for index in request:
        call = calls[index]
        if call is not None and call.tool in tools:
            rows[call.tool].append(index)
    return rows.values()


def _parts(
    calls: Sequence[Call | None], request: range, row: Sequence[int], limits: Limits
) -> Iterator[Sequence[int]]:
    """Yield the searches of a row that are a loop together."""
    before = calls[request.start : row[-1]]
    asked = [searched_text(call) for index in row if (call := calls[index]) is not None]
    is_shown = _shown(asked, before) > limits.max_repeats
    for part in [row] if is_shown else _without_news(calls, request, row):
        made = calls_at(calls, part)
        is_often = len(part) >= Rule.UNANSWERED_SEARCHES.least(limits)
        if is_often and (_come_back(made) or not goes_through_list(made)):
            yield part


def _come_back(made: Sequence[Call]) -> bool:
    """Return whether a third of the searches is for all or a part of what one before it searches for."""
    texts = [searched_text(call).casefold() for call in made[:_LOOKED_UP]]
    back = sum(any(text in said for said in texts[:at]) for at, text in enumerate(texts))
    return back >= _BACK * len(texts)


def _shown(asked: Sequence[str], before: Sequence[Call | None]) -> int:
    """Return how many different texts that are searched for some result has."""
    results = (call.result.text or "" for call in before if call is not None)
    shown = "\n".join(results)[:_SHOWN_CHARACTERS]
    texts = {text for text in asked[:_LOOKED_UP] if len(text) >= _SPECIFIC_CHARACTERS}
    return sum(text in shown for text in texts)


def _without_news(
    calls: Sequence[Call | None], request: range, row: Sequence[int]
) -> Iterator[list[int]]:
    """Split searches where a result that was not seen before in the request lies between two of them."""
    seen: set[tuple[str, str | None]] = set()
    part: list[int] = []
    searches = set(row)
    for index in request:
        call = calls[index]
        if index in searches:
            part.append(index)
        elif call is not None:
            told = call.tool, call.result.text
            is_new = told not in seen and not call.result.is_unsuccessful
            if is_new and not _finds_nothing(call):
                yield part
                part = []
            seen.add(told)
    yield part
