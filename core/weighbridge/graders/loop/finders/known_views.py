"""Loops of looks at what was seen before: windows of files without a new line, long results, and walks among known places."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING

from weighbridge.graders.loop.finders.findings import Finding
from weighbridge.graders.loop.finders.rules import Rule
from weighbridge.graders.loop.finders.sequences.request_lists import goes_through_list
from weighbridge.graders.loop.finders.sequences.stretches import ranges
from weighbridge.graders.loop.history.call_kinds import is_read_only, is_wait, writes
from weighbridge.graders.loop.history.moves_and_looks import handles_things, observes, polls, walks
from weighbridge.graders.loop.history.named_files import file_in
from weighbridge.graders.loop.work_budget import WorkBudget

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from weighbridge.graders.loop.history.actions import Call
    from weighbridge.graders.loop.work_budget import Limits

_WINDOWS = 2  #: minimum mean number of windows of a file
_LINES = 5  #: a result with fewer lines is no window
_KNOWN = 0.8  #: minimum share of known lines in a window: a heading may count the lines around it
_CHARACTERS = 300  #: a shorter result may be the same for different things
_OFTEN = 3  #: minimum mean number of visits to a place
_PLACES = 4  #: minimum places; with fewer, the moves are a cycle or alternate
_PLACE_CHARACTERS = 40  #: a shorter result does not describe a place


def known_lines(calls: Sequence[Call | None], limits: Limits, known: set[int]) -> Iterator[Finding]:
    """Find `4 * max_repeats` calls in a row that only read files, and show hardly a line that the same file did not show before.

    Calls in `known` loops are not examined.
    """
    least = Rule.KNOWN_LINES.least(limits)
    named = [file_in(call) if call is not None else "" for call in calls]
    times = Counter(filter(None, named))
    if sum(count for count in times.values() if count > 1) <= least:
        return
    read = [
        name if call is not None and index not in known and times[name] > 1 and _reads(call) else ""
        for index, (call, name) in enumerate(zip(calls, named, strict=True))
    ]
    budget = WorkBudget()
    seen: dict[str, set[str]] = {}
    run: list[int] = []
    for index, (call, file) in enumerate(zip(calls, read, strict=True)):
        if call is None or is_wait(call) or not is_read_only(call) or not budget.is_left:
            yield from _finding(run, read, least)
            run = []
        elif file:
            text = call.result.text or ""
            lines = [line for each in text.split("\n") if (line := each.strip())]
            budget.count_reading(text, len(lines))
            before = seen.setdefault(file, set())
            if sum(map(before.__contains__, lines)) < _KNOWN * len(lines):
                yield from _finding(run, read, least)
                run = []
            elif len(lines) >= _LINES:
                run.append(index)
            before.update(lines)
    yield from _finding(run, read, least)


def _finding(run: list[int], read: Sequence[str], least: int) -> Iterator[Finding]:
    """Yield a finding for windows, unless each is of another file: a look back at many files is no loop."""
    enough = max(least, _WINDOWS * len({read[index] for index in run}))
    if len(run) >= enough:
        yield Finding.by(Rule.KNOWN_LINES, run, enough)


def _reads(call: Call) -> bool:
    return is_read_only(call) and not (call.result.has_failed or polls(call))


def known_long_results(
    calls: Sequence[Call | None], limits: Limits, known: set[int]
) -> Iterator[Finding]:
    """Find `2 * max_repeats` calls of different messages with long results that their tool gave before, at least half of the calls there.

    Each result comes twice or more among them, as a look back at many files is no loop; calls that name a file or go through a list
    are not examined, nor are waits and calls in `known` loops. Nothing between them brings something new, writes a file, or may
    change anything, and no request lies between.
    """
    least = Rule.KNOWN_LONG_RESULTS.least(limits)
    seen: set[tuple[str, str]] = set()
    row: list[int] = []
    for index, call in enumerate([*calls, None]):
        if call is not None and (is_wait(call) or polls(call) or call.result.text is None):
            continue
        is_known = False
        if call is not None:
            told = call.tool, call.result.masked
            is_known = told in seen
            seen.add(told)
            is_long = len(call.result.text or "") >= _CHARACTERS
            if is_known and is_long and index not in known and not (writes(call) or file_in(call)):
                row.append(index)
                continue
        if row and not (call is not None and is_known and is_read_only(call)):
            yield from _again(calls, row, least)
            row = []


def _again(calls: Sequence[Call | None], row: Sequence[int], least: int) -> Iterator[Finding]:
    made = [(index, call) for index in row if (call := calls[index]) is not None]
    messages = {call.message or index for index, call in made}
    results = {(call.tool, call.result.masked) for _, call in made}
    is_dense = 2 * len(row) > row[-1] - row[0]
    is_again = 2 * len(results) <= len(row) and not goes_through_list([call for _, call in made])
    if len(messages) >= least and is_dense and is_again:
        yield Finding.by(Rule.KNOWN_LONG_RESULTS, row, least)


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
