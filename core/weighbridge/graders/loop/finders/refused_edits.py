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
    REMEMBERED,
    Attempt,
    chains_of,
    is_related,
    message_count,
)
from weighbridge.graders.loop.history.call_kinds import is_read_only, writes
from weighbridge.graders.loop.history.named_files import file_in
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
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from weighbridge.graders.loop.history.actions import Call
    from weighbridge.graders.loop.work_budget import Limits

_CALLS_BETWEEN = 2  #: maximum calls that may change something between two attempts
_PER_OTHER = 2 / 3  #: refused edits for each other call between them
_MADE = 1 / 4  #: maximum edits that are made for each refused one
_COMMAND_CHARACTERS = 2_000  #: of a command in which an edit is looked for
_NOTES = 3  #: maximum lines in which a tool says that a text has more lines, or ends
_LINE_NUMBER = re.compile(
    r"\A[ \t]{0,8}\d{1,6}(?:[|\t:]|\u2192)"
)  #: which one tool writes before a line, and another not
_note = re.compile(r"\(.{1,200}\)|\[.{1,200}\]|</?[\w-]{1,40}>|").fullmatch
_edits_in_place = occurs(
    r"\b(?:sed|perl) (?:\S{1,40} ){0,3}(?:-\w{0,5}i|--in-place)|\bgit apply\b|\bpatch (?:-|<)|\bcat ?> ?[\w./~-]"
)
_TOLD_CHARACTERS = 400  #: of a failure in which it is said
#: Further words of refusal, which no other rule takes for one: the text to replace is not in the file, is there several times,
#: or cannot be read.
_refuses_in_other_words = occurs(
    r"""\bold_?(?:str(?:ing)?|text|lines?|code|content)[`'"]? (?:(?:was |is )?not found|appears multiple times)\b
|\b(?:could not|couldn't|cannot|unable to|failed to) find (?:the )?(?:string to replace|expected lines|context)\b
|\b0 occurrences found for old_|\bno (?:sufficiently )?similar match(?:es)? (?:was |were )?found\b
|\bfound \d{1,4} (?:matches|occurrences) of the string to replace\b|\bfailed to parse patch\b|\binvalid patch\b
|\bsearch (?:block|section|text) (?:must|does not|did not) (?:exactly )?match\b"""
)
_PATCHED = re.compile(r"^(?:\*\*\* Update File:|\+\+\+ (?:b/)?) {0,3}(\S.{0,400})$", re.MULTILINE)
_QUOTED = re.compile(r"""['"`][^'"`\n]{1,400}['"`]""")


def refused_edits(
    calls: Sequence[Call | None], limits: Limits, known: set[int]
) -> Iterator[Finding]:
    """Find `max_repeats + 2` related edits that are refused in the same words, whatever they quote, with few calls between.

    Edits that go through a list, or through values of an argument, are no loop, and neither are those in fewer than
    `max_repeats` messages, nor those before most of which something new was read. Edits of one file may be refused in any
    words, by any tools, in more than `max_repeats` rounds, if half of them are tried again and none is made between.
    `3 * max_repeats` edits of one tool are a loop, whatever they edit and whatever was read, if at least two of five calls
    in their range are such, and hardly an edit is made.
    """
    if limits.similarity_threshold >= 1:
        return
    edits = {
        index: call
        for index, call in enumerate(calls)
        if call is not None and index not in known and _is_refused(call)
    }
    least = Rule.REFUSED_EDITS.least(limits)
    if len(edits) < least:
        return
    yield from _edits_in_vain(calls, edits, limits)
    yield from _edits_of_one_file(calls, edits, limits)
    refused: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
    for index, call in edits.items():
        refused[call.tool, _QUOTED.sub("\u2026", call.result.masked)].append(index)
    if max(map(len, refused.values()), default=0) < least:
        return
    effects, budget, news = CallEffects(), WorkBudget(), _news(calls)
    for indices in refused.values():
        chains = chains_of_attempts(calls, indices, effects, changes=_CALLS_BETWEEN)
        for chain in chains if len(indices) >= least else ():
            attempts = _attempts(chain, edits, budget)
            for related in chains_of(attempts, lambda near, each: is_related(each.words, near)):
                tried = [each.call for each in related]
                if (
                    len(tried) >= least
                    and message_count(tried) >= limits.max_repeats
                    and not (
                        _reads_on(related, news)
                        or lists_items([call.arguments.texts for call in tried])
                        or combines_values(tried)
                        or raises_a_limit(tried)
                    )
                ):
                    found = (each.call_index for each in related)
                    yield Finding.by(Rule.REFUSED_EDITS, found, least)


