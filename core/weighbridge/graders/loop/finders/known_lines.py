"""Loops of reading what was read before: windows of files, in any order and of any size, without a line that is new."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from weighbridge.graders.loop.finders.findings import Finding
from weighbridge.graders.loop.finders.rules import Rule
from weighbridge.graders.loop.history.call_kinds import is_command, is_read_only, is_wait, polls
from weighbridge.graders.loop.work_budget import WorkBudget

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from weighbridge.graders.loop.history.actions import Call
    from weighbridge.graders.loop.work_budget import Limits

_FILES = ("path", "file_path", "filepath", "filename", "file", "file_name", "target_file")
_COMMAND_CHARACTERS = 2_000  #: a longer command does more than to read a file
_WINDOWS = 2  #: minimum mean number of windows of a file
_LINES = 5  #: a result with fewer lines is no window
_KNOWN = 0.8  #: minimum share of known lines in a window: a heading may count the lines around it
_WORD = re.compile(r"[\w./~-]+")
_ENDING_CHARACTERS = 10  #: of the name of a file without a folder


def known_lines(calls: Sequence[Call | None], limits: Limits, known: set[int]) -> Iterator[Finding]:
    """Find `4 * max_repeats` calls in a row that only read files, and show hardly a line that the same file did not show before.

    Calls in `known` loops are not examined.
    """
    least = Rule.KNOWN_LINES.least(limits)
    named = [_file_in(call) if call is not None else "" for call in calls]
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


def _file_in(call: Call) -> str:
    """Return the only file that the arguments of a call name; empty for any other call."""
    value = call.arguments.value
    if type(value) is dict:
        for key in _FILES:
            if type(name := value.get(key)) is str:
                return name
    if not is_command(call) or len(call.arguments.key) > _COMMAND_CHARACTERS:
        return ""
    words = (word.strip(".") for word in _WORD.findall(call.arguments.texts))
    named = set(filter(_is_path, words))
    return named.pop() if len(named) == 1 else ""


def _reads(call: Call) -> bool:
    return is_read_only(call) and not (call.result.has_failed or polls(call))


def _is_path(word: str) -> bool:
    """Return whether a word is a path, or the name of a file with an ending."""
    name, _, ending = word.rpartition(".")
    is_file = bool(name) and ending[:1].isalpha() and ending.isalnum()
    return "/" in word[:-1] or (is_file and len(ending) <= _ENDING_CHARACTERS)
