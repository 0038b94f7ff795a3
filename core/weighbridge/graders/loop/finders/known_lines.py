"""Loops of reading what was read before: windows of files, in any order and of any size, without a line that is new."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from weighbridge.graders.loop.finders.findings import Finding
from weighbridge.graders.loop.finders.rules import Rule
from weighbridge.graders.loop.history.call_kinds import is_read_only, is_wait, polls
from weighbridge.graders.loop.history.named_files import file_in
from weighbridge.graders.loop.work_budget import WorkBudget

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from weighbridge.graders.loop.history.actions import Call
    from weighbridge.graders.loop.work_budget import Limits

_WINDOWS = 2  #: minimum mean number of windows of a file
_LINES = 5  #: a result with fewer lines is no window
_KNOWN = 0.8  #: minimum share of known lines in a window: a heading may count the lines around it


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
