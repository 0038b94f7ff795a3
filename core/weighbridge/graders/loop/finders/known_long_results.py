"""Loops of calls whose long results the same tools have given before, whatever was asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weighbridge.graders.loop.finders.findings import Finding
from weighbridge.graders.loop.finders.rules import Rule
from weighbridge.graders.loop.finders.sequences.request_lists import goes_through_list
from weighbridge.graders.loop.history.call_kinds import is_read_only, is_wait, polls, writes
from weighbridge.graders.loop.history.named_files import file_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from weighbridge.graders.loop.history.actions import Call
    from weighbridge.graders.loop.work_budget import Limits

_CHARACTERS = 300  #: a shorter result may be the same for different things


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
            yield from _finding(calls, row, least)
            row = []


def _finding(calls: Sequence[Call | None], row: Sequence[int], least: int) -> Iterator[Finding]:
    made = [(index, call) for index in row if (call := calls[index]) is not None]
    messages = {call.message or index for index, call in made}
    results = {(call.tool, call.result.masked) for _, call in made}
    is_dense = 2 * len(row) > row[-1] - row[0]
    is_again = 2 * len(results) <= len(row) and not goes_through_list([call for _, call in made])
    if len(messages) >= least and is_dense and is_again:
        yield Finding.by(Rule.KNOWN_LONG_RESULTS, row, least)