def _edits_of_one_file(
    calls: Sequence[Call | None], edits: Mapping[int, Call], limits: Limits
) -> Iterator[Finding]:
    least = Rule.EDITS_OF_ONE_FILE.least(limits)
    rows = [row for row in _rows_of_one_file(calls, edits) if len(row) >= least]
    if not rows:
        return
    effects, budget, news = CallEffects(), WorkBudget(), _news(calls)
    for indices in rows:
        for found in chains_of_attempts(calls, indices, effects, changes=_CALLS_BETWEEN):
            between = [range(*pair) for pair in pairwise(found) if pair[1] - pair[0] > 1]
            told = sum(not news.isdisjoint(each) for each in between)
            if len(found) < least or len(between) < limits.max_repeats or 2 * told > len(between):
                continue
            attempts = _attempts(found, edits, budget)
            again = sum(
                is_related(attempt.words, attempts[max(0, at - REMEMBERED) : at])
                for at, attempt in enumerate(attempts)
            )
            if 2 * again >= len(found):
                yield Finding.by(Rule.EDITS_OF_ONE_FILE, found, least)


def _rows_of_one_file(
    calls: Sequence[Call | None], edits: Mapping[int, Call]
) -> Iterator[list[int]]:
    """Yield the indices of the refused edits of each file, in a row in which no edit is made."""
    row: defaultdict[str, list[int]] = defaultdict(list)
    for index, call in enumerate(calls):
        if edit := edits.get(index):
            if file := _file_in(edit):
                row[file].append(index)
        elif row and _is_made(call):
            yield from row.values()
            row = defaultdict(list)
    yield from row.values()


def _attempts(
    indices: Iterable[int], edits: Mapping[int, Call], budget: WorkBudget
) -> list[Attempt]:
    return [
        Attempt(index, edits[index], words_of(edits[index], budget))
        for index in indices
        if budget.is_left
    ]


def _edits_in_vain(
    calls: Sequence[Call | None], edits: Mapping[int, Call], limits: Limits
) -> Iterator[Finding]:
    least = Rule.EDITS_IN_VAIN.least(limits)
    by_tool: defaultdict[str, list[int]] = defaultdict(list)
    for index, call in edits.items():
        if writes(call) or not is_read_only(call):
            by_tool[call.tool].append(index)
    for indices in by_tool.values():
        for found in _close(indices) if len(indices) >= least else ():
            if (
                len(found) < least
                or message_count(map(edits.__getitem__, found)) < limits.max_repeats
            ):
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
    text = call.result.text or ""
    return call.result.has_failed and (
        refuses_edit(text) or _refuses_in_other_words(text[:_TOLD_CHARACTERS])
    )


def _file_in(call: Call) -> str:
    """Return the file that an edit names, be it in a patch; empty if it names none or several."""
    patched = set(_PATCHED.findall(call.arguments.texts[:_COMMAND_CHARACTERS]))
    return patched.pop() if len(patched) == 1 else file_in(call)


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
            text = (call.result.text or "").rstrip()
            # Without the first line, which may be a heading.
            lines = [_LINE_NUMBER.sub("", line).rstrip() for line in text.split("\n")[1:]]
            while lines and len(lines) > text.count("\n") - _NOTES and _note(lines[-1].strip()):
                lines.pop()
            pairs = set(pairwise(lines)) or {("", text)}
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
